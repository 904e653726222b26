"""The serial backend on a pseudo-terminal, with the Python board at its other end."""

import os
import re
import select
import sys
import threading
import tty

import numpy as np
import pytest

import celosia
from celosia.arch.config import preset
from celosia.arch.link import LinkConfig
from celosia.driver import DeviceError
from celosia.driver.link import DeviceLost, serial_transport
from celosia.driver.model import ModelTransport
from sw.driver.link.board import Board

NANO, SIZE = preset("nano"), 1 << 18


class Plug:
    """A thread that carries bytes between a pseudo-terminal and a board until it is pulled."""

    def __init__(self, board: Board):
        self._board = board
        self._ours, theirs = os.openpty()
        tty.setraw(theirs)
        self.port, self._theirs = os.ttyname(theirs), theirs
        self._end, self._stop = os.pipe()
        self._thread = threading.Thread(target=self._carry)
        self._thread.start()

    def _carry(self) -> None:
        while True:
            ready = select.select([self._ours, self._end], [], [])[0]
            if self._end in ready:
                return
            os.write(self._ours, self._board.feed(os.read(self._ours, 4096)))

    def pull(self) -> None:
        if self._thread.is_alive():
            os.write(self._stop, b"!")
            self._thread.join()
            for descriptor in (self._ours, self._theirs, self._end, self._stop):
                os.close(descriptor)


@pytest.fixture
def plug():
    """Make boards at ports, unplugged when the test ends."""
    plugs = []

    def make(board: Board | None = None) -> Plug:
        link = LinkConfig(8_000_000, memory_bytes=SIZE)
        plugs.append(Plug(board or Board(ModelTransport(NANO, SIZE), NANO, link)))
        return plugs[-1]

    yield make
    for each in plugs:
        each.pull()


def test_board_is_found_as_it_is(plug):
    port = plug().port
    with celosia.open("serial", port=port) as device:
        assert device.config is NANO
        data = np.random.default_rng(0).integers(-128, 128, 100_000, dtype=np.int8)
        assert np.array_equal(device.put(data).numpy(), data)
    with celosia.open("serial", "nano", port=port, baud=3_000_000) as device:
        assert device.config is NANO
    with pytest.raises(DeviceError, match="must hold the chip edge, not preset nano with dim 4"):
        celosia.open("serial", "edge", port=port)


def test_unplugging_raises_and_reopening_works(plug):
    board = Board(ModelTransport(NANO, SIZE), NANO, LinkConfig(8_000_000, memory_bytes=SIZE))
    first = plug(board)
    device = celosia.open("serial", port=first.port, timeout=2.0, attempts=3)
    handle = device.put(np.arange(1000, dtype=np.int32))
    first.pull()
    with pytest.raises(DeviceLost, match=f"^the board on {first.port} must "):
        handle.numpy()
    with pytest.raises(DeviceLost):
        device.reset()
    device.close()
    with celosia.open("serial", port=plug(board).port) as device:
        assert device.put(np.arange(10, dtype=np.int32)).numpy()[9] == 9


def test_port_has_one_host_at_a_time(plug):
    port = plug().port
    with celosia.open("serial", port=port):
        with pytest.raises(DeviceError, match="must be a serial port that can be opened: "):
            celosia.open("serial", port=port)
    celosia.open("serial", port=port).close()


def test_silent_port():
    ours, theirs = os.openpty()
    try:
        port = os.ttyname(theirs)
        with pytest.raises(DeviceLost, match=f"^a board must answer on {port}, but none did, 2 "):
            celosia.open("serial", port=port, timeout=0.05, attempts=2)
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize(("options", "message"), [
    ({}, "port must be the name of a serial port, not ''"),
    ({"port": 3}, "port must be the name of a serial port, not 3"),
    ({"port": "x", "baud": 0}, "baud must be a positive integer, not 0"),
])
def test_wrong_arguments(options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        celosia.open("serial", **options)


def test_port_that_is_not_there():
    with pytest.raises(DeviceError, match="^port '/nowhere' must be a serial port that can be "):
        celosia.open("serial", port="/nowhere")


def test_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "serial", None)
    with pytest.raises(DeviceError, match=re.escape(
            "backend 'serial' needs the package serial: pip install 'celosia[serial]'")):
        celosia.open("serial", port="x")


class Port:
    """What stands for pyserial and a port of it."""

    in_waiting = 0

    def __init__(self, *pieces: bytes):
        self.pieces, self.asked, self.wrote, self.opened = list(pieces), [], [], None
        self.fast = self.closed = False

    def Serial(self, *arguments, **options):
        self.opened = arguments, options
        return self

    def set_low_latency_mode(self, fast):
        self.fast = fast
        raise NotImplementedError

    def read(self, count):
        self.asked.append(count)
        return self.pieces.pop(0) if self.pieces else b""

    def write(self, data):
        self.wrote.append(data)

    def close(self):
        self.closed = True


def test_a_byte_is_ten_bits_of_a_port_that_is_opened_alone(monkeypatch):
    port = Port(b"", b"", b"ab", b"c")
    monkeypatch.setitem(sys.modules, "serial", port)
    wire = serial_transport._SerialWire("COM3", 2000)
    assert (wire.name, wire.byte_seconds) == ("COM3", 0.005)
    assert port.opened == (("COM3", 2000), {
        "timeout": 0.02, "write_timeout": 5.0, "exclusive": True})
    assert port.fast is True
    wire.write(b"xyz")
    assert port.wrote == [b"xyz"]
    # It is asked again until something has come, for all that waits.
    assert wire.read(1000.0) == b"ab"
    port.in_waiting = 7
    assert wire.read(1000.0) == b"c"
    assert port.asked == [1, 1, 1, 7]
    assert wire.read(0.0) == b""
    assert wire.read(-1.0) == b""
    assert port.asked == [1, 1, 1, 7, 7, 7]
    wire.close()
    assert port.closed
