"""What the lanes are told about a row, decoded once for all of them."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, enum

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Post, VectorOp
from celosia.arch.numerics import NAN
from celosia_hw.fp.compare import ordered
from celosia_hw.fp.convert import f32_flush

__all__ = ["FMA_OPS", "Source", "control_layout", "decode", "lane_latency"]

#: Operations that are a fused multiply-add with some operands fixed.
FMA_OPS = (VectorOp.FADD, VectorOp.FSUB, VectorOp.FMUL, VectorOp.FFMA)


class Source(enum.Enum, shape=2):
    """Where a lane takes a word from.

    As the source of an operand, ``SELF`` is the word that the lane holds for it; as the source of
    that held word, ``SELF`` leaves it as it is.
    """

    SELF = 0
    P = 1
    Q = 2
    SCALAR = 3


def lane_latency(config: TpuConfig) -> int:
    """Cycles from a row's operands to its result; normalising and rounding take two of them."""
    return 10 if config.bf16 else 8


def control_layout(config: TpuConfig) -> data.StructLayout:
    """Control of the row at one stage of the lanes.

    ``valid``: there is a row. Then one of these says which part of the lane makes the result:
    ``simple`` (one step on the operands), ``product``, ``requant``, ``fma``, ``i2f``, ``f2i``.
    ``param``: the instruction's, but a lower bound above the upper one is replaced by that one. The
    result is the same, and the lanes need not compare the bounds.
    """
    parts = ["simple", "product", "requant", *(["fma", "i2f", "f2i"] if config.bf16 else [])]
    return data.StructLayout({
        "valid": 1, **{part: 1 for part in parts}, "op": 6, "post": 4, "dst": 3, "param": 32,
    })


def decode(m: Module, config: TpuConfig, valid: Value, op: Value, post: Value, dst: Value,
           param: Value) -> data.View:
    """Control of a row; without one every part is off."""
    control = Signal(control_layout(config), name="control")
    parts = {"product": (VectorOp.IMUL,), "requant": (VectorOp.REQUANT,)}
    if config.bf16:
        parts |= {"fma": FMA_OPS, "i2f": (VectorOp.I2F,), "f2i": (VectorOp.F2I,)}
    for part, ops in parts.items():
        m.d.comb += control[part].eq(valid & Cat(op == item for item in ops).any())
    m.d.comb += [
        control.valid.eq(valid),
        control.simple.eq(valid & ~Cat(control[part] for part in parts).any()),
        control.op.eq(op), control.post.eq(post), control.dst.eq(dst),
        control.param.eq(_ordered_bounds(m, config, requant=op == VectorOp.REQUANT,
                                         floating=post == Post.CLAMP_F, param=param)),
    ]
    return control


def _ordered_bounds(m: Module, config: TpuConfig, requant: Value, floating: Value,
                    param: Value) -> Value:
    """Bring the bounds in ``param`` into order; only those that the instruction uses matter."""
    low, high = param[:16], param[16:]
    low8, high8 = param[8:16], param[16:24]
    halves = low.as_signed() > high.as_signed()
    if config.bf16:
        words = [f32_flush(m, Cat(Const(0, 16), half), f"bound_{name}")
                 for name, half in (("low", low), ("high", high))]
        # A lower bound that is NaN stays.
        above = (ordered(words[0]) > ordered(words[1])) & (words[0] != NAN)
        halves = Mux(floating, above, halves)
    return Mux(requant,
               Cat(param[:8], Mux(low8.as_signed() > high8.as_signed(), high8, low8), high),
               Cat(Mux(halves, high, low), high))
