"""The tables of the lane: what each operation does at each stage, combinationally.

A new operation of one step is one entry in ``SIMPLE``; one on the multiply-add data path an entry
in ``FMA``; a second stage an entry in ``POSTS``.
"""

from collections.abc import Callable

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from celosia.arch.config import TpuConfig
from celosia.arch.isa import FLOAT_OPS, FLOAT_POSTS, Dst, Post, VectorOp
from celosia.arch.numerics import NAN
from celosia_hw.fp.compare import f32_max, f32_min, ordered
from celosia_hw.fp.convert import f32_flush, f32_to_bf16
from celosia_hw.fp.wire import wire

__all__ = ["FMA", "POSTS", "SIMPLE", "clamp", "convert", "posts", "simple"]

Operation = Callable[[Module, Value, Value], Value]
Second = Callable[[Module, Value, Value], Value]

_ONE = Const(0x3F800000, 32)
_MINUS_ZERO = Const(0x80000000, 32)


def clamp(m: Module, x: Value, low: Value, high: Value, name: str,
          words: tuple[Value, Value, Value] | None = None) -> Signal:
    """min(max(x, low), high) on signed values where low <= high.

    ``words``: what stands for x, low and high in the result, if not they themselves.
    """
    below, above = wire(m, x < low, f"{name}_below"), wire(m, x > high, f"{name}_above")
    x, low, high = words or (x, low, high)
    result = Mux(above, high, Mux(below, low, x))
    return wire(m, result if words else result.as_signed(), name)


#: Result of (a, b) after one step. An operation of another part of the lane that is not listed
#: carries ``a``.
SIMPLE: dict[VectorOp, Operation] = {
    VectorOp.IADD: lambda m, a, b: (a + b)[:32],
    VectorOp.ISUB: lambda m, a, b: (a - b)[:32],
    VectorOp.IMAX: lambda m, a, b: Mux(a.as_signed() >= b.as_signed(), a, b),
    VectorOp.IMIN: lambda m, a, b: Mux(a.as_signed() <= b.as_signed(), a, b),
    VectorOp.FMAX: lambda m, a, b: f32_max(m, a, b, "fmax"),
    VectorOp.FMIN: lambda m, a, b: f32_min(m, a, b, "fmin"),
}

#: Operands (x, y, z) of the multiply-add x * y + z.
FMA: dict[VectorOp, Callable[[Value, Value, Value], tuple[Value, Value, Value]]] = {
    VectorOp.FADD: lambda a, b, c: (a, _ONE, b),
    VectorOp.FSUB: lambda a, b, c: (a, _ONE, Cat(b[:31], ~b[31])),
    VectorOp.FMUL: lambda a, b, c: (a, b, _MINUS_ZERO),
    VectorOp.FFMA: lambda a, b, c: (a, b, c),
}


def _clamp_i(m: Module, x: Value, param: Value) -> Value:
    return clamp(m, x.as_signed(), param[:16].as_signed(), param[16:].as_signed(), "clamp_i")


def _clamp_f(m: Module, x: Value, param: Value) -> Value:
    x, low, high = words = (
        f32_flush(m, x, "clamp_f_x"),
        f32_flush(m, Cat(Const(0, 16), param[:16]), "clamp_f_low"),
        f32_flush(m, Cat(Const(0, 16), param[16:]), "clamp_f_high"))
    nan = Cat(word == NAN for word in words).any()
    return Mux(nan, NAN, clamp(m, ordered(x), ordered(low), ordered(high), "clamp_f", words))


#: Second stages, on a word and the instruction's ``param``.
POSTS: dict[Post, Second] = {
    Post.RELU_I: lambda m, x, param: Mux(x[31], 0, x),
    Post.CLAMP_I: _clamp_i,
    Post.RELU_F: lambda m, x, param: f32_max(m, x, Const(0, 32), "relu_f"),
    Post.CLAMP_F: _clamp_f,
}


def simple(m: Module, config: TpuConfig, op: Value, a: Value, b: Value) -> Signal:
    """Result of the operation ``op`` of one step, 32 bits."""
    result = Signal(32, name="simple")
    with m.Switch(op):
        for item, function in SIMPLE.items():
            if config.bf16 or item not in FLOAT_OPS:
                value = function(m, a, b)
                with m.Case(item):
                    m.d.comb += result.eq(value)
        with m.Default():
            m.d.comb += result.eq(a)
    return result


def posts(m: Module, config: TpuConfig, post: Value, x: Value, param: Value) -> Signal:
    """Result of the second stage ``post``, 32 bits."""
    result = Signal(32, name="second")
    with m.Switch(post):
        for item, function in POSTS.items():
            if config.bf16 or item not in FLOAT_POSTS:
                value = function(m, x, param)
                with m.Case(item):
                    m.d.comb += result.eq(value)
        with m.Default():
            m.d.comb += result.eq(x)
    return result


def convert(m: Module, config: TpuConfig, dst: Value, x: Value) -> Signal:
    """Word as it is stored: see :func:`celosia_hw.memory.writer.write_layout`."""
    result = Signal(32, name="converted")
    with m.Switch(dst):
        with m.Case(Dst.UB_I8):
            m.d.comb += result.eq(clamp(m, x.as_signed(), Const(-128), Const(127), "saturated"))
        if config.bf16:
            with m.Case(Dst.UB_BF16):
                m.d.comb += result.eq(f32_to_bf16(m, x, "bf16"))
        with m.Default():
            m.d.comb += result.eq(x)
    return result
