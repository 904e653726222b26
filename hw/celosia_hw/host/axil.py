"""From AXI4-Lite to single register accesses."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.registers import ADDRESS_BITS
from celosia_hw.bus.axi import OKAY, SLVERR, AxiLite, AxiLiteSignature

__all__ = ["READ_CYCLES", "AxiLiteResponder"]

#: Cycles from ``read`` to the cycle in which ``read_data`` and ``read_error`` are taken.
READ_CYCLES = 10


class AxiLiteResponder(wiring.Component):
    """AXI4-Lite subordinate in front of a register file.

    One write and one read are in flight at a time, independent of each other; the address and
    the data of a write come in any order. Writes that do not set all four strobes, and accesses
    that are not on a word, are answered SLVERR and do not reach the register file.

    Latency: a write takes effect two cycles after the later of address and data has come; a read
    is answered READ_CYCLES + 2 cycles after its address.

    Members
    -------
    axil : In(AxiLiteSignature)
    write : Out(1)
        High for one cycle: write ``write_data`` to the word at ``write_word``.
    write_word, write_data : Out
        There since the cycle before ``write``, so that they can be decoded in registers.
    write_error : In(1)
        In the cycle of ``write``: the write is refused and must do nothing.
    read : Out(1)
        High for one cycle: read the word at ``read_word``, which stays until the data is taken.
    read_word : Out
    read_data, read_error : In
        Taken READ_CYCLES cycles after ``read``.
    """

    axil: AxiLite
    write: Signal
    write_word: Signal
    write_data: Signal
    write_error: Signal
    read: Signal
    read_word: Signal
    read_data: Signal
    read_error: Signal

    def __init__(self):
        super().__init__({
            "axil": In(AxiLiteSignature()),
            "write": Out(1), "write_word": Out(ADDRESS_BITS - 2), "write_data": Out(32),
            "write_error": In(1),
            "read": Out(1), "read_word": Out(ADDRESS_BITS - 2),
            "read_data": In(32), "read_error": In(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        aw, w, b = self.axil.aw, self.axil.w, self.axil.b
        address = Signal(ADDRESS_BITS, name="write_address", reset_less=True)
        strobes = Signal(4, reset_less=True)
        has_address, has_data = Signal(), Signal()
        whole, execute = Signal(), Signal()
        m.d.comb += [
            aw.ready.eq(~has_address), w.ready.eq(~has_data),
            whole.eq((address[:2] == 0) & strobes.all()),
            self.write.eq(execute & whole), self.write_word.eq(address[2:]),
        ]
        m.d.sync += execute.eq(has_address & has_data & ~b.valid & ~execute)
        with m.If(aw.valid & aw.ready):
            m.d.sync += [has_address.eq(1), address.eq(aw.payload)]
        with m.If(w.valid & w.ready):
            m.d.sync += [has_data.eq(1), self.write_data.eq(w.payload.data),
                         strobes.eq(w.payload.strb)]
        with m.If(execute):
            m.d.sync += [has_address.eq(0), has_data.eq(0), b.valid.eq(1),
                         b.payload.eq(Mux(~whole | self.write_error, SLVERR, OKAY))]
        with m.Elif(b.ready):
            m.d.sync += b.valid.eq(0)

        ar, r = self.axil.ar, self.axil.r
        read_address = Signal(ADDRESS_BITS, reset_less=True)
        steps = Signal(READ_CYCLES + 1)  # one-hot: cycles since ``read``
        idle = Signal()
        m.d.comb += [
            idle.eq(~steps.any() & ~r.valid), ar.ready.eq(idle),
            self.read.eq(steps[0]), self.read_word.eq(read_address[2:]),
        ]
        m.d.sync += steps.eq((ar.valid & idle) | (steps << 1))
        with m.If(ar.valid & idle):
            m.d.sync += read_address.eq(ar.payload)
        with m.If(steps[-1]):
            refused = Signal()
            m.d.comb += refused.eq((read_address[:2] != 0) | self.read_error)
            m.d.sync += [r.valid.eq(1), r.payload.data.eq(self.read_data),
                         r.payload.resp.eq(Mux(refused, SLVERR, OKAY))]
            with m.If(refused):
                m.d.sync += r.payload.data.eq(0)
        with m.Elif(r.ready):
            m.d.sync += r.valid.eq(0)
        return m
