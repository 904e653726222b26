"""The link at its pins against the Python board: the same bytes in, the same replies out."""

import functools

import numpy as np

from celosia.arch.config import TpuConfig
from celosia.arch.link import (
    IDENTITY,
    REPLY,
    REPLY_HEADER,
    REQUEST_HEADER,
    WINDOW,
    LinkConfig,
    ReplyStatus,
    RequestKind,
)
from celosia.driver.link.frames import FrameDecoder, encode, pack, unpack
from celosia_hw.soc.link.host_link import HostLink
from hw.axi_agent import AxiMemory
from hw.simulation import World
from hw.soc.link.link_bench import CYCLES, Registers, exchange, serve_registers
from sw.driver.link.board import Board

CONFIG = TpuConfig("test", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=8)
SIZE = 1 << 13
LINK = LinkConfig(4_000_000, memory_bytes=SIZE, buffer_bytes=2048)
SESSION = 0x7D7E1234


class Stub(Registers):
    """What the Python board has behind it."""

    def __init__(self, memory: np.ndarray):
        super().__init__()
        self.memory = memory

    def read_memory(self, address, size):
        return self.memory[address:address + size]

    def write_memory(self, address, data):
        self.memory[address:address + len(data)] = data

    def wait_interrupt(self, timeout_cycles):
        return False


def frame(sequence: int, kind: int, address: int = 0, count: int = 0,
          payload: bytes = b"") -> bytes:
    return encode(pack(REQUEST_HEADER, {"sequence": sequence % 256, "kind": kind, "count": count,
                                        "address": address}) + payload)


def hello(session: int = SESSION) -> bytes:
    return frame(0, RequestKind.HELLO, session)


@functools.cache
def world() -> World:
    """The link, made once."""
    return World(HostLink(CONFIG, LINK))


class Bench:
    """Both boards, with the same registers and memory."""

    def __init__(self):
        rng = np.random.default_rng(11)
        self.dut = world().component
        self.memory = AxiMemory(8, SIZE, rng, self.dut.read, self.dut.write,
                                latency=5, busy=0.3, early_data=True)
        self.registers = Registers()
        self.stub = Stub(self.memory.data.copy())
        self.board = Board(self.stub, CONFIG, LINK)  # type: ignore[arg-type]
        self._rng = rng

    def run(self, test) -> None:
        async def serve(ctx):
            await serve_registers(ctx, self.dut.axil, self.registers, self._rng)

        world().run(test, self.memory.run, serve, cycles=CYCLES)

    async def both(self, ctx, data: bytes) -> list[bytes]:
        """Send bytes to both; check that all is the same afterwards, and return the replies."""
        wanted = FrameDecoder().feed(self.board.feed(data))
        replies = await exchange(ctx, self.dut, data, len(wanted))
        cycles = RequestKind.POLL | REPLY  # the Python board has no clock
        assert [body for body in replies if body[1] != cycles] \
            == [body for body in wanted if body[1] != cycles]
        assert len(replies) == len(wanted)
        assert self.registers.writes == self.stub.writes
        assert np.array_equal(self.memory.data, self.stub.memory)
        return replies


def random_request(rng: np.random.Generator, sequence: int) -> bytes:
    kind = RequestKind(int(rng.integers(RequestKind.POLL, RequestKind.WRITE_MEMORY + 1)))
    if kind == RequestKind.POLL:
        return frame(sequence, kind)
    if kind in (RequestKind.READ_REGISTER, RequestKind.WRITE_REGISTER):
        offset = int(rng.integers(0x50)) * 4
        payload = rng.bytes(4) if kind == RequestKind.WRITE_REGISTER else b""
        return frame(sequence, kind, offset, 4, payload)
    count = int(rng.integers(1, 40))
    address = int(rng.integers(SIZE - count))
    return frame(sequence, kind, address, count,
                 rng.bytes(count) if kind == RequestKind.WRITE_MEMORY else b"")


def test_identity():
    bench = Bench()

    async def test(ctx):
        (reply,) = await bench.both(ctx, hello())
        values = unpack(IDENTITY, reply[2:-1])
        assert values == {
            "magic": int.from_bytes(b"CLNK", "little"), "version": 1, "bus_bytes": 8,
            "buffer_bytes": 2048, "memory_pages": 2, "fingerprint": CONFIG.fingerprint,
            "session": SESSION}

    bench.run(test)


def test_random_requests_one_by_one_and_in_windows():
    bench, rng = Bench(), np.random.default_rng(12)

    async def test(ctx):
        await bench.both(ctx, hello())
        sequence = 0
        for count in (1, 1, WINDOW, 3, WINDOW, 5):
            window = [random_request(rng, sequence + i) for i in range(count)]
            sequence += count
            assert len(await bench.both(ctx, b"".join(window))) == count

    bench.run(test)


