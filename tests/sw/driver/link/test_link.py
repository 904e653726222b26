"""The host against the Python board over wires that spoil, break and come back."""

import inspect
import re
import time

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia.arch.link import WINDOW, LinkConfig, RequestKind
from celosia.arch.registers import BY_NAME
from celosia.driver import BusError, Device, DeviceError, Transport
from celosia.driver.link import DeviceLost, Link, LinkTransport
from celosia.driver.link.host import Request
from celosia.driver.link.serial_transport import SerialTransport
from celosia.driver.model import ModelTransport
from celosia.program.asm import assemble
from sw.driver.link.board import Board
from sw.driver.link.faulty import FaultyWire
from sw.driver.link.transfers import transfers

NANO, SIZE = preset("nano"), 1 << 18
LINK = LinkConfig(8_000_000, memory_bytes=SIZE)
SCRATCH = BY_NAME["WATCHDOG"].offset


def exactly(text: str) -> str:
    return f"^{re.escape(text)}$"


def make(seed=0, rate=0.0, frame_rate=0.0, **options):
    """Return the chip, the wire and the transport of a nano behind a wire."""
    chip = ModelTransport(NANO, SIZE)
    wire = FaultyWire(Board(chip, NANO, LINK), seed, rate, frame_rate)
    return chip, wire, LinkTransport(wire, clock=wire.clock, **options)


@pytest.mark.parametrize(("rate", "frame_rate"), [(5e-4, 0.01), (1e-3, 0.05), (2e-3, 0)])
def test_ten_thousand_transfers_on_a_bad_wire(rate, frame_rate):
    chip, wire, link = make(1, rate, frame_rate, attempts=40)
    transfers(link, chip, 10_000, seed=2)
    assert min(wire.faults[kind] for kind in ("flip", "drop", "double")) > 100
    assert link.link.resent > 500


def test_good_wire_carries_every_request_once():
    chip, wire, link = make()
    transfers(link, chip, 300, seed=3)
    assert link.link.resent == link.link.garbled == 0
    assert wire.now == 0, "the host waited for nothing"
    before = sum(wire.bytes)
    data = np.random.default_rng(4).integers(0, 256, 1 << 16, dtype=np.uint8)
    link.write_memory(0, data)
    assert np.array_equal(link.read_memory(0, 1 << 16), data)
    assert (2 << 16) / (sum(wire.bytes) - before) > 0.93


class CountingBoard(Board):
    """A board that counts what it does, and what is done twice."""

    def __init__(self):
        super().__init__(ModelTransport(NANO, SIZE), NANO, LINK)
        self.done = []

    def _do(self, kind, address, count, payload):
        self.done.append((kind, address))
        return super()._do(kind, address, count, payload)


def test_every_write_is_done_once_and_in_order():
    wire = FaultyWire(CountingBoard(), 5, 2e-3, 0.05)
    link = LinkTransport(wire, clock=wire.clock, attempts=40)
    for i in range(500):
        link.write_register(SCRATCH, i)
        link.write_memory(8 * i, bytes(5))
    assert wire.board.done == [done for i in range(500)
                               for done in ((RequestKind.WRITE_REGISTER, SCRATCH),
                                            (RequestKind.WRITE_MEMORY, 8 * i))]


def test_program_runs_on_a_bad_wire():
    program = assemble("\n".join((
        ".chip nano", ".buffer a, int8[8, 4], input", ".buffer b, int8[4, 4], input",
        ".buffer c, int32[8, 4], output",
        "load ub[0], @a, fmt=i8, rows=8, cols=4, pitch=4",
        "load ub[8], @b, fmt=i8, rows=4, cols=4, pitch=4",
        "matmul acc[0], ub[0], w=ub[8], fmt=int8, n0=8, wrows=4",
        "store acc[0], @c, fmt=w32, rows=8, cols=4, pitch=16", "halt")))
    rng = np.random.default_rng(6)
    _, wire, link = make(7, 1e-3, 0.01, attempts=40)
    assert isinstance(link, Transport)
    with Device(link) as device:
        assert device.config is NANO
        for _ in range(10):
            a = rng.integers(-128, 128, (8, 4), dtype=np.int8)
            b = rng.integers(-128, 128, (4, 4), dtype=np.int8)
            result = device.run(program, {"a": a, "b": b})
            assert np.array_equal(result["c"], a.astype(np.int32) @ b.astype(np.int32))
    assert sum(wire.faults.values()) > 20


