"""Random programs, legal and faulty, to run on two implementations of the ISA and compare.

A legal program halts without a fault whatever its data are. Its streams stay inside small regions
of the two memories, so that the units collide often.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Imm, Insn, encode
from celosia.arch.encoding import insn as make
from celosia.arch.faults import Fault
from celosia.arch.isa import Opcode, OperandType
from celosia.arch.vector import (
    INDEXED_OPS,
    LANE_BITS_LSB,
    LANE_ROW_SRCS,
    LANE_SRCS,
    Reduce,
    VectorOp,
)
from celosia.model import Machine
from celosia_sim.randbuild import (
    DATA_ADDR,
    DATA_BYTES,
    PROGRAM_ADDR,
    RandomProgram,
)
from celosia_sim.randgen import Generator, LongWalks

__all__ = ["RandomProgram", "random_bad_indexes", "random_faulting_program", "random_program",
           "random_walks"]


def random_program(config: TpuConfig, seed: int, size: int = 40) -> RandomProgram:
    """Return a legal program of about ``size`` instructions, the same for the same arguments.

    It begins by filling the regions that it uses, and ends by nothing: state is compared in the
    memories.
    """
    rng = random.Random(f"{seed}/{size}/{config.fingerprint}")
    return _finish(config, seed, Generator(config, rng).program(size), rng)


def random_walks(config: TpuConfig, seed: int) -> RandomProgram:
    """Return a legal program of a few long vector instructions, to be stopped in one of them."""
    rng = random.Random(f"walks/{seed}/{config.fingerprint}")
    return _finish(config, seed, LongWalks(config, rng).program(8), rng)


def _finish(config: TpuConfig, seed: int, insns: tuple[Insn, ...],
            rng: random.Random) -> RandomProgram:
    windows = [(DATA_ADDR, DATA_ADDR + DATA_BYTES - 1), (1, 0), (PROGRAM_ADDR - 64,
               PROGRAM_ADDR - 1), rng.choice(((1, 0), (DATA_ADDR, DATA_ADDR)))]
    rng.shuffle(windows)
    code = b"".join(encode(insn) for insn in insns)
    return RandomProgram(config, seed, code, insns, _image(rng), tuple(windows))


def _image(rng: random.Random) -> bytes:
    """Data: moderate bf16 numbers, plain bytes, or every kind of special value."""
    draw = np.random.default_rng(rng.getrandbits(64))
    halves = DATA_BYTES // 2
    kind = rng.choice(("bytes", "moderate", "moderate", "wild"))
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
    return values.astype("<u2").tobytes()


#: Faults that the checks before an instruction find: cause, FAULT_PC and FAULT_ADDR are exact.
_PRECISE = (Fault.ILLEGAL_OPCODE, Fault.ILLEGAL_FIELD, Fault.ILLEGAL_COUNT, Fault.UB_RANGE,
            Fault.ACC_RANGE, Fault.WINDOW, Fault.MISALIGNED, Fault.OVERLAP, Fault.PC_RANGE,
            Fault.LOOP_DEPTH, Fault.INDEX_RANGE)


def random_faulting_program(config: TpuConfig, seed: int, size: int = 24) -> RandomProgram:
    """Return a program with a mutated instruction, and how it ends on the model: in a fault.

    Every fault that is found before an instruction starts is about equally frequent. A bad index of
    a gather or scatter is found while it runs: behind such an instruction stands a fence or a halt.
    """
    rng = random.Random(f"fault/{seed}/{config.fingerprint}")
    wanted = rng.choice(_PRECISE)
    late = wanted == Fault.INDEX_RANGE and rng.random() < 0.6
    while True:
        program = random_program(config, rng.getrandbits(32), size)
        candidates = [i for i, insn in enumerate(program.insns)
                      if (_indexed(insn) and not _ends_loop(program.insns, i) if late
                          else _may(insn, wanted))]
        if wanted in (Fault.ILLEGAL_FIELD, Fault.ILLEGAL_COUNT) and rng.random() < 0.6:
            candidates = [i for i in candidates  # most of what may be wrong is in these
                          if program.insns[i].instruction.opcode == Opcode.VECTOR]
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


def random_bad_indexes(config: TpuConfig, seed: int, size: int = 40) -> RandomProgram:
    """Return a program some of whose gathers and scatters find indexes out of their tables.

    What stands behind them goes on as it would, so younger instructions run before the fault; often
    one of them is at fault too. ``expected`` is how the program ends on the model.
    """
    rng = random.Random(f"indexes/{seed}/{config.fingerprint}")
    while True:
        program = random_program(config, rng.getrandbits(32), size)
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
    param = next(i for i, operand in enumerate(isa.BY_OPCODE[Opcode.VECTOR].operands)
                 if operand.name == "param")
    _set(place, param, 1)
    if stop:
        place[32:] = encode(make(rng.choice(("fence", "halt"))))


def _set(code: memoryview, operand: int, word: int) -> None:
    """Make an operand the given immediate."""
    header = int.from_bytes(code[:8], "little") & ~(1 << isa.REGMASK_LSB + operand)
    code[:8] = header.to_bytes(8, "little")
    code[8 + 4 * operand:12 + 4 * operand] = word.to_bytes(4, "little")


def _indexed(insn: Insn) -> bool:
    return insn.fields.get("op") in INDEXED_OPS


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
            word = int.from_bytes(code[8 + 4 * i:11 + 4 * i], "little") | lane << LANE_BITS_LSB
            _set(code, i, word)
        else:
            _set(code, i, rng.choice((lane, lane << 24, 0xFFFFFFFF)))
        return
    if wanted == Fault.ILLEGAL_COUNT and rng.random() < 0.5 and (
            _indexed(insn) or insn.fields.get("op") == VectorOp.TRANSPOSE
            or insn.fields.get("reduce") == Reduce.COLLECT):
        _set(code, 4, rng.choice((dim + 1, dim - 1, 2 * dim + 1)) | 1 << 16)
        return
    if wanted == Fault.ILLEGAL_OPCODE:
        header = header & ~63 | rng.randrange(64)
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
            code[8 + rng.randrange(24)] ^= 1 << rng.randrange(8)
    elif wanted == Fault.OVERLAP:  # a source takes the place of the destination, or almost
        i = rng.randrange(1, 4)
        header = header & ~(1 << isa.REGMASK_LSB + i) | (header >> isa.REGMASK_LSB & 1) << (
            isa.REGMASK_LSB + i)
        word = int.from_bytes(code[8:12], "little") + rng.choice((-1, 0, 0, 1))
        code[8 + 4 * i:12 + 4 * i] = (word & 0xFFFFFFFF).to_bytes(4, "little")
    else:
        i = rng.choice([i for i, operand in enumerate(description.operands)
                        if _hits(wanted, operand)])
        word = int.from_bytes(code[8 + 4 * i:12 + 4 * i], "little")
        if description.operands[i].parts:  # zeros, but no walks of millions of rows
            word &= rng.choice((0xFFFF, 0xFFFF0000, 0))
        elif wanted == Fault.ILLEGAL_COUNT:
            word = rng.choice((0, 0x10000))
        else:
            word += rng.choice((1, 2, 64, 0x10000, 0x80000000, -1))
        code[8 + 4 * i:12 + 4 * i] = (word & 0xFFFFFFFF).to_bytes(4, "little")
    code[:8] = header.to_bytes(8, "little")


def _hits(wanted: Fault, operand: isa.Operand) -> bool:
    """Whether changing an operand may bring the fault about."""
    types = {Fault.PC_RANGE: {OperandType.TARGET},
             Fault.UB_RANGE: {OperandType.UB_ROW, OperandType.ROW},
             Fault.ACC_RANGE: {OperandType.ACC_ROW, OperandType.ROW},
             Fault.WINDOW: {OperandType.ADDRESS},
             Fault.MISALIGNED: {OperandType.ADDRESS, OperandType.BYTES}}
    if wanted == Fault.ILLEGAL_COUNT:
        return operand.name in ("counts", "shape", "n2", "wrows", "param")
    return operand.type in types[wanted]
