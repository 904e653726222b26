"""Behind the lanes: joins the lanes of a row to one word."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

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
    """The join of two words, a cycle later; keeps it while not ``active``."""

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
    """Lane ``number`` of the row that comes of the tree.

    While ``active``: takes ``word`` if it goes to this ``lane``, or to ``all`` of them; else, with
    ``first``, becomes zero.
    """

    active: Signal
    word: Signal
    all: Signal
    first: Signal
    lane: Signal
    number: Signal
    placed: Signal

    def __init__(self, bits: int):
        super().__init__({"active": In(1), "word": In(32), "all": In(1), "first": In(1),
                          "lane": In(bits), "number": In(bits), "placed": Out(32)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        word = Signal(32, reset_less=True)
        takes = Signal()
        m.d.comb += takes.eq(self.all | (self.lane == self.number))
        with m.If(self.active & (takes | self.first)):
            m.d.sync += word.eq(Mux(takes, self.word, 0))
        m.d.comb += self.placed.eq(word)
        return m


class LaneTree(wiring.Component):
    """Joins the lanes of a row pairwise, as :func:`celosia.arch.numerics.lane_tree`.

    A level of joins takes a cycle; then the word is converted and broadcast, or collected: see
    :func:`celosia_hw.vpu.targets.target_layout`. Throughput: a row a cycle, without stalls.
    Latency: ``tree_latency(config)``.

    Members
    -------
    i_valid : In(1), i_words : In(words_layout), i_target : In(target_layout)
        A row of an instruction that uses the tree.
    o_valid : Out(1), o_words : Out(words_layout)
        The row after it; while a row is collected, as far as it has come.
    coming : Out(1), target : Out(target_layout)
        ``o_valid`` in the next cycle, and what goes along with that row.
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
        latency = tree_latency(self._config)
        row = Logic(lambda: {"words": self.i_words.as_value(), "target": self.i_target},
                    lambda valid: valid)
        level = Logic(_join_level, registered=True)
        place = Logic(_place, registered=True)
        stages = [[level] for _ in range(latency - 1)] + [[place]]
        valids = delayed(m, self.i_valid, latency, name="valid")
        rows = Pipeline([m] * latency, [[row, *stages[0]], *stages[1:]], {"config": self._config},
                        controls=[{"valid": valid} for valid in valids])
        m.d.comb += [
            self.coming.eq(valids[-2]), self.target.eq(rows.value("target", latency - 1)),
            self.o_valid.eq(valids[-1]), self.o_words.as_value().eq(rows.value("words", latency)),
        ]
        return m


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
        ports["active"].eq(valid), ports["op"].eq(target.reduce_op),
        ports["a"].eq(Cat(pairs[0::2])), ports["b"].eq(Cat(pairs[1::2])),
    ]
    return {"words": ports["joined"]}


def _place(m: Module, config: TpuConfig, valid: Value, words: Value,
           target: data.View) -> dict[str, Value]:
    """``words``: the one word that is left, converted, in all lanes or in one."""
    bits = ceil_log2(config.dim)
    m.submodules.places = places = Grid(
        lambda: _Place(bits), module="vpu_place", cols=config.dim,
        shared=("active", "word", "all", "first", "lane"), active="active")
    ports = places.members
    m.d.comb += [
        ports["active"].eq(valid), ports["all"].eq(~target.collect),
        ports["word"].eq(convert(m, config, target.dst, words)["r"]),
        ports["first"].eq(target.first), ports["lane"].eq(target.lane),
        ports["number"].eq(Cat(Const(lane, bits) for lane in range(config.dim))),
    ]
    return {"words": ports["placed"]}
