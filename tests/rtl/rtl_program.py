"""cocotb: a program on a nano chip whose memory is cocotbext-axi's, with pauses."""

import itertools
import os
import random
from pathlib import Path

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam

from celosia.arch.registers import BY_NAME, Control, Status
from celosia.program import Program

ARENA, CODE = 0x4000, 0x1000


async def run_program(dut, pauses: random.Random | None) -> None:
    program = Program.load(Path(os.environ["CELOSIA_TEST_PROGRAM"]))
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    port = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)
    ram = AxiRam(AxiBus.from_prefix(dut, "m_axi"), dut.clk, dut.rst, size=1 << 16)
    if pauses:
        for channel in (ram.write_if.aw_channel, ram.write_if.w_channel, ram.write_if.b_channel,
                        ram.read_if.ar_channel, ram.read_if.r_channel):
            channel.set_pause_generator(
                itertools.cycle([pauses.random() < 0.5 for _ in range(101)]))
    dut.rst.value = 1
    await ClockCycles(dut.clk, 4)
    dut.rst.value = 0

    rng = np.random.default_rng(3)
    buffers = {buffer.name: buffer for buffer in program.buffers}
    a = rng.integers(-128, 128, buffers["a"].shape, np.int8)
    b = rng.integers(-128, 128, buffers["b"].shape, np.int8)
    ram.write(ARENA + buffers["a"].offset, a.tobytes())
    ram.write(ARENA + buffers["b"].offset, b.tobytes())
    ram.write(CODE, program.code(ARENA))
    for name, value in (("PROGRAM", CODE), ("LENGTH", len(program.insns)), ("IRQ_ENABLE", 1),
                        ("WINDOW0_BASE", ARENA), ("WINDOW0_LAST", 0xFFFF),
                        ("CONTROL", Control.START)):
        await port.write_dword(BY_NAME[name].offset, int(value))
    if not int(dut.irq.value):
        await with_timeout(RisingEdge(dut.irq), 1, "ms")
    assert await port.read_dword(BY_NAME["STATUS"].offset) == Status.DONE
    out = buffers["c"]
    size = int(np.prod(out.shape)) * 4
    got = np.frombuffer(bytes(ram.read(ARENA + out.offset, size)), np.int32).reshape(out.shape)
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b)


@cocotb.test()
async def product(dut) -> None:
    await run_program(dut, None)


@cocotb.test()
async def product_with_pauses(dut) -> None:
    await run_program(dut, random.Random(5))
