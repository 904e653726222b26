"""Between beats of the bus and units of an external row (see :mod:`celosia_hw.dma.jobs`).

Both directions rotate every word by the row's offset in its first beat and put each output
together from the bytes of two neighbours: bytes below the offset belong to one, the others to
the other.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia_hw.bus.axi import read_layout, write_layout
from celosia_hw.dma.jobs import SPAN_BITS, align_layout, block_bytes

__all__ = ["LoadAligner", "StoreAligner", "unit_layout"]


def unit_layout(config: TpuConfig) -> data.StructLayout:
    """A unit of a row that was read, and whether one of its beats was an error."""
    return data.StructLayout({"data": 8 * config.bus_bytes, "error": 1})


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
    job : In(stream)
        Rows to expect.
    i : In(stream)
        Payload of R.
    o : Out(stream)
        Units; bytes beyond the end of the row are undefined.
    """

    job: stream.Interface
    i: stream.Interface
    o: stream.Interface

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "job": In(stream.Signature(align_layout(config))),
            "i": In(stream.Signature(read_layout(config.bus_bytes))),
            "o": Out(stream.Signature(unit_layout(config))),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        width = self._config.bus_bytes
        bits = exact_log2(width)
        active = Signal()
        offset = Signal(bits, reset_less=True)
        pitch = Signal(bits, reset_less=True)
        span = Signal(SPAN_BITS, reset_less=True)
        rows = Signal(COUNT_BITS, reset_less=True)
        beats = Signal(SPAN_BITS - bits + 1, reset_less=True)  # left of this row, 0 at the last
        extra = Signal(reset_less=True)  # this row has one beat more than units
        first = Signal(reset_less=True)
        hold = Signal(8 * width, reset_less=True)  # last beat, rotated
        hold_error = Signal(reset_less=True)
        flush = Signal()  # the last unit of the row before is in `hold`

        last = Signal()
        direct = Signal()  # the beat is a unit
        fill = Signal()  # the beat begins a unit
        take = Signal()
        error = Signal()
        turned = _rotate(m, self.i.payload.data, offset, left=False)
        below = Const((1 << width) - 1, width) >> offset
        m.d.comb += [
            last.eq(beats == 0),
            direct.eq((offset == 0) | (first & last)),
            fill.eq(first & ~direct),
            error.eq(self.i.payload.resp != 0),
            self.o.valid.eq(flush | (self.i.valid & active & ~fill)),
            self.o.payload.data.eq(_select_bytes(
                Mux(direct & ~flush, 0, below | flush.replicate(width)), hold, turned)),
            self.o.payload.error.eq(
                Mux(flush, hold_error, error | (~direct & hold_error))),
            self.i.ready.eq(active & Mux(fill, ~flush | self.o.ready, ~flush & self.o.ready)),
            take.eq(self.i.valid & self.i.ready),
            self.job.ready.eq(~active | (take & last & (rows == 0))),
        ]
        with m.If(take):
            m.d.sync += [hold.eq(turned), hold_error.eq(error)]
            m.d.sync += flush.eq(~direct & ~fill & last & ~extra)
        with m.Elif(self.o.ready):
            m.d.sync += flush.eq(0)

        def begin(at: Value, length: Value):
            end = Signal(bits + 1, name="end")
            m.d.comb += end.eq(at[:bits] + length[:bits])
            return [offset.eq(at), beats.eq(length[bits:] + end[bits]), extra.eq(end[bits])]

        job = self.job.payload
        following = begin(offset + pitch, span)
        starting = begin(job.addr[:bits], job.span)
        with m.If(take):
            m.d.sync += [beats.eq(beats - 1), first.eq(0)]
            with m.If(last):
                m.d.sync += [*following, first.eq(1), rows.eq(rows - 1)]
        with m.If(self.job.ready):
            m.d.sync += active.eq(self.job.valid)
        with m.If(self.job.ready & self.job.valid):
            m.d.sync += [*starting, first.eq(1), rows.eq(job.rows), span.eq(job.span),
                         pitch.eq(job.pitch)]
        return m


