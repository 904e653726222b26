"""The systolic array."""

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import TpuConfig
from celosia_hw.grid import Grid
from celosia_hw.mxu.pe import ProcessingElement, element_cycles, sum_bits
from celosia_hw.mxu.skew import Deskew, Skew

__all__ = ["SystolicArray"]


class SystolicArray(wiring.Component):
    """D x D weight-stationary array: a row of activations in, a row of sums out, every cycle.

    The row on ``i_acts`` in cycle t is on ``o_sums`` in t + 2D + 1; where a sum takes S cycles, in
    t + (S + 1)D + 2. Lane n of it is the sum over k ascending, starting with zero, of activation k
    times W[k][n].

    A weight tile is D stored rows in any order, one a cycle, with or without gaps. ``i_swap`` puts
    the tile to use for the rows of its cycle and later ones. It may come one cycle after the
    tile's last row, and the first row of the tile after may come in the cycle of the swap: tiles
    follow one another every D cycles.

    Members
    -------
    i_acts : In(D * lane_bits)
        Activation k in lane k.
    i_bf16 : In(1)
        Format of the activations; ignored on a chip with one format.
    i_swap : In(1)
        Use the tile that was loaded last.
    i_weights, i_weights_row, i_weights_valid, i_transpose : In
        A stored row and its number: row k of the tile W, or with ``i_transpose`` column k.
    o_sums : Out(D * sum_bits)
    """

    i_acts: Signal
    i_bf16: Signal
    i_swap: Signal
    i_weights: Signal
    i_weights_row: Signal
    i_weights_valid: Signal
    i_transpose: Signal
    o_sums: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i_acts": In(config.ub_row_bits), "i_bf16": In(1), "i_swap": In(1),
            "i_weights": In(config.ub_row_bits), "i_weights_row": In(ceil_log2(config.dim)),
            "i_weights_valid": In(1), "i_transpose": In(1),
            "o_sums": Out(config.dim * sum_bits(config)),
        })

    @staticmethod
    def latency(config: TpuConfig) -> int:
        """Cycles from a row of activations to its sums."""
        down = config.sum_cycles * (config.dim - 1)
        return down + config.dim - 1 + element_cycles(config)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        dim, lane, down = config.dim, config.lane_bits, config.sum_cycles

        # What enters a row at the left is as late as what comes down to it.
        m.submodules.acts = acts = Skew(dim, lane, step=down)
        m.submodules.weights = top = left = Skew(dim, lane)
        if down > 1:
            m.submodules.left = left = Skew(dim, lane, step=down)
            m.d.comb += left.i.eq(self.i_weights)
        m.submodules.take_top = take_top = Skew(dim, 1, step=down, reset=True)
        m.submodules.take_left = take_left = Skew(dim, 1, reset=True)
        m.submodules.deskew = deskew = Deskew(dim, sum_bits(config))
        m.submodules.elements = elements = Grid(
            lambda: ProcessingElement(config), module="celosia_pe", rows=dim, cols=dim,
            right=ProcessingElement.right(config), down=ProcessingElement.down(config))

        row_select = Const(1, dim) << self.i_weights_row
        m.d.comb += [
            acts.i.eq(self.i_acts), top.i.eq(self.i_weights), self.o_sums.eq(deskew.o)]
        with m.If(self.i_weights_valid):
            with m.If(self.i_transpose):
                m.d.comb += take_left.i.eq(row_select)
            with m.Else():
                m.d.comb += take_top.i.eq(row_select)

        inputs = {
            "act": acts.o, "swap": self._chain(m, self.i_swap, "swap"),
            "left": left.o, "top": top.o, "take_top": take_top.o,
            "take_left": take_left.o, "sum": Const(0, len(self.o_sums)),
        }
        if config.int8 and config.bf16:
            inputs["bf16"] = self._chain(m, self.i_bf16, "bf16")
        m.d.comb += [elements.members[f"{name}_i"].eq(value) for name, value in inputs.items()]
        m.d.comb += deskew.i.eq(elements.members["sum_o"])
        return m

    def _chain(self, m: Module, head: Signal, name: str) -> Value:
        """Bit k is ``head`` as long ago as a sum is on its way to row k."""
        step = self._config.sum_cycles
        line = Signal(step * (self._config.dim - 1), name=name)
        m.d.sync += line.eq(Cat(head, line[:-1]))
        return Cat(head, line[step - 1::step])
