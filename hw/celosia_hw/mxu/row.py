"""A row of the systolic array."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.emit import instantiate
from celosia_hw.mxu.pe import ProcessingElement

__all__ = ["ArrayRow"]


class ArrayRow(wiring.Component):
    """D processing elements; activations and their control enter at the left, sums at the top.

    What enters at the left in cycle t reaches element n in t + n. What enters at the top of element n
    is on the bottom of it one cycle later; for sums see :class:`ProcessingElement`. Control is
    cleared by a reset, data is not.

    Members
    -------
    i_act, i_valid, i_swap, i_bf16 : In
        Activation and its control.
    i_left : In(lane_bits)
        Transposed weights.
    i_take_top : In(1)
        Element 0 keeps the weight that arrives from above; element n does so n cycles later.
    i_take_left, o_take_left
        For each element: it keeps the weight that arrives from the left.
    i_top, o_bottom
        Weights as stored, a lane for each element.
    i_sum, o_sum
        Sums, 32 bits for each element.
    """

    def __init__(self, config: TpuConfig):
        self._config = config
        dim, lane = config.dim, config.lane_bits
        both = {"i_bf16": In(1)} if config.int8 and config.bf16 else {}
        super().__init__({
            "i_act": In(lane), "i_valid": In(1), "i_swap": In(1), "i_left": In(lane),
            "i_take_top": In(1), "i_take_left": In(dim), "o_take_left": Out(dim),
            "i_top": In(dim * lane), "o_bottom": Out(dim * lane),
            "i_sum": In(dim * 32), "o_sum": Out(dim * 32), **both,
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        dim, lane = self._config.dim, self._config.lane_bits

        def chain(head: Signal, name: str) -> Cat:
            """``head`` in this cycle, one cycle ago, ... D cycles ago."""
            line = Signal(dim, name=name)
            m.d.sync += line.eq(Cat(head, line[:-1]))
            return Cat(head, line)

        valid = chain(self.i_valid, "valid")
        swap = chain(self.i_swap, "swap")
        take_top = chain(self.i_take_top, "take_top")
        both = hasattr(self, "i_bf16")
        bf16 = chain(self.i_bf16, "bf16") if both else None

        take_left = Signal(dim)
        weights = Signal(dim * lane, reset_less=True)
        m.d.sync += [take_left.eq(self.i_take_left), weights.eq(self.i_top)]
        m.d.comb += [self.o_take_left.eq(take_left), self.o_bottom.eq(weights)]

        act, left = self.i_act, self.i_left
        sums = []
        for n in range(dim):
            pe = ProcessingElement(self._config)
            instantiate(m, platform, pe, module="celosia_pe", name=f"pe{n}")
            m.d.comb += [
                pe.i_act.eq(act), pe.i_valid.eq(valid[n]), pe.i_swap.eq(swap[n]),
                pe.i_add.eq(valid[n + 1]), pe.i_left.eq(left),
                pe.i_top.eq(self.i_top.word_select(n, lane)),
                pe.i_take_top.eq(take_top[n]), pe.i_take_left.eq(self.i_take_left[n]),
                pe.i_sum.eq(self.i_sum.word_select(n, 32)),
            ]
            if bf16 is not None:
                m.d.comb += [pe.i_bf16.eq(bf16[n]), pe.i_add_bf16.eq(bf16[n + 1])]
            act, left = pe.o_act, pe.o_right
            sums.append(pe.o_sum)
        m.d.comb += self.o_sum.eq(Cat(*sums))
        return m
