"""How a reduction joins two words: combinational.

Rows (in the lanes) and lanes (in the tree) are joined by the same logic. The word of the earlier
row or of the lower lane is the left operand.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from celosia.arch.config import TpuConfig
from celosia.arch.lane import LaneStep
from celosia.arch.numerics import NAN
from celosia.arch.vector import ReduceOp
from celosia_hw.fp.add import f32_add
from celosia_hw.fp.compare import compare
from celosia_hw.fp.wire import wire
from celosia_hw.pipeline import Logic
from celosia_hw.vpu.control import beat_words

__all__ = ["STAGES", "join"]


def join(m: Module, config: TpuConfig, op: Value, a: Value, b: Value,
         alone: Value | None = None) -> Signal:
    """Join of ``a`` and ``b`` by the reduction ``op``, 32 bits; ``b`` where it is ``alone``.

    A chip without bf16 has no logic for the floating-point ones.
    """
    alone = Const(0, 1) if alone is None else alone

    def chosen(*items: ReduceOp) -> Value:
        return Cat(op == item for item in items).any() & ~alone

    largest, smallest = (ReduceOp.MAX_I, ReduceOp.MAX_F), (ReduceOp.MIN_I, ReduceOp.MIN_F)
    if config.bf16:
        floating = (op == ReduceOp.MAX_F) | (op == ReduceOp.MIN_F)
        compared = compare(m, a, b, floating, "join")
        below = compared.below
    else:
        largest, smallest = largest[:1], smallest[:1]
        below = a.as_signed() < b.as_signed()
    below = wire(m, below, "join_below")
    # One gate of the two words: their "and", their "or", a or b.
    takes_largest, takes_smallest = chosen(*largest), chosen(*smallest)
    one = wire(m, takes_largest | takes_smallest | alone, "join_one")
    second = wire(m, (takes_largest & below) | (takes_smallest & ~below) | alone
                  | chosen(ReduceOp.OR), "join_second")
    # (Not as one multiplexer: keeping a would become an enable, of each lane's own.)
    word = Mux(one, Mux(second, b, a), 0) | Mux(one, 0, Mux(second, a | b, a & b))
    if config.bf16:
        ordered = one & ~alone
        zero = ordered & Mux(second, compared.b_zero, compared.a_zero)
        word = Mux(ordered & compared.nan, NAN, Cat(Mux(zero, 0, word[:23])[:23], word[23:32]))
        word = Mux(chosen(ReduceOp.SUM_F), f32_add(m, a, b, name="join_sum"), word)
    return wire(m, Mux(chosen(ReduceOp.SUM_I), (a + b)[:32], word), "joined")


def join_rows(m: Module, config: TpuConfig, valid: Value, reduce: Value, first: Value,
              reduce_op: Value, r: Value) -> dict[str, Value]:
    """``r``, or the join of the rows of its group so far."""
    # The row before is still at the end of this stage, however long ago it was.
    newest, *others = words = beat_words(config, "joined_row")
    with m.If(valid):
        m.d.sync += newest.eq(join(m, config, reduce_op, words[-1], r, ~reduce | first))
        m.d.sync += [word.eq(before) for word, before in zip(others, words, strict=False)]
    return {"r": newest}


STAGES = {LaneStep.REDUCE: (Logic(join_rows, registered=True),)}
