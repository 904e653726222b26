# amaranth: UnusedElaboratable=no
"""The chip around the sequencer, by small programs: memories, engine, wire, lights, boot."""

import random
import re

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from celosia.arch.config import preset
from celosia.arch.isa import MatmulFormat
from celosia.arch.link import (
    IDENTITY,
    LINK_MAGIC,
    PAGE_BYTES,
    PROTOCOL_VERSION,
    REPLY,
    REQUEST_HEADER,
    LinkConfig,
    RequestKind,
)
from celosia.driver.link.frames import FrameDecoder, encode, pack
from celosia_hw.soc.compact import assemble as asm
from celosia_hw.soc.compact import boot, compact_system
from celosia_hw.soc.compact.compact_system import CompactSystem
from celosia_hw.soc.compact.firmware import INT8, image
from celosia_hw.soc.compact.memory_map import EngineRegister
from celosia_hw.soc.link.uart import UartReceiver, UartTransmitter
from hw.engine import Simulator

EBREAK = 0x0010_0073
LINK = LinkConfig(4_000_000, 1_000_000, 1 << 15, 1024)
BASES = (0x10000, 0x20000, 0x30000)
DEVICES = 30  # register with their address

#: Of each format; other sides and the other kind of memory are slow.
CHIPS = [("nano", False), ("core4", False), *(
    pytest.param(name, spram, marks=pytest.mark.slow)
    for name, spram in (("pico", True), ("pico", False), ("edge", False), ("nano", True)))]


class Bench(wiring.Component):
    """A system with a host's end of the wire."""

    def __init__(self, preset_name: str, firmware=(), *, spram: bool = False):
        super().__init__({})
        self.system = CompactSystem(preset(preset_name), LINK, firmware, spram=spram)
        self.transmitter, self.receiver = UartTransmitter(LINK), UartReceiver(LINK)

    def elaborate(self, platform):
        m = Module()
        m.submodules.system, m.submodules.transmitter = self.system, self.transmitter
        m.submodules.receiver = self.receiver
        m.d.comb += [self.system.rx.eq(self.transmitter.line),
                     self.receiver.line.eq(self.system.tx)]
        return m

    def run(self, count: int, send: bytes = b"", cycles: int = 100_000, flash=None) -> bytes:
        """Return the first ``count`` bytes that the system sends, while it is sent some."""
        heard = bytearray()

        async def hear(ctx):
            tick = ctx.tick().sample(self.receiver.valid, self.receiver.data)
            for _ in range(cycles):
                _, _, valid, data = await tick
                if valid:
                    heard.append(data)
                    if len(heard) == count:
                        return
            raise AssertionError(f"{count} bytes wanted in {cycles} cycles, not {len(heard)}")

        async def say(ctx):
            stream = self.transmitter.i
            for byte in send:
                ctx.set(stream.payload, byte)
                ctx.set(stream.valid, 1)
                await ctx.tick().until(stream.ready)
            ctx.set(stream.valid, 0)

        sim = Simulator(self)
        sim.add_clock(1e-6)
        sim.add_testbench(hear)
        sim.add_testbench(say, background=True)
        if flash is not None:
            sim.add_testbench(flash, background=True)
        sim.run()
        return bytes(heard)


def send_byte(register: int) -> list[int]:
    return [asm.load("lw", 29, 4, DEVICES), asm.branch("bne", 29, 0, -4),
            asm.store("sw", register, 4, DEVICES)]


def memory_program() -> tuple[list[int], bytes]:
    """Write to each memory, far and near, words and parts of them; read them back and send them.

    Accumulators are written by words only.
    """
    stride, count, value, factor = 508, 4, 0x9E37_79B9, 0x85EB_CA6B
    # x1: back, x2: base, x3: at, x4: left, x5: value, x6: factor
    expected = bytearray()
    words = bytearray()
    start = [asm.upper("lui", DEVICES, 0x40000), asm.upper("lui", 5, value >> 12),
             asm.upper("lui", 6, factor >> 12), asm.op_imm("addi", 6, 6, 5)]
    number, factor = value >> 12 << 12, (factor >> 12 << 12) + 5
    each = [asm.op_imm("addi", 3, 2, 0), asm.op_imm("addi", 4, 0, count),
            asm.op("mul", 5, 5, 6), asm.op_imm("addi", 5, 5, 1), asm.store("sw", 5, 0, 3),
            asm.op_imm("addi", 3, 3, stride), asm.op_imm("addi", 4, 4, -1),
            asm.branch("bne", 4, 0, -20),
            asm.branch("beq", 7, 0, 12), asm.store("sb", 5, stride + 1, 2),
            asm.store("sh", 5, 2, 2),
            asm.op_imm("addi", 3, 2, 0), asm.op_imm("addi", 4, 0, 4 * count)]
    loop = [asm.load("lbu", 28, 0, 3), *send_byte(28), asm.op_imm("addi", 3, 3, 1),
            asm.op_imm("andi", 8, 3, 3), asm.branch("bne", 8, 0, 8),
            asm.op_imm("addi", 3, 3, stride - 4), asm.op_imm("addi", 4, 4, -1)]
    each += [*loop, asm.branch("bne", 4, 0, -4 * len(loop)), asm.jalr(0, 0, 1)]
    calls = []
    for base in BASES:
        calls += [asm.upper("lui", 2, base), asm.op_imm("addi", 7, 0, int(base != 0x20000))]
        calls.append((base, len(calls)))
        words = bytearray()
        for _ in range(count):
            number = (number * factor + 1) & 0xFFFF_FFFF
            words += number.to_bytes(4, "little")
        if base != 0x20000:
            words[5], words[2:4] = number & 255, (number & 0xFFFF).to_bytes(2, "little")
        expected += words
    size = len(calls) + 1
    calls = [asm.jal(1, 4 * (size - k)) if isinstance(item, tuple) else item
             for k, item in enumerate(calls)]
    return [*start, *calls, EBREAK, *each], bytes(expected)


