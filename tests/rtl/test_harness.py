"""The C++ harness around a stand-in chip: timing to the cycle, errors, memories."""

import _thread
import signal
import threading

import numpy as np
import pytest
from stub import (
    BAD,
    DONE,
    ERROR,
    FIRST_AR,
    FIRST_R,
    FIRST_W,
    LAST_B,
    LAST_R,
    LAST_W,
    READ,
    SCRATCH,
    WRITE,
    move,
    random_bytes,
)

from celosia.arch.registers import BY_NAME
from celosia.driver.errors import BusError
from celosia.driver.transport import Transport
from celosia_sim.library import ProtocolError
from celosia_sim.rtl import ErrorRange, SimOptions


def test_registers(open_stub):
    chip = open_stub()
    assert isinstance(chip, Transport)
    chip.write_register(SCRATCH, 0x89ABCDEF)
    assert chip.read_register(SCRATCH) == 0x89ABCDEF
    with pytest.raises(BusError, match=r"read of register 0x100, not 2$"):
        chip.read_register(0x100)
    with pytest.raises(BusError, match=r"write of register 0x104, not 2$"):
        chip.write_register(0x104, 0)


@pytest.mark.parametrize("bus_bytes", [4, 128])
def test_copy_through_the_chip(open_stub, bus_bytes):
    chip = open_stub(bus_bytes)
    data = random_bytes(256 * bus_bytes)
    chip.write_memory(0xFFFF8000, data)
    assert move(chip, READ, 0xFFFF8000, 32, 8) == DONE
    assert np.array_equal(chip.peek("ub", 0, 256).reshape(-1), data)
    assert move(chip, WRITE, 0x40000, 32, 8) == DONE
    assert np.array_equal(chip.read_memory(0x40000, data.size), data)
    assert not chip.read_memory(0x40000 + data.size, 64).any()


@pytest.mark.parametrize("latency", [1, 2, 64, 500])
def test_latency_is_exact(open_stub, latency):
    chip = open_stub(read_latency=latency, write_latency=latency)
    move(chip, READ, 0, 1, 8)
    assert chip.read_register(FIRST_R) - chip.read_register(FIRST_AR) == latency
    assert chip.read_register(LAST_R) - chip.read_register(FIRST_R) == 7
    move(chip, WRITE, 0, 1, 8)
    assert chip.read_register(LAST_W) - chip.read_register(FIRST_W) == 7
    assert chip.read_register(LAST_B) - chip.read_register(LAST_W) == latency


@pytest.mark.parametrize("rate", [0.5, 3, 5, 7, 8, 100])
def test_bandwidth_is_exact(open_stub, rate):
    chip = open_stub(8, bytes_per_cycle=rate)
    beats = 16 * 32
    for what, first, last in ((READ, FIRST_R, LAST_R), (WRITE, FIRST_W, LAST_W)):
        move(chip, what, 0, 16, 32)
        cycles = chip.read_register(last) - chip.read_register(first)
        assert cycles == pytest.approx((beats - 1) * max(1, 8 / rate), abs=2)


def test_outstanding_bursts_hide_latency_up_to_their_limit(open_stub):
    chip = open_stub(read_latency=100, max_outstanding=2)
    move(chip, READ, 0, 10, 8)
    # Two bursts a latency: the next address goes out as soon as the oldest burst is through.
    two = chip.read_register(LAST_R) - chip.read_register(FIRST_AR)
    chip.set_options(SimOptions(read_latency=100, max_outstanding=10))
    move(chip, READ, 0, 10, 8)
    assert chip.read_register(LAST_R) - chip.read_register(FIRST_AR) == 100 + 10 * 8 - 1
    assert 5 * 100 <= two <= 5 * 110


def test_error_responses(open_stub):
    errors = (ErrorRange(0x1038, 0x1038, write=False), ErrorRange(0x2000, 0x2007, read=False))
    chip = open_stub(8, errors=errors)
    assert move(chip, READ, 0x1000, 1, 8) == DONE | ERROR
    assert move(chip, READ, 0x1000, 1, 7) == DONE
    assert move(chip, WRITE, 0x1000, 1, 8) == DONE
    chip.poke("ub", 0, np.full((8, 8), 0xFF, np.uint8))
    assert move(chip, WRITE, 0x1FF8, 1, 1) == DONE
    assert move(chip, WRITE, 0x2000, 1, 8) == DONE | ERROR
    assert not chip.read_memory(0x2000, 8).any(), "a beat that failed was written"
    assert move(chip, READ, 0x2000, 1, 8) == DONE


@pytest.mark.parametrize("seed", range(4))
def test_random_stalls_change_time_and_nothing_else(open_stub, seed):
    chip = open_stub(stall_seed=seed, stall_rate=0.5)
    data = random_bytes(8 * 256, seed)
    chip.write_memory(0, data)
    assert move(chip, READ, 0, 32, 8) == DONE
    assert np.array_equal(chip.peek("ub", 0, 256).reshape(-1), data)
    assert move(chip, WRITE, 0x10000, 32, 8) == DONE
    assert np.array_equal(chip.read_memory(0x10000, data.size), data)
    first = chip.now
    again = open_stub(stall_seed=seed, stall_rate=0.5)
    again.write_memory(0, data)
    move(again, READ, 0, 32, 8)
    move(again, WRITE, 0x10000, 32, 8)
    assert again.now == first, "the same seed gave another timing"