def test_errors_of_the_chip_are_bus_errors():
    _, _, link = make()
    with pytest.raises(BusError, match=exactly(
            "the chip must answer OKAY to a read of register 0x3fc, not 2")):
        link.read_register(0x3FC)
    with pytest.raises(BusError, match=exactly(
            "the chip must answer OKAY to a write of register MAGIC, not 2")):
        link.write_register(0, 1)
    with pytest.raises(BusError, match=exactly(
            "access to memory must end inside its 262144 bytes, not at 0x40001")):
        link.write_memory(SIZE - 1, b"ab")
    with pytest.raises(BusError, match=exactly("register offset must be from 0 to 0xfff, "
                                               "not 0x1000")):
        link.read_register(0x1000)
    with pytest.raises(ValueError, match=exactly("value of register WATCHDOG must be 32 bits, "
                                                 "not -1")):
        link.write_register(SCRATCH, -1)
    with pytest.raises(ValueError, match=exactly("value of register WATCHDOG must be 32 bits, "
                                                 "not 4294967296")):
        link.write_register(SCRATCH, 1 << 32)
    for address, size in ((-1, 1), (0, -1), (0, SIZE + 1), (SIZE, 1)):
        with pytest.raises(BusError, match=exactly(
                f"access to memory must end inside its 262144 bytes, not at {address + size:#x}")):
            link.read_memory(address, size)
    assert (len(link.read_memory(SIZE, 0)), len(link.read_memory(SIZE - 3, 3))) == (0, 3)
    for value in (0, (1 << 32) - 1, 77):
        link.write_register(SCRATCH, value)
        assert link.read_register(SCRATCH) == value
    with pytest.raises(DeviceError, match=exactly(
            "the board must serve READ_MEMORY of 0 bytes, but it refuses")):
        link.link.transact([Request(RequestKind.READ_MEMORY)])
    assert link.read_register(SCRATCH) == 77


