"""Register allocation of the scalar unit, and instructions: from operations and loops to code."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from celosia.arch import isa
from celosia.arch.commands import Command, Stride
from celosia.arch.encoding import Imm, Insn, Reg, insn
from celosia.arch.words import WORD_MASK
from celosia.compiler.codegen.nodes import ARENA_OPERAND, Base, CodeNode, CodeOp, Loop

__all__ = ["Assembled", "Assembler", "assemble"]

#: Registers that an operation with sums in its operands takes for a moment, at most.
_TEMPORARIES = 4


@dataclass
class Assembled:
    """Instructions, a text for each, and the operands that are offsets into the arena."""

    insns: list[Insn] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    relocations: list[tuple[int, int]] = field(default_factory=list)

    def add(self, instruction: Insn, source: str) -> int:
        """Append an instruction; return its index."""
        self.insns.append(instruction)
        self.sources.append(source)
        return len(self.insns) - 1


_DEFAULTS = {opcode: {field.name: field.default for field in instruction.fields}
             for opcode, instruction in isa.BY_OPCODE.items()}


class _Sum(NamedTuple):
    """The value of an operand: a register or none, plus a number, perhaps an arena offset."""

    register: Reg | None
    number: int
    arena: bool


def _source(node: CodeNode) -> str:
    return node.source if isinstance(node, CodeOp) else _source(node.body[0])


def _bases(nodes: Iterable[CodeNode]) -> Iterator[Base | None]:
    """For each varying operand of nodes: the base that its operation adds to it."""
    for node in nodes:
        if isinstance(node, Loop):
            yield from _bases(node.body)
        else:
            yield from (node.base if i == ARENA_OPERAND else None
                        for i in range(len(node.varying)))


class Assembler:
    """Writes a program, instruction after instruction.

    Attributes
    ----------
    out
        What is written so far.
    """

    def __init__(self) -> None:
        self.out = Assembled()
        self._free = [Reg(number) for number in reversed(range(isa.NUM_REGISTERS))]
        self._bases: dict[Base, Reg] = {}
        self._commands: dict[tuple[Command | Stride, tuple[int, ...]], tuple[
            isa.Instruction, Mapping[str, int], tuple[Imm, ...]]] = {}

    @property
    def here(self) -> int:
        """Index of the next instruction."""
        return len(self.out.insns)

    def take(self, what: str) -> Reg:
        """Return a register that is free.

        Raises
        ------
        ValueError
            If there is none.
        """
        if not self._free:
            raise ValueError(f"{what} must have a scalar register, but all {isa.NUM_REGISTERS} "
                             f"hold something else")
        return self._free.pop()

    def give_back(self, register: Reg) -> None:
        """Make a register free again."""
        self._free.append(register)

    def hold(self, base: Base) -> Reg:
        """Return the register of a base from here on."""
        if base not in self._bases:
            self._bases[base] = self.take(f"base {base.name}")
        return self._bases[base]

    def drop(self, base: Base) -> None:
        """Need a base no longer."""
        self.give_back(self._bases.pop(base))

    def scalar(self, mnemonic: str, source: str, **values: int | Reg) -> int:
        """Write a scalar instruction; return its index."""
        return self.out.add(insn(mnemonic, **values), source)

    def target(self, index: int) -> None:
        """Let the branch, jump or loop at ``index`` lead to here."""
        old = self.out.insns[index]
        last = len(old.operands) - 1
        self.out.insns[index] = Insn(old.instruction, old.fields,
                                     (*old.operands[:last], Imm(self.here)))

    def nodes(self, nodes: Iterable[CodeNode]) -> None:
        """Write operations and loops."""
        for node in nodes:
            bases = [base and self._bases[base] for base in _bases((node,))]
            values = tuple(map(_Sum, bases, node.varying, node.arena))
            self._nodes((node,), values)

    def _nodes(self, nodes: tuple[CodeNode, ...], values: tuple[_Sum, ...]) -> None:
        at = 0
        for node in nodes:
            if isinstance(node, CodeOp):
                end = at + len(node.varying)
                self._op(node, values[at:end])
            else:
                end = at + len(node.steps)
                self._loop(node, values[at:end])
            at = end

    def _set(self, register: Reg, value: _Sum, source: str) -> None:
        """Write what brings a value into a register."""
        number = value.number & WORD_MASK
        if value.register is None:
            index = self.scalar("mov", source, rd=register.number, a=number)
        elif value.number or value.arena:
            index = self.scalar("add", source, rd=register.number, a=value.register, b=number)
        else:
            index = self.scalar("mov", source, rd=register.number, a=value.register)
        if value.arena:
            self.out.relocations.append((index, int(value.register is not None)))

    def _op(self, op: CodeOp, values: tuple[_Sum, ...]) -> None:
        operands: list[Imm | Reg] = []
        taken: list[Reg] = []
        relocated: list[int] = []
        for i, value in enumerate(values):
            if value.register is None:
                operands.append(Imm(value.number & WORD_MASK))
                if value.arena:
                    relocated.append(i)
            elif not value.number and not value.arena:
                operands.append(value.register)
            else:
                register = self.take(f"an operand of {op.mnemonic} ({op.source})")
                taken.append(register)
                self._set(register, value, op.source)
                operands.append(register)
        description, fields, others = self._command(op)
        index = self.out.add(Insn(description, fields, (*operands, *others)), op.source)
        self.out.relocations += [(index, i) for i in relocated]
        self._free += taken

    def _command(self, op: CodeOp) -> tuple[isa.Instruction, Mapping[str, int], tuple[Imm, ...]]:
        """Return what the instructions of a command share: all but where they work."""
        key = op.command, op.registers
        found = self._commands.get(key)
        if found is None:
            command = op.command
            fields = dict(_DEFAULTS[command.opcode])
            fields.update((name, int(value)) for name, value in command.fields.items())
            if op.registers:
                fields.update(zip(command.streams, op.registers, strict=True))
            found = (isa.BY_OPCODE[command.opcode], fields,
                     tuple(Imm(word & WORD_MASK) for word in command.words[command.places:]))
            self._commands[key] = found
        return found

    def _loop(self, loop: Loop, values: tuple[_Sum, ...]) -> None:
        inner = self._registers(loop, values)
        if inner is None:
            self._unrolled(loop, values)
            return
        source = _source(loop)
        steps = {value.register: step for value, step in zip(inner, loop.steps, strict=True)
                 if step and value.register is not None}
        start = self.scalar("loop", source, count=loop.count, end=0)
        self._nodes(loop.body, inner)
        for register, step in steps.items():
            self.scalar("add", source, rd=register.number, a=register, b=step & WORD_MASK)
        self.target(start)
        self._free += reversed(steps)

    def _unrolled(self, loop: Loop, values: tuple[_Sum, ...]) -> None:
        """Write the turns of a loop one after another: no registers are free for it."""
        for turn in range(loop.count):
            self._nodes(loop.body, tuple(
                value._replace(number=value.number + turn * step)
                for value, step in zip(values, loop.steps, strict=True)))

    def _registers(self, loop: Loop, values: tuple[_Sum, ...]) -> tuple[_Sum, ...] | None:
        """Set a register for each operand that steps; None where there are not enough.

        Where they are few, operands that step alike share one, and differ in what is added to it.
        """
        groups: dict[tuple, set[_Sum]] = {}
        for value, step in zip(values, loop.steps, strict=True):
            if step:
                groups.setdefault((value.register, value.arena, step), set()).add(value)
        largest = sorted(groups, key=lambda group: -len(groups[group]))
        for count in range(len(largest) + 1):
            shared = set(largest[:count])
            keys = [_key(value, step, shared)
                    for value, step in zip(values, loop.steps, strict=True)]
            own = {key for key, step in zip(keys, loop.steps, strict=True) if step}
            if len(own) + _least(loop.body, keys) <= len(self._free):
                break
        else:
            return None
        source = _source(loop)
        registers: dict[Hashable, tuple[Reg, int]] = {}
        out = []
        for key, value, step in zip(keys, values, loop.steps, strict=True):
            if not step:
                out.append(value)
                continue
            if key not in registers:
                register = self.take("a loop")
                self._set(register, value, source)
                registers[key] = register, value.number
            register, first = registers[key]
            out.append(_Sum(register, value.number - first, False))
        return tuple(out)


def _key(value: _Sum, step: int, shared: set[tuple]) -> Hashable:
    """What the operands of a loop that share a register have in common."""
    if not step:
        return value.register
    group = (value.register, value.arena, step)
    return group if group in shared else (value, step)


def _least(nodes: tuple[CodeNode, ...], registers: Sequence[Hashable]) -> int:
    """Registers that nodes take at the least, where ``registers`` are those of their operands."""
    most, at = _TEMPORARIES, 0
    for node in nodes:
        part = registers[at:at + len(node.varying)]
        at += len(part)
        if isinstance(node, Loop):
            inner = [(register, arena, step) if step else register for register, arena, step
                     in zip(part, node.arena, node.steps, strict=True)]
            own = {key for key, step in zip(inner, node.steps, strict=True) if step}
            most = max(most, len(own) + _least(node.body, inner))
    return most


def assemble(nodes: Iterable[CodeNode]) -> Assembled:
    """Give registers to the loops and return the whole program, `halt` at its end."""
    assembler = Assembler()
    assembler.nodes(nodes)
    assembler.scalar("halt", "end")
    return assembler.out
