"""Cuts the rows of a strided block of external memory into bursts."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia_hw.bus.axi import EXT_ADDRESS_BITS, address_layout
from celosia_hw.dma.jobs import SPAN_BITS, block_bytes, walk_layout

__all__ = ["BurstWalker"]


class BurstWalker(wiring.Component):
    """Makes the AXI bursts that cover each row of a job, rows in order.

    A burst begins at the bus-aligned address at or below its first byte and ends with the row or
    before the next multiple of :func:`~celosia_hw.dma.jobs.block_bytes`, so none crosses a page.
    Rows never share a burst. One burst a cycle, also from one job to the next where jobs have two
    bursts or more; the first one is offered three cycles after its job is. ``i.ready`` comes out of
    a flip-flop.

    Parameters
    ----------
    burst_id
        ID of every burst.

    Members
    -------
    i : In(stream)
        Jobs.
    stall : In(1)
        No further burst is made; one that is offered stays.
    o : Out(stream)
        Payload of AR or AW.
    """

    i: stream.Interface
    stall: Signal
    o: stream.Interface

    def __init__(self, config: TpuConfig, burst_id: int = 0):
        self._config = config
        self._id = burst_id
        super().__init__({
            "i": In(stream.Signature(walk_layout())), "stall": In(1),
            "o": Out(stream.Signature(address_layout())),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        beat_bits = exact_log2(self._config.bus_bytes)
        block_bits = exact_log2(block_bytes(self._config)) - beat_bits
        active = Signal()
        first = Signal(EXT_ADDRESS_BITS, reset_less=True)  # byte addresses of this row
        last = Signal(EXT_ADDRESS_BITS, reset_less=True)
        beat = Signal(EXT_ADDRESS_BITS - beat_bits, reset_less=True)  # where the next burst begins
        pitch = Signal(EXT_ADDRESS_BITS, reset_less=True)
        rows = Signal(COUNT_BITS, reset_less=True)
        end = last[beat_bits:]
        job = self.i.payload
        assert len(job.span) == SPAN_BITS
        # The next job waits in registers, the address of its first row's last byte among them.
        waits, take = Signal(), Signal()
        waiting = Signal(walk_layout(), reset_less=True)
        waiting_last = Signal(EXT_ADDRESS_BITS, reset_less=True)

        ends = Signal()  # the burst ends with the row
        go = Signal()
        next_row = (first + pitch)[:EXT_ADDRESS_BITS]
        m.d.comb += [
            ends.eq(beat[block_bits:] == end[block_bits:]),
            go.eq(active & ~self.stall & (~self.o.valid | self.o.ready)),
            self.i.ready.eq(~waits),
            take.eq(waits & (~active | (go & ends & (rows == 0)))),
            self.o.payload.id.eq(self._id),
        ]
        with m.If(go):
            m.d.sync += [
                self.o.valid.eq(1),
                self.o.payload.addr.eq(Cat(Const(0, beat_bits), beat)),
                self.o.payload.len.eq(
                    Mux(ends, end[:block_bits], (1 << block_bits) - 1) - beat[:block_bits]),
            ]
            with m.If(ends):
                m.d.sync += [
                    rows.eq(rows - 1), first.eq(next_row), last.eq(last + pitch),
                    beat.eq(next_row[beat_bits:]), active.eq(rows != 0),
                ]
            with m.Else():
                m.d.sync += beat.eq(Cat(Const(0, block_bits), beat[block_bits:] + 1))
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(take):
            m.d.sync += [
                active.eq(1), first.eq(waiting.addr), beat.eq(waiting.addr[beat_bits:]),
                last.eq(waiting_last), pitch.eq(waiting.pitch), rows.eq(waiting.rows),
                waits.eq(0),
            ]
        with m.If(self.i.ready & self.i.valid):
            m.d.sync += [waits.eq(1), waiting.eq(job), waiting_last.eq(job.addr + job.span)]
        return m
