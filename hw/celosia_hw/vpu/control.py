"""What the lanes are told about a row, decoded once for all of them."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, enum

from celosia.arch.config import TpuConfig
from celosia.arch.numerics import NAN
from celosia.arch.vector import Dst, Post, ReduceOp, VectorOp
from celosia_hw.fp.compare import ordered
from celosia_hw.fp.convert import f32_flush
from celosia_hw.vpu.stages import FMA

__all__ = ["SPECIAL_POSTS", "LaneSource", "control_layout", "decode", "lane_latency",
           "row_layout"]

#: Operations that are a product of integers; shifts are those by powers of two.
PRODUCT_OPS = (VectorOp.IMUL, VectorOp.SHL, VectorOp.SHR, VectorOp.SAR)
#: Second stages that end in a rounding; all but the square look into a table.
SPECIAL_POSTS = (Post.SQUARE, Post.EXP2, Post.LOG2, Post.RECIP, Post.RSQRT, Post.SQRT, Post.DIV)
_F2I_POSTS = (Post.F2I, Post.F2I_FLOOR, Post.F2I_TRUNC)


class LaneSource(enum.Enum, shape=3):
    """Where a lane takes a word from.

    As the source of an operand, ``SELF`` is the word that the lane holds for it; as the source of
    that held word, ``SELF`` leaves it as it is. ``P``, ``Q``: the lane's own word of a row;
    ``P_LANE``, ``Q_LANE``: that of one lane of the row. ``SCALAR``: a value; as the source of a
    held word, ``INDEX`` is that value plus the number of the lane, as the source of an operand it
    is the word of the row in ``indexes``.
    """

    SELF = 0
    P = 1
    Q = 2
    SCALAR = 3
    P_LANE = 4
    Q_LANE = 5
    INDEX = 6


def lane_latency(config: TpuConfig) -> int:
    """Cycles from a row's operands to its result.

    With bf16 there are five more, for the special functions, and one less, for the product.
    """
    return 14 if config.bf16 else 10


def control_layout(config: TpuConfig) -> data.StructLayout:
    """Control of the row at one stage of the lanes.

    ``valid``: there is a row. Then one of these says which part of the lane makes the result of the
    first stage: ``simple`` (one step on the operands), ``product``, ``requant``, ``fma``, ``i2f``.
    These say which parts of the second stage the row uses: ``fixed`` (fixed point), ``table``,
    ``special`` (the second rounding), ``div`` (operand c); none where it is one step. ``reduce``:
    the row is joined with those of its group before it, if it is not the ``first`` of them.
    ``param``: the instruction's, but a lower bound above the upper one is replaced by that one. The
    result is the same, and the lanes need not compare the bounds.
    """
    floating = ("fma", "i2f", "fixed", "table", "special", "div") if config.bf16 else ()
    parts = ("simple", "product", "requant", *floating, "reduce")
    return data.StructLayout({
        "valid": 1, **{part: 1 for part in parts}, "first": 1, "op": VectorOp, "post": Post,
        "reduce_op": ReduceOp, "dst": Dst, "param": 32,
    })


def row_layout() -> data.StructLayout:
    """What an instruction says of a row, if ``valid``.

    ``reduce``: it reduces rows; ``first``: the row is the first of its group.
    """
    return data.StructLayout({
        "valid": 1, "op": VectorOp, "post": Post, "dst": Dst, "param": 32, "reduce": 1,
        "reduce_op": ReduceOp, "first": 1,
    })


def decode(m: Module, config: TpuConfig, row: data.View) -> data.View:
    """Control of a row, of `row_layout`; without one every part is off."""
    control = Signal(control_layout(config), name="control")
    valid, op, post = row.valid, row.op, row.post
    parts = {"product": PRODUCT_OPS, "requant": (VectorOp.REQUANT,)}
    seconds = {}
    if config.bf16:
        parts |= {"fma": FMA, "i2f": (VectorOp.I2F,)}
        seconds = {"fixed": (Post.EXP2, *_F2I_POSTS), "table": SPECIAL_POSTS[1:],
                   "special": SPECIAL_POSTS, "div": (Post.DIV,)}
    for value, table in ((op, parts), (post, seconds)):
        for part, items in table.items():
            m.d.comb += control[part].eq(valid & Cat(value == item for item in items).any())
    m.d.comb += [
        control.valid.eq(valid),
        control.simple.eq(valid & ~Cat(control[part] for part in parts).any()),
        control.reduce.eq(valid & row.reduce),
        *(control[name].eq(row[name]) for name in ("first", "reduce_op", "op", "post", "dst")),
        control.param.eq(_ordered_bounds(m, config, requant=op == VectorOp.REQUANT,
                                         floating=post == Post.CLAMP_F, param=row.param)),
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
