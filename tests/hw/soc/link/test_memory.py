"""Memory through the link, behind an AXI4 memory that checks the rules, on buses of any width."""

import functools

import numpy as np
import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.link import REQUEST_HEADER, ReplyStatus, RequestKind
from celosia.driver.link.frames import encode, pack
from celosia_hw.bus.axi import DECERR
from celosia_hw.soc.link.host_link import HostLink
from hw.axi_agent import AxiMemory
from hw.simulation import World
from hw.soc.link.link_bench import CYCLES, FAST, exchange

SIZE = 1 << 14


@functools.cache
def world(bus_bytes: int) -> World:
    """The link on a bus, made once."""
    config = TpuConfig("test", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64,
                       bus_bytes=bus_bytes)
    return World(HostLink(config, FAST))


class Host:
    """Sends requests of memory, one at a time."""

    def __init__(self, ctx, link):
        self._ctx, self._link, self._sequence = ctx, link, 0

    async def ask(self, kind: RequestKind, address: int, count: int,
                  payload: bytes = b"") -> tuple[bytes, int]:
        """Return payload and status of the reply."""
        header = pack(REQUEST_HEADER, {"sequence": self._sequence % 256, "kind": kind,
                                       "count": count, "address": address})
        (reply,) = await exchange(self._ctx, self._link, encode(header + payload))
        if kind != RequestKind.HELLO:
            self._sequence += 1
        return reply[2:-1], reply[-1]


def spans(rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return addresses and counts: any, across pages, a byte."""
    drawn = [(int(rng.integers(0, SIZE - 64)), int(rng.integers(1, 40))) for _ in range(2)]
    return [*drawn, (4096 - 5, 10), (8192 - 64, 35), (63, 1), (2, 1), (0x1FF8, 16)]


@pytest.mark.parametrize(("bus_bytes", "busy"), [(4, 0.5), (8, 0.3), (32, 0), (128, 0)])
def test_spans(bus_bytes, busy):
    made, rng = world(bus_bytes), np.random.default_rng(bus_bytes)
    link = made.component
    memory = AxiMemory(bus_bytes, SIZE, rng, link.read, link.write, latency=9, busy=busy,
                       early_data=True)
    wanted = memory.data.copy()

    async def bench(ctx):
        host = Host(ctx, link)
        await host.ask(RequestKind.HELLO, 77, 0)
        for address, count in spans(rng):
            data = rng.integers(0, 256, count, dtype=np.uint8)
            wanted[address:address + count] = data
            reply = await host.ask(RequestKind.WRITE_MEMORY, address, count, data.tobytes())
            assert reply == (b"", 0)
            assert not memory.writes_open
            assert np.array_equal(memory.data, wanted)
            around = max(0, address - 3)
            found, status = await host.ask(RequestKind.READ_MEMORY, around, count + 7)
            assert found == wanted[around:around + count + 7].tobytes()
            assert status == 0

    made.run(bench, memory.run, cycles=CYCLES)
    beats = sum((address + count - 1) // bus_bytes - address // bus_bytes + 1
                for address, count in spans(np.random.default_rng(bus_bytes))[2:])
    assert len(memory.writes) >= beats
    assert all(count == 1 for _, count, _ in memory.reads + memory.writes)


def test_errors():
    made, rng = world(8), np.random.default_rng(1)
    link = made.component
    memory = AxiMemory(8, SIZE, rng, link.read, link.write, bad={0x120, 0x22F}, early_data=True)

    async def bench(ctx):
        host = Host(ctx, link)
        await host.ask(RequestKind.HELLO, 77, 0)
        for kind in (RequestKind.READ_MEMORY, RequestKind.WRITE_MEMORY):
            payload = bytes(range(48)) if kind == RequestKind.WRITE_MEMORY else b""
            for address, wanted in ((0x100, 2), (0x400, 0), (0x200, 2), (0x400, 0)):
                _, status = await host.ask(kind, address, 48, payload)
                assert status & ReplyStatus.RESPONSE == wanted, (kind, hex(address))

    made.run(bench, memory.run, cycles=CYCLES)


def test_no_reply_waits_for_more_than_a_beat_of_a_read():
    made, rng = world(8), np.random.default_rng(2)
    link = made.component
    memory = AxiMemory(8, SIZE, rng, link.read, link.write)

    async def bench(ctx):
        host = Host(ctx, link)
        await host.ask(RequestKind.HELLO, 77, 0)
        await host.ask(RequestKind.READ_MEMORY, 5, 20)
        assert memory.reads == [(0, 1, 0), (8, 1, 0), (16, 1, 0), (24, 1, 0)]

    made.run(bench, memory.run, cycles=CYCLES)


def test_a_write_up_to_the_last_address_is_answered_again_as_it_was():
    """The address behind it is 0, and nothing else of the request changes."""
    made = world(8)
    link = made.component
    write = link.write

    async def refuse(ctx):
        ctx.set(write.aw.ready, 1)
        ctx.set(write.w.ready, 1)
        ctx.set(write.b.payload, DECERR)
        async for _, _, valid in ctx.tick().sample(write.w.valid):
            ctx.set(write.b.valid, valid)

    async def bench(ctx):
        async def ask(sequence, kind, address, payload=b""):
            (reply,) = await exchange(ctx, link, encode(pack(REQUEST_HEADER, {
                "sequence": sequence, "kind": kind, "count": len(payload),
                "address": address}) + payload))
            return reply

        await ask(0, RequestKind.HELLO, 77)
        for _ in range(2):
            reply = await ask(0, RequestKind.WRITE_MEMORY, 0xFFFFFFF8, bytes(range(8)))
            assert (reply[0], reply[-1] & ReplyStatus.RESPONSE) == (0, DECERR)

    made.run(bench, refuse, cycles=CYCLES)
