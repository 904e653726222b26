"""The on-chip rows of a DMA command, and reading them."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia.arch.isa import Mem
from celosia_hw.dma.jobs import rows_layout
from celosia_hw.memory.ports import READ_LATENCY, ReadPortSignature, row_bits
from celosia_hw.stream import Queue, delayed, outstanding

__all__ = ["JobRowReader", "RowWalk"]

#: Rows that may be under way or wait: a read's latency, and a cycle each to queue and to credit.
_ROWS_AHEAD = 4


class RowWalk(wiring.Component):
    """Walks ``row + m*row_step + g*group_step``, g innermost. A row a cycle, also between jobs.

    Members
    -------
    i : In(stream)
        Jobs.
    valid : Out(1)
        There is a row.
    mem, row : Out
    last : Out(1)
        It is the last row of the job.
    step : In(1)
        Go on to the next one; only with ``valid``.
    """

    i: stream.Interface
    valid: Signal
    mem: Signal
    row: Signal
    last: Signal
    step: Signal

    def __init__(self, config: TpuConfig):
        self._bits = row_bits(config)
        super().__init__({
            "i": In(stream.Signature(rows_layout(config))), "valid": Out(1), "mem": Out(1),
            "row": Out(self._bits), "last": Out(1), "step": In(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        first = Signal(self._bits, reset_less=True)  # on-chip row of the external row's beginning
        row_step = Signal(self._bits, reset_less=True)
        group_step = Signal(self._bits, reset_less=True)
        rows = Signal(COUNT_BITS, reset_less=True)
        groups = Signal(COUNT_BITS, reset_less=True)
        groups_of_row = Signal(COUNT_BITS, reset_less=True)
        m.d.comb += [
            self.last.eq((rows == 0) & (groups == 0)),
            self.i.ready.eq(~self.valid | (self.step & self.last)),
        ]
        with m.If(self.step):
            with m.If(groups == 0):
                m.d.sync += [
                    self.row.eq(first + row_step), first.eq(first + row_step),
                    groups.eq(groups_of_row), rows.eq(rows - 1),
                ]
            with m.Else():
                m.d.sync += [self.row.eq(self.row + group_step), groups.eq(groups - 1)]
        with m.If(self.i.ready):
            m.d.sync += self.valid.eq(self.i.valid)
        with m.If(self.i.ready & self.i.valid):
            job = self.i.payload
            m.d.sync += [
                self.mem.eq(job.mem), self.row.eq(job.row), first.eq(job.row),
                rows.eq(job.rows), groups.eq(job.groups), groups_of_row.eq(job.groups),
                row_step.eq(job.row_step), group_step.eq(job.group_step),
            ]
        return m


class JobRowReader(wiring.Component):
    """Reads the on-chip rows of jobs into a queue. A row a cycle.

    Members
    -------
    i : In(stream)
        Jobs.
    ub, acc : Out
        Read ports.
    o : Out(stream)
        Rows of D lanes of 32 bits; unified-buffer lanes in the low bits, the others undefined.
    reading : Out(1)
        A row is asked for.
    read : Out(1)
        It is granted in this cycle.
    """

    i: stream.Interface
    ub: Any
    acc: Any
    o: stream.Interface
    reading: Signal
    read: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        bits = row_bits(config)
        super().__init__({
            "i": In(stream.Signature(rows_layout(config))),
            "ub": Out(ReadPortSignature(bits, config.ub_row_bits)),
            "acc": Out(ReadPortSignature(bits, config.acc_row_bits)),
            "o": Out(stream.Signature(config.acc_row_bits)),
            "reading": Out(1), "read": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.walk = walk = RowWalk(self._config)
        m.submodules.queue = queue = Queue(self._config.acc_row_bits, _ROWS_AHEAD)
        wiring.connect(m, wiring.flipped(self.i), walk.i)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        ahead = outstanding(m, self.read, queue.o.valid & queue.o.ready, _ROWS_AHEAD, name="ahead")
        m.d.comb += [
            self.reading.eq(walk.valid & (ahead != _ROWS_AHEAD)),
            self.ub.valid.eq(self.reading & (walk.mem == Mem.UB)),
            self.acc.valid.eq(self.reading & (walk.mem == Mem.ACC)),
            self.ub.addr.eq(walk.row), self.acc.addr.eq(walk.row),
            self.read.eq(self.reading & Mux(walk.mem == Mem.ACC, self.acc.ready, self.ub.ready)),
            walk.step.eq(self.read),
        ]

        arrives = delayed(m, self.read, READ_LATENCY, name="arrives")[-1]
        mem = delayed(m, walk.mem, READ_LATENCY, name="mem")[-1]
        bits = self._config.lane_bits
        ub_row = Cat(  # the upper bits of a lane do not matter: those of the other memory are free
            Cat(self.ub.data.word_select(k, bits), self.acc.data[32 * k + bits:32 * k + 32])
            for k in range(self._config.dim))
        m.d.comb += [
            queue.i.valid.eq(arrives),
            queue.i.payload.eq(Mux(mem == Mem.ACC, self.acc.data, ub_row)),
        ]
        return m
