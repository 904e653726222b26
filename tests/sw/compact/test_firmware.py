"""The image of the firmware; and the whole of it, at the far end of a wire that spoils."""

import re
import struct
from dataclasses import replace

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia.arch.faults import Fault
from celosia.arch.link import LinkConfig
from celosia.driver import ChipFault, Device
from celosia.driver.errors import RunTimeout
from celosia.driver.link import LinkTransport
from celosia.driver.model import ModelTransport
from celosia.ops.gemm import matmul
from celosia.program.asm import assemble
from celosia_hw.soc.compact import firmware
from celosia_hw.soc.compact.firmware import (
    BF16,
    CONFIG_BYTE,
    INT8,
    config_words,
    image,
    variant,
)
from sw.compact.link_bench import FirmwareBoard
from sw.driver.link.faulty import FaultyWire

NANO = preset("nano")
LINK = LinkConfig(24_000_000, memory_bytes=1 << 17, buffer_bytes=2048)
MEMORY = LinkConfig(24_000_000, memory_bytes=1 << 20)
SIZES = "a power of two from 4096 to 268435456"
CONFIGS = [preset("pico"), NANO, preset("core4")]
VARIANTS = pytest.mark.parametrize("made", [INT8, BF16], ids=["int8", "bf16"])


def exactly(text: str) -> str:
    return f"^{re.escape(text)}$"


@VARIANTS
def test_committed_image_is_what_the_sources_give(tmp_path, made):
    built = firmware.build(made, tmp_path)
    assert built == made.image.read_bytes(), \
        "run python -m celosia_hw.soc.compact.firmware, and commit what it makes"
    parts = firmware.sections((tmp_path / "firmware.elf").read_bytes())
    assert [part.name for part in parts] == [".text", ".rodata", ".bss"]
    assert parts[0].address == 0
    assert parts[-1].address + parts[-1].size <= made.ram_bytes - 512
    assert sum(len(part.data) for part in parts) <= len(built)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_image_holds_the_configuration(config):
    stored = variant(config).image.read_bytes()
    before = struct.unpack(f"<{len(stored) // 4}I", stored)
    words = image(config, LINK)
    begin, end = CONFIG_BYTE // 4, CONFIG_BYTE // 4 + 12
    assert words[begin:end] == config_words(config, LINK) == [
        config.fingerprint, config.dim, 3 if config.bf16 else 1, config.ub_rows, config.acc_rows,
        config.bus_bytes, config.window, config.ibuf, 1 << 17, 2048, config.dim // 2, 0]
    assert not any(before[begin:end])
    assert tuple(words[:begin]) == before[:begin]
    assert tuple(words[end:]) == before[end:]
    assert words[0] & 0x7F == 0x6F, "the image must begin with a jump"


@pytest.mark.parametrize(("config", "size", "message"), [
    ("core", 4096, "dim of a compact chip with int8 and bf16 must be at most 4, not 16"),
    ("v2", 4096, "formats of a compact chip must be int8, or int8 and bf16, not bf16"),
    ("v1", 4096, "dim of a compact chip with int8 must be at most 8, not 256"),
    *(("nano", size, f"memory_bytes of a compact chip must be {SIZES}, not {size}")
      for size in (3 * 4096, 1 << 32))])
def test_chips_that_it_is_not_for(config, size, message):
    with pytest.raises(ValueError, match=exactly(message)):
        config_words(preset(config), replace(LINK, memory_bytes=size))


@pytest.fixture
def connect():
    """Make devices at the far end of a wire; the firmware goes on while bytes are on their way."""
    boards = []

    def make(config, seed=0, rate=0.0, frame_rate=0.0) -> tuple[Device, FaultyWire]:
        boards.append(FirmwareBoard(config, MEMORY, pace=20_000))
        wire = FaultyWire(boards[-1], seed, rate, frame_rate)  # type: ignore[arg-type]
        return Device(LinkTransport(wire, config, clock=wire.clock, attempts=40)), wire

    yield make
    for board in boards:
        board.close()


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_products_over_a_bad_wire_are_those_of_the_model(connect, config):
    rng = np.random.default_rng(1)
    device, wire = connect(config, 2, 1e-3, 0.01)
    model = Device(ModelTransport(config, MEMORY.memory_bytes))
    for m, k, n in ((1, 1, 1), (8, 4, 4), (20, 17, 9), (3, 40, 33)):
        a = rng.integers(-128, 128, (m, k), dtype=np.int8)
        b = rng.integers(-128, 128, (k, n), dtype=np.int8)
        bias = rng.integers(-1000, 1000, n, dtype=np.int32)
        program = matmul(config, m, k, n, bias=True, relu=True)
        wanted = np.maximum(a.astype(np.int32) @ b + bias, 0)
        for one in (device, model):
            result = one.run(program, {"a": a, "b": b, "bias": bias})
            assert np.array_equal(result["c"], wanted)
        counts, expected = device.counters(), model.counters()
        assert counts["instructions"] == expected["instructions"]
        assert counts["bytes_written"] == expected["bytes_written"]
        assert counts["mxu_busy"] > 0
    assert sum(wire.faults.values()) > 20


def test_faults_and_timeouts_over_the_wire(connect):
    device, _ = connect(NANO)
    with pytest.raises(ChipFault) as caught:
        device.run(assemble(".chip nano\n nop\n matmul acc[0], ub[0], n0=4, wload=0\n halt"))
    assert (caught.value.cause, caught.value.pc) == (Fault.ILLEGAL_FIELD, 1)
    with pytest.raises(RunTimeout):
        device.run(assemble(".chip nano\n jump 0"), timeout=100_000)
    a, b = np.full((8, 4), 3, np.int8), np.full((4, 4), -2, np.int8)
    result = device.run(matmul(NANO, 8, 4, 4), {"a": a, "b": b})
    assert np.array_equal(result["c"], a.astype(np.int32) @ b)
