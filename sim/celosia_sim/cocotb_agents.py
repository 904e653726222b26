"""Agents on the chip's pins for cocotb tests: clock, register port, external memory."""

from collections import deque
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import First, RisingEdge

__all__ = ["MemoryAgent", "RegisterAgent", "SparseBytes", "start"]

_PAGE = 1 << 16
_LITE_CYCLES = 10_000  # a register access that takes longer has failed


class SparseBytes:
    """4 GiB that read as zero until they are written."""

    def __init__(self) -> None:
        self._pages: dict[int, bytearray] = {}

    def read(self, address: int, size: int) -> bytes:
        """Return a copy of a span."""
        out = bytearray()
        while size:
            page, offset = divmod(address, _PAGE)
            n = min(size, _PAGE - offset)
            content = self._pages.get(page)
            out += content[offset:offset + n] if content else bytes(n)
            address, size = address + n, size - n
        return bytes(out)

    def write(self, address: int, data: bytes) -> None:
        """Overwrite a span."""
        while data:
            page, offset = divmod(address, _PAGE)
            n = min(len(data), _PAGE - offset)
            content = self._pages.setdefault(page, bytearray(_PAGE))
            content[offset:offset + n] = data[:n]
            address, data = address + n, data[n:]


class RegisterAgent:
    """Manager on the AXI4-Lite port, one access at a time."""

    def __init__(self, dut: Any):
        self._dut = dut
        for name in ("awvalid", "wvalid", "arvalid", "bready", "rready", "awprot", "arprot"):
            getattr(dut, f"s_axil_{name}").value = 0
        dut.s_axil_wstrb.value = 15

    async def _until(self, pin) -> None:
        for _ in range(_LITE_CYCLES):
            await RisingEdge(self._dut.clk)
            if int(pin.value):
                return
        raise RuntimeError(f"register port: {pin._name} stayed 0 for {_LITE_CYCLES} cycles")

    async def _hand_over(self, channel: str) -> None:
        valid = getattr(self._dut, f"s_axil_{channel}valid")
        valid.value = 1
        await self._until(getattr(self._dut, f"s_axil_{channel}ready"))
        valid.value = 0

    async def write(self, offset: int, value: int) -> int:
        """Write a register; return the response (0: OKAY)."""
        dut = self._dut
        dut.s_axil_awaddr.value = offset
        dut.s_axil_wdata.value = value
        dut.s_axil_bready.value = 1
        data = cocotb.start_soon(self._hand_over("w"))
        await self._hand_over("aw")
        await data
        await self._until(dut.s_axil_bvalid)
        response = int(dut.s_axil_bresp.value)
        dut.s_axil_bready.value = 0
        return response

    async def read(self, offset: int) -> tuple[int, int]:
        """Read a register; return the response (0: OKAY) and the value."""
        dut = self._dut
        dut.s_axil_araddr.value = offset
        dut.s_axil_rready.value = 1
        await self._hand_over("ar")
        await self._until(dut.s_axil_rvalid)
        answer = int(dut.s_axil_rresp.value), int(dut.s_axil_rdata.value)
        dut.s_axil_rready.value = 0
        return answer


@dataclass
class _Burst:
    address: int
    beats: int
    id: int
    ready: int  # cycle of the first beat (read) or of the response (write)
    done: int = 0
    error: bool = False


