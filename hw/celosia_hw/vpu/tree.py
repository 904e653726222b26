"""Behind the lanes: joins the lanes of a row to one word."""

from collections.abc import Callable
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.lane import tree_latency
from celosia.arch.vector import ReduceOp
from celosia_hw.grid import Grid
from celosia_hw.memory.reader import words_layout
from celosia_hw.pipeline import Logic, Pipeline
from celosia_hw.stream import delayed
from celosia_hw.vpu.joins import join
from celosia_hw.vpu.seconds import convert
from celosia_hw.vpu.targets import target_layout

__all__ = ["LaneTree"]


class _Join(wiring.Component):
    """The join of two words, ``config.sum_cycles`` later.

    ``active``: there are words in one of these cycles; it keeps the last join while there are none.
    """

    active: Signal
    op: Signal
    a: Signal
    b: Signal
    joined: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({"active": In(1), "op": In(ReduceOp), "a": In(32), "b": In(32),
                          "joined": Out(32)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        word = Signal(32, reset_less=True)
        with m.If(self.active):
            m.d.sync += word.eq(join(m, self._config, self.op, self.a, self.b))
        m.d.comb += self.joined.eq(word)
        return m


class _Place(wiring.Component):
    """A lane of the row that comes of the tree.

    While ``active``: ``takes`` the word; else, with ``first``, becomes zero.
    """

    active: Signal
    word: Signal
    first: Signal
    takes: Signal
    placed: Signal

    def __init__(self):
        super().__init__({"active": In(1), "word": In(32), "first": In(1), "takes": In(1),
                          "placed": Out(32)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        word = Signal(32, reset_less=True)
        with m.If(self.active & (self.takes | self.first)):
            m.d.sync += word.eq(Mux(self.takes, self.word, 0))
        m.d.comb += self.placed.eq(word)
        return m


class LaneTree(wiring.Component):
    """Joins the lanes of a row pairwise, as :func:`celosia.arch.numerics.lane_tree`.

    A level of joins takes the cycles of a sum: first those of words of one beat, then those of
    beats. Then the word is converted and broadcast, or collected: see
    :func:`celosia_hw.vpu.targets.target_layout`. Throughput: a beat a cycle, without stalls.
    Latency: ``tree_latency(config)`` from a row's last beat to the first that comes of it; the
    others follow, as many as the row has.

    Members
    -------
    i_valid : In(1), i_words : In(words_layout), i_target : In(target_layout)
        A beat of an instruction that uses the tree.
    o_valid : Out(1), o_words : Out(words_layout)
        A beat after it; while a row is collected, as far as it has come.
    coming : Out(1), target : Out(target_layout)
        ``o_valid`` in the next cycle, and what goes along with that beat. Of a row that is
        collected, a beat is written when it is full, or when the group is over.
    """

    i_valid: Signal
    i_words: data.View
    i_target: data.View
    o_valid: Signal
    o_words: data.View
    coming: Signal
    target: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i_valid": In(1), "i_words": In(words_layout(config)),
            "i_target": In(target_layout(config)), "o_valid": Out(1),
            "o_words": Out(words_layout(config)), "coming": Out(1),
            "target": Out(target_layout(config)),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        latency = tree_latency(config)
        row = Logic(lambda: {"words": self.i_words.as_value(), "target": self.i_target},
                    lambda valid: valid)
        levels = [_join_level] * exact_log2(config.lanes)
        levels += [_beat_level(bit) for bit in range(exact_log2(config.fold))]
        stages: list[list[Logic]] = []
        for level in levels:
            stages += [[Logic(level, registered=config.sum_cycles)],
                       *([] for _ in range(config.sum_cycles - 1))]
        valids = delayed(m, self.i_valid, latency - 1, name="valid")
        rows = Pipeline([m] * latency, [[row, *stages[0]], *stages[1:], []], {"config": config},
                        controls=[{"valid": valid} for valid in valids])
        target, word = rows.value("target", latency - 1), rows.value("words", latency - 1)

        # Behind a row's last beat, its word leaves in as many beats as the row has.
        beats = exact_log2(config.fold)
        slot = Signal(beats)  # of the row's beats that come
        arrives, held = valids[-1], Signal.like(target, name="held", reset_less=True)
        if beats:
            arrives = valids[-1] & target.row[:beats].all()
            with m.If(self.coming):
                m.d.sync += slot.eq(slot + 1)
            with m.If(arrives):
                m.d.sync += held.eq(target)
        now = Signal.like(target, name="now")
        m.d.comb += [self.coming.eq(arrives | (slot != 0) if beats else arrives),
                     now.eq(Mux(arrives, target.as_value(), held.as_value()) if beats else target),
                     self.target.eq(now)]
        m.d.sync += self.o_valid.eq(self.coming)
        first = now.first
        if beats:
            first = self._fold_targets(m, now, slot, first)
        lanes = len(now.lane) - beats
        m.submodules.places = places = Grid(_Place, module="vpu_place", cols=config.lanes,
                                            shared=("active", "word", "first"), active="active")
        ports = places.members
        m.d.comb += [
            ports["active"].eq(self.coming), ports["first"].eq(first),
            ports["word"].eq(convert(m, config, now.dst, word)["r"]),
            ports["takes"].eq(Cat(arrives & (~now.collect | (now.lane[:lanes] == lane))
                                  for lane in range(config.lanes))),
            self.o_words.as_value().eq(ports["placed"]),
        ]
        return m

    def _fold_targets(self, m: Module, now: data.View, slot: Signal, first: Value) -> Value:
        """Say where beat ``slot`` of what comes of a row goes; return whether it begins anew."""
        beats = len(slot)
        within, beat = now.lane[:len(now.lane) - beats], now.lane[len(now.lane) - beats:]
        full, behind = within.all(), Signal(beats + 1)
        m.d.comb += [
            behind.eq(beat + slot),  # of the beats of a row that is collected
            self.target.last.eq(now.last & slot.all()),
            self.target.row[:beats].eq(Mux(now.collect, behind, slot)),
        ]
        with m.If(now.collect):
            m.d.comb += self.target.write.eq(
                Mux(slot == 0, now.write | full, now.write & ~behind[beats]))
        # Beats of a group behind that of its last row are zero.
        return Mux(slot == 0, first | (within == 0), now.collect & now.write)


def _active(m: Module, config: TpuConfig, valid: Value, name: str) -> Value:
    """Some words are in a join into which there go some while ``valid``."""
    return reduce(or_, delayed(m, valid, config.sum_cycles - 1, name=name))


def _join_level(m: Module, config: TpuConfig, valid: Value, words: Value,
                target: data.View) -> dict[str, Value]:
    """``words``: half as many, each the join of two neighbours."""
    pairs = [words.word_select(k, 32) for k in range(len(words) // 32)]
    count = len(pairs) // 2
    joins = Grid(lambda: _Join(config), module=f"vpu_join{count}", cols=count,
                 shared=("active", "op"), active="active")
    m.submodules[f"joins{count}"] = joins  # type: ignore[arg-type]
    ports = joins.members
    m.d.comb += [
        ports["active"].eq(_active(m, config, valid, f"valid{count}")),
        ports["op"].eq(target.reduce_op),
        ports["a"].eq(Cat(pairs[0::2])), ports["b"].eq(Cat(pairs[1::2])),
    ]
    return {"words": ports["joined"]}


def _beat_level(bit: int) -> Callable[..., dict[str, Value]]:
    """Joins of the words of beats whose numbers differ in ``bit``; the later one has it set."""

    def level(m: Module, config: TpuConfig, valid: Value, words: Value,
              target: data.View) -> dict[str, Value]:
        """``words``: on the later beat, the join of both."""
        earlier = Signal(32, name=f"earlier{bit}", reset_less=True)
        with m.If(valid & ~target.row[bit]):
            m.d.sync += earlier.eq(words)
        m.submodules[f"beats{bit}"] = joins = _Join(config)
        m.d.comb += [joins.active.eq(_active(m, config, valid, f"valid_beats{bit}")),
                     joins.op.eq(target.reduce_op), joins.a.eq(earlier), joins.b.eq(words)]
        return {"words": joins.joined}

    return level
