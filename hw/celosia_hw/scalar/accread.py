"""A word of the accumulators, for ``read``."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia_hw.memory.ports import READ_LATENCY, ReadPort, ReadPortSignature, row_bits
from celosia_hw.stream import delayed

__all__ = ["AccumulatorRead"]


class AccumulatorRead(wiring.Component):
    """Reads lane ``lane`` of row ``row``.

    Members
    -------
    request : In(1)
        Ask for the row, in the next cycle; until ``granted``.
    row, lane : In(32)
        Kept the same until ``arrived``. The row is asked for out of a register.
    granted : Out(1)
        It was granted in the cycle before.
    arrived : Out(1), word : Out(32)
        READ_LATENCY cycles after that cycle the word is there, for a cycle.
    port : Out(ReadPortSignature)
        Nothing else asks meanwhile, so nothing is refused.
    """

    request: Signal
    row: Signal
    lane: Signal
    granted: Signal
    arrived: Signal
    word: Signal
    port: ReadPort

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "request": In(1), "row": In(32), "lane": In(32), "granted": Out(1),
            "arrived": Out(1), "word": Out(32),
            "port": Out(ReadPortSignature(row_bits(config), config.acc_row_bits)),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        asks, row = Signal(), Signal.like(self.port.addr, reset_less=True)
        arriving = delayed(m, self.port.granted, READ_LATENCY - 1, name="arriving")[-1]
        m.d.sync += [asks.eq(self.request & ~asks & self.port.ready & ~self.port.granted),
                     row.eq(self.row)]
        m.d.comb += [
            self.port.valid.eq(asks), self.port.addr.eq(row),
            self.granted.eq(self.port.granted), self.arrived.eq(arriving),
            self.word.eq(self.port.data.word_select(self.lane[:exact_log2(self._config.dim)], 32)),
        ]
        return m
