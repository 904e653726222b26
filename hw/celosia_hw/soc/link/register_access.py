"""Single accesses to registers over AXI4-Lite."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.registers import ADDRESS_BITS
from celosia_hw.bus.axi import AxiLiteSignature

__all__ = ["RegisterAccess"]


class RegisterAccess(wiring.Component):
    """AXI4-Lite manager with one access in flight.

    Members
    -------
    read, write : In(1)
        High for one cycle while nothing is in flight: begin.
    address, write_data : In
        Stay from then to ``done``.
    done : Out(1)
        High for one cycle, in which ``response`` is that of the access, and ``read_data`` the word
        that was read.
    axil : Out(AxiLiteSignature)
    """

    read: Signal
    write: Signal
    address: Signal
    write_data: Signal
    done: Signal
    response: Signal
    read_data: Signal
    axil: Any

    def __init__(self):
        super().__init__({
            "read": In(1), "write": In(1), "address": In(ADDRESS_BITS), "write_data": In(32),
            "done": Out(1), "response": Out(2), "read_data": Out(32),
            "axil": Out(AxiLiteSignature()),
        })

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        ar, r = self.axil.ar, self.axil.r
        aw, w, b = self.axil.aw, self.axil.w, self.axil.b
        for channel, begin in ((ar, self.read), (aw, self.write), (w, self.write)):
            with m.If(begin):
                m.d.sync += channel.valid.eq(1)
            with m.Elif(channel.ready):
                m.d.sync += channel.valid.eq(0)
        m.d.comb += [
            ar.payload.eq(self.address), aw.payload.eq(self.address),
            w.payload.data.eq(self.write_data), w.payload.strb.eq(0b1111),
            r.ready.eq(1), b.ready.eq(1), self.done.eq(r.valid | b.valid),
            self.read_data.eq(r.payload.data),
            self.response.eq(Mux(r.valid, r.payload.resp, b.payload)),
        ]
        return m
