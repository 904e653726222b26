"""Cuts the rows of a strided block of external memory into bursts."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia_hw.bus.axi import EXT_ADDRESS_BITS, address_layout
from celosia_hw.dma.split import LENGTH_BITS, boundary_bytes, walk_layout

__all__ = ["BurstWalker"]


def _end_layout(config: TpuConfig) -> data.StructLayout:
    """A byte from the boundary before its row on: how many boundaries on, and where from there."""
    byte = exact_log2(boundary_bytes(config))
    return data.StructLayout({"byte": byte, "bursts": LENGTH_BITS + 1 - byte})


class BurstWalker(wiring.Component):
    """Makes the AXI bursts that cover each row of a command, rows in order.

    A burst begins at the bus-aligned address at or below its first byte and ends with the row or
    before the next multiple of :func:`~celosia_hw.dma.split.boundary_bytes`, so none crosses a
    page. Rows never share a burst. One burst a cycle, also from one command to the next where
    commands have two bursts or more; the first one is offered three cycles after its command is.
    ``i.ready`` comes out of a flip-flop. On a ``small`` chip it is offered two cycles after, and
    ``i.ready`` follows ``stall``, and ``o.ready``.

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
        With ``o``: whether this burst ends its row, its command.
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
            "o": Out(stream.Signature(address_layout())),
            "row_last": Out(1), "last": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        beat_bits = exact_log2(self._config.bus_bytes)
        edge = exact_log2(boundary_bytes(self._config))
        inner_bits = edge - beat_bits
        active = Signal()
        first = Signal(EXT_ADDRESS_BITS, reset_less=True)  # byte of this row
        length = Signal(LENGTH_BITS, reset_less=True)
        beat = Signal(EXT_ADDRESS_BITS - beat_bits, reset_less=True)  # where the next burst begins
        pitch = Signal(EXT_ADDRESS_BITS, reset_less=True)
        rows = Signal(COUNT_BITS, reset_less=True)
        final = Signal(reset_less=True)  # rows == 0
        command = self.i.payload
        assert len(command.length) == LENGTH_BITS
        # Where the last byte of the row is, from the boundary at or below its first one.
        end = Signal(_end_layout(self._config), reset_less=True)
        ends = Signal(reset_less=True)  # the burst ends with the row: end.bursts == 0
        # The next command waits in registers, the end of its first row among them; of a chip that
        # is small where it comes from.
        waits, take = Signal(), Signal()
        waiting = Signal(walk_layout(), reset_less=True)
        waiting_end = Signal.like(end, reset_less=True)
        comes = [waits.eq(1), waiting.eq(command),
                 waiting_end.eq(command.addr[:edge] + command.length)]

        go = Signal()
        offered, leaves, address = self.o.valid, self.o.ready, self.o.payload
        next_row = (first + pitch)[:EXT_ADDRESS_BITS]
        next_end = Signal.like(end)
        m.d.comb += [
            next_end.eq(next_row[:edge] + length),
            go.eq(active & ~self.stall & (~offered | leaves)),
            self.i.ready.eq(~active | (go & ends & final) if self._config.small else ~waits),
            take.eq(waits & (~active | (go & ends & final))),
            address.id.eq(self._id),
        ]
        with m.If(go):
            m.d.sync += [
                offered.eq(1), address.addr.eq(Cat(Const(0, beat_bits), beat)),
                address.len.eq(
                    Mux(ends, end.byte[beat_bits:], (1 << inner_bits) - 1) - beat[:inner_bits]),
                self.row_last.eq(ends), self.last.eq(ends & final),
            ]
            with m.If(ends):
                m.d.sync += [
                    rows.eq(rows - 1), final.eq(rows == 1), first.eq(next_row), end.eq(next_end),
                    ends.eq(next_end.bursts == 0), beat.eq(next_row[beat_bits:]),
                    active.eq(~final),
                ]
            with m.Else():
                m.d.sync += [beat.eq(Cat(Const(0, inner_bits), beat[inner_bits:] + 1)),
                             end.bursts.eq(end.bursts - 1), ends.eq(end.bursts == 1)]
        with m.Elif(leaves):
            m.d.sync += offered.eq(0)
        with m.If(take):
            m.d.sync += [
                active.eq(1), first.eq(waiting.addr), beat.eq(waiting.addr[beat_bits:]),
                length.eq(waiting.length), end.eq(waiting_end), ends.eq(waiting_end.bursts == 0),
                pitch.eq(waiting.pitch), rows.eq(waiting.rows), final.eq(waiting.rows == 0),
            ]
            if not self._config.small:
                m.d.sync += waits.eq(0)
        if self._config.small:
            with m.If(self.i.valid):
                m.d.comb += comes
        else:
            with m.If(self.i.ready & self.i.valid):
                m.d.sync += comes
        return m
