"""Decodes what the lanes are told about a row, once for all of them."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from celosia.arch.config import TpuConfig
from celosia.arch.numerics import NAN
from celosia.arch.vector import Post, VectorOp
from celosia_hw.fp.compare import ordered
from celosia_hw.fp.convert import f32_flush
from celosia_hw.vpu.control import control_layout
from celosia_hw.vpu.multiply_add import FMA
from celosia_hw.vpu.special import TABLES
from celosia_hw.vpu.steps import STEPS

__all__ = ["decode"]

#: Operations that are a product of integers; shifts are those by powers of two.
_PRODUCT_OPS = tuple(op for op, step in STEPS.items() if step.whole or step.power)
_TABLE_POSTS = tuple(TABLES)
_F2I_POSTS = (Post.F2I, Post.F2I_FLOOR, Post.F2I_TRUNC)


def decode(m: Module, config: TpuConfig, row: data.View) -> data.View:
    """Control of a row, of `row_layout`; without one every part is off."""
    control = Signal(control_layout(), name="control")
    valid, op, post = row.valid, row.op, row.post
    parts = {"product": _PRODUCT_OPS, "requant": (VectorOp.REQUANT,)}
    seconds = {}
    if config.bf16:
        parts |= {"fma": FMA, "i2f": (VectorOp.I2F,)}
        seconds = {"fixed": (Post.EXP2, *_F2I_POSTS), "table": _TABLE_POSTS,
                   "special": (Post.SQUARE, *_TABLE_POSTS), "div": (Post.DIV,)}
    for value, table in ((op, parts), (post, seconds)):
        for part, items in table.items():
            m.d.comb += control[part].eq(valid & Cat(value == item for item in items).any())
    m.d.comb += [
        control.valid.eq(valid),
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
