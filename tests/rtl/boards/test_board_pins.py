"""Boards at their pins: the driver on the serial line, an SDRAM by its data sheet behind."""

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

import numpy as np
import pytest
from board_pins import BAUDS, Pins

import celosia
from celosia.arch.config import TpuConfig, preset
from celosia.arch.registers import BY_NAME
from celosia.driver.device import Device
from celosia.driver.link import DeviceLost, LinkTransport
from celosia.driver.model import ModelTransport
from celosia.program.asm import assemble
from celosia_hw.boards import BOARDS
from celosia_sim.board import STRICTEST, SimulatedBoard
from celosia_sim.board_library import BuiltBoard, build_board
from celosia_sim.boards.cells import FAMILIES, system_hz
from celosia_sim.boards.sdram import PARTS

SCRATCH = BY_NAME["WATCHDOG"].offset


@pytest.fixture(scope="module")
def ulx3s() -> BuiltBoard:
    return build_board(BOARDS["ulx3s"], baud=BAUDS["ulx3s"])


@pytest.fixture
def pins():
    """Make boards that are closed when the test ends; no rule of a data sheet may be broken."""
    boards = []

    def make(built: BuiltBoard, *args, lawful: bool = True, **options) -> Pins:
        boards.append((Pins(built, *args, **options), lawful))
        return boards[-1][0]

    yield make
    try:
        for board, lawful in boards:
            if lawful and board.library.sdram is not None:
                assert board.library.sdram.violations == []
    finally:
        for board, _ in boards:
            board.library.close()


def transfers(link: LinkTransport, count: int, seed: int, size: int = 300) -> None:
    """Read and write at random places of the whole memory, of ``size`` bytes, and compare with what
    must be there.
    """
    rng = np.random.default_rng(seed)
    spans = [int(at) for at in rng.integers(link.memory_bytes - size, size=8)]
    spans += [0, link.memory_bytes - size]
    wanted = [rng.integers(0, 256, size, dtype=np.uint8) for _ in spans]
    for at, data in zip(spans, wanted, strict=True):
        link.write_memory(at, data)
    for i in range(count):
        which, length = int(rng.integers(len(spans))), int(rng.integers(1, 60))
        at, data = int(rng.integers(size - length)), wanted[which]
        if rng.random() < 0.5:
            data[at:at + length] = rng.integers(0, 256, length, dtype=np.uint8)
            link.write_memory(spans[which] + at, data[at:at + length])
        else:
            got = link.read_memory(spans[which] + at, length)
            assert np.array_equal(got, data[at:at + length])
        if i % 5 == 0:
            link.write_register(SCRATCH, i)
            assert link.read_register(SCRATCH) == i
    for at, data in zip(spans, wanted, strict=True):
        assert np.array_equal(link.read_memory(at, size), data)


def copies(config: TpuConfig, times: int):
    """Blocks of memory go in and out as fast as the chip can move them."""
    rows, dim = 1024 // config.dim, config.dim
    moves = f", fmt=i8, rows={rows}, cols={dim}, pitch={dim}"
    return assemble("\n".join((
        f".chip {config.name}", *(f".buffer {name}, int8[{rows}, {dim}], {kind}" for name, kind in (
            ("a", "input"), ("b", "input"), ("c", "output"), ("d", "output"))),
        f"loop {times}, done",
        f"load ub[0], @a{moves}", f"load ub[{rows}], @b{moves}",
        f"store ub[0], @c{moves}", f"store ub[{rows}], @d{moves}",
        "done: halt")))


def product(config: TpuConfig):
    """A product of matrices, on a chip of any size."""
    dim = config.dim
    return assemble("\n".join((
        f".chip {config.name}", f".buffer a, int8[8, {dim}], input",
        f".buffer b, int8[{dim}, {dim}], input", f".buffer c, int32[8, {dim}], output",
        f"load ub[0], @a, fmt=i8, rows=8, cols={dim}, pitch={dim}",
        f"load ub[8], @b, fmt=i8, rows={dim}, cols={dim}, pitch={dim}",
        f"matmul acc[0], ub[0], w=ub[8], fmt=int8, n0=8, wrows={dim}",
        f"store acc[0], @c, fmt=w32, rows=8, cols={dim}, pitch={4 * dim}", "halt")))


