"""The chip under cocotb: third-party bus agents, and the transport against the harness."""

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from stub import (
    DONE,
    FIRST_AR,
    FIRST_R,
    LAST_B,
    LAST_R,
    LAST_W,
    READ,
    SCRATCH,
    WRITE,
    move,
    random_bytes,
    stub_config,
    stub_verilog,
)

from celosia.arch.config import preset
from celosia.driver import Device
from celosia.driver.errors import BusError
from celosia.ops.gemm import matmul
from celosia_sim import cocotb_transport
from celosia_sim.build import build_library
from celosia_sim.cocotb_build import build_simulator, run_cocotb
from celosia_sim.cocotb_transport import CocotbTransport
from celosia_sim.library import ProtocolError
from celosia_sim.rtl import RtlTransport, SimOptions
from celosia_sim.verilog import chip_verilog

NANO = preset("nano")
pytestmark = pytest.mark.usefixtures("few_cycles")


@pytest.fixture(scope="module")
def nano():
    """The chip for the harness, optimised: other tests have compiled it."""
    return build_library(chip_verilog(NANO), NANO)


def transports(options: SimOptions, nano: Path | None = None):
    """Both ways to simulate a chip, ``nano`` or else the stub, the harness first."""
    for kind in (RtlTransport, CocotbTransport):
        chip = (kind(stub_config(8), options, verilog=stub_verilog(8)) if nano is None
                else RtlTransport(NANO, options, built=nano) if kind is RtlTransport
                else kind(NANO, options))
        try:
            yield chip
        finally:
            chip.close()


@pytest.mark.parametrize("options", [
    SimOptions(), SimOptions(read_latency=1, write_latency=1, max_outstanding=2)])
def test_memory_agent_equals_the_harness_to_the_cycle(options):
    seen = []
    for chip in transports(options):
        data = random_bytes(2048)
        chip.write_memory(0xFF000, data)
        assert move(chip, READ, 0xFF000, 32, 8) == DONE
        reads = [chip.read_register(r) - chip.read_register(FIRST_AR) for r in (FIRST_R, LAST_R)]
        assert move(chip, WRITE, 0x20000, 32, 8) == DONE
        writes = chip.read_register(LAST_B) - chip.read_register(LAST_W)
        assert np.array_equal(chip.read_memory(0x20000, 2048), data)
        seen.append((*reads, writes))
    assert seen[0] == seen[1]


def test_transport_errors():
    chip = CocotbTransport(stub_config(8), verilog=stub_verilog(8))
    chip.write_register(SCRATCH, 0xFFFFFFFF)
    assert chip.read_register(SCRATCH) == 0xFFFFFFFF
    with pytest.raises(BusError, match=r"read of register 0x100, not 2$"):
        chip.read_register(0x100)
    with pytest.raises(BusError, match=r"write of register 0x100, not 2$"):
        chip.write_register(0x100, 0)
    before = chip.now
    assert not chip.wait_interrupt(1234)
    assert chip.now - before >= 1234
    chip.close()
    chip.close()
    with pytest.raises(RuntimeError, match="must be open for read_register, but it was closed"):
        chip.read_register(0)


def test_a_simulator_that_dies_is_reported():
    chip = CocotbTransport(stub_config(8), verilog=stub_verilog(8))
    assert chip._process
    chip._process.kill()
    with pytest.raises(ProtocolError, match="^the cocotb simulation ended; its log ends with"):
        chip.read_register(SCRATCH)
    chip.close()


def test_a_simulator_that_stands_still_is_reported(monkeypatch):
    chip = CocotbTransport(stub_config(8), verilog=stub_verilog(8))
    assert chip._process
    chip._process.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(cocotb_transport, "_ANSWER_SECONDS", 0.2)
    with pytest.raises(ProtocolError, match=r"^no answer of the cocotb simulation within 0\.2 s; "):
        chip.read_register(SCRATCH)
    chip._process.send_signal(signal.SIGCONT)
    chip.close()


def test_options_that_cocotb_lacks():
    with pytest.raises(ValueError, match="^under cocotb, options must differ from the defaults in"):
        CocotbTransport(stub_config(8), SimOptions(bytes_per_cycle=2), verilog=stub_verilog(8))


def test_program_takes_the_same_cycles_under_cocotb(nano):
    seen = []
    for chip in transports(SimOptions(), nano):
        device = Device(chip)
        a = random_bytes(9 * 11).view(np.int8).reshape(9, 11)
        b = random_bytes(11 * 6, 2).view(np.int8).reshape(11, 6)
        result = device.run(matmul(NANO, 9, 11, 6), {"a": a, "b": b})
        assert np.array_equal(result["c"], a.astype(np.int32) @ b)
        seen.append(device.counters())
    assert seen[0] == seen[1]
    assert seen[0]["cycles"] > 100


@pytest.mark.parametrize("module", ["rtl_registers", "rtl_program"])
def test_module(module, tmp_path):
    program = tmp_path / "program.bin"
    matmul(NANO, 5, 6, 7).save(program)
    simulator = build_simulator(chip_verilog(NANO), NANO)
    environment = {"CELOSIA_TEST_PROGRAM": str(program), "COCOTB_RANDOM_SEED": "1",
                   "PYTHONPATH": os.pathsep.join((os.path.dirname(__file__), *sys.path))}
    outcome = run_cocotb(simulator, module, tmp_path, extra_environment=environment)
    assert outcome
    assert {name: text for name, text in outcome.items() if text} == {}