def test_memory_of_the_chip_may_end_early():
    chip = ModelTransport(NANO, SIZE // 2)
    wire = FaultyWire(Board(chip, NANO, LINK))
    link = LinkTransport(wire, NANO, clock=wire.clock)
    with pytest.raises(BusError, match=exactly(
            "the chip must answer OKAY to a read of memory at 0x20000, not 2")):
        link.read_memory(SIZE // 2 - 1024, 2048)


def test_wait_interrupt_counts_the_cycles_of_the_board(monkeypatch):
    class Clocked(CountingBoard):
        def _do(self, kind, address, count, payload):
            if kind != RequestKind.POLL:
                return super()._do(kind, address, count, payload)
            self.done.append(0xFFFF_FF00 + 100 * len(self.done))
            return (self.done[-1] % (1 << 32)).to_bytes(4, "little"), 0

    wire = FaultyWire(Clocked())
    link = LinkTransport(wire, clock=wire.clock)
    seen: list[int] = []
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    assert not link.wait_interrupt(450, seen.append)
    assert seen == [0, 100, 200, 300, 400]
    assert not link.wait_interrupt(800)
    # Looks at first follow each other closely, later every 20 ms.
    assert pauses == [.0005, .001, .002, .004, .008, .0005, .001, .002, .004, .008, .016, .02, .02]
    assert not link.wait_interrupt(0)
    with pytest.raises(ValueError, match=exactly(
            "timeout_cycles must be None or at least 0, not -1")):
        link.wait_interrupt(-1)


class Breaking(FaultyWire):
    """A wire that breaks when ``left`` bytes have gone to the board."""

    left, silent = 1 << 60, False

    def write(self, data):
        part, self.left = data[:self.left], self.left - len(data)
        if part:
            super().write(part)
        if self.left < 0:
            self.left = 0
            if not self.silent:
                raise OSError(5, "Input/output error")

    def read(self, seconds):
        if self.left <= 0 and not self.silent:
            raise OSError(5, "Input/output error")
        return super().read(seconds)


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("left", [0, 1, 300, 2000])
def test_unplugging_in_mid_transfer_raises_and_reopening_works(left, silent):
    chip = ModelTransport(NANO, SIZE)
    board = Board(chip, NANO, LINK)
    wire = Breaking(board)
    link = LinkTransport(wire, clock=wire.clock, attempts=3)
    data = np.random.default_rng(8).integers(0, 256, 20_000, dtype=np.uint8)
    wire.left, wire.silent = left, silent
    message = ("must answer, but it did not, 3 times" if silent
               else r"must stay connected, but writing failed: \[Errno 5\] Input/output error")
    with pytest.raises(DeviceLost, match=f"^the board on the faulty wire {message}$"):
        link.write_memory(0, data)
    with pytest.raises(DeviceLost):  # at once
        link.read_register(0)
    link.close()
    link.close()
    written = chip.read_memory(0, len(data))
    done = int(np.argmin(np.append(written == data, False)))
    assert done % 512 == 0
    assert not written[done:].any(), "a request was done in part"

    again = FaultyWire(board)
    link = LinkTransport(again, NANO, clock=again.clock)
    link.write_memory(0, data)
    assert np.array_equal(link.read_memory(0, len(data)), data)


def test_board_that_was_reset_is_lost():
    _, wire, link = make()
    link.write_register(SCRATCH, 1)
    wire.board.reset()
    with pytest.raises(DeviceLost, match=exactly(
            "the board on the faulty wire must know this session, but it was reset")):
        link.write_register(SCRATCH, 2)


@pytest.mark.parametrize("kind", [Link, LinkTransport])
@pytest.mark.parametrize(("attempts", "options"), [(4, {"attempts": 4}), (10, {})])
def test_nobody_there(kind, attempts, options):
    class Dead(FaultyWire):
        def write(self, data):
            pass

    wire = Dead(Board(ModelTransport(NANO, SIZE), NANO, LINK))
    with pytest.raises(DeviceLost, match=exactly(
            f"a board must answer on the faulty wire, but none did, {attempts} times (is the baud "
            "rate right?)")):
        kind(wire, clock=wire.clock, **options)
    assert wire.now == pytest.approx(attempts * 0.5)


def test_a_serial_line_is_waited_for_as_long_as_any_wire():
    serial, link = (inspect.signature(kind).parameters for kind in (SerialTransport, Link))
    assert all(serial[name].default == link[name].default for name in ("timeout", "attempts"))


def test_board_of_another_kind(monkeypatch):
    _, wire, _ = make()
    with pytest.raises(DeviceError, match=exactly(
            "the board on the faulty wire must hold the chip edge, not preset nano with dim 4 "
            "(here 8), ub_rows 2048 (here 8192), acc_rows 512 (here 1024), bus_bytes 4 (here 8), "
            "window 4 (here 8), ibuf 32 (here 64)")):
        LinkTransport(wire, preset("edge"), clock=wire.clock)
    monkeypatch.setattr("celosia.arch.link.PROTOCOL_VERSION", 2)
    with pytest.raises(DeviceError, match=exactly(
            "version of the link on the faulty wire must be 0x1, not 0x2: the bitstream is of "
            "another version")):
        LinkTransport(wire, clock=wire.clock)


@pytest.mark.parametrize(("options", "message"), [
    ({"timeout": 0}, "timeout must be above 0 seconds, not 0"),
    ({"attempts": 0}, "attempts must be at least 1, not 0")])
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=exactly(message)):
        make(**options)


def test_call_that_is_broken_off_leaves_a_usable_link():
    chip, wire, link = make(9, 1e-3, 0.02, attempts=40)

    class Stop(Exception):
        pass

    def requests(stop: int):
        for i in range(stop):
            yield Request(RequestKind.WRITE_MEMORY, 8 * i, 4, bytes([i % 256] * 4))
        raise Stop

    for stop in (1, WINDOW - 1, WINDOW + 1, 40):
        with pytest.raises(Stop):
            link.link.transact(requests(stop))
        transfers(link, chip, 20, seed=stop)
