"""The RTL of the link at its pins, at the far end of a pseudo-terminal that the driver opens."""

import numpy as np
import pytest

import celosia
from celosia.arch.config import preset
from celosia.arch.link import FLAG, MODULE_NAME, LinkConfig
from celosia.arch.registers import BY_NAME
from celosia.driver.link import DeviceLost, LinkTransport
from celosia.driver.model import ModelTransport
from celosia.program.asm import assemble
from celosia_hw.verilog.chip import link_verilog
from celosia_sim.lint import lint_text
from celosia_sim.wire import CLOCKS_PER_BIT, WireBoard
from celosia_sim.wire_library import WireLibrary, build_wire

NANO = preset("nano")
SCRATCH = BY_NAME["WATCHDOG"].offset
PRODUCT = assemble("\n".join((
    ".chip nano", ".buffer a, int8[8, 4], input", ".buffer b, int8[4, 4], input",
    ".buffer c, int32[8, 4], output", "load ub[0], @a, fmt=i8, rows=8, cols=4, pitch=4",
    "load ub[8], @b, fmt=i8, rows=4, cols=4, pitch=4",
    "matmul acc[0], ub[0], w=ub[8], fmt=int8, n0=8, wrows=4",
    "store acc[0], @c, fmt=w32, rows=8, cols=4, pitch=16", "halt")))


class Pins:
    """The Verilated link as a wire: time passes while the host waits for a byte."""

    name = "the pins"

    def __init__(self, target: ModelTransport, link: LinkConfig, config=NANO, skew: float = 0.0):
        clocks = link.period / link.unit * (1 + skew)
        self.library = WireLibrary(build_wire(config, link), target, clocks, lambda: None)
        self.seconds_per_cycle, self.byte_seconds = 1 / link.clock_hz, 10 / link.actual_baud

    def clock(self) -> float:
        return self.library.now * self.seconds_per_cycle

    def write(self, data: bytes) -> None:
        self.library.send(data)

    def read(self, seconds: float) -> bytes:
        end = self.library.now + seconds / self.seconds_per_cycle
        while self.library.now < end:
            if data := self.library.run(400):
                return data
        return b""

    def close(self) -> None:
        self.library.close()


@pytest.fixture
def pins():
    """Make wires that are closed when the test ends."""
    wires = []

    def make(link: LinkConfig | None = None, **options) -> tuple[ModelTransport, Pins]:
        chip = ModelTransport(options.get("config", NANO))
        wires.append(Pins(chip, link or LinkConfig(CLOCKS_PER_BIT * 1_000_000), **options))
        return chip, wires[-1]

    yield make
    for wire in wires:
        wire.close()


def transfers(link: LinkTransport, chip: ModelTransport, count: int, seed: int) -> None:
    """Read and write at random, and compare with what must be there."""
    rng, size = np.random.default_rng(seed), 1 << 16
    base = (1 << 32) - size
    wanted = chip.read_memory(base, size)
    for i in range(count):
        length = int(rng.integers(1, 1500 if i % 10 == 0 else 150))
        at = int(rng.integers(size - length))
        if rng.random() < 0.5:
            wanted[at:at + length] = rng.integers(0, 256, length, dtype=np.uint8)
            link.write_memory(base + at, wanted[at:at + length])
        else:
            assert np.array_equal(link.read_memory(base + at, length), wanted[at:at + length])
        if i % 5 == 0:
            link.write_register(SCRATCH, i)
            assert link.read_register(SCRATCH) == i
    assert np.array_equal(chip.read_memory(base, size), wanted)


@pytest.mark.parametrize("name", ["nano", "core"])
def test_verilog_is_free_of_warnings(name):
    text = link_verilog(preset(name), LinkConfig(25_000_000, 3_000_000))
    assert not lint_text(text.replace(f"{MODULE_NAME}(", "celosia("))


def test_bulk_transfers_fill_the_line(pins):
    chip, wire = pins()
    link = LinkTransport(wire, NANO, clock=wire.clock)
    data = np.random.default_rng(1).integers(0, 256, 1 << 14, dtype=np.uint8)
    byte_cycles = 10 * CLOCKS_PER_BIT
    before = wire.library.now
    link.write_memory(0x1003, data)
    written = wire.library.now
    assert np.array_equal(link.read_memory(0x1003, len(data)), data)
    read = wire.library.now
    assert np.array_equal(chip.read_memory(0x1003, len(data)), data)
    shares = [len(data) * byte_cycles / cycles for cycles in (written - before, read - written)]
    print("share of the line's bytes, write and read:", shares)
    assert min(shares) > 0.93
    assert link.link.resent == 0


