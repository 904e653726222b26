"""One record for all sources of events: tensor instructions, their times, and who made them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Unit
from celosia.arch.registers import UNIT_NAMES
from celosia.compiled.expected import expected
from celosia.graph import Source
from celosia.model.timing import Timeline, Timing
from celosia.model.timing.predict import Prediction
from celosia.program import Program
from celosia.program.asm import formatter

__all__ = ["PathPart", "Record"]

_Column = NDArray[np.int64]
#: Cycles from when an instruction starts, as the model says it, until its unit has taken it, or has
#: its first row.
_TAKEN = {Unit.LOAD: 0, Unit.STORE: 0, Unit.MXU: 4, Unit.VPU: 2}


class PathPart(NamedTuple):
    """A piece of the critical path: cycles from ``first`` on in which the run waited for one thing.

    Attributes
    ----------
    index
        The instruction, by its place in the record.
    what
        "load", "store", "mxu" or "vpu" where the unit was at the instruction; "scalar", "fetch",
        "check", "window" or "bus" where the chip was not as far yet.
    """

    first: int
    cycles: int
    index: int
    what: str


@dataclass(frozen=True)
class Record:
    """A run of one program on one chip.

    Attributes
    ----------
    program, config, timing
        What ran, where.
    prediction
        What it cost: cycles, instructions, bytes.
    pc .. lost
        Of each tensor instruction that was executed, in their order; see
        `celosia.model.timing.Timeline`.
    made_by
        Where the times are from: "model", or "rtl" (`measured`).
    """

    program: Program
    config: TpuConfig
    timing: Timing
    prediction: Prediction
    pc: _Column
    unit: _Column
    amount: _Column
    ub_rows: _Column
    acc_rows: _Column
    issued: _Column
    checked: _Column
    start: _Column
    occupied: _Column
    end: _Column
    gate: _Column
    gated: _Column
    reason: _Column
    blamed: _Column
    lost: _Column
    made_by: str = "model"
    _texts: dict[int, str] = field(default_factory=dict, repr=False)
    _sources: dict[str, tuple[str, Source]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, program: Program, config: TpuConfig, timing: Timing | None = None) -> Record:
        """Return what the cycle model says of a program, which has not run.

        Loops that depend on data are taken as `celosia.compiled.expected` takes them.

        Raises
        ------
        ValueError
            If an instruction faults.
        """
        timing = timing or Timing()
        timeline = Timeline()
        found = expected(program, config, timing, timeline)

        columns: dict[str, Any] = {
            name: np.array(getattr(timeline, name), np.int64) for name in Timeline.__slots__}
        return cls(program, config, timing, found, **columns)

    def measured(self, events: Mapping[str, _Column], counters: Mapping[str, int]) -> Record:
        """Return the record of a run of the chip itself; what it waited for is the model's word.

        An instruction starts when its unit has taken it and is done with the one before; in the
        array, which takes them while their rows are still to come, when the first row is there.

        Parameters
        ----------
        events
            Cycles in which each unit took and finished its instructions, as
            `celosia_sim.probe.Probe` has them.
        counters
            Of the run.

        Raises
        ------
        ValueError
            If other instructions ran than were expected: the program's way depends on its data.
        """
        start, end = self.start.copy(), self.end.copy()
        for unit in (each for each in Unit if each is not Unit.SCALAR):
            name, mine = UNIT_NAMES[unit], self.of_unit(unit)
            taken, done = events[f"{name}_take"], events[f"{name}_done"]
            if not len(mine) == len(taken) == len(done):
                raise ValueError(
                    f"program {self.program.name} must execute {len(mine)} instructions of the "
                    f"{name} unit, as the model expects, not {len(taken)}: the way of a program "
                    f"that is measured must not depend on its data")
            end[mine] = done
            before = np.concatenate(([0], done[:-1]))
            ready = np.maximum(taken, before)
            if unit is Unit.MXU:
                at = np.searchsorted(events["mxu_busy_to"], ready, "right")
                rows = np.append(events["mxu_busy_from"], np.iinfo(np.int64).max)[at]
                ready = np.minimum(np.maximum(ready, rows), done)
            start[mine] = np.where(ready > before, np.maximum(ready - _TAKEN[unit], before), ready)
        frontier, found = 0, {}
        for pc, last in zip(self.pc.tolist(), end.tolist(), strict=True):
            if last > frontier:
                found[pc] = found.get(pc, 0) + last - frontier
                frontier = last
        # What is left is the halt's.
        if counters["cycles"] > frontier:
            found[len(self.program.insns) - 1] = (
                found.get(len(self.program.insns) - 1, 0) + counters["cycles"] - frontier)
        prediction = replace(
            self.prediction, cycles=counters["cycles"], instructions=counters["instructions"],
            by_instruction=found, by_source={}, bytes_read=counters["bytes_read"],
            bytes_written=counters["bytes_written"],
            busy={name: counters[f"{name}_busy"] for name in UNIT_NAMES})
        return replace(self, start=start, end=end, occupied=end - start, prediction=prediction,
                       issued=np.minimum(self.issued, start),
                       checked=np.minimum(self.checked, start), made_by="rtl")

    @cached_property
    def durations(self) -> _Column:
        """Cycles for which the unit of each instruction was at it and at none before it."""
        found = np.zeros(len(self), np.int64)
        for unit in Unit:
            mine = self.of_unit(unit)
            if len(mine):
                end = self.end[mine]
                found[mine] = end - np.maximum(self.start[mine], np.concatenate(([0], end[:-1])))
        return found

    def __len__(self) -> int:
        return len(self.pc)

    @property
    def cycles(self) -> int:
        """From the doorbell to the interrupt."""
        return self.prediction.cycles

    def source(self, pc: int) -> tuple[str, Source]:
        """Return the operation and the user's place that an instruction comes from."""
        text = self.program.sources[pc] if self.program.sources else ""
        if text not in self._sources:
            self._sources[text] = Source.parse(text)
        return self._sources[text]

    def text(self, pc: int) -> str:
        """Return an instruction as text, its addresses by the names of buffers."""
        if pc not in self._texts:
            self._texts[pc] = self._format(pc)
        return self._texts[pc]

    @cached_property
    def _format(self) -> Callable[[int], str]:
        return formatter(self.program)

    def of_unit(self, unit: Unit) -> NDArray[np.intp]:
        """Return the instructions of a unit, by their places."""
        return np.flatnonzero(self.unit == unit)

    @cached_property
    def rests(self) -> _Column:
        """Cycles for which the unit of each instruction had none before it."""
        found = np.zeros(len(self), np.int64)
        for unit in Unit:
            mine = self.of_unit(unit)
            if len(mine):
                free = np.concatenate(([0], (self.start + self.occupied)[mine[:-1]]))
                found[mine] = np.maximum(self.start[mine] - free, 0)
        return found

    @cached_property
    def critical(self) -> tuple[PathPart, ...]:
        """The critical path, from the beginning; its cycles add up to the last instruction's end.

        From the end of the run backwards: an instruction, then what it waited for.
        """
        parts: list[PathPart] = []
        if not len(self):
            return ()
        index, until = int(np.argmax(self.end)), int(self.end.max())

        def spend(first: int, what: str) -> None:
            nonlocal until
            first = max(first, 0)
            if first < until:
                parts.append(PathPart(first, until - first, index, what))
                until = first

        while index >= 0 and until > 0:
            spend(int(self.start[index]), UNIT_NAMES[self.unit[index]])
            blamed = int(self.blamed[index])
            if blamed < 0:
                index, blamed = self._issued(index, spend)
            # What an instruction does after its end, or before the blamed one's, is its own lead.
            if blamed >= 0:
                spend(min(int(self.end[blamed]), until), UNIT_NAMES[self.unit[index]])
            index = blamed
        return tuple(reversed(parts))

    def _issued(self, index: int, spend: Callable[[int, str], None]) -> tuple[int, int]:
        """Walk along what was issued, to an instruction that the window waited for."""
        names = ("scalar", "fetch", "check", "window")
        while index >= 0:
            gate = int(self.gate[index])
            if self.gated[index] >= 0:
                spend(int(self.end[self.gated[index]]), "window")
                return index, int(self.gated[index])
            spend(int(self.checked[index - 1]) if index else 0, names[min(gate, 3)])
            index -= 1
        return index, -1
