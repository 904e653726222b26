"""The firmware's host link against the Python board, byte for byte, and against the host."""

import numpy as np
import pytest

from celosia.arch.encoding import encode as encode_instruction
from celosia.arch.encoding import insn
from celosia.arch.link import FLAG, REPLY, WINDOW, ReplyStatus, RequestKind
from celosia.arch.registers import BY_NAME, Control
from celosia.driver.link import LinkTransport
from celosia.driver.link.frames import FrameDecoder, encode
from sw.compact.link_bench import (
    LINK,
    NANO,
    SIZE,
    FirmwareBoard,
    HardwareBoard,
    Pair,
    frame,
    hello,
)
from sw.driver.link.board import Board
from sw.driver.link.faulty import FaultyWire
from sw.driver.link.transfers import transfers

SCRATCH = BY_NAME["WATCHDOG"].offset
CONTROL = BY_NAME["CONTROL"].offset


@pytest.fixture
def pair():
    pair = Pair()
    yield pair
    pair.check_memory()
    pair.close()


@pytest.fixture
def firmware():
    board = FirmwareBoard()
    yield board
    board.close()


def random_payload(rng: np.random.Generator, count: int) -> bytes:
    """Return bytes, many of them FLAGs and ESCAPEs in some cases."""
    if rng.random() < 0.2:
        return bytes(rng.choice([0x7D, 0x7E, 0x5D, 0x5E, 0x20], count).tolist())
    return rng.bytes(count)


def random_request(rng: np.random.Generator, sequence: int) -> bytes:
    kind = RequestKind(int(rng.integers(RequestKind.POLL, RequestKind.WRITE_MEMORY + 1)))
    if kind == RequestKind.POLL:
        return frame(sequence, kind)
    if kind in (RequestKind.READ_REGISTER, RequestKind.WRITE_REGISTER):
        # Of 12 bits; those of runs would show how long they take.
        offset = 4 * int(rng.integers(1 << 10)) if rng.random() < 0.5 else 4 * int(rng.integers(64))
        offset |= int(rng.integers(1, 4)) if rng.random() < 0.05 else 0
        offset |= int(rng.integers(1 << 20)) << 12 if rng.random() < 0.05 else 0
        if kind == RequestKind.READ_REGISTER:
            return frame(sequence, kind, offset, 4)
        word = int(rng.integers(1 << 32))
        if offset % 4096 == CONTROL:
            word &= ~Control.START
        return frame(sequence, kind, offset, 4, word.to_bytes(4, "little"))
    count = int(rng.integers(1, 513 if rng.random() < 0.1 else 60))
    address = int(rng.integers(SIZE - count))
    if rng.random() < 0.1:  # at the edges, and beyond
        edge = (0, SIZE, SIZE + int(rng.integers(1 << 28)))[rng.integers(3)]
        address = (edge - int(rng.integers(count + 1))) % (1 << 32)
    payload = random_payload(rng, count) if kind == RequestKind.WRITE_MEMORY else b""
    return frame(sequence, kind, address, count, payload)


def random_refused(rng: np.random.Generator, sequence: int) -> bytes:
    """Return a request that, nearly always, has no meaning."""
    kind = int(rng.choice([*range(2, 8), 0, 8, 0x83, 255]))
    count = int(rng.choice([0, 1, 3, 4, 5, 512, 513, 520, 0x1004, 0xFFFF]))
    length = int(rng.choice([0, 1, 3, 4, 5, 512, 513, 600]))
    payload = rng.bytes(length)
    if kind == RequestKind.WRITE_REGISTER and length == count == 4:
        payload = bytes(4)
    return frame(sequence, kind, int(rng.integers(1 << 16)), count, payload)


def spoil(rng: np.random.Generator, data: bytes) -> bytes:
    spoilt = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(spoilt)))
        kind = rng.integers(4)
        if kind == 0:
            spoilt[at] ^= 1 << int(rng.integers(8))
        elif kind == 1 and len(spoilt) > 1:
            del spoilt[at]
        elif kind == 2:
            spoilt.insert(at, spoilt[at])
        else:
            spoilt[at] = int(rng.choice([0x7D, 0x7E]))
    return bytes(spoilt)