@pytest.mark.parametrize(("name", "spram"), CHIPS)
def test_memories_hold_words_and_parts_of_words(name, spram, monkeypatch):
    program, expected = memory_program()
    if spram:
        # Instead of the boot program, and where that is.
        monkeypatch.setattr(compact_system, "boot_program", lambda size: program)
    assert Bench(name, () if spram else program, spram=spram).run(len(expected)) == expected


def flash_memory(dut, content: bytes, seen: list[str]):
    """Return a testbench: commands 0xAB, and 0x03 with its address, behind the pins."""
    async def bench(ctx):
        awake, bits, at, clock = False, [], 0, 0
        while True:
            values = await ctx.tick().sample(dut.flash_cs_n, dut.flash_clk, dut.flash_mosi)
            _, _, select_n, now, mosi = values
            if select_n:
                if bits:
                    seen.append(f"{len(bits)} bits")
                bits = []
            elif now and not clock:
                bits.append(mosi)
                if len(bits) == 8:
                    command = int("".join(map(str, bits)), 2)
                    seen.append(f"{command:02x}")
                    awake |= command == 0xAB
                if len(bits) == 32:
                    at = int("".join(map(str, bits[8:])), 2)
                    seen.append(f"{at:x}")
            elif clock and not now and len(bits) >= 32:
                byte, bit = divmod(len(bits) - 32, 8)
                byte += at - boot.FLASH_OFFSET
                value = content[byte] if byte in range(len(content)) and awake else 0xFF
                ctx.set(dut.flash_miso, value >> 7 - bit & 1)
            clock = now
    return bench


def test_system_with_spram_boots_from_the_flash_memory(monkeypatch):
    # It sends itself.
    program = [asm.upper("lui", DEVICES, 0x40000), asm.op_imm("addi", 1, 0, 0),
               asm.load("lbu", 2, 0, 1), *send_byte(2), asm.op_imm("addi", 1, 1, 1),
               asm.jal(0, -20)]
    content = b"".join(word.to_bytes(4, "little") for word in program)
    # All of the RAM would take minutes.
    monkeypatch.setattr(compact_system, "variant",
                        lambda config: INT8._replace(ram_bytes=len(content)))
    bench = Bench("pico", spram=True)
    seen: list[str] = []
    heard = bench.run(len(content), flash=flash_memory(bench.system, content, seen))
    assert heard == content
    assert seen == ["ab", "8 bits", "03", f"{boot.FLASH_OFFSET:x}",
                    f"{32 + 8 * len(content)} bits"]


def test_bytes_wait_until_they_are_taken():
    # Begins late, so that many have come.
    program = [
        asm.upper("lui", DEVICES, 0x40000), asm.op_imm("addi", 1, 0, 500),
        asm.op_imm("addi", 1, 1, -1), asm.branch("bne", 1, 0, -4),
        asm.load("lw", 2, 0, DEVICES), asm.branch("blt", 2, 0, -4),
        asm.op_imm("xori", 2, 2, 0x21), *send_byte(2), asm.jal(0, -24)]
    data = random.Random(1).randbytes(60)
    assert Bench("pico", program).run(len(data), data) == bytes(byte ^ 0x21 for byte in data)


def test_cycle_counter_counts_every_cycle():
    program = [asm.upper("lui", DEVICES, 0x40000), asm.load("lw", 1, 8, DEVICES),
               asm.load("lw", 2, 12, DEVICES), asm.load("lw", 3, 8, DEVICES),
               asm.op("sub", 3, 3, 1), *send_byte(3), *send_byte(2), EBREAK]
    assert Bench("pico", program).run(2) == bytes([10, 0])


