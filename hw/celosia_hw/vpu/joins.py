"""How a reduction joins two words, in as many cycles as an fp32 sum takes.

Rows (in the lanes) and lanes (in the tree) are joined by the same logic. The word of the earlier
row or of the lower lane is the left operand.
"""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value

from celosia.arch.config import TpuConfig
from celosia.arch.lane import LaneStep
from celosia.arch.numerics import NAN
from celosia.arch.vector import ReduceOp
from celosia_hw.fp.add import f32_add
from celosia_hw.fp.compare import compare
from celosia_hw.fp.wire import wire
from celosia_hw.pipeline import Logic
from celosia_hw.stream import delayed
from celosia_hw.vpu.control import beat_words

__all__ = ["join", "stages"]


def join(m: Module, config: TpuConfig, op: Value, a: Value, b: Value,
         alone: Value | None = None) -> Signal:
    """Join of ``a`` and ``b`` by the reduction ``op``, 32 bits; ``b`` where it is ``alone``.

    Of what there was ``config.sum_cycles`` - 1 cycles before. A chip without bf16 has no logic for
    the floating-point ones.
    """
    by_itself: Value = Const(0, 1) if alone is None else alone
    left, right, cycles = a, b, config.sum_cycles

    def late(value: Value, cycles: int, name: str) -> Value:
        return delayed(m, value, cycles, name=f"join_{name}", reset_less=True)[-1]

    def chosen(*items: ReduceOp) -> Value:
        return Cat(op == item for item in items).any() & ~by_itself

    largest, smallest = (ReduceOp.MAX_I, ReduceOp.MAX_F), (ReduceOp.MIN_I, ReduceOp.MIN_F)
    if config.bf16:
        floating = (op == ReduceOp.MAX_F) | (op == ReduceOp.MIN_F)
        compared = compare(m, a, b, floating, "join")
        # The first of several cycles is for comparing, as that of the sum is.
        ahead = min(cycles - 1, 1)
        below, nan, a_zero, b_zero = (late(getattr(compared, name), ahead, f"late_{name}")
                                      for name in ("below", "nan", "a_zero", "b_zero"))
        op, by_itself = late(op, ahead, "late_op"), late(by_itself, ahead, "late_alone")
        a, b = late(a, ahead, "late_a"), late(b, ahead, "late_b")
    else:
        largest, smallest = largest[:1], smallest[:1]
        below = a.as_signed() < b.as_signed()
    below = wire(m, below, "join_below")
    # One gate of the two words: their "and", their "or", a or b.
    takes_largest, takes_smallest = chosen(*largest), chosen(*smallest)
    one = wire(m, takes_largest | takes_smallest | by_itself, "join_one")
    second = wire(m, (takes_largest & below) | (takes_smallest & ~below) | by_itself
                  | chosen(ReduceOp.OR), "join_second")
    # (Not as one multiplexer: keeping a would become an enable, of each lane's own.)
    word = Mux(one, Mux(second, b, a), 0) | Mux(one, 0, Mux(second, a | b, a & b))
    if config.bf16:
        ordered = one & ~by_itself
        zero = ordered & Mux(second, b_zero, a_zero)
        word = Mux(ordered & nan, NAN, Cat(Mux(zero, 0, word[:23])[:23], word[23:32]))
    word = Mux(chosen(ReduceOp.SUM_I), (a + b)[:32], word)
    if config.bf16:
        adds = late(chosen(ReduceOp.SUM_F), cycles - 1 - ahead, "adds")
        word = late(word, cycles - 1 - ahead, "word")
        word = Mux(adds, f32_add(m, left, right, name="join_sum", cycles=cycles), word)
    return wire(m, word, "joined")


def join_rows(m: Module, config: TpuConfig, valid: Value, reduce: Value, first: Value,
              reduce_op: Value, r: Value) -> dict[str, Value]:
    """``r``, or the join of the rows of its group so far."""
    # The row before is still at the end of this stage, however long ago it was.
    newest, *others = words = beat_words(config, "joined_row")
    with m.If(valid):
        m.d.sync += newest.eq(join(m, config, reduce_op, words[-1], r, ~reduce | first))
        m.d.sync += [word.eq(before) for word, before in zip(others, words, strict=False)]
    return {"r": newest}


def join_rows_late(m: Module, config: TpuConfig, valid: Value, reduce: Value, first: Value,
                   reduce_op: Value, r: Value) -> dict[str, Value]:
    """As `join_rows`, where a sum takes as many cycles as a row has beats.

    The sum of a beat is there when that of the next row comes at the earliest, but may wait for it:
    each is kept under its number.
    """
    words = beat_words(config, "joined_row")
    beat = Signal(range(config.fold), name="join_beat")
    with m.If(valid):
        m.d.sync += beat.eq(beat + 1)
    before = wire(m, Array(words)[beat], "join_before")
    joined = join(m, config, reduce_op, before, r, ~reduce | first)
    *_, arrives = delayed(m, valid, config.sum_cycles - 1, name="join_valid")
    *_, number = delayed(m, beat, config.sum_cycles - 1, name="join_number", reset_less=True)
    with m.If(arrives), m.Switch(number):
        for place, word in enumerate(words):
            with m.Case(place):
                m.d.sync += word.eq(joined)
    result = Signal(32, name="joined_result", reset_less=True)
    with m.If(arrives):
        m.d.sync += result.eq(joined)
    return {"r": result}


def stages(config: TpuConfig) -> dict[LaneStep, tuple[Logic, ...]]:
    """What this does in the steps of a lane."""
    make = join_rows if config.sum_cycles == 1 else join_rows_late
    return {LaneStep.REDUCE: (Logic(make, registered=config.sum_cycles),)}
