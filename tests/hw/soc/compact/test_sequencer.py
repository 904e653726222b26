# amaranth: UnusedElaboratable=no
"""The sequencer against a Python model: every instruction, random programs, slow memories."""

import functools
import random
import re
from collections.abc import Sequence

import pytest

from celosia_hw.soc.compact import assemble as asm
from celosia_hw.soc.compact.sequencer import Sequencer
from hw.simulation import World
from hw.soc.compact.rv32 import COMPARE, OPS, Reference

EBREAK, FENCE = 0x0010_0073, 0x0FF0_000F
#: The registers are stored at address 0 in the end.
START, DATA, SIZE = 0x100, 0x2000, 0x4000
CORNERS = (0, 1, 2, 31, 32, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFF, 0xFFFF_8000)
BASE = 31  # register of random programs that is an address of data


def li(rd: int, value: int) -> list[int]:
    """Load a constant."""
    low = (value & 0xFFF ^ 0x800) - 0x800
    return [asm.upper("lui", rd, (value - low >> 12) & 0xFFFFF), asm.op_imm("addi", rd, rd, low)]


def image(program: Sequence[int], data: bytes = b"") -> bytes:
    """Memory with a program, which then stores its registers and halts."""
    words = [*program, *(asm.store("sw", k, 4 * k, 0) for k in range(32)), EBREAK]
    text = bytes(START) + b"".join(word.to_bytes(4, "little") for word in words)
    assert len(text) <= DATA
    return (text.ljust(DATA, b"\0") + data).ljust(SIZE, b"\0")


@functools.cache
def world(shared: bool) -> World:
    """The sequencer, made once; ``shared``: its instructions come from the memory of its data."""
    return World(Sequencer(START, 0 if shared else None))


def execute(memory: bytes, *, ready: float = 1, cycles: int = 100_000) -> tuple[bytes, int]:
    """Run the sequencer until it halts; return the memory then, and the cycles it took."""
    shared = ready == 1
    dut = world(shared).component
    content, noise = bytearray(memory), random.Random(1)
    took = 0

    def word(addr: int) -> int:
        at = 4 * addr % SIZE
        return int.from_bytes(content[at:at + 4], "little")

    async def bench(ctx):
        nonlocal took
        bus = dut.bus
        before = None
        # What comes in the next cycle, and in this one.
        reading = fetching = noise.getrandbits(32)
        for took in range(cycles):  # noqa: B007
            if ctx.get(dut.halted):
                return
            accepted = noise.random() < ready
            ctx.set(bus.ready, accepted)
            addr, read, strobes = ctx.get(bus.addr), ctx.get(bus.read), ctx.get(bus.strobes)
            assert not (read and strobes)
            data = ctx.get(bus.write_data)
            assert before in (None, (addr, strobes, data))
            before = (addr, strobes, data) if strobes and not accepted else None
            read_next, fetch_next = noise.getrandbits(32), word(ctx.get(dut.fetch_addr))
            if shared and (read or strobes):
                assert ctx.get(dut.fetch_addr) == addr
            if shared and strobes:
                fetch_next = noise.getrandbits(32)
            if read and accepted:
                read_next = word(addr)
            await ctx.tick()
            for k in range(4):
                if accepted and strobes >> k & 1:
                    content[4 * addr % SIZE + k] = data >> 8 * k & 255
            ctx.set(bus.read_data, reading)
            ctx.set(dut.fetched, fetching)
            reading, fetching = read_next, fetch_next
        raise AssertionError(f"not halted after {cycles} cycles")

    world(shared).run(bench)
    return bytes(content), took


def check(memory: bytes, **how) -> int:
    """Compare memory after a program with the reference's; return the cycles."""
    reference = Reference(memory, START)
    reference.run()
    found, cycles = execute(memory, **how)
    assert found == bytes(reference.memory)
    return cycles