@pytest.mark.parametrize(("name", "spram"), CHIPS)
def test_engine_works_on_the_memories_and_the_sequencer_waits(name, spram, monkeypatch):
    config, rng = preset(name), np.random.default_rng(1)
    dim, rows = config.dim, 3
    acts = rng.integers(-128, 128, (rows, dim)).astype(np.int8)
    weights = rng.integers(-128, 128, (dim, dim)).astype(np.int8)
    expected = 2 * acts.astype(np.int32) @ weights.astype(np.int32)
    fmt, store = MatmulFormat.INT8, "sb"
    if config.bf16:
        # Integers that small are bf16 numbers, and their sums fp32 numbers.
        acts, weights = ((numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
                         for numbers in (acts, weights))
        expected = expected.astype(np.float32).view(np.int32)
        fmt, store = MatmulFormat.BF16, "sh"
    size = acts.itemsize
    program = [asm.upper("lui", 1, 0x10000), asm.upper("lui", 2, 0x20000),
               asm.upper("lui", DEVICES, 0x40000)]

    def li(rd: int, value: int) -> list[int]:
        low = (value & 0xFFF ^ 0x800) - 0x800
        return [asm.upper("lui", rd, (value - low >> 12) & 0xFFFFF),
                asm.op_imm("addi", rd, rd, low)]

    def put(word: int, value: int) -> None:
        program.extend([*li(3, value), asm.store("sw", 3, 0x80 + 4 * word, DEVICES)])

    # Rows 5, 7, 9 of the unified buffer; rows 3, 4, 5 of the accumulators, twice.
    for i, row in enumerate(acts):
        for k, value in enumerate(row):
            program += [*li(3, int(value)),
                        asm.store(store, 3, ((5 + 2 * i) * dim + k) * size, 1)]
    for i, word in enumerate(weights.reshape(-1, min(dim, 4 // size))):
        put(EngineRegister.WEIGHTS + i, int.from_bytes(word.tobytes(), "little"))
    for accumulate in (0, 1):
        for word, value in enumerate((5, 2, 3, 1)):
            put(1 + word, value)
        put(0, rows | accumulate << 16 | fmt << 17)
    # At once: it has to wait.
    program += [asm.op_imm("addi", 4, 2, 12 * dim), asm.op_imm("addi", 5, 4, 12 * dim)]
    loop = [asm.load("lbu", 28, 0, 4), *send_byte(28), asm.op_imm("addi", 4, 4, 1)]
    program += [*loop, asm.branch("bne", 4, 5, -4 * len(loop)), EBREAK]

    if spram:
        # Instead of the boot program, and where that is.
        monkeypatch.setattr(compact_system, "boot_program", lambda size: program)
    found = Bench(name, () if spram else program, spram=spram).run(4 * rows * dim)
    assert np.array_equal(np.frombuffer(found, np.int32).reshape(rows, dim), expected)


@pytest.mark.parametrize(("program", "fault"), [
    ([asm.jal(0, 0)], 0), ([EBREAK], 1),
    ([asm.upper("lui", 1, 0x40000), asm.op_imm("addi", 2, 0, 1), asm.store("sw", 2, 16, 1),
      asm.jal(0, 0)], 1)])
def test_fault_light_is_lit_by_the_firmware_and_by_its_end(program, fault):
    dut = CompactSystem(preset("pico"), LINK, program)

    async def bench(ctx):
        await ctx.tick().repeat(100)
        assert (ctx.get(dut.fault), ctx.get(dut.busy)) == (fault, 0)

    sim = Simulator(dut)
    sim.add_clock(1e-6)
    sim.add_testbench(bench)
    sim.run()


@pytest.mark.parametrize(("name", "link", "words", "spram", "message"), [
    ("core", LINK, 0, False, "config.dim must be 2, 4 or 8, not 16"),
    ("pico", LinkConfig(4_000_000, 1_000_000, 12288), 0, False,
     "link.memory_bytes must be a power of two, not 12288"),
    ("pico", LinkConfig(4_000_000, 1_000_000, 65536), 0, True,
     "link.memory_bytes must be at most 32768, half of two blocks of SPRAM, not 65536"),
    ("pico", LINK, 4097, False,
     "firmware must be of 4096 words at most, none with spram, not 4097"),
    ("pico", LINK, 1, True, "firmware must be of 4096 words at most, none with spram, not 1"),
])
def test_what_it_is_not_made_for_is_refused(name, link, words, spram, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        CompactSystem(preset(name), link, [0] * words, spram=spram)


def test_firmware_answers_the_host():
    config = preset("pico")
    body = pack(REQUEST_HEADER, {"sequence": 0, "kind": RequestKind.HELLO, "count": 0,
                                 "address": 0x1234_5678})
    bench, decoder = Bench("pico", image(config, LINK)), FrameDecoder()
    identity = pack(IDENTITY, {
        "magic": LINK_MAGIC, "version": PROTOCOL_VERSION, "bus_bytes": config.bus_bytes,
        "buffer_bytes": LINK.buffer_bytes, "memory_pages": LINK.memory_bytes // PAGE_BYTES,
        "fingerprint": config.fingerprint, "session": 0x1234_5678})
    reply = bytes([0, RequestKind.HELLO | REPLY]) + identity + bytes([0])
    heard = bench.run(len(encode(reply)), encode(body))
    assert decoder.feed(heard) == [reply]