def test_requests_that_come_again_are_not_done_again():
    bench = Bench()

    async def test(ctx):
        await bench.both(ctx, hello())
        window = [
            frame(0, RequestKind.WRITE_REGISTER, 0x40, 4, b"abcd"),
            frame(1, RequestKind.WRITE_MEMORY, 100, 9, b"123456789"),
            frame(2, RequestKind.WRITE_REGISTER, 0x104, 4, b"wxyz"),  # answered with an error
            frame(3, RequestKind.READ_REGISTER, 0x40, 4),
            frame(4, RequestKind.WRITE_MEMORY, 104, 3, b"///"),
        ]
        first = await bench.both(ctx, b"".join(window))
        assert [reply[-1] for reply in first] == [0, 0, 2, 0, 0]
        writes = list(bench.registers.writes)
        for _ in range(2):
            assert await bench.both(ctx, b"".join(window)) == first
        assert await bench.both(ctx, hello())  # the same session: nothing changes
        assert await bench.both(ctx, window[2]) == [first[2]]
        assert bench.registers.writes == writes
        assert bench.memory.data[100:109].tobytes() == b"1234///89"

    bench.run(test)


def test_what_is_missing_is_asked_for_once():
    bench = Bench()

    def again(reply: bytes, sequence: int) -> bool:
        header = unpack(REPLY_HEADER, reply)
        wanted = {"sequence": sequence, "kind": RequestKind.AGAIN | REPLY}
        return header == wanted and len(reply) == 3

    async def test(ctx):
        await bench.both(ctx, hello())
        window = [frame(i, RequestKind.WRITE_REGISTER, 4 * i, 4, bytes([i] * 4)) for i in range(8)]
        replies = await bench.both(ctx, window[0] + b"".join(window[2:]))
        assert len(replies) == 2
        assert again(replies[1], 1)
        assert await bench.both(ctx, window[5]) == []
        replies = await bench.both(ctx, b"".join(window[1:]))
        assert len(replies) == 7
        garbled = bytearray(frame(8, RequestKind.POLL))
        garbled[4] ^= 1
        (reply,) = await bench.both(ctx, bytes(garbled))
        assert again(reply, 8)
        assert await bench.both(ctx, bytes(garbled)) == []
        assert len(await bench.both(ctx, frame(8, RequestKind.POLL))) == 1
        (reply,) = await bench.both(ctx, bytes(garbled))
        assert again(reply, 9)
        await bench.both(ctx, hello(5))
        (reply,) = await bench.both(ctx, bytes(garbled))
        assert again(reply, 0)

    bench.run(test)


#: Kind, address, count, payload.
MEANINGLESS = (
    (RequestKind.READ_REGISTER, 0, 5, b""), (RequestKind.READ_REGISTER, 0, 4, b"more"),
    (RequestKind.WRITE_REGISTER, 0, 4, b"123"), (RequestKind.WRITE_REGISTER, 0, 4, b""),
    (RequestKind.READ_MEMORY, 0, 0, b""), (RequestKind.READ_MEMORY, 0, 513, b""),
    (RequestKind.READ_MEMORY, 0, 8, b"x"), (RequestKind.WRITE_MEMORY, 0, 4, b"12345"),
    (RequestKind.WRITE_MEMORY, 0, 6, b"12345"), (RequestKind.WRITE_MEMORY, 0, 0, b""),
    (RequestKind.WRITE_MEMORY, 0, 520, b"*" * 520), (RequestKind.POLL, 0, 1, b""),
    (RequestKind.POLL, 0, 0, b"x"), (RequestKind.AGAIN, 0, 0, b""),
    (0, 0, 0, b"nonsense"), (255, 0, 0, b""))


def test_requests_without_a_meaning_are_refused():
    """In one session, which takes longer to open than to refuse."""
    bench = Bench()

    async def test(ctx):
        await bench.both(ctx, hello())
        before = bench.memory.data.copy()
        for i, request in enumerate(MEANINGLESS):
            refused, served = await bench.both(
                ctx, frame(2 * i, *request) + frame(2 * i + 1, RequestKind.READ_REGISTER, 0, 4))
            assert refused[2:] == bytes([ReplyStatus.REFUSED]), request
            assert len(served) == 2 + 4 + 1, request
            assert np.array_equal(bench.memory.data, before), request

    bench.run(test)


def test_nothing_is_served_without_a_session():
    bench = Bench()

    async def test(ctx):
        for _ in range(2):
            (reply,) = await bench.both(ctx, frame(0, RequestKind.WRITE_REGISTER, 0, 4, b"abcd"))
            assert reply[2] == ReplyStatus.NO_SESSION
        assert bench.registers.writes == []
        assert len(await bench.both(ctx, hello())) == 1
        assert len(await bench.both(ctx, frame(0, RequestKind.WRITE_REGISTER, 0, 4, b"abcd"))) == 1

    bench.run(test)


def test_cycles_and_interrupt():
    bench = Bench()

    async def test(ctx):
        await bench.both(ctx, hello())
        counts = []
        for i, level in enumerate((0, 1, 0)):
            ctx.set(bench.dut.irq, level)
            (reply,) = await exchange(ctx, bench.dut, frame(i, RequestKind.POLL))
            assert reply[-1] == (ReplyStatus.INTERRUPT if level else 0)
            counts.append(int.from_bytes(reply[2:-1], "little"))
        assert counts[2] - counts[1] == counts[1] - counts[0] > 100

    bench.run(test)
