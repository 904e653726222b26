"""Steps of a compiled program: what the chip runs, and what the host runs between it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from celosia.arch.config import TpuConfig
from celosia.compiled.parts import Apart, Argument, Place, WorkInfo
from celosia.driver.discovery import differences
from celosia.graph import Graph, Source
from celosia.program import Program

__all__ = ["ChipStep", "HostStep", "ProgramStep"]

#: Tensors that a message names.
_MOST_NAMED = 3


@dataclass(frozen=True)
class ChipStep:
    """A program of the chip with its buffers.

    All the steps of the chip have one arena. A value that several of them take or give is in one
    place in it, where nothing else comes as long as a step needs it; so are, from run to run, what
    results are written over.

    Attributes
    ----------
    takes
        Numbers of the values that it takes. Values are numbered: the arguments of the whole, then
        the results of each step, in order.
    program
        Instructions and buffers.
    inputs, outputs
        The buffers of what it takes and gives. A result may be in the buffer of a parameter, two
        in the same buffer.
    works
        What it does, in order.
    places
        Where tensors lie.
    proofs
        Why functions that have a short form keep the bounds of docs/numerics.md: sentences.
    apart
        What does not run together, and why.
    """

    takes: tuple[int, ...]
    program: Program
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    works: tuple[WorkInfo, ...] = ()
    places: tuple[Place, ...] = ()
    proofs: tuple[str, ...] = ()
    apart: tuple[Apart, ...] = ()

    @property
    def where(self) -> str:
        """Where it runs: "chip"."""
        return "chip"

    @property
    def gives(self) -> int:
        """Number of its results."""
        return len(self.outputs)

    def moved(self, places: Mapping[str, str]) -> ChipStep:
        """Return the step with the places of sources changed."""
        moved = _Moved(places)
        program = replace(self.program, sources=tuple(map(moved, self.program.sources)))
        return replace(
            self, program=program, works=moved.works(self.works),
            proofs=tuple(map(moved.sentence, self.proofs)),
            apart=tuple(replace(each, producer=moved(each.producer), consumer=moved(each.consumer))
                        for each in self.apart))

    def check(self, config: TpuConfig, name: str) -> None:
        """Raise ValueError if a buffer is missing, or it is for another chip."""
        if self.program.fingerprint != config.fingerprint:
            raise ValueError(f"{name} must be for {config.name}, not for "
                             f"{differences(self.program.fingerprint, config)}")
        for argument in (*self.inputs, *self.outputs):
            self.program.buffer(argument.name)

    def largest_tensors(self, name: str) -> str:
        """Say how much external memory it wants, and what for; ``name`` is of the whole."""
        sizes = [(f"{place.name} {place.type}", place.size) for place in self.places
                 if place.memory == "external"]
        sizes = sizes or [(buffer.name, buffer.nbytes) for buffer in self.program.buffers]
        order = sorted(sizes, key=lambda each: -each[1])[:_MOST_NAMED]
        largest = ", ".join(f"{tensor} ({size:,} bytes)" for tensor, size in order)
        return (f"{name} wants {self.program.arena_bytes:,} bytes; its largest tensors are "
                f"{largest}")


@dataclass(frozen=True)
class HostStep:
    """A part of the graph that the interpreter runs; ``takes`` and ``works`` as of `ChipStep`."""

    takes: tuple[int, ...]
    graph: Graph
    works: tuple[WorkInfo, ...] = ()

    @property
    def where(self) -> str:
        """Where it runs: "host", "link" or "call" (`celosia.compiler.placement.Placement`)."""
        places = {work.where for work in self.works} - {"chip"}  # constants for the others
        return places.pop() if places in ({"link"}, {"call"}) else "host"

    @property
    def gives(self) -> int:
        """Number of its results."""
        return len(self.graph.outputs)

    def moved(self, places: Mapping[str, str]) -> HostStep:
        """Return the step with the places that its work says changed."""
        return replace(self, works=_Moved(places).works(self.works))


class _Moved:
    """Says of what comes from old places, for which it is called, that it comes from new ones."""

    def __init__(self, places: Mapping[str, str]):
        self._places = places
        self._short = {_said(old): _said(new) for old, new in places.items()}
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """Return a text of `celosia.graph.Source.told`, or of a source alone."""
        if text not in self._known:
            operation, _, place = text.partition(" ")
            new = self._places.get(place)
            self._known[text] = (self._short.get(text, text) if not place or new is None
                                 else f"{operation} {new}".rstrip())
        return self._known[text]

    def sentence(self, text: str) -> str:
        """Return a sentence that a source and a colon begin."""
        source, colon, rest = text.partition(": ")
        return self(source) + colon + rest

    def works(self, works: tuple[WorkInfo, ...]) -> tuple[WorkInfo, ...]:
        """Return pieces of work."""
        return tuple(replace(work, source=self(work.source),
                             origins=tuple(map(self, work.origins))) for work in works)


def _said(place: str) -> str:
    return str(Source.parse(f"- {place}")[1])


ProgramStep = ChipStep | HostStep
