"""Allocation of stride registers to the streams whose strides are triples."""

from __future__ import annotations

from dataclasses import replace

from celosia.arch.isa import NUM_STRIDES
from celosia.compiler.codegen.nodes import Loop, Node, Op, Strides, stride
from celosia.compiler.codegen.spans import normal, streams

__all__ = ["StrideRegisters"]

_CONSECUTIVE = 0


def _wanted(op: Op) -> dict[str, Strides | None]:
    """Triple of each field of an operation that names one; None where rows are consecutive."""
    named = {name: value for name, value in op.fields if isinstance(value, tuple)}
    if not named:
        return {}
    counts = streams(op)
    return {name: normal(value, counts[name]) for name, value in named.items()}


class StrideRegisters:
    """What each stride register holds at one place of a program.

    Fields of operations that are triples become registers; where none holds a triple yet, one is
    set just before, or before the loop where all that the loop uses fits. The one that was used
    least recently is set anew.
    """

    def __init__(self) -> None:
        self._known: dict[tuple, dict[str, Strides | None]] = {}
        self.forget()

    def forget(self) -> None:
        """Take nothing for granted any more: where control flow joins."""
        #: Register of each triple, used least recently first.
        self._held: dict[Strides, int] = {}

    def _triples(self, op: Op) -> dict[str, Strides | None]:
        if op.mnemonic not in ("matmul", "vector"):
            return {}
        count = 3 if op.mnemonic == "matmul" else 4
        key = (op.mnemonic, op.fields, op.operands[count:])
        if key not in self._known:
            self._known[key] = _wanted(op)
        return self._known[key]

    def _of(self, nodes: tuple[Node, ...]) -> dict[Strides, str]:
        """Triples that nodes use, and a source of each."""
        out: dict[Strides, str] = {}
        for node in nodes:
            if isinstance(node, Loop):
                out = self._of(node.body) | out
            else:
                out = {triple: node.source for triple in self._triples(node).values()
                       if triple is not None} | out
        return out

    def _hold(self, triples: dict[Strides, str]) -> list[Node]:
        """Have registers hold all of a few triples at once; return what sets them."""
        out: list[Node] = []
        for triple in triples:
            if triple in self._held:
                self._held[triple] = self._held.pop(triple)
        for triple, source in triples.items():
            if triple in self._held:
                continue
            if len(self._held) < NUM_STRIDES - 1:
                register = min(set(range(1, NUM_STRIDES)) - set(self._held.values()))
            else:
                register = self._held.pop(next(iter(self._held)))
            self._held[triple] = register
            out.append(stride(register, *triple, source=source))
        return out

    def give(self, nodes: list[Node]) -> list[Node]:
        """Return nodes whose fields are registers, with what sets these."""
        out: list[Node] = []
        for node in nodes:
            if isinstance(node, Loop):
                out += self._loop(node)
            elif triples := self._triples(node):
                needed = {triple: node.source for triple in triples.values() if triple is not None}
                out += self._hold(needed)
                fields = tuple((name, value if name not in triples else self._register(
                    triples[name])) for name, value in node.fields)
                out.append(Op(node.mnemonic, fields, node.operands, node.source, node.base,
                              node.reach))
            else:
                out.append(node)
        return out

    def _register(self, triple: Strides | None) -> int:
        return _CONSECUTIVE if triple is None else self._held[triple]

    def _loop(self, loop: Loop) -> list[Node]:
        needed = self._of(loop.body)
        out: list[Node] = []
        if len(needed) < NUM_STRIDES:
            out = self._hold(needed)
        else:
            self.forget()
        return [*out, replace(loop, body=tuple(self.give(list(loop.body))))]
