"""Allocation of stride registers to the streams whose strides are triples."""

from __future__ import annotations

from dataclasses import replace

from celosia.arch.commands import Command, Stride
from celosia.arch.isa import NUM_STRIDES
from celosia.arch.streams import Strides
from celosia.compiler.codegen.nodes import CodeNode, CodeOp, Loop, stride

__all__ = ["StrideRegisters"]

_CONSECUTIVE = 0


class StrideRegisters:
    """What each stride register holds at one place of a program.

    Streams whose rows are not consecutive get registers; where none holds a triple yet, one is
    set just before, or before the loop where all that the loop uses fits. The one that was used
    least recently is set anew.
    """

    def __init__(self) -> None:
        self._known: dict[Command | Stride, list[Strides | None]] = {}
        self.forget()

    def forget(self) -> None:
        """Take nothing for granted any more: where control flow joins."""
        #: Register of each triple, used least recently first.
        self._held: dict[Strides, int] = {}

    @property
    def held(self) -> dict[int, Strides]:
        """What is known of the registers: the triple that each holds."""
        return {register: triple for triple, register in self._held.items()}

    def _triples(self, op: CodeOp) -> list[Strides | None]:
        """Triples of the streams of an operation; none where all are consecutive."""
        found = self._known.get(op.command)
        if found is None:
            found = [stream.triple for stream in op.command.streams.values()]
            found = found if any(found) else []
            self._known[op.command] = found
        return found

    def _of(self, nodes: tuple[CodeNode, ...]) -> dict[Strides, str]:
        """Triples that nodes use, and a source of each."""
        out: dict[Strides, str] = {}
        for node in nodes:
            if isinstance(node, Loop):
                out = self._of(node.body) | out
            else:
                out = {triple: node.source for triple in self._triples(node)
                       if triple is not None} | out
        return out

    def _hold(self, triples: dict[Strides, str]) -> list[CodeNode]:
        """Have registers hold all of a few triples at once; return what sets them."""
        out: list[CodeNode] = []
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

    def give(self, nodes: list[CodeNode]) -> list[CodeNode]:
        """Return nodes whose fields are registers, with what sets these."""
        out: list[CodeNode] = []
        for node in nodes:
            if isinstance(node, Loop):
                out += self._loop(node)
            elif triples := self._triples(node):
                needed = {triple: node.source for triple in triples if triple is not None}
                out += self._hold(needed)
                out.append(node._replace(registers=tuple(map(self._register, triples))))
            else:
                out.append(node)
        return out

    def _register(self, triple: Strides | None) -> int:
        return _CONSECUTIVE if triple is None else self._held[triple]

    def _loop(self, loop: Loop) -> list[CodeNode]:
        needed = self._of(loop.body)
        out: list[CodeNode] = []
        if len(needed) < NUM_STRIDES:
            out = self._hold(needed)
        else:
            self.forget()
        return [*out, replace(loop, body=tuple(self.give(list(loop.body))))]
