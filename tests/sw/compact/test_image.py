"""The image itself, executed by a Python model of the sequencer."""

import numpy as np

from celosia.arch.config import preset
from celosia.arch.link import LinkConfig, RequestKind
from celosia.arch.registers import BY_NAME, Control, Status
from celosia.driver import Device
from celosia.driver.link import LinkTransport
from celosia.driver.link.frames import FrameDecoder
from celosia.ops.gemm import matmul
from celosia_hw.soc.compact.firmware import INT8, image
from celosia_hw.soc.compact.memory_map import EngineRegister
from hw.soc.compact.rv32 import Reference
from sw.compact.link_bench import HardwareBoard, frame, hello
from sw.driver.link.faulty import FaultyWire

NANO, LINK = preset("nano"), LinkConfig(24_000_000, memory_bytes=1 << 16)
RAM_BYTES = INT8.ram_bytes
_NONE = 1 << 31
#: First register of the matrix engine.
_ENGINE = 0x80


class Machine:
    """What is at the sequencer's bus (firmware/machine.h), as memory of the model."""

    def __init__(self):
        words = image(NANO, LINK)
        self.memories = [bytearray(RAM_BYTES), bytearray(NANO.ub_bytes), bytearray(NANO.acc_bytes),
                         bytearray(LINK.memory_bytes)]
        self.memories[0][:4 * len(words)] = np.array(words, "<u4").tobytes()
        # Of a RAM that lost what is not in the image, or kept it over a reset.
        self.memories[0][4 * len(words):] = b"\xA5" * (RAM_BYTES - 4 * len(words))
        self.constants = bytes(self.memories[0][:4 * len(words)])
        self.to_chip, self.to_host = bytearray(), bytearray()
        self.core = Reference(b"")
        self.core.memory = self  # type: ignore[assignment]
        self.steps, self.deepest, self.fault_light = 0, RAM_BYTES, False
        self.idle = 0  # polls of the wire since bytes came for which there was none
        self.pace = 2
        self.engine = [0] * (EngineRegister.WEIGHTS + NANO.dim)

    def __getitem__(self, place: slice) -> bytes:
        region, at = place.start >> 28, place.start & 0xFFF_FFFF
        size = place.stop - place.start
        assert at % size == 0, f"access to {size} bytes at {place.start:#x} must be aligned"
        if region < 4:
            assert at + size <= len(self.memories[region]), hex(place.start)
            return self.memories[region][at:at + size]
        assert (region, size) == (4, 4)
        if at == 0 and self.to_chip:
            return bytes([self.to_chip.pop(0), 0, 0, 0])
        self.idle += at == 0
        words = {0x00: _NONE, 0x04: 0, 0x08: self.steps & 0xFFFF_FFFF, 0x0C: self.steps >> 32,
                 _ENGINE: 0}
        return words[at].to_bytes(4, "little")

    def __setitem__(self, place: slice, data: bytes) -> None:
        region, at = place.start >> 28, place.start & 0xFFF_FFFF
        assert at % len(data) == 0, f"access to {len(data)} bytes at {place.start:#x}"
        if region < 4:
            assert at + len(data) <= len(self.memories[region]), hex(place.start)
            assert region or at >= len(self.constants), f"write to a constant at {at:#x}"
            if region == 0:
                self.deepest = min(self.deepest, self.core.x[2])
            self.memories[region][at:at + len(data)] = data
        else:
            self._write_device(at, data)

    def _write_device(self, at: int, data: bytes) -> None:
        if at >= _ENGINE:
            register = (at - _ENGINE) // 4
            self.engine[register] = int.from_bytes(data, "little")
            if register == EngineRegister.START:
                self._multiply()
        elif at == 0x04:
            self.to_host.append(data[0])
        else:
            assert at == 0x10
            self.fault_light = True

    def _multiply(self) -> None:
        ub = np.frombuffer(self.memories[1], np.int8).reshape(-1, NANO.dim)
        acc = np.frombuffer(self.memories[2], "<i4").reshape(-1, NANO.dim)
        begin = EngineRegister.WEIGHTS
        tile = np.array(self.engine[begin:begin + NANO.dim], "<u4").view(np.int8)
        start, acts, acts_step, sums, sums_step = self.engine[:5]
        for i in range(start & 0xFFFF):
            row = sums + i * sums_step
            product = ub[acts + i * acts_step].astype(np.int32) @ tile.reshape(-1, NANO.dim)
            acc[row] = product + (acc[row] if start >> 16 & 1 else 0)

    def run(self, instructions: int) -> None:
        for _ in range(instructions):
            self.core.step()
        self.steps += instructions

    def feed(self, data: bytes) -> bytes:
        """Let what comes be served; a little time passes afterwards."""
        self.to_chip += data
        self.idle = 0
        while self.idle < self.pace:
            self.run(1)
        answer = bytes(self.to_host)
        self.to_host.clear()
        return answer


def same(machine: Machine, board: HardwareBoard, data: bytes) -> None:
    """Send bytes to both, and check that they answer the same; POLL is not among them."""
    assert machine.feed(data) == board.feed(data)