def random_inputs(program, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {buffer.name: rng.integers(-128, 128, buffer.shape, dtype=np.int8)
            for buffer in program.inputs}


def check_runs(device: Device, program, seed: int = 1) -> None:
    """Run on the board and on the golden model; compare."""
    inputs = random_inputs(program, seed)
    with Device(ModelTransport(device.config)) as model:
        wanted = model.run(program, inputs)
    got = device.run(program, inputs)
    for buffer in program.outputs:
        assert np.array_equal(got[buffer.name], wanted[buffer.name])


def test_memory_through_the_pins(ulx3s, pins):
    board = pins(ulx3s)
    link = board.open()
    assert link.memory_bytes == 32 << 20
    transfers(link, 60, seed=1)
    with Device(link) as device:
        rng = np.random.default_rng(2)
        arrays = [rng.integers(-1000, 1000, size, dtype=np.int32) for size in (1, 77, 300)]
        handles = [device.put(array) for array in arrays]
        for handle, array in zip(handles, arrays, strict=True):
            assert np.array_equal(handle.numpy(), array)
    assert link.link.resent == 0


def test_refreshes_keep_their_pace_under_load(ulx3s, pins):
    """The chip moves data all the time, and the host reads and writes meanwhile."""
    board = pins(ulx3s)
    with Device(board.open()) as device:
        handle = device.put(np.arange(100, dtype=np.int32))
        program = copies(device.config, 40)
        inputs = random_inputs(program, 3)
        seen = []

        def progress(_: int) -> None:
            seen.append(handle.numpy())

        start, before = board.library.now, board.library.sdram.counts
        result = device.run(program, inputs, progress=progress)
        cycles, after = board.library.now - start, board.library.sdram.counts
        for name, source in (("c", "a"), ("d", "b")):
            assert np.array_equal(result[name], inputs[source])
        assert len(seen) > 2
        assert all(np.array_equal(each, np.arange(100)) for each in seen)
        assert board.library.lights["busy"]
    pace = 64e-3 / 8192 * board.built.freq_hz
    assert after.refreshes - before.refreshes >= cycles / pace - 8
    words = after.reads + after.writes - before.reads - before.writes
    moved = 40 * 4 * 1024 // 2  # words that the chip alone has moved
    print(f"{words} words in {cycles} cycles, {result.cycles} of them the chip's: "
          f"{moved / result.cycles:.0%} of the bus while it ran")
    assert moved / result.cycles > 0.6


@pytest.mark.parametrize("skew", [0.02, -0.02])
def test_noise_and_skewed_clocks(ulx3s, pins, skew):
    board = pins(ulx3s, skew=skew)
    board.library.noise(3, 5e-3)
    link = board.open(timeout=0.0005, attempts=40)
    transfers(link, 20, seed=2, size=100)
    assert board.library.faults > 10
    assert link.link.resent > 5


def test_power_up(ulx3s, pins):
    """The SDRAM is left alone for 200 us; the host is heard as soon as the link is out of reset."""
    board = pins(ulx3s)
    board.library.run(15_990)
    assert board.library.sdram.counts.refreshes == 0
    board.library.run(2_000)
    assert board.library.sdram.counts.refreshes >= 8
    assert board.library.lights == {"heartbeat": True, "fault": False, "busy": False}


@pytest.mark.parametrize("name", PARTS)
def test_every_part_alone(ulx3s, pins, name):
    transfers(pins(ulx3s, PARTS[name]).open(), 5, seed=4, size=100)


@pytest.mark.parametrize(("change", "rule"), [
    ({"t_rcd": 25_001}, "tRCD"), ({"t_rp": 25_001}, "tRP"), ({"t_rfc": 80_000}, "tRFC"),
    ({"t_init": 300_000_000}, "tINIT"), ({"t_ref": 50_000_000_000}, "tREF"),
    ({"t_is": 9_376}, "tIS"), ({"t_ih": 3_126}, "tIH")])
def test_a_stricter_part_is_not_satisfied(ulx3s, pins, change, rule):
    board = pins(ulx3s, replace(STRICTEST, **change), lawful=False)
    link = board.open()
    for i in range(6):
        link.write_memory(i << 14, bytes(64))
    board.library.run(10_000)
    assert rule in {violation.rule for violation in board.library.sdram.violations}


@pytest.mark.parametrize(("delays", "good"), [
    ((700, 10_100), True), ((100, 350), False), ((10_300, 10_600), False)])
def test_read_data_have_a_window(ulx3s, pins, delays, good):
    """Between the slowest access and the shortest hold, with what the pads add."""
    link = pins(ulx3s, pad_delays=delays).open()
    data = bytes(range(64))
    link.write_memory(0x1000, data)
    assert (link.read_memory(0x1000, 64).tobytes() == data) is good


@pytest.mark.parametrize("mhz", [
    60, *(pytest.param(mhz, marks=pytest.mark.slow) for mhz in (25, 42, 45, 75, 85, 88, 92, 126))])
def test_clocks_that_an_sdram_has(pins, mhz):
    """Where the phase of its clock is another, every rule is kept all the same, and every word is
    there in time.
    """
    built = build_board(BOARDS["ulx3s"], preset("pico"), freq_hz=mhz * 1_000_000,
                        baud=mhz * 125_000)  # 8 cycles a bit
    assert built.freq_hz == pytest.approx(mhz * 1e6, rel=0.05)
    link = pins(built).open()
    transfers(link, 40, seed=mhz)
    check_runs(Device(link), product(built.config))


def test_unplugged_twice_and_closed(ulx3s):
    board = SimulatedBoard(ulx3s)
    assert board.step() == []
    board.unplug()
    board.unplug()
    with pytest.raises(RuntimeError,
                       match="^the simulated board must be open for now, but it was closed$"):
        _ = board.pins.now


def test_a_board_hears_the_first_request(ulx3s):
    board = SimulatedBoard(ulx3s)
    with ThreadPoolExecutor() as pool:
        # The port takes the request before the board runs.
        host = pool.submit(celosia.open, "serial", port=board.port, timeout=30.0, attempts=1)
        wait([host], timeout=0.2)
        while not host.done():
            board.step()
        with host.result() as device:
            assert device.config == ulx3s.config
    board.unplug()


def test_wrong_baud_is_not_heard(ulx3s, pins):
    wire = pins(ulx3s, skew=0.2)
    with pytest.raises(DeviceLost, match=r"is the baud rate right\?"):
        wire.open(timeout=0.0005, attempts=3)


@pytest.mark.parametrize("name", ["tangprimer20k"])
def test_boards_with_memory_on_the_chip(pins, name):
    built = build_board(BOARDS[name], baud=BAUDS[name])
    assert built.freq_hz == pytest.approx(BOARDS[name].freq_hz, rel=0.05)
    board = pins(built)
    with Device(board.open()) as device:
        assert device.transport.memory_bytes == BOARDS[name].memory_bytes
        check_runs(device, product(device.config))
        check_runs(device, copies(device.config, 2))
        data = np.random.default_rng(5).integers(0, 256, 700, dtype=np.uint8)
        for at in (0, BOARDS[name].memory_bytes - 700):
            device.transport.write_memory(at, data)
            assert np.array_equal(device.transport.read_memory(at, 700), data)
        assert not board.library.lights["fault"]


def test_generators_of_every_family():
    assert {board.family for board in BOARDS.values()} <= set(FAMILIES)
    top = "EHXPLLL #( .CLKI_DIV(2), .CLKFB_DIV(9), .CLKOP_DIV(5) ) pll ( .CLKI(clk) );"
    assert system_hz(top, 25_000_000) == 112_500_000
    with pytest.raises(ValueError, match="^EHXPLLL must have a whole number as parameter CLKI_DIV"):
        system_hz("EHXPLLL #(.CLKFB_DIV(1)) pll (", 1)
    with pytest.raises(ValueError, match="^the top module must have one of EHXPLLL, .*, not 0$"):
        system_hz("", 1)


@pytest.mark.slow
def test_rows_are_refreshed_in_time_while_bursts_go_on(pins, ulx3s):
    """For twice the 64 ms in which each row must have its turn."""
    board = pins(ulx3s)
    program = copies(ulx3s.config, 5000)
    with Device(board.open(), "pins") as device:
        result = device.run(program, random_inputs(program, 1))
    assert result.cycles > 2 * 0.064 * ulx3s.freq_hz