def random_stream(rng: np.random.Generator, count: int) -> list[bytes]:
    """Return what a host, or something worse, may send: mostly the next request."""
    sequence, parts = 0, [hello()]
    for _ in range(count):
        what = rng.random()
        if what < 0.6:
            parts.append(random_request(rng, sequence))
            sequence += 1
        elif what < 0.75:  # one that came already, or some that are missing
            parts.append(random_request(rng, sequence + int(rng.integers(-2 * WINDOW, WINDOW))))
        elif what < 0.82:
            parts.append(random_refused(rng, sequence))
            sequence += 1
        elif what < 0.9:
            parts.append(spoil(rng, random_request(rng, sequence)))
        elif what < 0.94:
            parts.append(spoil(rng, b"".join(random_request(rng, sequence + i) for i in range(4))))
        elif what < 0.96:
            parts.append(rng.bytes(int(rng.integers(1, 40))))
        elif what < 0.97:
            parts.append(bytes([FLAG]) * int(rng.integers(1, 5)))
        elif what < 0.99:
            parts.append(hello())
        else:
            parts.append(hello(int(rng.integers(1 << 32))))
            sequence = 0
    return parts


@pytest.mark.parametrize("seed", range(12))
def test_random_streams_are_answered_as_by_the_python_board(pair, seed):
    rng = np.random.default_rng(seed)
    kinds: set[int] = set()
    statuses: set[int] = set()
    for part in random_stream(rng, 1000):
        for reply in pair.both(part):
            kinds.add(reply[1])
            statuses.add(reply[-1])
    assert kinds >= {kind | REPLY for kind in RequestKind}
    assert statuses >= {0, 2, 3, ReplyStatus.REFUSED}


@pytest.mark.parametrize("seed", range(3))
def test_how_a_stream_is_cut_does_not_matter(seed):
    rng = np.random.default_rng(100 + seed)
    data = b"".join(random_stream(rng, 300))
    pair = Pair()
    begin = 0
    while begin < len(data):
        end = begin + int(rng.integers(1, 3000))
        pair.both(data[begin:end])
        begin = end
    pair.check_memory()
    pair.close()


def test_windows_of_a_sane_host_are_answered_as_by_the_board_of_the_other_tests(firmware):
    # The Python board as it is: whole windows at a time, and its own decoder.
    rng = np.random.default_rng(20)
    board = Board(HardwareBoard().chip, NANO, LINK)
    sequence = 0

    def both(data: bytes) -> int:
        replies, wanted = (FrameDecoder().feed(one.feed(data)) for one in (firmware, board))
        assert [reply for reply in replies if reply[1] != RequestKind.POLL | REPLY] \
            == [reply for reply in wanted if reply[1] != RequestKind.POLL | REPLY]
        return len(replies)

    assert both(hello()) == 1
    for _ in range(200):
        count = int(rng.integers(1, WINDOW + 1))
        window = []
        for i in range(count):
            size = int(rng.integers(1, 513))
            address = int(rng.integers(SIZE - size))
            kind = (RequestKind.READ_MEMORY, RequestKind.WRITE_MEMORY)[rng.integers(2)]
            payload = random_payload(rng, size) if kind == RequestKind.WRITE_MEMORY else b""
            window.append(frame(sequence + i, kind, address, size, payload))
        assert both(b"".join(window)) == count
        if rng.random() < 0.2:
            assert both(b"".join(window)) == count  # again: writes are not done again
        sequence += count


def test_what_is_missing_is_asked_for_once(pair):
    assert len(pair.both(hello())) == 1
    window = [frame(i, RequestKind.WRITE_REGISTER, SCRATCH, 4, bytes([i] * 4)) for i in range(8)]
    replies = pair.both(window[0] + b"".join(window[2:]))
    assert [reply[:2] for reply in replies] == [
        bytes([0, RequestKind.WRITE_REGISTER | REPLY]), bytes([1, RequestKind.AGAIN | REPLY])]
    assert pair.both(window[5]) == []
    assert len(pair.both(b"".join(window[1:]))) == 7
    garbled = bytearray(frame(8, RequestKind.POLL))
    garbled[4] ^= 1
    assert [reply[:2] for reply in pair.both(bytes(garbled))] == [
        bytes([8, RequestKind.AGAIN | REPLY])]
    assert pair.both(bytes(garbled)) == []
    assert len(pair.both(frame(8, RequestKind.POLL))) == 1
    assert [reply[:2] for reply in pair.both(bytes(garbled))] == [
        bytes([9, RequestKind.AGAIN | REPLY])]
    pair.both(hello(5))
    assert [reply[:2] for reply in pair.both(bytes(garbled))] == [
        bytes([0, RequestKind.AGAIN | REPLY])]


