"""Cuts the rows of a strided block of external memory into bursts."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia_hw.bus.axi import EXT_ADDRESS_BITS, address_layout
from celosia_hw.dma.split import LENGTH_BITS, boundary_bytes, walk_layout

__all__ = ["BurstWalker"]


class BurstWalker(wiring.Component):
    """Makes the AXI bursts that cover each row of a command, rows in order.

    A burst begins at the bus-aligned address at or below its first byte and ends with the row or
    before the next multiple of :func:`~celosia_hw.dma.split.boundary_bytes`, so none crosses a
    page. Rows never share a burst. One burst a cycle, also from one command to the next where
    commands have two bursts or more; the first one is offered three cycles after its command is.
    ``i.ready`` comes out of a flip-flop.

    Parameters
    ----------
    burst_id
        ID of every burst.

    Members
    -------
    i : In(stream)
        Commands.
    stall : In(1)
        No further burst is made; one that is offered stays.
    o : Out(stream)
        Payload of AR or AW.
    row_last, last : Out(1)
        With ``o``: the burst ends its row, its command.
    """

    i: stream.Interface
    stall: Signal
    o: stream.Interface
    row_last: Signal
    last: Signal

    def __init__(self, config: TpuConfig, burst_id: int = 0):
        self._config = config
        self._id = burst_id
        super().__init__({
            "i": In(stream.Signature(walk_layout())), "stall": In(1),
            "o": Out(stream.Signature(address_layout())), "row_last": Out(1), "last": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        beat_bits = exact_log2(self._config.bus_bytes)
        inner_bits = exact_log2(boundary_bytes(self._config)) - beat_bits
        active = Signal()
        first = Signal(EXT_ADDRESS_BITS, reset_less=True)  # byte addresses of this row
        last = Signal(EXT_ADDRESS_BITS, reset_less=True)
        beat = Signal(EXT_ADDRESS_BITS - beat_bits, reset_less=True)  # where the next burst begins
        pitch = Signal(EXT_ADDRESS_BITS, reset_less=True)
        rows = Signal(COUNT_BITS, reset_less=True)
        end = last[beat_bits:]
        command = self.i.payload
        assert len(command.length) == LENGTH_BITS
        # The next command waits in registers, the address of its first row's last byte among them.
        waits, take = Signal(), Signal()
        waiting = Signal(walk_layout(), reset_less=True)
        waiting_last = Signal(EXT_ADDRESS_BITS, reset_less=True)

        ends = Signal()  # the burst ends with the row
        go = Signal()
        next_row = (first + pitch)[:EXT_ADDRESS_BITS]
        m.d.comb += [
            ends.eq(beat[inner_bits:] == end[inner_bits:]),
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
                    Mux(ends, end[:inner_bits], (1 << inner_bits) - 1) - beat[:inner_bits]),
                self.row_last.eq(ends), self.last.eq(ends & (rows == 0)),
            ]
            with m.If(ends):
                m.d.sync += [
                    rows.eq(rows - 1), first.eq(next_row), last.eq(last + pitch),
                    beat.eq(next_row[beat_bits:]), active.eq(rows != 0),
                ]
            with m.Else():
                m.d.sync += beat.eq(Cat(Const(0, inner_bits), beat[inner_bits:] + 1))
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(take):
            m.d.sync += [
                active.eq(1), first.eq(waiting.addr), beat.eq(waiting.addr[beat_bits:]),
                last.eq(waiting_last), pitch.eq(waiting.pitch), rows.eq(waiting.rows),
                waits.eq(0),
            ]
        with m.If(self.i.ready & self.i.valid):
            m.d.sync += [waits.eq(1), waiting.eq(command),
                         waiting_last.eq(command.addr + command.length)]
        return m
