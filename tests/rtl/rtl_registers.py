"""cocotb: the register port of a nano chip against cocotbext-axi's manager."""

import itertools
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiLiteBus, AxiLiteMaster
from cocotbext.axi.constants import AxiResp

from celosia.arch.config import preset
from celosia.arch.registers import BY_NAME, MAGIC, REGISTERS, AccessMode
from celosia_sim.cocotb_agents import MemoryAgent

CONFIG = preset("nano")


async def open_port(dut, seed: int | None = None) -> AxiLiteMaster:
    """Reset the chip; with a seed, every channel of its register port pauses at random."""
    MemoryAgent(dut)
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    port = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)
    if seed is not None:
        rng = random.Random(seed)
        channels = (port.write_if.aw_channel, port.write_if.w_channel, port.write_if.b_channel,
                    port.read_if.ar_channel, port.read_if.r_channel)
        for channel in channels:
            channel.set_pause_generator(itertools.cycle([rng.random() < 0.6 for _ in range(97)]))
    dut.rst.value = 1
    await ClockCycles(dut.clk, 4)
    dut.rst.value = 0
    await ClockCycles(dut.clk, 2)
    return port


async def check_every_register(port: AxiLiteMaster) -> None:
    assert await port.read_dword(BY_NAME["MAGIC"].offset) == MAGIC
    assert await port.read_dword(BY_NAME["DIM"].offset) == CONFIG.dim
    assert await port.read_dword(BY_NAME["FINGERPRINT"].offset) == CONFIG.fingerprint
    for register in REGISTERS:
        answer = await port.read(register.offset, 4)
        assert answer.resp == AxiResp.OKAY, register.name
        if register.access is AccessMode.RW:
            assert int.from_bytes(answer.data, "little") == register.init, register.name
    for register in REGISTERS:
        if register.access is AccessMode.RO:
            answer = await port.write(register.offset, bytes(4))
            assert answer.resp == AxiResp.SLVERR, register.name
    free = sorted(set(range(0, 0x1000, 4)) - {register.offset for register in REGISTERS})
    for offset in (*free[:8], *free[-4:]):
        assert (await port.read(offset, 4)).resp == AxiResp.SLVERR, hex(offset)
        assert (await port.write(offset, bytes(4))).resp == AxiResp.SLVERR, hex(offset)
    for i, name in enumerate(("WINDOW0_BASE", "WINDOW2_LAST", "WINDOW3_BASE")):
        await port.write_dword(BY_NAME[name].offset, 0x01020300 + i)
    for i, name in enumerate(("WINDOW0_BASE", "WINDOW2_LAST", "WINDOW3_BASE")):
        assert await port.read_dword(BY_NAME[name].offset) == 0x01020300 + i


@cocotb.test()
async def every_register(dut) -> None:
    await check_every_register(await open_port(dut))


@cocotb.test()
async def every_register_with_pauses(dut) -> None:
    await check_every_register(await open_port(dut, seed=1))


@cocotb.test()
async def partial_strobes_are_refused(dut) -> None:
    port = await open_port(dut)
    offset = BY_NAME["WINDOW1_BASE"].offset
    await port.write_dword(offset, 0x11223344)
    assert (await port.write(offset, b"\xff")).resp == AxiResp.SLVERR
    assert await port.read_dword(offset) == 0x11223344