class MemoryAgent:
    """External memory behind the AXI4 port, with the exact timing of the C++ harness.

    Parameters
    ----------
    dut
        The chip.
    read_latency, write_latency, max_outstanding
        As of `celosia_sim.rtl.SimOptions`.
    errors
        Spans (first byte, last byte) that answer SLVERR.

    Attributes
    ----------
    bytes
        The memory's contents.
    now
        Rising edges of the clock that the agent has seen while it was busy.
    """

    def __init__(self, dut: Any, *, read_latency: int = 64, write_latency: int = 8,
                 max_outstanding: int = 16, errors: tuple[tuple[int, int], ...] = ()):
        self.bytes = SparseBytes()
        self.now = 0
        self._dut = dut
        self._latency = read_latency, write_latency
        self._most = max_outstanding
        self._errors = errors
        self._width = len(dut.m_axi_rdata) // 8
        self._reads: deque[_Burst] = deque()
        self._writes: deque[_Burst] = deque()
        self._responses: deque[_Burst] = deque()
        self._pins = {"arready": 1, "awready": 1, "wready": 0, "rvalid": 0, "bvalid": 0}
        for name, value in self._pins.items():
            getattr(dut, f"m_axi_{name}").value = value

    async def run(self) -> None:
        """Serve for ever."""
        dut, edge = self._dut, RisingEdge(self._dut.clk)
        while True:
            if not (self._reads or self._writes or self._responses or self._pins["rvalid"]
                    or self._pins["bvalid"] or int(dut.m_axi_arvalid.value)
                    or int(dut.m_axi_awvalid.value)):
                await First(RisingEdge(dut.m_axi_arvalid), RisingEdge(dut.m_axi_awvalid))
            await edge
            self._cycle()
            self.now += 1

    def _drive(self, name: str, value: int) -> None:
        if self._pins[name] != value:
            self._pins[name] = value
            getattr(self._dut, f"m_axi_{name}").value = value

    def _pin(self, name: str) -> int:
        return int(getattr(self._dut, f"m_axi_{name}").value)

    def _burst(self, channel: str, ready: int) -> _Burst:
        return _Burst(self._pin(f"{channel}addr"), self._pin(f"{channel}len") + 1,
                      self._pin(f"{channel}id"), ready)

    def _fails(self, address: int) -> bool:
        return any(address + self._width > first and address <= last
                   for first, last in self._errors)

    def _cycle(self) -> None:
        self._read()
        self._write()
        self._drive("arready", int(len(self._reads) < self._most))
        self._drive("awready", int(len(self._writes) + len(self._responses) < self._most))

    def _read(self) -> None:
        dut, pins = self._dut, self._pins
        if pins["arready"] and self._pin("arvalid"):
            self._reads.append(self._burst("ar", self.now + self._latency[0]))
        if pins["rvalid"] and not self._pin("rready"):
            return
        if not self._reads or self._reads[0].ready > self.now + 1:
            return self._drive("rvalid", 0)
        burst = self._reads[0]
        address = burst.address + burst.done * self._width
        burst.done += 1
        failed = self._fails(address)
        data = 0 if failed else int.from_bytes(self.bytes.read(address, self._width), "little")
        dut.m_axi_rdata.value = data
        dut.m_axi_rid.value = burst.id
        dut.m_axi_rresp.value = 2 if failed else 0
        dut.m_axi_rlast.value = int(burst.done == burst.beats)
        if burst.done == burst.beats:
            self._reads.popleft()
        self._drive("rvalid", 1)

    def _write(self) -> None:
        dut, pins = self._dut, self._pins
        if pins["bvalid"] and self._pin("bready"):
            self._drive("bvalid", 0)
        if pins["awready"] and self._pin("awvalid"):
            self._writes.append(self._burst("aw", 0))
        if pins["wready"] and self._pin("wvalid"):
            self._take_beat()
        if not pins["bvalid"] and self._responses and self._responses[0].ready <= self.now + 1:
            burst = self._responses.popleft()
            dut.m_axi_bid.value = burst.id
            dut.m_axi_bresp.value = 2 if burst.error else 0
            self._drive("bvalid", 1)
        self._drive("wready", int(bool(self._writes)))

    def _take_beat(self) -> None:
        burst = self._writes[0]
        address = burst.address + burst.done * self._width
        strobes = self._pin("wstrb")
        if self._fails(address):
            burst.error = True
        else:
            data = bytearray(self._pin("wdata").to_bytes(self._width, "little"))
            if strobes != (1 << self._width) - 1:
                old = self.bytes.read(address, self._width)
                for i in range(self._width):
                    if not strobes >> i & 1:
                        data[i] = old[i]
            self.bytes.write(address, bytes(data))
        burst.done += 1
        last = bool(self._pin("wlast"))
        assert last == (burst.done == burst.beats), f"WLAST is wrong at {address:#x}"
        if last:
            burst.ready = self.now + self._latency[1]
            self._responses.append(self._writes.popleft())


async def start(dut: Any, **timing) -> tuple[RegisterAgent, MemoryAgent]:
    """Start the clock, reset the chip and attach both agents; ``timing`` is MemoryAgent's."""
    registers, memory = RegisterAgent(dut), MemoryAgent(dut, **timing)
    dut.rst.value = 1
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    for _ in range(4):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    cocotb.start_soon(memory.run())
    await RisingEdge(dut.clk)
    return registers, memory