def test_broken_handshakes_are_reported(open_stub):
    chip = open_stub(max_outstanding=1)
    chip.write_register(BAD, 1)
    with pytest.raises(ProtocolError, match=r"AR changed before it was accepted \(address 0x0"):
        move(chip, READ, 0, 16, 8)
    chip = open_stub()
    chip.write_register(BAD, 2)
    with pytest.raises(ProtocolError, match=r"^memory port, cycle \d+: WLAST comes early"):
        move(chip, WRITE, 0, 1, 8)
    chip = open_stub()
    with pytest.raises(ProtocolError, match=r"a burst crosses 4096 bytes \(address 0x00000ff8\)"):
        move(chip, READ, 0xFF8, 1, 8)
    chip = open_stub()
    with pytest.raises(ProtocolError, match="a burst is not aligned to the bus"):
        move(chip, READ, 0x4, 1, 8)


def test_timeout_is_exact(open_stub):
    chip = open_stub()
    seen = []
    before = chip.now
    assert not chip.wait_interrupt(54_321, seen.append)
    assert chip.now - before == 54_321
    assert seen == sorted(seen)
    assert not chip.wait_interrupt(0)
    assert chip.now - before == 54_321


def test_interrupt_from_the_keyboard_leaves_a_usable_chip(open_stub):
    chip = open_stub()
    # A shell that starts the tests in the background has them ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.3, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            chip.wait_interrupt(4_000_000_000)
    finally:
        signal.signal(signal.SIGINT, before)
    chip.write_register(SCRATCH, 5)
    assert chip.read_register(SCRATCH) == 5


def test_onchip_memories_start_at_zero_and_hold_what_is_poked(open_stub):
    chip = open_stub()
    assert chip.chip.rows("ub") == (1024, 8)
    assert chip.chip.rows("acc") == (256, 16)
    for memory, rows, row_bytes in (("ub", 1024, 8), ("acc", 256, 16)):
        assert not chip.peek(memory, 0, rows).any()
        data = random_bytes(13 * row_bytes).reshape(13, row_bytes)
        chip.poke(memory, rows - 13, data)
        assert np.array_equal(chip.peek(memory, rows - 13, 13), data)
        assert not chip.peek(memory, 0, rows - 13).any()
    with pytest.raises(ValueError, match=r"^rows of ub must lie in 0\.\.1024, not 1000\.\.1025$"):
        chip.peek("ub", 1000, 25)
    with pytest.raises(ValueError, match=r"must be 'ub' or 'acc' and in the model, not 'rom'$"):
        chip.peek("rom", 0, 1)


def test_memory_spans(open_stub):
    chip = open_stub()
    data = random_bytes(600_001)
    chip.write_memory(0x3FFFD, data)
    assert np.array_equal(chip.read_memory(0x3FFFD, data.size), data)
    assert chip.read_memory(5, 0).size == 0
    with pytest.raises(ValueError, match=r"must lie in 0\.\.0x100000000, not 0xffffffff\.\."):
        chip.read_memory(0xFFFFFFFF, 2)


def test_closed_chip(open_stub):
    chip = open_stub()
    chip.close()
    chip.close()
    with pytest.raises(RuntimeError, match="must be open for read_register, but it was closed"):
        chip.read_register(0)


def test_two_chips_are_independent(open_stub):
    one, two = open_stub(), open_stub()
    one.write_register(SCRATCH, 1)
    two.write_register(SCRATCH, 2)
    one.write_memory(0, b"a")
    assert (one.read_register(SCRATCH), two.read_register(SCRATCH)) == (1, 2)
    assert two.read_memory(0, 1)[0] == 0


@pytest.mark.parametrize(("field", "value", "wanted"), [
    ("bytes_per_cycle", 0, "None or above 0"),
    ("read_latency", 0, "a positive integer"),
    ("stall_rate", 1.0, "at least 0 and below 1"),
    ("trace", "a.txt", "None or a path that ends in .vcd, .fst or .toggles"),
])
def test_options_are_checked(field, value, wanted):
    with pytest.raises(ValueError, match=rf"^SimOptions\.{field} must be {wanted}, not {value!r}$"):
        SimOptions(**{field: value})


def test_what_the_pins_cannot_carry_is_refused(open_stub):
    chip = open_stub()
    with pytest.raises(BusError, match=r"^register offset must be from 0 to 0xfff, not 0x1000$"):
        chip.read_register(0x1000)
    with pytest.raises(ValueError, match=r"^value of register PROGRAM must be 32 bits, not -1$"):
        chip.write_register(BY_NAME["PROGRAM"].offset, -1)
    with pytest.raises(ValueError, match=r"^timeout_cycles must be None or at least 0, not -5$"):
        chip.wait_interrupt(-5)