class StoreAligner(wiring.Component):
    """Units to beats with strobes, row by row. A beat a cycle; one cycle of latency.

    Members
    -------
    job : In(stream)
        Rows to expect.
    i : In(stream)
        Units; bytes beyond the end of the row do not matter.
    o : Out(stream)
        Payload of W; ``last`` where a burst of :class:`~celosia_hw.dma.walker.BurstWalker` ends.
    job_last : Out(1)
        With ``o``: the last beat of a job.
    """

    job: stream.Interface
    i: stream.Interface
    o: stream.Interface
    job_last: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "job": In(stream.Signature(align_layout(config))),
            "i": In(stream.Signature(8 * config.bus_bytes)),
            "o": Out(stream.Signature(write_layout(config.bus_bytes))),
            "job_last": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        width = self._config.bus_bytes
        bits = exact_log2(width)
        addr_bits = exact_log2(block_bytes(self._config))
        active = Signal()
        addr = Signal(addr_bits, reset_less=True)  # first byte of this row
        pitch = Signal(addr_bits, reset_less=True)
        span = Signal(SPAN_BITS, reset_less=True)
        rows = Signal(COUNT_BITS, reset_less=True)
        beats = Signal(SPAN_BITS - bits + 1, reset_less=True)  # left of this row, 0 at the last
        in_block = Signal(addr_bits - bits, reset_less=True)  # place of the beat in its block
        end = Signal(bits, reset_less=True)  # place of the row's last byte in its beat
        extra = Signal(reset_less=True)  # this row has one beat more than units
        first = Signal(reset_less=True)
        hold = Signal(8 * width, reset_less=True)  # last unit, rotated
        word = Signal(8 * width, reset_less=True)

        last = Signal()
        need = Signal()  # the beat needs a further unit
        go = Signal()
        offset = addr[:bits]
        turned = _rotate(m, self.i.payload, offset, left=True)
        from_offset = (Const((1 << width) - 1, width) << offset)[:width]
        to_end = Const((1 << width) - 1, width) >> (width - 1 - end)[:bits]
        m.d.comb += [
            last.eq(beats == 0),
            need.eq(~(last & extra)),
            go.eq(active & (self.i.valid | ~need) & (~self.o.valid | self.o.ready)),
            self.i.ready.eq(go & need), self.o.payload.data.eq(word),
            self.job.ready.eq(~active | (go & last & (rows == 0))),
        ]
        with m.If(go):
            m.d.sync += [
                self.o.valid.eq(1),
                word.eq(_select_bytes(from_offset, turned, hold)),
                self.o.payload.strb.eq(
                    Mux(first, from_offset, -1) & Mux(last, to_end, -1)),
                self.o.payload.last.eq(last | in_block.all()),
                self.job_last.eq(last & (rows == 0)),
                hold.eq(turned),
            ]
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)

        def begin(at: Value, length: Value):
            total = Signal(bits + 1, name="total")
            m.d.comb += total.eq(at[:bits] + length[:bits])
            return [addr.eq(at), in_block.eq(at[bits:addr_bits]), first.eq(1), end.eq(total),
                    beats.eq(length[bits:] + total[bits]), extra.eq(total[bits])]

        job = self.job.payload
        following = begin((addr + pitch)[:addr_bits], span)
        starting = begin(job.addr, job.span)
        with m.If(go):
            m.d.sync += [beats.eq(beats - 1), in_block.eq(in_block + 1), first.eq(0)]
            with m.If(last):
                m.d.sync += [*following, rows.eq(rows - 1)]
        with m.If(self.job.ready):
            m.d.sync += active.eq(self.job.valid)
        with m.If(self.job.ready & self.job.valid):
            m.d.sync += [*starting, rows.eq(job.rows), span.eq(job.span), pitch.eq(job.pitch)]
        return m
