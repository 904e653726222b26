"""The profile of a program: its records, its lines, what could be gained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from celosia.arch.config import TpuConfig
from celosia.compiled import Compiled
from celosia.compiled.steps import ChipStep, HostStep
from celosia.compiler.api import chosen, compile, graph_of
from celosia.compiler.errors import CompileError
from celosia.graph import Graph
from celosia.model.timing import Timing
from celosia.profile.lines import LineCost, by_line
from celosia.profile.mends import Mend, changed, chip_mends, program_mends
from celosia.profile.record import Record

__all__ = ["Gain", "Profile", "compare", "profile"]

#: A finding that gains less is none; and how many there are at most.
LEAST, MOST = 0.005, 4


@dataclass(frozen=True)
class Gain:
    """Something that costs cycles, and what a what-if run says of trying something else.

    Attributes
    ----------
    kind, what, attempt, place
        Of the change; see `celosia.profile.mends.Mend`.
    cycles
        Of the run with it: of the whole program, for as much work.
    gain
        Cycles fewer.
    """

    kind: str
    what: str
    attempt: str
    place: str
    cycles: int
    gain: int


class Profile:
    """What the cycle model knows of a compiled program.

    Parameters
    ----------
    compiled
        The program.
    graph
        What it was made of; None where nobody knows: then changes of the program itself are not
        tried, and those of the chip are tried with the instructions that there are.
    timing
        Of the chip's memory.
    options
        That it was compiled with.
    measured
        What each step of the chip has done, in place of what is expected; see `measure`.
    """

    def __init__(self, compiled: Compiled, graph: Graph | None = None,
                 timing: Timing | None = None, options: Mapping[str, object] | None = None,
                 measured: Sequence[Record] = ()):
        self.compiled, self.graph, self.timing = compiled, graph, timing or Timing()
        self.options, self._measured = dict(options or {}), tuple(measured)

    @property
    def name(self) -> str:
        """Of the program."""
        return self.compiled.name

    @property
    def config(self) -> TpuConfig:
        """The chip."""
        return self.compiled.config

    @property
    def records(self) -> tuple[Record, ...]:
        """What each step of the chip has done where it was measured, else is expected to do."""
        return self._measured or self.expected

    @cached_property
    def expected(self) -> tuple[Record, ...]:
        """What each step of the chip is expected to do."""
        return tuple(Record.of(step.program, self.config, self.timing)
                     for step in self.compiled.steps if isinstance(step, ChipStep))

    @property
    def cycles(self) -> int:
        """Of all the steps of the chip."""
        return sum(record.cycles for record in self.records)

    @property
    def _expected_cycles(self) -> int:
        return sum(record.cycles for record in self.expected)

    @property
    def hosts(self) -> int:
        """Steps of the host."""
        return sum(isinstance(step, HostStep) for step in self.compiled.steps)

    @cached_property
    def lines(self) -> tuple[LineCost, ...]:
        """Where the cycles went, the most expensive first."""
        found: dict[str, LineCost] = {}
        for record in self.records:
            for line in by_line(record):
                known = found.setdefault(line.place, line)
                if known is not line:
                    known.cycles += line.cycles
                    for name in ("operations", "busy", "waits", "parts"):
                        getattr(known, name).update(getattr(line, name))
        return tuple(sorted(found.values(), key=lambda each: -each.cycles))

    @cached_property
    def critical(self) -> Counter[str]:
        """Cycles of the critical path by what was at work, or not as far yet, in them."""
        found: Counter[str] = Counter()
        for record in self.records:
            for part in record.critical:
                found[part.what] += part.cycles
        return found

    def what_if(self, **changes: int) -> int:
        """Return the cycles on a chip, or with a memory, of which something is otherwise.

        Parameters
        ----------
        changes
            Fields of `celosia.TpuConfig` and `celosia.model.timing.Timing`.

        Raises
        ------
        ValueError
            If a field does not exist, or cannot have the value.
        CompileError
            If the program does not fit the other chip.
        """
        config, timing = changed(self.config, self.timing, changes)
        return self._try(Mend("", "", "", config=config, timing=timing))

    def _try(self, mend: Mend) -> int:
        """Return the cycles of the program with a change."""
        config, timing = mend.config or self.config, mend.timing or self.timing
        graph = mend.graph or self.graph
        if graph is None:
            return sum(Record.of(record.program, config, timing).cycles
                       for record in self.expected)
        if mend.graph is None and mend.config is None:
            compiled = self.compiled
        else:
            compiled = compile(graph, config, name=self.name, options=self.options)
        return Profile(compiled, graph, timing).cycles

    @cached_property
    def findings(self) -> tuple[Gain, ...]:
        """What could be gained, the most first; what gains less than 0.5 % is left out.

        Each is what a what-if run of the cycle model gave: of the program compiled again with the
        change, where its graph is known. What the host does comes first.
        """
        found = [finding for mend in self._mends() if (finding := self._finding(mend))]
        found.sort(key=lambda each: (each.kind != "host", -each.gain))
        return tuple(found[:MOST])

    def _mends(self) -> Iterator[Mend]:
        if self.graph is not None:
            yield from program_mends(self.graph)
        yield from chip_mends(self.config, self.timing)

    def _finding(self, mend: Mend) -> Gain | None:
        if mend.kind == "host" and mend.graph is None:
            return Gain(mend.kind, mend.what, mend.attempt, mend.place, self._expected_cycles, 0)
        if mend.graph is None and mend.config is None and mend.timing is None:
            return None
        try:
            cycles = self._try(mend) // mend.repeats
        except (CompileError, ValueError):
            return None
        gain = self._expected_cycles - cycles
        if gain < LEAST * self._expected_cycles and mend.kind != "host":
            return None
        place = mend.place or self._where(mend)
        return Gain(mend.kind, mend.what, mend.attempt, place, cycles, gain)

    def _where(self, mend: Mend) -> str:
        """Return the line that waits most for what a change of the chip is about."""
        units = {"bus_bytes": ("load", "store"), "read_latency": ("load",),
                 "outstanding": ("load",), "write_latency": ("store",), "lanes": ("vpu",),
                 "bank_conflicts": ("vpu",)}
        if mend.kind not in units:
            return ""

        def cost(line: LineCost) -> int:
            return sum(line.busy[unit] for unit in units[mend.kind])

        line = max(self.lines, key=cost, default=None)
        return line.place if line is not None and cost(line) else ""


def profile(source: str | bytes | Path | Graph | Compiled, config: str | TpuConfig = "core", *,
            timing: Timing | None = None, name: str | None = None, filename: str | None = None,
            fast: bool = False, strict: bool = False, cache: bool = True) -> Profile:
    """Return the profile of a program, which is compiled and does not run.

    Parameters
    ----------
    source, config, name, filename, fast, strict, cache
        As of `celosia.compile`; a compiled program has its chip, and no graph.
    timing
        Of the chip's memory; None: the usual one.

    Raises
    ------
    FrontendError, CompileError, ValueError
        As of `celosia.compile`.
    """
    if isinstance(source, Compiled):
        return Profile(source, timing=timing)
    graph = graph_of(source, filename)
    compiled = compile(graph, chosen(config), name=name, fast=fast, strict=strict, cache=cache)
    return Profile(compiled, graph, timing, {"fast": fast})


def compare(before: Mapping[str, int], after: Mapping[str, int]) -> list[tuple[str, int, int]]:
    """Return places of two profiles with their cycles, the largest difference first."""
    rows = [(place, before.get(place, 0), after.get(place, 0))
            for place in dict.fromkeys((*before, *after))]
    return sorted(rows, key=lambda row: -abs(row[2] - row[1]))