def test_nothing_is_served_without_a_session(pair):
    for _ in range(2):
        (reply,) = pair.both(frame(0, RequestKind.WRITE_REGISTER, SCRATCH, 4, b"abcd"))
        assert reply[2] == ReplyStatus.NO_SESSION
    assert len(pair.both(hello())) == 1
    (reply,) = pair.both(frame(0, RequestKind.READ_REGISTER, SCRATCH, 4))
    assert reply[2:] == bytes(5)


def test_frames_at_the_edges_of_what_there_is_room_for(pair):
    pair.both(hello())
    room = LINK.buffer_bytes
    for sequence, length in enumerate((512, 513, 600, room - 12)):
        (reply,) = pair.both(frame(sequence, RequestKind.WRITE_MEMORY, 0, min(length, 512),
                                   bytes(length)))
        assert reply[2] == (0 if length == 512 else ReplyStatus.REFUSED)
    (reply,) = pair.both(frame(4, RequestKind.WRITE_MEMORY, 0, 512, bytes(room - 11)))
    assert reply[:2] == bytes([4, RequestKind.AGAIN | REPLY])
    for sequence, body in enumerate((b"", b"1234567"), 4):  # shorter than a header
        (reply,) = pair.both(frame(sequence, RequestKind.POLL))
        assert reply[1] == RequestKind.POLL | REPLY
        (reply,) = pair.both(encode(body))
        assert reply[:2] == bytes([sequence + 1, RequestKind.AGAIN | REPLY])


def test_interrupt_travels_with_every_reply(pair):
    pair.both(hello())
    sequence = 0

    def write(name: str, word: int) -> int:
        nonlocal sequence
        (reply,) = pair.both(frame(sequence, RequestKind.WRITE_REGISTER, BY_NAME[name].offset, 4,
                                   word.to_bytes(4, "little")))
        sequence += 1
        return reply[-1]

    halt = encode_instruction(insn("halt"))
    pair.both(frame(sequence, RequestKind.WRITE_MEMORY, 0x100, 32, halt))
    sequence += 1
    assert [write("PROGRAM", 0x100), write("LENGTH", 1), write("CONTROL", Control.START)] == [0] * 3
    pair.firmware.chip.run(500)
    assert write("IRQ_ENABLE", 1) == ReplyStatus.INTERRUPT
    assert write("MAGIC", 1) == ReplyStatus.INTERRUPT | 2
    (reply,) = pair.both(frame(sequence, RequestKind.POLL, 0, 1))
    assert reply[-1] == ReplyStatus.INTERRUPT | ReplyStatus.REFUSED
    sequence += 1
    (reply,) = pair.both(frame(sequence + 1, RequestKind.POLL))
    assert reply[1:] == bytes([RequestKind.AGAIN | REPLY, ReplyStatus.INTERRUPT])
    (reply,) = pair.both(hello())
    assert reply[-1] == ReplyStatus.INTERRUPT
    (reply,) = pair.both(frame(sequence, RequestKind.READ_MEMORY, 0x100, 32))
    assert reply[-1] == ReplyStatus.INTERRUPT
    sequence += 1
    assert write("IRQ_STATUS", 1) == 0
    assert write("IRQ_ENABLE", 0) == write("CONTROL", Control.START) == 0
    pair.firmware.chip.run(500)
    assert write("IRQ_ENABLE", 1) == ReplyStatus.INTERRUPT
    assert write("CONTROL", Control.RESET) == 0


def test_poll_tells_the_time(firmware):
    firmware.feed(hello())
    times = []
    for sequence in range(3):
        (reply,) = FrameDecoder().feed(firmware.feed(frame(sequence, RequestKind.POLL)))
        times.append(int.from_bytes(reply[2:-1], "little"))
    assert times == sorted(set(times))


@pytest.mark.parametrize(("rate", "frame_rate"), [(5e-4, 0.01), (1e-3, 0.05), (2e-3, 0)])
def test_two_thousand_transfers_on_a_bad_wire(firmware, rate, frame_rate):
    wire = FaultyWire(firmware, 1, rate, frame_rate)
    link = LinkTransport(wire, NANO, clock=wire.clock, attempts=40)
    transfers(link, firmware.chip, 2_000, seed=2)
    assert min(wire.faults[kind] for kind in ("flip", "drop", "double")) > 20
    assert link.link.resent > 100
