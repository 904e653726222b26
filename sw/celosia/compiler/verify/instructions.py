"""The rules of instructions: `celosia.compiler.codegen.assemble.Assembled`."""

from __future__ import annotations

from collections.abc import Iterator

from celosia.arch.commands import PLACES
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Imm, Insn, Reg
from celosia.arch.isa import LOOP_DEPTH, NUM_REGISTERS, Opcode, OperandType
from celosia.compiler.codegen.assemble import Assembled
from celosia.compiler.verify import refuse
from celosia.model.decode import flaw

__all__ = ["check_instructions"]


def check_instructions(config: TpuConfig, code: Assembled) -> None:
    """Check that the chip decodes every instruction, and that control and registers hold together.

    Raises
    ------
    IllFormed
        With every rule that is broken, and where.
    """
    refuse("the program", [
        *(f"{_name(code, at)}: {problem}" for at, insn in enumerate(code.insns)
          if (problem := flaw(config, insn))),
        *_ends(code), *_targets(code), *_registers(code), *_relocations(code)])


def _name(code: Assembled, at: int) -> str:
    return (f"{code.insns[at].instruction.mnemonic} at {at}, of "
            f"{code.sources[at] or 'unknown source'}")


def _ends(code: Assembled) -> Iterator[str]:
    if len(code.sources) != len(code.insns):
        yield f"every instruction must have a source, {len(code.insns)}, not {len(code.sources)}"
    if not code.insns or code.insns[-1].instruction.opcode is not Opcode.HALT:
        yield "the last instruction must be halt"


def _target(insn: Insn) -> int | None:
    """Return where an instruction may go on instead of behind itself."""
    for description, operand in zip(insn.instruction.operands, insn.operands, strict=True):
        if description.type is OperandType.TARGET and isinstance(operand, Imm):
            return operand.value
    return None


def _targets(code: Assembled) -> Iterator[str]:
    """Yield what goes on outside of the program, or in a loop that it is not in."""
    loops: list[tuple[int, int]] = []
    open_: list[int] = []
    for at, insn in enumerate(code.insns):
        open_ = [end for end in open_ if end > at]
        end = _target(insn)
        if insn.instruction.opcode is not Opcode.LOOP or end is None:
            continue
        if not at < end < len(code.insns):
            yield f"{_name(code, at)}: the body must end behind it, not at {end}"
            continue
        if any(end > outer for outer in open_):
            yield f"{_name(code, at)}: the body must end in the loop around it, not at {end}"
        open_.append(end)
        loops.append((at + 1, end))
        if len(open_) > LOOP_DEPTH:
            yield f"{_name(code, at)}: loops must nest {LOOP_DEPTH} deep, not {len(open_)}"
    for at, insn in enumerate(code.insns):
        target = _target(insn)
        if insn.instruction.opcode is Opcode.LOOP or target is None:
            continue
        if not 0 <= target < len(code.insns):
            yield f"{_name(code, at)}: it must go on in the program, not at {target}"
        for first, end in loops:
            inside = first <= at < end
            if not (first <= target <= end if inside else target < first or target >= end):
                yield (f"{_name(code, at)}: it must go on in the loop that it is in, not at "
                       f"{target}")


def _registers(code: Assembled) -> Iterator[str]:
    """Yield what reads a register that nothing before it, in the order of the program, sets."""
    scalars: set[int] = set()
    strides: set[int] = set()
    for at, insn in enumerate(code.insns):
        for operand in insn.operands:
            if isinstance(operand, Reg) and operand.number not in scalars:
                yield f"{_name(code, at)}: r{operand.number} must be set before it is read"
        opcode, fields = insn.instruction.opcode, insn.fields
        if opcode in PLACES:
            for name, value in fields.items():
                if name.startswith("x") and value and value not in strides:
                    yield f"{_name(code, at)}: x{value}, its {name}, must be set before it is read"
        if opcode is Opcode.STRIDE:
            strides.add(fields["x"])
        if "rd" in fields:
            if fields["rd"] >= NUM_REGISTERS:
                yield f"{_name(code, at)}: rd must be below {NUM_REGISTERS}, not {fields['rd']}"
            scalars.add(fields["rd"])


def _relocations(code: Assembled) -> Iterator[str]:
    """Yield what is no arena offset and is moved with the arena, and the other way round."""
    known = set(code.relocations)
    if len(known) < len(code.relocations):
        yield "an operand must be moved with the arena once"
    for at, operand in sorted(known):
        if not (0 <= at < len(code.insns) and operand < len(code.insns[at].operands)
                and isinstance(code.insns[at].operands[operand], Imm)):
            yield f"what is moved with the arena must be a number, not operand {operand} at {at}"
    for at, insn in enumerate(code.insns):
        if insn.instruction.opcode in (Opcode.LOAD, Opcode.STORE) and isinstance(
                insn.operands[1], Imm) and (at, 1) not in known:
            yield f"{_name(code, at)}: its address must move with the arena"
