"""One read port of the memory bus for two managers."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.bus.axi import FETCH_ID, AxiRead, AxiReadSignature

__all__ = ["ReadArbiter"]


class ReadArbiter(wiring.Component):
    """Merges the reads of instruction fetch and load; fetch goes first.

    Fetch asks seldom, so load does not starve. A burst a cycle, without latency; an address that is
    offered stays. Beats are routed by their ID, without latency: each manager must use its own ID
    for every burst.

    Members
    -------
    load, fetch : In(AxiReadSignature)
        The managers, with LOAD_ID and FETCH_ID.
    bus : Out(AxiReadSignature)
    """

    load: AxiRead
    fetch: AxiRead
    bus: AxiRead

    def __init__(self, config: TpuConfig):
        signature = AxiReadSignature(config.bus_bytes)
        super().__init__({"load": In(signature), "fetch": In(signature), "bus": Out(signature)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        ar, r = self.bus.ar, self.bus.r
        waits, fetches = Signal(), Signal()  # an address of load waits to be taken
        m.d.comb += [
            fetches.eq(self.fetch.ar.valid & ~waits),
            ar.valid.eq(self.fetch.ar.valid | self.load.ar.valid),
            ar.payload.eq(Mux(fetches, self.fetch.ar.payload, self.load.ar.payload)),
            self.fetch.ar.ready.eq(ar.ready & fetches), self.load.ar.ready.eq(ar.ready & ~fetches),
        ]
        m.d.sync += waits.eq(self.load.ar.valid & ~fetches & ~ar.ready)
        to_fetch = r.payload.id == FETCH_ID
        m.d.comb += [
            self.fetch.r.payload.eq(r.payload), self.load.r.payload.eq(r.payload),
            self.fetch.r.valid.eq(r.valid & to_fetch), self.load.r.valid.eq(r.valid & ~to_fetch),
            r.ready.eq(Mux(to_fetch, self.fetch.r.ready, self.load.r.ready)),
        ]
        return m
