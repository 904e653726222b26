"""Random programs, legal and faulty, to run on two implementations of the ISA and compare.

A legal program halts without a fault whatever its data are. Its streams stay inside small regions
of the two memories, so that the units collide often.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from celosia.arch import isa
from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia.arch.encoding import Imm, Insn, encode
from celosia.arch.encoding import insn as make
from celosia.arch.faults import Fault
from celosia.arch.isa import Opcode, OperandType
from celosia.arch.registers import PROGRAM_ALIGN
from celosia.arch.vector import (
    INDEXED_OPS,
    LANE_BITS_LSB,
    LANE_ROW_SRCS,
    LANE_SRCS,
    TABLE_LIMIT,
    Reduce,
    VectorOp,
)
from celosia.arch.words import WORD_MASK, ceil_div
from celosia.model import Machine
from celosia_sim.randbuild import (
    DATA_ADDR,
    DATA_BYTES,
    PROGRAM_ADDR,
    RandomProgram,
)
from celosia_sim.randgen import BusErrors, Generator, LongWalks
from celosia_sim.randvector import SPECIAL_WORDS

__all__ = ["MEMORY_BYTES", "RandomProgram", "random_bad_indexes", "random_bus_errors",
           "random_faulting_program", "random_program", "random_walks"]

#: Bytes of memory, from address zero on, that every chip has on which random programs run.
MEMORY_BYTES = DATA_ADDR + DATA_BYTES


def random_program(config: TpuConfig, seed: int, size: int = 40,
                   memory: int = MEMORY_BYTES) -> RandomProgram:
    """Return a legal program of about ``size`` instructions, the same for the same arguments.

    It begins by filling the regions that it uses, and ends by nothing: state is compared in the
    memories.

    Parameters
    ----------
    memory
        Bytes of memory that the chip has. A part of the programs have their data at its end.
    """
    rng = random.Random(f"{seed}/{size}/{config.fingerprint}")
    generator = Generator(config, rng, _data(rng, memory))
    return _finish(generator, seed, generator.program(size))


def random_walks(config: TpuConfig, seed: int) -> RandomProgram:
    """Return a legal program of a few long vector instructions, to be stopped in one of them."""
    rng = random.Random(f"walks/{seed}/{config.fingerprint}")
    generator = LongWalks(config, rng)
    return _finish(generator, seed, generator.program(8))


def random_bus_errors(config: TpuConfig, seed: int, size: int = 24,
                      memory: int = MEMORY_BYTES) -> RandomProgram:
    """Return a program that meets a bus error: in a load, a store, or the fetch of its code.

    ``expected`` is how it ends on the model; some jump over all errors and halt.
    """
    rng = random.Random(f"bus/{seed}/{config.fingerprint}")
    data = _data(rng, memory)
    if rng.random() < 0.3:
        program = random_program(config, rng.getrandbits(32), size, memory)
        block = rng.randrange(1, ceil_div(len(program.code), PROGRAM_ALIGN))
        first = program.program_addr + PROGRAM_ALIGN * block
        bad = first, first + PROGRAM_ALIGN - 1
    else:
        generator = BusErrors(config, rng, data)
        program, bad = _finish(generator, seed, generator.program(size)), generator.bad
    program = replace(program, seed=seed, errors=(bad,))
    return replace(program, expected=program.run(Machine(config)))


def _data(rng: random.Random, memory: int) -> int:
    """Return where the data of a program lie."""
    return memory - DATA_BYTES if rng.random() < 0.2 else DATA_ADDR


def _finish(generator: Generator, seed: int, insns: tuple[Insn, ...]) -> RandomProgram:
    """Return a program with data, and windows; no legal transfer is in more than one of these."""
    rng, data = generator.rng, generator.data
    windows = [(data, data + DATA_BYTES - 1), (1, 0), (PROGRAM_ADDR - 64, PROGRAM_ADDR - 1),
               rng.choice(((1, 0), (data, data), (0, 63)))]
    rng.shuffle(windows)
    code = b"".join(encode(insn) for insn in insns)
    return RandomProgram(generator.config, seed, code, insns, _image(rng), tuple(windows),
                         data_addr=data)


def _image(rng: random.Random) -> bytes:
    """Data: moderate bf16 numbers, plain bytes, or every kind of special value, of 2 or 4 bytes."""
    draw = np.random.default_rng(rng.getrandbits(64))
    halves = DATA_BYTES // 2
    kind = rng.choice(("bytes", "moderate", "moderate", "moderate", "wild", "words"))
    raw = draw.integers(0, 1 << 16, halves, dtype=np.uint16)
    if kind == "bytes":
        return raw.tobytes()
    spread = rng.choice((2, 8, 30)) if kind == "moderate" else 100
    exponent = draw.integers(127 - spread, 128 + spread, halves).astype(np.uint16)
    values = (raw & np.uint16(0x807F)) | exponent << np.uint16(7)
    values[draw.random(halves) < 0.1] &= np.uint16(0x8000)
    if kind == "wild":
        special = np.array([0x7F80, 0xFF80, 0x7FC0, 0xFFFF, 0x7F81, 0x7F7F, 0xFF7F, 0x0080, 0x8080,
                            0x007F, 0x807F, 0x0001, 0x3F80, 0xBF80], np.uint16)
        where = draw.random(halves) < 0.03
        values[where] = draw.choice(special, int(where.sum()))
    if kind == "words":  # fp32 with lower halves of their own
        words = values.view(np.uint32)
        where = draw.random(len(words)) < rng.choice((0.03, 0.5))
        words[where] = draw.choice(np.array(SPECIAL_WORDS, np.uint32), int(where.sum()))
    return values.astype("<u2").tobytes()


#: Faults that the checks before an instruction find: cause, FAULT_PC and FAULT_ADDR are exact.
_PRECISE = (Fault.ILLEGAL_OPCODE, Fault.ILLEGAL_FIELD, Fault.ILLEGAL_COUNT, Fault.UB_RANGE,
            Fault.ACC_RANGE, Fault.WINDOW, Fault.MISALIGNED, Fault.OVERLAP, Fault.PC_RANGE,
            Fault.LOOP_DEPTH, Fault.INDEX_RANGE)


#: What finds an index out of range while it runs.
_LATE: tuple[Callable[[Insn], bool], ...] = (
    lambda insn: insn.fields.get("op") == VectorOp.GATHER,
    lambda insn: insn.fields.get("op") == VectorOp.SCATTER,
)


def _aims() -> Iterator[tuple[Fault, Callable[[Insn], bool]]]:
    """Each of these faults with what is to be changed for it: every instruction that lists it."""
    def opcode(wanted: Opcode) -> Callable[[Insn], bool]:
        return lambda insn: insn.instruction.opcode == wanted

    for fault in (Fault.ILLEGAL_OPCODE, Fault.ILLEGAL_FIELD, Fault.PC_RANGE):
        yield fault, lambda insn: True
    for item in isa.INSTRUCTIONS:
        for name in item.faults:
            if Fault[name] in _PRECISE and Fault[name] != Fault.PC_RANGE:
                yield Fault[name], opcode(item.opcode)
    for fault in (Fault.UB_RANGE, Fault.ACC_RANGE):  # of what walks by them
        yield fault, opcode(Opcode.STRIDE)
    for late in _LATE:
        yield Fault.INDEX_RANGE, late
    yield Fault.ILLEGAL_COUNT, _indexed
    yield Fault.ILLEGAL_COUNT, lambda insn: insn.fields.get("op") == VectorOp.TRANSPOSE
    yield Fault.ILLEGAL_COUNT, lambda insn: insn.fields.get("reduce") == Reduce.COLLECT


def random_faulting_program(config: TpuConfig, seed: int, size: int = 24,
                            memory: int = MEMORY_BYTES) -> RandomProgram:
    """Return a program with a mutated instruction, and how it ends on the model: in a fault.

    Every fault that is found before an instruction starts is frequent, and so is every instruction
    that may have it. A bad index of a gather or scatter is found while it runs: behind such an
    instruction stands a fence or a halt.
    """
    rng = random.Random(f"fault/{seed}/{config.fingerprint}")
    aims = list(_aims())
    if rng.random() < 0.4:
        cause = rng.choice(_PRECISE)
        aims = [aim for aim in aims if aim[0] == cause]
    wanted, aimed = rng.choice(aims)
    late = aimed in _LATE
    while True:
        program = random_program(config, rng.getrandbits(32), size, memory)
        candidates = [i for i, insn in enumerate(program.insns)
                      if aimed(insn) and (not _ends_loop(program.insns, i) if late
                                          else _may(insn, wanted))]
        for _ in range(8 if candidates else 0):
            code = bytearray(program.code)
            index = rng.choice(candidates)
            if wanted == Fault.LOOP_DEPTH:
                _nest(rng, code)
            elif late:
                _shrink(rng, code, index)
            else:
                _mutate(rng, wanted, program.insns[index],
                        memoryview(code)[32 * index:32 * index + 32], config.dim)
            mutant = replace(program, code=bytes(code), insns=(), seed=seed)
            try:
                expected = mutant.run(Machine(config), max_instructions=1000)
            except TimeoutError:
                continue
            if expected.cause == wanted and not (late and expected.pc != index):
                return replace(mutant, expected=expected)


def random_bad_indexes(config: TpuConfig, seed: int, size: int = 40,
                       memory: int = MEMORY_BYTES) -> RandomProgram:
    """Return a program some of whose gathers and scatters find indexes out of their tables.

    What stands behind them goes on as it would, so younger instructions run before the fault; often
    one of them is at fault too. ``expected`` is how the program ends on the model.
    """
    rng = random.Random(f"indexes/{seed}/{config.fingerprint}")
    while True:
        program = random_program(config, rng.getrandbits(32), size, memory)
        code = bytearray(program.code)
        candidates = [i for i, insn in enumerate(program.insns) if _indexed(insn)]
        for i in rng.sample(candidates, min(len(candidates), rng.choice((1, 2, 9)))):
            _shrink(rng, code, i, stop=False)
            wanted = rng.choice((Fault.ILLEGAL_FIELD, Fault.UB_RANGE, Fault.ACC_RANGE))
            behind = range(i + 1, min(i + 5, program.length))
            if near := [k for k in behind if _may(program.insns[k], wanted)]:
                k = rng.choice(near)
                _mutate(rng, wanted, program.insns[k], memoryview(code)[32 * k:32 * k + 32],
                        config.dim)
        mutant = replace(program, code=bytes(code), insns=(), seed=seed)
        try:
            expected = mutant.run(Machine(config), max_instructions=1000)
        except TimeoutError:
            continue
        if expected.cause == Fault.INDEX_RANGE:
            return replace(mutant, expected=expected)


def _nest(rng: random.Random, code: bytearray) -> None:
    """Replace instructions by loops that end behind the program, one more than there may be."""
    length = len(code) // isa.INSTRUCTION_BYTES
    first = rng.randrange(2, length - isa.LOOP_DEPTH)
    for i in range(first, first + isa.LOOP_DEPTH + 1):
        loop = make("loop", count=rng.randrange(1, 9), end=length + i)
        code[32 * i:32 * i + 32] = encode(loop)


def _shrink(rng: random.Random, code: bytearray, index: int, stop: bool = True) -> None:
    """Give a gather or scatter a table of one row, and ``stop`` behind it."""
    place = memoryview(code)[32 * index:32 * index + 64]
    _set(place, isa.operand_index(Opcode.VECTOR, "param"), 1)
    if stop:
        place[32:] = encode(make(rng.choice(("fence", "halt"))))


def _set(code: memoryview, operand: int, word: int) -> None:
    """Make an operand the given immediate."""
    header = int.from_bytes(code[:8], "little") & ~(1 << isa.REGMASK_LSB + operand)
    code[:8] = header.to_bytes(8, "little")
    code[_place(operand)] = word.to_bytes(4, "little")


def _word(code: memoryview, operand: int) -> int:
    return int.from_bytes(code[_place(operand)], "little")


def _place(operand: int) -> slice:
    first = isa.HEADER_BITS // 8 + 4 * operand
    return slice(first, first + 4)


def _indexed(insn: Insn) -> bool:
    return insn.fields.get("op") in INDEXED_OPS


def _bounded(insn: Insn) -> bool:
    """Whether not every n0 above zero is legal."""
    return (_indexed(insn) or insn.fields.get("op") == VectorOp.TRANSPOSE
            or insn.fields.get("reduce") == Reduce.COLLECT)


def _ends_loop(insns: tuple[Insn, ...], index: int) -> bool:
    """Whether an instruction may be the last of a loop: what runs next may not lie behind it."""
    return any(Imm(index + 1) in insn.operands for insn in insns
               if insn.instruction.opcode in (Opcode.LOOP, Opcode.MOV))


def _lanes(insn: Insn) -> list[int]:
    """Operands that hold a lane."""
    if insn.instruction.opcode == Opcode.READ:
        return [1]
    if insn.instruction.opcode != Opcode.VECTOR:
        return []
    return [i for i, name in enumerate("abc", 1)
            if insn.fields[f"{name}_kind"] in LANE_SRCS | LANE_ROW_SRCS]


def _may(insn: Insn, wanted: Fault) -> bool:
    """Whether a mutation of the instruction is likely to fault as wanted."""
    if wanted == Fault.PC_RANGE:
        return insn.instruction.opcode == Opcode.HALT or any(
            operand.type == OperandType.TARGET for operand in insn.instruction.operands)
    if wanted == Fault.INDEX_RANGE:
        return bool(_lanes(insn))
    if wanted in (Fault.UB_RANGE, Fault.ACC_RANGE) and insn.instruction.opcode == Opcode.STRIDE:
        return True
    return wanted in (Fault.ILLEGAL_OPCODE, Fault.ILLEGAL_FIELD, Fault.LOOP_DEPTH) or (
        wanted.name in insn.instruction.faults)


def _mutate(rng: random.Random, wanted: Fault, insn: Insn, code: memoryview, dim: int) -> None:
    """Change an instruction in place; often it then faults as wanted."""
    header = int.from_bytes(code[:8], "little")
    description = insn.instruction
    if wanted == Fault.INDEX_RANGE:
        lane = rng.choice((dim, dim + 1, rng.randrange(256)))
        i = rng.choice(_lanes(insn))
        if description.opcode == Opcode.VECTOR:  # the row may stay what it was
            row = _word(code, i) & (1 << LANE_BITS_LSB) - 1
            _set(code, i, row | lane << LANE_BITS_LSB)
        else:
            _set(code, i, rng.choice((lane, lane << LANE_BITS_LSB, WORD_MASK)))
        return
    if wanted == Fault.ILLEGAL_COUNT and _bounded(insn) and rng.random() < 0.9:
        if _indexed(insn) and rng.random() < 0.75:
            rows = isa.operand_index(Opcode.VECTOR, "param")
            _set(code, rows, rng.choice((0, 0, TABLE_LIMIT + 1, WORD_MASK)))
            return
        # A bit that must be zero in n0 of transpose; more than there may be of the others.
        part = rng.choice((-1, 1)) << rng.randrange(dim.bit_length() - 1)
        _set(code, isa.operand_index(Opcode.VECTOR, "counts"),
             rng.choice((1, 2)) * dim + part | 1 << COUNT_BITS)
        return
    if wanted == Fault.ILLEGAL_OPCODE:
        opcodes = 1 << isa.OPCODE_BITS
        header = header & -opcodes | rng.randrange(opcodes)
    elif wanted == Fault.PC_RANGE and description.opcode == Opcode.HALT:
        header = Opcode.NOP
    elif wanted == Fault.ILLEGAL_FIELD:
        kind = rng.randrange(4)
        if kind == 0 and description.fields:
            field = rng.choice(description.fields)
            header &= ~((1 << field.width) - 1 << field.lsb)
            header |= rng.randrange(1 << min(field.width, 6)) << field.lsb
        elif kind == 1:
            header ^= 1 << rng.randrange(isa.FIELDS_LSB, isa.HEADER_BITS)
        elif kind == 2:
            header |= 1 << rng.randrange(isa.REGMASK_LSB, isa.FIELDS_LSB)
        else:
            first = isa.HEADER_BITS // 8
            code[first + rng.randrange(isa.INSTRUCTION_BYTES - first)] ^= 1 << rng.randrange(8)
    elif wanted == Fault.OVERLAP:  # a source takes the place of the destination, or almost
        i = rng.randrange(1, 4)
        header = header & ~(1 << isa.REGMASK_LSB + i) | (header >> isa.REGMASK_LSB & 1) << (
            isa.REGMASK_LSB + i)
        _set(code, i, _word(code, 0) + rng.choice((-1, 0, 0, 1)) & WORD_MASK)
    else:
        i = rng.choice([i for i, operand in enumerate(description.operands)
                        if _hits(wanted, operand)])
        word = _word(code, i)
        if wanted in (Fault.UB_RANGE, Fault.ACC_RANGE) and rng.random() < 0.4:
            if description.opcode == Opcode.STRIDE or description.operands[i].parts:
                # Backwards, as an instruction may be thought to step.
                word = (0x10000 - rng.choice((1, 2, dim))) << rng.choice((0, 16))
            else:  # the last rows of 32 bits: what is behind them begins again at row zero
                word = WORD_MASK - rng.choice((0, 1, dim - 1, rng.randrange(64)))
            _set(code, i, word)
            return
        if wanted == Fault.WINDOW and rng.random() < 0.5:
            _wrap(rng, code)
            return
        if description.operands[i].parts:  # zeros, but no walks of millions of rows
            word &= rng.choice((0xFFFF, 0xFFFF0000, 0))
        elif wanted == Fault.ILLEGAL_COUNT:
            word = rng.choice((0, 0x10000))
        else:
            word += rng.choice((1, 2, 64, 0x10000, 0x80000000, -1))
        _set(code, i, word & WORD_MASK)
    code[:8] = header.to_bytes(8, "little")


def _wrap(rng: random.Random, code: memoryview) -> None:
    """Make a transfer end behind address 2**32 - 1, so that mod 2**32 it ends in a window again."""
    names = {operand.name: i for i, operand in enumerate(isa.BY_OPCODE[Opcode.LOAD].operands)}
    kind = rng.randrange(3)
    if kind == 0:  # it begins so far up
        _set(code, names["addr"], 0x100000000 - 4 * rng.randrange(1, 5))
        if rng.random() < 0.5:
            _set(code, names["shape"], rng.choice((1, 2, 9)) | 0xFFFF << 16)
            _set(code, names["steps"], 0)
    else:  # its rows go round it
        rows = 2 if kind == 1 else 1 << rng.randrange(1, 8)
        _set(code, names["shape"], rows | rng.randrange(1, 5) << 16)
        _set(code, names["pitch"], 0x100000000 - 4 * rng.randrange(1, 64) if kind == 1
             else 0x100000000 // rows)
        _set(code, names["steps"], 0)


def _hits(wanted: Fault, operand: isa.Operand) -> bool:
    """Whether changing an operand may bring the fault about."""
    if wanted in (Fault.UB_RANGE, Fault.ACC_RANGE) and operand.name in ("steps", "s0", "s1", "s2"):
        return True
    types = {Fault.PC_RANGE: {OperandType.TARGET},
             Fault.UB_RANGE: {OperandType.UB_ROW, OperandType.ROW},
             Fault.ACC_RANGE: {OperandType.ACC_ROW, OperandType.ROW},
             Fault.WINDOW: {OperandType.ADDRESS},
             Fault.MISALIGNED: {OperandType.ADDRESS, OperandType.BYTES}}
    if wanted == Fault.ILLEGAL_COUNT:
        return operand.name in ("counts", "shape", "n2", "wrows", "param")
    return operand.type in types[wanted]
