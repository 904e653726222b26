"""External memory of a board that has none: block RAM of the FPGA."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia_hw.bus.axi import OKAY, AxiReadSignature, AxiWriteSignature
from celosia_hw.memory.ram import Ram

__all__ = ["OnChipMemory"]


class OnChipMemory(wiring.Component):
    """Block RAM behind AXI4.

    Reads and writes are served burst by burst, each in order; a beat a cycle each way. Addresses
    wrap at ``memory_bytes``. Latency of a read: 3 cycles from AR to the first beat. R leaves from
    registers. A reset forgets bursts, not data.

    A read of bytes that are written at the same time gives anything.

    Parameters
    ----------
    config
        For the width of the bus.
    memory_bytes
        A power of two, 4096 or more.

    Members
    -------
    read : In(AxiReadSignature), write : In(AxiWriteSignature)
    """

    read: Any
    write: Any

    def __init__(self, config: TpuConfig, memory_bytes: int):
        if memory_bytes < 4096 or memory_bytes & (memory_bytes - 1):
            raise ValueError("memory_bytes must be a power of two, at least 4096, not "
                             f"{memory_bytes!r}")
        self._bus_bytes = config.bus_bytes
        self._words = memory_bytes // config.bus_bytes
        super().__init__({"read": In(AxiReadSignature(config.bus_bytes)),
                          "write": In(AxiWriteSignature(config.bus_bytes))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        low, bits = exact_log2(self._bus_bytes), exact_log2(self._words)
        ar, r = self.read.ar, self.read.r
        aw, w, b = self.write.aw, self.write.w, self.write.b

        put, write_addr, writing = Signal(), Signal(bits), Signal()
        m.d.comb += [
            aw.ready.eq(~writing & ~b.valid),
            put.eq(w.ready & w.valid), b.payload.eq(OKAY),
        ]
        with m.If(aw.valid & aw.ready):
            m.d.sync += [writing.eq(1), write_addr.eq(aw.payload.addr[low:])]
        with m.If(put):
            m.d.sync += write_addr.eq(write_addr + 1)
            with m.If(w.payload.last):
                m.d.sync += [writing.eq(0), b.valid.eq(1)]
        with m.If(b.valid & b.ready):
            m.d.sync += b.valid.eq(0)

        # Two stages behind the address: the output of the RAM, and R. They move together.
        read_addr, left, reading = Signal(bits), Signal(8), Signal()
        ident, last, move, get = Signal(), Signal(), Signal(), Signal()
        found = Signal(8 * self._bus_bytes)
        stage_valid, stage_last, stage_id = Signal(), Signal(), Signal()
        m.d.comb += [
            move.eq(~r.valid | r.ready),
            get.eq(move & reading),
            last.eq(left == 0),
            ar.ready.eq(~reading | get & last),
            w.ready.eq(writing),
            r.payload.resp.eq(OKAY),
        ]
        with m.If(get):
            m.d.sync += [read_addr.eq(read_addr + 1), left.eq(left - 1)]
            with m.If(last):
                m.d.sync += reading.eq(0)
        with m.If(ar.valid & ar.ready):
            m.d.sync += [reading.eq(1), read_addr.eq(ar.payload.addr[low:]),
                         left.eq(ar.payload.len), ident.eq(ar.payload.id)]
        with m.If(move):
            m.d.sync += [
                stage_valid.eq(get), stage_last.eq(last), stage_id.eq(ident),
                r.valid.eq(stage_valid), r.payload.data.eq(found),
                r.payload.last.eq(stage_last), r.payload.id.eq(stage_id),
            ]
        for lane in range(self._bus_bytes):
            m.submodules[f"lane{lane}"] = ram = Ram(8, self._words)
            m.d.comb += [
                ram.write_addr.eq(write_addr), ram.write_en.eq(put & w.payload.strb[lane]),
                ram.write_data.eq(w.payload.data.word_select(lane, 8)),
                ram.read_addr.eq(read_addr), ram.read_en.eq(get),
                found.word_select(lane, 8).eq(ram.read_data),
            ]
        return m
