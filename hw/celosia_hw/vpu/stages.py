"""The tables of the lane: what each operation does at each stage, combinationally.

A new operation of one step is one entry in ``SIMPLE``; one on the multiply-add data path an entry
in ``FMA``; a second stage of one step an entry in ``POSTS``. (Those that end in a rounding are in
:mod:`celosia_hw.vpu.special`.)
"""

from collections.abc import Callable

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from celosia.arch.config import TpuConfig
from celosia.arch.numerics import NAN
from celosia.arch.vector import FLOAT_OPS, FLOAT_POSTS, Dst, Post, VectorOp
from celosia_hw.fp.compare import f32_equal, f32_less, f32_max, f32_min, ordered
from celosia_hw.fp.convert import f32_flush, f32_to_bf16
from celosia_hw.fp.wire import choose, wire

__all__ = ["FMA", "POSTS", "SIMPLE", "clamp", "convert", "posts", "simple"]

Operation = Callable[[Module, Value, Value, Value], Value]
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


def _mask(holds: Value) -> Value:
    return holds.replicate(32)


#: Result of (a, b, c) after one step. An operation of another part of the lane or unit that is not
#: listed carries ``a``.
SIMPLE: dict[VectorOp, Operation] = {
    VectorOp.IADD: lambda m, a, b, c: (a + b)[:32],
    VectorOp.ISUB: lambda m, a, b, c: (a - b)[:32],
    VectorOp.IMAX: lambda m, a, b, c: Mux(a.as_signed() < b.as_signed(), b, a),
    VectorOp.IMIN: lambda m, a, b, c: Mux(a.as_signed() < b.as_signed(), a, b),
    VectorOp.AND: lambda m, a, b, c: a & b,
    VectorOp.OR: lambda m, a, b, c: a | b,
    VectorOp.XOR: lambda m, a, b, c: a ^ b,
    VectorOp.NOT: lambda m, a, b, c: ~a,
    VectorOp.SHL: lambda m, a, b, c: (a << b[:5])[:32],
    VectorOp.SHR: lambda m, a, b, c: a >> b[:5],
    VectorOp.SAR: lambda m, a, b, c: a.as_signed() >> b[:5],
    VectorOp.SELECT: lambda m, a, b, c: Mux(a != 0, b, c),
    VectorOp.IEQ: lambda m, a, b, c: _mask(a == b),
    VectorOp.INE: lambda m, a, b, c: _mask(a != b),
    VectorOp.ILT: lambda m, a, b, c: _mask(a.as_signed() < b.as_signed()),
    VectorOp.ILE: lambda m, a, b, c: _mask(~(b.as_signed() < a.as_signed())),
    VectorOp.IGT: lambda m, a, b, c: _mask(b.as_signed() < a.as_signed()),
    VectorOp.IGE: lambda m, a, b, c: _mask(~(a.as_signed() < b.as_signed())),
    VectorOp.FMAX: lambda m, a, b, c: f32_max(m, a, b, "fmax"),
    VectorOp.FMIN: lambda m, a, b, c: f32_min(m, a, b, "fmin"),
    VectorOp.FABS: lambda m, a, b, c: a[:31],
    VectorOp.FNEG: lambda m, a, b, c: Cat(a[:31], ~a[31]),
    VectorOp.FEQ: lambda m, a, b, c: _mask(f32_equal(m, a, b, "feq")),
    VectorOp.FNE: lambda m, a, b, c: _mask(~f32_equal(m, a, b, "fne")),
    VectorOp.FLT: lambda m, a, b, c: _mask(f32_less(m, a, b, "flt")),
    VectorOp.FLE: lambda m, a, b, c: _mask(f32_less(m, a, b, "fle_less")
                                           | f32_equal(m, a, b, "fle_equal")),
    VectorOp.FGT: lambda m, a, b, c: _mask(f32_less(m, b, a, "fgt")),
    VectorOp.FGE: lambda m, a, b, c: _mask(f32_less(m, b, a, "fge_less")
                                           | f32_equal(m, a, b, "fge_equal")),
    VectorOp.ISFINITE: lambda m, a, b, c: _mask(a[23:31] != 0xFF),
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


#: Second stages of one step, on a word and the instruction's ``param``; the others carry it.
POSTS: dict[Post, Second] = {
    Post.RELU_I: lambda m, x, param: Mux(x[31], 0, x),
    Post.CLAMP_I: _clamp_i,
    Post.RELU_F: lambda m, x, param: f32_max(m, x, Const(0, 32), "relu_f"),
    Post.CLAMP_F: _clamp_f,
}


def simple(m: Module, config: TpuConfig, op: Value, a: Value, b: Value, c: Value) -> Signal:
    """Result of the operation ``op`` of one step, 32 bits."""
    results = {item: function(m, a, b, c) for item, function in SIMPLE.items()
               if config.bf16 or item not in FLOAT_OPS}
    return choose(m, op, results, a, name="simple")


def posts(m: Module, config: TpuConfig, post: Value, x: Value, param: Value) -> Signal:
    """Result of the second stage ``post`` if it is of one step, else ``x``; 32 bits."""
    results = {item: function(m, x, param) for item, function in POSTS.items()
               if config.bf16 or item not in FLOAT_POSTS}
    return choose(m, post, results, x, name="second")


def convert(m: Module, config: TpuConfig, dst: Value, x: Value) -> Signal:
    """Word as it is stored: see :func:`celosia_hw.memory.writer.write_layout`."""
    results = {Dst.UB_I8: clamp(m, x.as_signed(), Const(-128), Const(127), "saturated")}
    if config.bf16:
        results[Dst.UB_BF16] = f32_to_bf16(m, x, "bf16")
    return choose(m, dst, results, x, name="converted")