def test_requests_are_answered_as_by_the_python_board():
    machine, board = Machine(), HardwareBoard(NANO, LINK)
    rng = np.random.default_rng(1)
    same(machine, board, frame(0, RequestKind.READ_REGISTER, 0, 4))
    same(machine, board, hello())
    names = [register for register in BY_NAME.values() if register.name != "CONTROL"]
    for sequence in range(150):
        kind = RequestKind(int(rng.integers(RequestKind.READ_REGISTER, RequestKind.AGAIN)))
        if kind in (RequestKind.READ_REGISTER, RequestKind.WRITE_REGISTER):
            offset = int(rng.choice([register.offset for register in names]))
            if rng.random() < 0.1:
                offset = int(rng.integers(1 << 12))
            if offset == BY_NAME["CONTROL"].offset:
                offset = 0
            payload = rng.bytes(4) if kind == RequestKind.WRITE_REGISTER else b""
            request = frame(sequence, kind, offset, 4, payload)
        else:
            count = int(rng.integers(1, 513 if sequence % 50 == 0 else 30))
            address = int(rng.integers(-count, LINK.memory_bytes)) % (1 << 32)
            payload = rng.bytes(count) if kind == RequestKind.WRITE_MEMORY else b""
            request = frame(sequence, kind, address, count, payload)
        if sequence % 20 == 0:  # a frame that is garbled, and again
            same(machine, board, request[:4] + b"\x55" + request[4:])
        same(machine, board, request)
        if sequence % 7 == 0:
            same(machine, board, request)
    assert machine.fault_light == board.beyond
    assert np.array_equal(np.frombuffer(machine.memories[3], np.uint8),
                          board.chip.read_memory(0, LINK.memory_bytes))
    assert machine.deepest > RAM_BYTES - 512, "the stack is deeper than the linker script has it"


def test_instructions_a_byte():
    machine, data = Machine(), bytes(range(100)) * 5
    machine.feed(hello())
    counts = []
    for sequence, (kind, count, payload) in enumerate((
            (RequestKind.POLL, 0, b""), (RequestKind.WRITE_MEMORY, len(data), data),
            (RequestKind.READ_MEMORY, len(data), b""))):
        before = machine.steps
        reply = machine.feed(frame(sequence, kind, 0, count, payload))
        counts.append(machine.steps - before)
    assert reply.count(bytes(range(60))) == 5
    poll, write, read = counts
    written, sent = (write - poll) / len(data), (read - poll) / len(data)
    print(f"{poll} instructions for POLL; for a byte written {written:.1f}, read {sent:.1f}")
    # 4 cycles each: at 24 MHz, a byte of a wire of 1 Mbit/s lasts 240.
    assert written < 40
    assert sent < 45


def test_product_is_that_of_numpy():
    machine = Machine()
    machine.pace = 40
    wire = FaultyWire(machine)  # type: ignore[arg-type]
    rng = np.random.default_rng(2)
    a = rng.integers(-128, 128, (5, 4), dtype=np.int8)
    b = rng.integers(-128, 128, (4, 3), dtype=np.int8)
    with Device(LinkTransport(wire, NANO, clock=wire.clock)) as device:
        result = device.run(matmul(NANO, 5, 4, 3), {"a": a, "b": b})
        assert np.array_equal(result["c"], a.astype(np.int32) @ b)
        counts = device.counters()
        assert counts["cycles"] == counts["mxu_busy"] + counts["mxu_idle"] > 0
    assert machine.deepest > RAM_BYTES - 512, "the stack is deeper than the linker script has it"


def test_reset_of_the_sequencer_begins_anew():
    machine = Machine()
    machine.pace = 20
    machine.feed(hello())
    lengths = BY_NAME["LENGTH"].offset
    machine.feed(frame(0, RequestKind.WRITE_REGISTER, lengths, 4, b"abcd"))
    machine.feed(frame(1, RequestKind.WRITE_REGISTER, BY_NAME["IRQ_ENABLE"].offset, 4, b"\1\0\0\0"))
    machine.feed(frame(2, RequestKind.WRITE_REGISTER, BY_NAME["PROGRAM"].offset, 4, b"\0\1\0\0"))
    control = BY_NAME["CONTROL"].offset
    machine.feed(frame(3, RequestKind.WRITE_REGISTER, control, 4, bytes([Control.START, 0, 0, 0])))
    reply = machine.feed(frame(4, RequestKind.READ_REGISTER, BY_NAME["STATUS"].offset, 4))
    assert FrameDecoder().feed(reply)[0][2] == Status.FAULTED
    machine.core.pc = 0
    board = HardwareBoard(NANO, LINK)
    same(machine, board, frame(5, RequestKind.READ_REGISTER, lengths, 4))
    same(machine, board, hello())
    for sequence, register in enumerate(BY_NAME.values()):
        same(machine, board, frame(sequence, RequestKind.READ_REGISTER, register.offset, 4))
