"""Between beats of the bus and units of an external row (see :mod:`celosia_hw.dma.split`).

Both directions rotate every word by the row's offset in its first beat and put each output
together from the bytes of two neighbours: bytes below the offset belong to one, the others to
the other.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia_hw.bus.axi import write_layout
from celosia_hw.dma.split import align_layout, boundary_bytes

__all__ = ["LoadAligner", "StoreAligner", "loaded_layout", "sent_layout", "stored_unit_layout",
           "unit_layout"]


def loaded_layout(config: TpuConfig) -> data.StructLayout:
    """A beat that was read: whether it is an error, and whether it ends its row, its command."""
    return data.StructLayout({"data": 8 * config.bus_bytes, "error": 1, "row_last": 1, "last": 1})


def unit_layout(config: TpuConfig) -> data.StructLayout:
    """A unit of a row that was read, and whether one of its beats was an error."""
    return data.StructLayout({"data": 8 * config.bus_bytes, "error": 1})


def stored_unit_layout(config: TpuConfig) -> data.StructLayout:
    """A unit of a row to be written, and whether it ends its row, its command."""
    return data.StructLayout({"data": 8 * config.bus_bytes, "row_last": 1, "last": 1})


def sent_layout(config: TpuConfig) -> data.StructLayout:
    """A beat on its way to the bus, and whether it is the last of its command."""
    return data.StructLayout({"beat": write_layout(config.bus_bytes), "last": 1})


def _rotate(m: Module, word: Value, amount: Value, left: bool) -> Value:
    """Rotate a word by ``amount`` bytes towards byte 0, or with ``left`` away from it."""
    for i, bit in enumerate(amount):
        bits = 8 << i
        turned = Cat(word[-bits:], word[:-bits]) if left else Cat(word[bits:], word[:bits])
        stage = Signal(len(word), name=f"rotated{i}")
        m.d.comb += stage.eq(Mux(bit, turned, word))
        word = stage
    return word


def _select_bytes(mask: Value, ones: Value, zeros: Value) -> Value:
    return Cat(Mux(mask[k], ones.word_select(k, 8), zeros.word_select(k, 8))
               for k in range(len(mask)))


class LoadAligner(wiring.Component):
    """Beats to units, row by row.

    Throughput: a beat a cycle and a unit a cycle. The only lost cycle is where a row that has as
    many beats as units, more than one and not aligned, comes before a row that is aligned or fits
    in one beat. No latency: a unit is offered in the cycle in which its last beat is.

    Members
    -------
    command : In(stream of align_layout)
        Of the rows that come.
    i : In(stream of loaded_layout)
        Beats.
    o : Out(stream of unit_layout)
        Units; bytes beyond the end of the row are undefined.
    """

    command: stream.Interface
    i: stream.Interface
    o: stream.Interface

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(align_layout(config))),
            "i": In(stream.Signature(loaded_layout(config))),
            "o": Out(stream.Signature(unit_layout(config))),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        width = self._config.bus_bytes
        bits = exact_log2(width)
        active = Signal()
        offset = Signal(bits, reset_less=True)
        pitch = Signal(bits, reset_less=True)
        length = Signal(bits, reset_less=True)
        extra = Signal(reset_less=True)  # this row has one beat more than units
        first = Signal(reset_less=True)
        hold = Signal(8 * width, reset_less=True)  # last beat, rotated
        hold_error = Signal(reset_less=True)
        flush = Signal()  # the last unit of the row before is in `hold`

        beat = self.i.payload
        direct = Signal()  # the beat is a unit
        fill = Signal()  # the beat begins a unit
        take = Signal()
        turned = _rotate(m, beat.data, offset, left=False)
        below = Const((1 << width) - 1, width) >> offset
        m.d.comb += [
            direct.eq((offset == 0) | (first & beat.row_last)),
            fill.eq(first & ~direct),
            self.o.valid.eq(flush | (self.i.valid & active & ~fill)),
            self.o.payload.data.eq(_select_bytes(
                Mux(direct & ~flush, 0, below | flush.replicate(width)), hold, turned)),
            self.o.payload.error.eq(
                Mux(flush, hold_error, beat.error | (~direct & hold_error))),
            self.i.ready.eq(active & Mux(fill, ~flush | self.o.ready, ~flush & self.o.ready)),
            take.eq(self.i.valid & self.i.ready),
            self.command.ready.eq(~active | (take & beat.last)),
        ]
        with m.If(take):
            m.d.sync += [hold.eq(turned), hold_error.eq(beat.error), first.eq(beat.row_last),
                         flush.eq(~direct & ~fill & beat.row_last & ~extra)]
        with m.Elif(self.o.ready):
            m.d.sync += flush.eq(0)

        def begin(at: Value, length: Value):
            return [offset.eq(at), extra.eq((at + length)[bits])]

        command = self.command.payload
        with m.If(take & beat.row_last):
            m.d.sync += begin((offset + pitch)[:bits], length)
        with m.If(self.command.ready):
            m.d.sync += active.eq(self.command.valid)
        with m.If(self.command.ready & self.command.valid):
            m.d.sync += [*begin(command.addr[:bits], command.length), first.eq(1),
                         length.eq(command.length), pitch.eq(command.pitch)]
        return m


class StoreAligner(wiring.Component):
    """Units to beats with strobes, row by row. A beat a cycle; one cycle of latency.

    Members
    -------
    command : In(stream of align_layout)
        Of the rows that come.
    i : In(stream of stored_unit_layout)
        Units; bytes beyond the end of the row do not matter.
    o : Out(stream of sent_layout)
        ``beat.last`` where a burst of :class:`~celosia_hw.dma.walker.BurstWalker` ends.
    """

    command: stream.Interface
    i: stream.Interface
    o: stream.Interface

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(align_layout(config))),
            "i": In(stream.Signature(stored_unit_layout(config))),
            "o": Out(stream.Signature(sent_layout(config))),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        width = self._config.bus_bytes
        bits = exact_log2(width)
        addr_bits = exact_log2(boundary_bytes(self._config))
        active = Signal()
        addr = Signal(addr_bits, reset_less=True)  # first byte of this row
        pitch = Signal(addr_bits, reset_less=True)
        length = Signal(bits, reset_less=True)
        number = Signal(addr_bits - bits, reset_less=True)  # of the beat, from a boundary on
        end = Signal(bits, reset_less=True)  # where in its beat the row's last byte lies
        extra = Signal(reset_less=True)  # this row has one beat more than units
        first = Signal(reset_less=True)
        flush = Signal()  # the last beat of the row is in `hold`
        hold_last = Signal(reset_less=True)
        hold = Signal(8 * width, reset_less=True)  # last unit, rotated
        word = Signal(8 * width, reset_less=True)

        unit, beat = self.i.payload, self.o.payload.beat
        row_last, last, go = Signal(), Signal(), Signal()
        offset = addr[:bits]
        turned = _rotate(m, unit.data, offset, left=True)
        from_offset = (Const((1 << width) - 1, width) << offset)[:width]
        to_end = Const((1 << width) - 1, width) >> (width - 1 - end)[:bits]
        m.d.comb += [
            row_last.eq(flush | (unit.row_last & ~extra)),
            last.eq(row_last & Mux(flush, hold_last, unit.last)),
            go.eq(active & (self.i.valid | flush) & (~self.o.valid | self.o.ready)),
            self.i.ready.eq(go & ~flush), beat.data.eq(word),
            self.command.ready.eq(~active | (go & last)),
        ]
        with m.If(go):
            m.d.sync += [
                self.o.valid.eq(1),
                word.eq(_select_bytes(from_offset, turned, hold)),
                beat.strb.eq(Mux(first, from_offset, -1) & Mux(row_last, to_end, -1)),
                beat.last.eq(row_last | number.all()),
                self.o.payload.last.eq(last),
                hold.eq(turned), hold_last.eq(unit.last),
                flush.eq(~flush & unit.row_last & extra),
            ]
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)

        def begin(at: Value, length: Value):
            total = Signal(bits + 1, name="total")
            m.d.comb += total.eq(at[:bits] + length)
            return [addr.eq(at), number.eq(at[bits:]), first.eq(1), end.eq(total),
                    extra.eq(total[bits])]

        command = self.command.payload
        following = begin((addr + pitch)[:addr_bits], length)
        starting = begin(command.addr, command.length)
        with m.If(go):
            m.d.sync += [number.eq(number + 1), first.eq(0)]
            with m.If(row_last):
                m.d.sync += following
        with m.If(self.command.ready):
            m.d.sync += active.eq(self.command.valid)
        with m.If(self.command.ready & self.command.valid):
            m.d.sync += [*starting, length.eq(command.length), pitch.eq(command.pitch)]
        return m
