"""Behind the lanes: joins the lanes of a row to one word."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2, exact_log2

from celosia.arch.config import TpuConfig
from celosia_hw.grid import Grid
from celosia_hw.memory.reader import words_layout
from celosia_hw.stream import delayed
from celosia_hw.vpu import stages
from celosia_hw.vpu.joins import join
from celosia_hw.vpu.targets import target_layout

__all__ = ["LaneTree", "tree_latency"]


def tree_latency(config: TpuConfig) -> int:
    """Cycles from the lanes' result to the row that comes of it."""
    return exact_log2(config.dim) + 1


class _Join(wiring.Component):
    """The join of two words, a cycle later; keeps it while not ``active``."""

    active: Signal
    op: Signal
    a: Signal
    b: Signal
    joined: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({"active": In(1), "op": In(3), "a": In(32), "b": In(32),
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
        config = self._config
        m = Module()
        valid, target = self.i_valid, self.i_target
        words = [self.i_words[lane] for lane in range(config.dim)]

        valids = delayed(m, self.i_valid, exact_log2(config.dim), name="valid")
        for level in range(exact_log2(config.dim)):
            count = len(words) // 2
            joins = Grid(lambda: _Join(config), module=f"vpu_join{count}", cols=count,
                         shared=("active", "op"), active="active")
            m.submodules[f"joins{count}"] = joins  # type: ignore[arg-type]
            ports = joins.members
            m.d.comb += [
                ports["active"].eq(valid), ports["op"].eq(target.reduce_op),
                ports["a"].eq(Cat(words[0::2])), ports["b"].eq(Cat(words[1::2])),
            ]
            words = [ports["joined"].word_select(i, 32) for i in range(count)]
            following = Signal(target_layout(config), name=f"target{level}", reset_less=True)
            with m.If(valid):
                m.d.sync += following.eq(target)
            valid, target = valids[level + 1], following

        bits = ceil_log2(config.dim)
        m.submodules.places = places = Grid(
            lambda: _Place(bits), module="vpu_place", cols=config.dim,
            shared=("active", "word", "all", "first", "lane"), active="active")
        ports = places.members
        m.d.comb += [
            ports["active"].eq(valid), ports["all"].eq(~target.collect),
            ports["word"].eq(stages.convert(m, config, target.dst, words[0])),
            ports["first"].eq(target.first), ports["lane"].eq(target.lane),
            ports["number"].eq(Cat(Const(lane, bits) for lane in range(config.dim))),
            self.o_words.as_value().eq(ports["placed"]),
        ]
        m.d.comb += [self.coming.eq(valid), self.target.eq(target)]
        m.d.sync += self.o_valid.eq(valid)
        return m