def operands(count: int, seed: int) -> list[tuple[int, int]]:
    rng = random.Random(seed)
    pairs = [(a, b) for a in CORNERS for b in CORNERS]
    return rng.sample(pairs, count) + [
        (rng.getrandbits(32), rng.getrandbits(32)) for _ in range(count // 2)]


@pytest.mark.parametrize("name", OPS)
def test_operation(name):
    pairs = operands(16, 1)
    data = b"".join(word.to_bytes(4, "little") for pair in pairs for word in pair)
    program = li(1, DATA)
    for k in range(len(pairs)):
        program += [asm.load("lw", 2, 8 * k, 1), asm.load("lw", 3, 8 * k + 4, 1),
                    asm.op(name, 4, 2, 3), asm.store("sw", 4, 8 * k, 1)]
    check(image(program, data))


@pytest.mark.parametrize("name", ["addi", "slti", "sltiu", "xori", "ori", "andi", "slli", "srli",
                                  "srai"])
def test_immediate_operation(name):
    rng = random.Random(2)
    program = li(1, DATA)
    for k, (a, _) in enumerate(operands(24, 3)):
        value = (k if k < 32 else rng.randrange(32)) if name in ("slli", "srli", "srai") else (
            (0, -1, 2047, -2048, 1024)[k] if k < 5 else rng.randrange(-2048, 2048))
        program += [*li(2, a), asm.op_imm(name, 3, 2, value), asm.store("sw", 3, 4 * k, 1)]
    check(image(program))


@pytest.mark.parametrize("name", COMPARE)
def test_branch(name):
    # Goes back over a jump to the next case; x5 counts what was taken, x6 hashes which.
    program = []
    for a, b in operands(24, 4):
        program += [*li(2, a), *li(3, b), asm.op_imm("slli", 6, 6, 1), asm.jal(0, 12),
                    asm.op_imm("addi", 5, 5, 1), asm.jal(0, 12), asm.branch(name, 2, 3, -8),
                    asm.op_imm("xori", 6, 6, 3), asm.op_imm("addi", 6, 6, 7)]
    check(image(program))


def test_loads_and_stores_of_every_size_in_every_place():
    rng = random.Random(5)
    program = li(1, DATA + 64)
    at = 64
    for name, step in (("lb", 1), ("lbu", 1), ("lh", 2), ("lhu", 2), ("lw", 4)):
        for offset in range(-16, 16, step):
            program += [asm.load(name, 2, offset, 1), asm.store("sw", 2, at, 1)]
            at += 4
    for name, step in (("sb", 1), ("sh", 2), ("sw", 4)):
        for offset in range(0, 16, step):
            program += [*li(2, rng.getrandbits(32)), asm.store(name, 2, at + offset, 1)]
        at += 16
    check(image(program, rng.randbytes(DATA // 2)))


def test_accesses_that_are_not_aligned_take_the_place_below():
    program = [*li(1, DATA), *li(2, 0x1234_5678)]
    for k in range(1, 4):
        program += [asm.load("lw", 3, k, 1), asm.store("sw", 3, 16 * k, 1),
                    asm.load("lh", 3, k | 1, 1), asm.store("sw", 3, 16 * k + 4, 1),
                    asm.store("sw", 2, 16 * k + 8 + k, 1), asm.store("sh", 2, 16 * k + 13, 1)]
    found, _ = execute(image(program, b"\x81\x92\xa3\xb4"))
    for k in range(1, 4):
        half = b"\x81\x92\xff\xff" if k == 1 else b"\xa3\xb4\xff\xff"
        assert found[DATA + 16 * k:DATA + 16 * k + 16] == (
            b"\x81\x92\xa3\xb4" + half + b"\x78\x56\x34\x12\x78\x56\0\0")


def test_jumps_upper_immediates_and_register_zero():
    program = [
        asm.upper("auipc", 1, 0), asm.upper("auipc", 2, 0xFFFFF), asm.upper("lui", 3, 0x80000),
        asm.jal(4, 12), asm.op_imm("addi", 5, 5, 1), asm.jal(6, 12), asm.jal(7, -4),
        asm.op_imm("addi", 5, 5, 2),
        asm.op_imm("addi", 1, 1, 15 * 4 + 1), asm.jalr(1, -4 * 4, 1), asm.op_imm("addi", 5, 5, 4),
        asm.op_imm("addi", 5, 5, 8), asm.jalr(0, 20, 1),
        asm.op_imm("addi", 5, 5, 16), asm.op_imm("addi", 5, 5, 32),
        asm.op_imm("addi", 0, 3, 5), asm.load("lw", 0, 0, 0), asm.op("mul", 0, 3, 3), FENCE,
        asm.upper("lui", 0, 7), asm.jal(0, 4), asm.op("add", 8, 0, 0)]
    check(image(program))


def random_program(rng: random.Random, length: int) -> list[int]:
    """Instructions of every kind; jumps go up to five instructions on."""
    program = [word for k in range(1, BASE) for word in li(k, rng.choice(
        (rng.getrandbits(32), rng.choice(CORNERS))))] + li(BASE, DATA + 2048)
    for _ in range(length):
        rd, rs1, rs2 = rng.randrange(BASE), rng.randrange(32), rng.randrange(32)
        forward = 4 * rng.randrange(1, 6)
        kind = rng.randrange(10)
        if kind < 3:
            program.append(asm.op(rng.choice(list(OPS)), rd, rs1, rs2))
        elif kind < 5:
            name = rng.choice(["addi", "slti", "sltiu", "xori", "ori", "andi", "slli", "srli",
                               "srai"])
            value = rng.randrange(32) if name[0] == "s" and name[2] != "t" and name != "sltiu" \
                else rng.randrange(-2048, 2048)
            program.append(asm.op_imm(name, rd, rs1, value))
        elif kind == 5:
            name = rng.choice(["lb", "lbu", "lh", "lhu", "lw"])
            size = {"b": 1, "h": 2, "w": 4}[name[1]]
            program.append(asm.load(name, rd, rng.randrange(-2048, 2048, size), BASE))
        elif kind == 6:
            name = rng.choice(["sb", "sh", "sw"])
            size = {"b": 1, "h": 2, "w": 4}[name[1]]
            program.append(asm.store(name, rs2, rng.randrange(-2048, 2048, size), BASE))
        elif kind == 7:
            program.append(asm.branch(rng.choice(list(COMPARE)), rs1, rs2, forward))
        elif kind == 8:
            program.append(rng.choice([
                asm.jal(rd, forward), FENCE,
                asm.upper(rng.choice(["lui", "auipc"]), rd, rng.getrandbits(20))]))
        else:
            # No jump may lead between the two.
            program += [asm.jal(0, 4), asm.jal(0, 4), asm.jal(0, 4), asm.jal(0, 4),
                        asm.upper("auipc", rd or 1, 0), asm.jalr(rs1 % BASE, 8, rd or 1)]
    return program + [asm.jal(0, 4)] * 5


@pytest.mark.parametrize("seed", [
    0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))])
@pytest.mark.parametrize("ready", [1, 0.4])
def test_random_program(seed, ready):
    rng = random.Random(seed)
    check(image(random_program(rng, 250), rng.randbytes(4096)), ready=ready)


@pytest.mark.parametrize(("words", "cycles"), [
    ([asm.op("add", 1, 2, 3)], 2), ([asm.upper("lui", 1, 3)], 2), ([FENCE], 2),
    ([asm.load("lw", 1, 0, 0)], 5), ([asm.store("sb", 1, 0, 0)], 3),
    ([asm.branch("bne", 0, 0, 8)], 2), ([asm.branch("beq", 0, 0, 4)], 3),
    ([asm.jal(0, 4)], 3), ([asm.upper("auipc", 1, 0), asm.jalr(0, 8, 1)], 2 + 4),
    ([asm.op_imm("slli", 1, 1, 0)], 2), ([asm.op_imm("srai", 1, 1, 31)], 2 + 7 + 3),
    ([asm.op("mul", 1, 1, 2)], 34)])
def test_cycles_are_as_documented(words, cycles):
    assert check(image(words)) - check(image([])) == cycles


@pytest.mark.parametrize("word", [EBREAK, 0x0000_0073, 0xFFFF_FFFF])
def test_halts_for_ever(word):
    dut = Sequencer()

    async def bench(ctx):
        ctx.set(dut.bus.ready, 1)
        ctx.set(dut.fetched, word)
        await ctx.tick().repeat(10)
        for _ in range(20):
            assert (ctx.get(dut.halted), ctx.get(dut.bus.read), ctx.get(dut.bus.strobes)) == (
                1, 0, 0)
            await ctx.tick()

    World(dut).run(bench)


def test_reset_address_is_checked():
    message = "reset_address must be a multiple of 4 below 2**32, not 2"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Sequencer(2)
