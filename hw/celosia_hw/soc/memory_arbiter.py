"""The memory of a board for the chip and the host link."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia_hw.bus.axi import (
    DECERR,
    EXT_ADDRESS_BITS,
    AxiReadSignature,
    AxiWriteSignature,
    address_layout,
)
from celosia_hw.stream import Queue

__all__ = ["MemoryArbiter"]

#: Bursts of each direction that may be outstanding; what a manager waits for at most.
_OUTSTANDING = 4


def _ticket() -> data.StructLayout:
    """What is remembered of a burst: the second manager's (the link's), beyond the memory."""
    return data.StructLayout({"link": 1, "beyond": 1})


class MemoryArbiter(wiring.Component):
    """Joins two managers of the memory bus, the chip and the link, onto one memory.

    Of two bursts that wait, that of the manager which was not served last goes first, reads and
    writes each for themselves; so neither waits for more than `_OUTSTANDING` bursts of the other.
    A burst keeps its place: the data of writes, and all answers, follow the order of the bursts,
    which the memory has to keep, across IDs too.

    A burst that begins at ``memory_bytes`` or above (none crosses it, for none crosses a page) is
    answered with DECERR: its writes reach the memory with no byte strobed, the data of its reads
    are of no meaning.

    Latency: AR and AW pass through a register and take a ticket, a burst in two cycles; W, R and
    B are wires, a beat a cycle.

    Parameters
    ----------
    config
        Of the chip; the link's bus is as wide.
    memory_bytes
        Size of the memory: a power of two, 4096 or more.

    Members
    -------
    chip_read, chip_write, link_read, link_write : In
        The managers.
    read : Out(AxiReadSignature), write : Out(AxiWriteSignature)
        The memory.
    beyond : Out(1)
        A burst beyond the memory was taken in this cycle.
    """

    chip_read: Any
    chip_write: Any
    link_read: Any
    link_write: Any
    read: Any
    write: Any
    beyond: Signal

    def __init__(self, config: TpuConfig, memory_bytes: int):
        if memory_bytes < 4096 or memory_bytes & (memory_bytes - 1):
            raise ValueError("memory_bytes must be a power of two, at least 4096, not "
                             f"{memory_bytes!r}")
        self._bits = exact_log2(memory_bytes)
        read, write = AxiReadSignature(config.bus_bytes), AxiWriteSignature(config.bus_bytes)
        super().__init__({
            "chip_read": In(read), "chip_write": In(write),
            "link_read": In(read), "link_write": In(write),
            "read": Out(read), "write": Out(write), "beyond": Out(1),
        })

    def _choose(self, m: Module, name: str, chip, link, out, room):
        """Join two address channels; return (a burst was taken, its ticket)."""
        payload = Signal(address_layout(), name=f"{name}_payload", reset_less=True)
        valid = Signal(name=f"{name}_valid")
        chip_last, use_link, free = (
            Signal(name=f"{name}_{suffix}") for suffix in ("chip_last", "use_link", "free"))
        m.d.comb += [
            out.valid.eq(valid), out.payload.eq(payload),
            use_link.eq(link.valid & (chip_last | ~chip.valid)),
            free.eq(~valid & room),
            chip.ready.eq(free & ~use_link), link.ready.eq(free & use_link),
        ]
        taken = Signal(name=f"{name}_taken")
        ticket = Signal(_ticket(), name=f"{name}_ticket")
        addr = Mux(use_link, link.payload.addr, chip.payload.addr)
        m.d.comb += [
            taken.eq(free & (chip.valid | link.valid)),
            ticket.link.eq(use_link),
            ticket.beyond.eq(addr[self._bits:].any() if self._bits < EXT_ADDRESS_BITS else 0),
        ]
        with m.If(taken):
            m.d.sync += [
                valid.eq(1), payload.eq(Mux(use_link, link.payload, chip.payload)),
                chip_last.eq(~use_link),
            ]
        with m.Elif(out.ready):
            m.d.sync += valid.eq(0)
        return taken, ticket

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        for name in ("reads", "data", "answers"):
            m.submodules[name] = Queue(_ticket(), _OUTSTANDING)
        reads, datas, answers = (m.submodules[n] for n in ("reads", "data", "answers"))

        taken_r, ticket_r = self._choose(m, "ar", self.chip_read.ar, self.link_read.ar,
                                         self.read.ar, reads.i.ready)
        # The queue of data is never fuller than that of answers.
        taken_w, ticket_w = self._choose(m, "aw", self.chip_write.aw, self.link_write.aw,
                                         self.write.aw, answers.i.ready)
        m.d.comb += self.beyond.eq(taken_r & ticket_r.beyond | taken_w & ticket_w.beyond)
        for queue, taken, ticket in ((reads, taken_r, ticket_r), (datas, taken_w, ticket_w),
                                     (answers, taken_w, ticket_w)):
            m.d.comb += [queue.i.valid.eq(taken), queue.i.payload.eq(ticket)]

        r, chip_r, link_r = self.read.r, self.chip_read.r, self.link_read.r
        owner = reads.o.payload
        for port, mine in ((chip_r, ~owner.link), (link_r, owner.link)):
            m.d.comb += [
                port.valid.eq(r.valid & mine), port.payload.eq(r.payload),
                port.payload.resp.eq(Mux(owner.beyond, DECERR, r.payload.resp)),
            ]
        m.d.comb += [
            r.ready.eq(Mux(owner.link, link_r.ready, chip_r.ready)),
            reads.o.ready.eq(r.valid & r.ready & r.payload.last),
        ]

        w, chip_w, link_w = self.write.w, self.chip_write.w, self.link_write.w
        owner = datas.o.payload
        chosen = Signal.like(w.payload)
        m.d.comb += [
            chosen.eq(Mux(owner.link, link_w.payload, chip_w.payload)),
            w.payload.eq(chosen),
            w.payload.strb.eq(Mux(owner.beyond, 0, chosen.strb)),
            w.valid.eq(datas.o.valid & Mux(owner.link, link_w.valid, chip_w.valid)),
            chip_w.ready.eq(datas.o.valid & ~owner.link & w.ready),
            link_w.ready.eq(datas.o.valid & owner.link & w.ready),
            datas.o.ready.eq(w.valid & w.ready & chosen.last),
        ]

        b, chip_b, link_b = self.write.b, self.chip_write.b, self.link_write.b
        owner = answers.o.payload
        for port, mine in ((chip_b, ~owner.link), (link_b, owner.link)):
            m.d.comb += [port.valid.eq(b.valid & mine),
                         port.payload.eq(Mux(owner.beyond, DECERR, b.payload))]
        m.d.comb += [
            b.ready.eq(Mux(owner.link, link_b.ready, chip_b.ready)),
            answers.o.ready.eq(b.valid & b.ready),
        ]
        return m
