"""Brings the results of lanes and tree to the writer."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.memory.reader import words_layout
from celosia_hw.memory.writer import result_layout
from celosia_hw.vpu.targets import target_layout

__all__ = ["Results"]


class Results(wiring.Component):
    """Joins the rows that leave the lanes and the tree, which never do in the same cycle.

    Where a row goes is known a cycle before its words: the memories, which are asked in the cycle
    in which it leaves, hear it out of flip-flops.

    Members
    -------
    lanes_coming, tree_coming : In(1), lanes_target, tree_target : In(target_layout)
        A row leaves the lanes, the tree, in the next cycle, and what goes along with it.
    words : In(words_layout)
        The words of the row that leaves now.
    valid : Out(1), o : Out(result_layout)
        A row for the writer.
    dropped : Out(1)
        A row leaves, and nothing of it is written.
    """

    lanes_coming: Signal
    tree_coming: Signal
    lanes_target: data.View
    tree_target: data.View
    words: data.View
    valid: Signal
    o: data.View
    dropped: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        target = target_layout(config)
        super().__init__({
            "lanes_coming": In(1), "tree_coming": In(1), "lanes_target": In(target),
            "tree_target": In(target), "words": In(words_layout(config)), "valid": Out(1),
            "o": Out(result_layout(config)), "dropped": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        coming, kept = Signal(), Signal()
        following = Signal(target_layout(self._config))
        target = Signal(target_layout(self._config), reset_less=True)
        m.d.comb += [
            coming.eq(self.tree_coming | self.lanes_coming),
            following.eq(Mux(self.tree_coming, self.tree_target.as_value(),
                             self.lanes_target.as_value())),
            kept.eq(following.write | following.last),
        ]
        m.d.sync += [self.valid.eq(coming & kept), self.dropped.eq(coming & ~kept)]
        with m.If(coming):
            m.d.sync += target.eq(following)
        m.d.comb += [
            self.o.words.eq(self.words), self.o.skip.eq(~target.write),
            *(self.o[name].eq(target[name]) for name in ("acc", "last", "row", "error")),
        ]
        return m
