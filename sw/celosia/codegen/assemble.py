"""From operations and loops to instructions with registers."""

from __future__ import annotations

from dataclasses import dataclass, field

from celosia.arch import isa
from celosia.arch.encoding import Imm, Insn, Reg, insn
from celosia.codegen.nodes import Loop, Node, Op

__all__ = ["Assembled", "assemble"]

_MASK = 0xFFFFFFFF


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


_DEFAULTS = {mnemonic: {field.name: field.default for field in isa.BY_MNEMONIC[mnemonic].fields}
             for mnemonic in ("load", "store", "matmul", "vector", "stride")}


class _Assembler:
    def __init__(self) -> None:
        self.out = Assembled()
        self._free = [Reg(number) for number in reversed(range(isa.NUM_REGISTERS))]

    def nodes(self, nodes: tuple[Node, ...], values: tuple[int | Reg, ...]) -> None:
        at = 0
        for node in nodes:
            count = len(node.varying)
            part = values[at:at + count]
            at += count
            if isinstance(node, Op):
                self._op(node, part)
            else:
                self._loop(node, part)

    def _op(self, op: Op, values: tuple[int | Reg, ...]) -> None:
        words = (*values, *op.operands[len(values):])
        operands = tuple(word if isinstance(word, Reg) else Imm(word & _MASK) for word in words)
        fields = dict(_DEFAULTS[op.mnemonic])
        fields.update(op.fields)
        index = self.out.add(Insn(isa.BY_MNEMONIC[op.mnemonic], fields, operands), op.source)
        self.out.relocations += [(index, i) for i, arena in enumerate(op.arena)
                                 if arena and not isinstance(operands[i], Reg)]

    def _loop(self, loop: Loop, values: tuple[int | Reg, ...]) -> None:
        registers: dict[tuple[int | Reg, int, bool], Reg] = {}
        inner: list[int | Reg] = []
        source = _source(loop)
        for value, step, arena in zip(values, loop.steps, loop.arena, strict=True):
            if not step:
                inner.append(value)
                continue
            key = (value, step, arena)
            if key not in registers:
                registers[key] = register = self._free.pop()
                a = value if isinstance(value, Reg) else value & _MASK
                index = self.out.add(insn("mov", rd=register.number, a=a), source)
                if arena and not isinstance(value, Reg):
                    self.out.relocations.append((index, 0))
            inner.append(registers[key])
        start = self.out.add(insn("nop"), source)  # becomes the loop when its end is known
        self.nodes(loop.body, tuple(inner))
        for (_, step, _), register in registers.items():
            self.out.add(insn("add", rd=register.number, a=register, b=step & _MASK), source)
        self.out.insns[start] = insn("loop", count=loop.count, end=len(self.out.insns))
        self._free += registers.values()


def _source(node: Node) -> str:
    return node.source if isinstance(node, Op) else _source(node.body[0])


def assemble(nodes: list[Node]) -> Assembled:
    """Give registers to the loops and return the whole program, `halt` at its end."""
    assembler = _Assembler()
    for node in nodes:
        assembler.nodes((node,), node.varying)
    assembler.out.add(insn("halt"), "end")
    return assembler.out