@pytest.mark.parametrize("skew", [0.015, -0.015])
def test_noise_and_skewed_clocks(pins, skew):
    chip, wire = pins(skew=skew)
    wire.library.noise(3, 5e-4)
    link = LinkTransport(wire, NANO, clock=wire.clock, timeout=0.005, attempts=40)
    transfers(link, chip, 400, seed=2)
    assert wire.library.faults > 20
    assert link.link.resent > 10


@pytest.mark.slow
@pytest.mark.parametrize("rate", [1e-4, 1e-3])
def test_ten_thousand_transfers(pins, rate):
    chip, wire = pins()
    wire.library.noise(6, rate)
    link = LinkTransport(wire, NANO, clock=wire.clock, timeout=0.005, attempts=40)
    transfers(link, chip, 10_000, seed=7)
    print(f"{wire.library.faults} faults, {link.link.resent} requests sent again, "
          f"{link.link.garbled} garbled replies, {wire.library.now} cycles")
    assert wire.library.faults > 100


def test_reset_in_a_session_is_noticed(pins):
    _, wire = pins()
    link = LinkTransport(wire, NANO, clock=wire.clock)
    link.write_register(SCRATCH, 1)
    wire.library.reset()
    with pytest.raises(DeviceLost, match="^the board on the pins must know this session, but it "):
        link.write_register(SCRATCH, 2)
    link = LinkTransport(wire, NANO, clock=wire.clock)
    assert link.read_register(SCRATCH) == 1


def test_wide_bus_and_a_fraction_of_a_clock_cycle(pins):
    config = preset("core")
    chip, wire = pins(LinkConfig(25_000_000, 3_000_000, buffer_bytes=4096), config=config)
    link = LinkTransport(wire, config, clock=wire.clock)
    transfers(link, chip, 60, seed=4)
    assert link.link.resent == 0


def test_payload_of_flags(pins):
    _, wire = pins()
    link = LinkTransport(wire, NANO, clock=wire.clock)
    link.write_memory(5, bytes([FLAG]) * 3000)
    assert set(link.read_memory(5, 3000)) == {FLAG}


def product(device, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.integers(-128, 128, (8, 4), dtype=np.int8)
    b = rng.integers(-128, 128, (4, 4), dtype=np.int8)
    result = device.run(PRODUCT, {"a": a, "b": b})
    assert np.array_equal(result["c"], a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize("noise", ["0", "0.0005"])
def test_driver_on_a_pseudo_terminal(server, noise):
    build_wire(NANO, LinkConfig(CLOCKS_PER_BIT * 1_000_000))
    board = server("--noise", noise, "--seed", "5")
    with celosia.open("serial", port=board.port, timeout=0.2, attempts=40) as device:
        assert device.config is NANO
        for seed in range(5):
            product(device, seed)
        data = np.random.default_rng(0).integers(-128, 128, 8_000, dtype=np.int8)
        assert np.array_equal(device.put(data).numpy(), data)
    with celosia.open("serial", port=board.port, timeout=0.2, attempts=40) as device:
        product(device, 9)
    assert ("0 faults" in board.stop()) == (noise == "0")


def test_driver_reaches_the_rtl_of_the_chip(server):
    with celosia.open("rtl", "nano"):
        pass  # built before the clock of a timeout runs
    board = server("--chip", "rtl")
    with celosia.open("serial", "nano", port=board.port, timeout=5.0) as device:
        for seed in range(3):
            product(device, seed)


def test_unplugging_raises_and_reopening_works(server):
    board = server()
    device = celosia.open("serial", port=board.port, timeout=2.0, attempts=3)
    product(device, 1)
    handle = device.put(np.arange(5000, dtype=np.int32))
    board.kill()
    with pytest.raises(DeviceLost, match=f"^the board on {board.port} must "):
        handle.numpy()
    device.close()
    with celosia.open("serial", port=server().port) as device:
        product(device, 2)


def test_board_in_this_process_can_be_unplugged_twice():
    board = WireBoard(ModelTransport(NANO), NANO)
    board.step()
    board.unplug()
    board.unplug()
    with pytest.raises(RuntimeError, match="^the simulated wire must be open for now, but it was"):
        _ = board.wire.now
