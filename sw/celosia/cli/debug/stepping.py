"""A run that is gone through by single instructions: where it is, what it has, what stops it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from celosia.arch.words import ceil_div
from celosia.compiled import Compiled
from celosia.compiled.parts import Place
from celosia.compiled.steps import ChipStep
from celosia.driver import Device
from celosia.driver.handles import LoadedProgram
from celosia.driver.stepped import SteppedTransport
from celosia.graph import DType, Source
from celosia.model.stepper import Stepper
from celosia.model.written import written
from celosia.program import DTYPES, Program
from celosia.program.asm import formatter

__all__ = ["Range", "SteppedRun", "SteppedDevice"]

_ROWS = re.compile(r"(ub|acc)\[(\d+)(?:\.\.(\d+))?\](?: (\w+))?")
_PLACE = re.compile(r"(.+):(\d+)")
_TYPES = {"f32": np.dtype(np.float32), "i32": np.dtype(np.int32), "u32": np.dtype(np.uint32),
          "bf16": np.dtype(ml_dtypes.bfloat16), "i8": np.dtype(np.int8)}


@dataclass(frozen=True)
class Range:
    """Rows of a memory on chip, "ub" or "acc", or bytes of "memory": from a first to a last."""

    memory: str
    first: int
    last: int


class SteppedRun:
    """A run of a program.

    Parameters
    ----------
    stepper
        The run.
    loaded
        What runs.
    places
        Where its tensors lie, as far as that is known.
    labels
        What the user calls buffers.
    """

    def __init__(self, stepper: Stepper, loaded: LoadedProgram, places: Sequence[Place] = (),
                 labels: Mapping[str, str] | None = None):
        self.stepper, self.loaded, self.program = stepper, loaded, loaded.program
        self.text = formatter(loaded.program)
        self._places = {place.name: place for place in places if place.memory != "external"}
        self._buffers = {buffer.name: buffer for buffer in self.program.buffers}
        self._buffers |= {label: self._buffers[name] for label, name in (labels or {}).items()
                          if name in self._buffers}
        self._sources: dict[int, Source] = {}

    @property
    def names(self) -> list[str]:
        """Tensors that can be asked for."""
        return [*self._buffers, *self._places]

    def source(self, pc: int) -> Source:
        """Return the user's place that an instruction comes from."""
        if pc not in self._sources:
            known = self.program.sources and pc < len(self.program.sources)
            text, source = Source.parse(self.program.sources[pc] if known else "")
            if not source.file and (found := _PLACE.fullmatch(text)):  # of assembly text
                source = Source(found[1], int(found[2]))
            self._sources[pc] = source
        return self._sources[pc]

    def at(self, pc: int) -> str:
        """Say what an instruction is and where it comes from."""
        if pc >= len(self.program.insns):
            return f"{pc:>6}  (behind the program)"
        source = self.program.sources[pc].split(" < ")[0] if self.program.sources else ""
        return f"{pc:>6}  {self.text(pc)}{source and f'    {source}'}"

    def range(self, text: str) -> Range:
        """Return what rows, as in ub[3..5], or the name of a tensor, stand for.

        Raises
        ------
        ValueError
            If there is no such thing.
        """
        config = self.stepper.machine.config
        if found := _ROWS.fullmatch(text.strip()):
            first = int(found[2])
            last, count = int(found[3] or first), getattr(config, f"{found[1]}_rows")
            if not first <= last < count:
                raise ValueError(f"rows of {found[1]} must be from 0 to {count - 1}, the first "
                                 f"one first, not {first}..{last}")
            return Range(found[1], first, last)
        name = text.strip().removeprefix("tensor=")
        if name in self._buffers:
            buffer = self._buffers[name]
            first = self.loaded.arena + buffer.offset
            return Range("memory", first, self.loaded.arena + buffer.end - 1)
        if name in self._places:
            place = self._places[name]
            return Range(place.memory, place.first, place.first + place.size - 1)
        raise ValueError(f"what is looked at must be rows, as ub[3..5] or acc[7] f32, or one of "
                         f"{', '.join(self.names)}, not {text.strip()!r}")

    def value(self, text: str) -> NDArray[Any]:
        """Return what a memory holds now: of a tensor its elements; of rows words, or what they
        are as f32, i32, u32, bf16, i8.

        Raises
        ------
        ValueError
            If there is no such thing.
        """
        found, machine = self.range(text), self.stepper.machine
        if rows := _ROWS.fullmatch(text.strip()):
            raw = getattr(machine, found.memory)[found.first:found.last + 1]
            return raw if rows[4] is None else _as(raw, rows[4])
        name = text.strip().removeprefix("tensor=")
        if name in self._buffers:
            buffer = self._buffers[name]
            raw = machine.memory.read(found.first, found.last - found.first + 1)
            return raw.view(DTYPES[buffer.dtype]).reshape(buffer.shape)
        return self._on_chip(self._places[name])

    def _on_chip(self, place: Place) -> NDArray[Any]:
        """Return a tensor on chip: panels of D columns, each of all its rows."""
        machine = self.stepper.machine
        rows = getattr(machine, place.memory)[place.first:place.first + place.size]
        columns = place.type.shape[-1] if place.type.shape else 1
        panels = ceil_div(columns, machine.config.dim)
        raw = np.concatenate(np.split(rows, panels), 1)[:, :columns]
        if place.memory == "acc":
            kind = "f32" if place.type.dtype.is_float else "i32"
        else:
            kind = "i8" if place.type.dtype in (DType.I8, DType.BOOL) else "bf16"
        return _as(raw, kind).reshape(place.type.shape)

    def until(self, *stops: Callable[[], str]) -> str:
        """Execute until one of several says why to stop, behind an instruction, or to the end;
        return what it says, "" at the end.
        """
        while self.stepper.step():
            for stop in stops:
                if why := stop():
                    return why
        return ""

    def at_line(self, file: str, line: int) -> Callable[[], str]:
        """Return what stops in front of the first instruction of a line, whenever it comes."""
        def inside(pc: int) -> bool:
            source = self.source(pc)
            return source.line == line and (
                source.file == file or source.file.endswith(f"/{file}"))

        def stop() -> str:
            passed = self.stepper.passed
            if inside(self.stepper.pc) and not (passed and inside(passed[-1])):
                return f"{file}:{line}"
            return ""
        return stop

    def at_pc(self, pc: int) -> Callable[[], str]:
        """Return what stops in front of an instruction."""
        return lambda: f"pc={pc}" if self.stepper.pc == pc else ""

    def at_write(self, text: str) -> Callable[[], str]:
        """Return what stops behind an instruction that writes some of a range; errors as of
        `range`.
        """
        wanted = self.range(text)

        def stop() -> str:
            if self.stepper.command is None:
                return ""
            memory, places = written(self.stepper.command, self.stepper.machine)
            if memory == wanted.memory and bool(
                    ((places >= wanted.first) & (places <= wanted.last)).any()):
                return f"{text} was written by {self.at(self.stepper.passed[-1]).strip()}"
            return ""
        return stop


def _as(raw: NDArray[Any], kind: str) -> NDArray[Any]:
    """Return lanes as numbers of a type: wider ones hold them in their lowest bits."""
    if kind not in _TYPES:
        raise ValueError(f"lanes must be shown as one of {', '.join(_TYPES)}, not {kind!r}")
    dtype = _TYPES[kind]
    if dtype.itemsize > raw.dtype.itemsize:
        raise ValueError(f"lanes of {8 * raw.dtype.itemsize} bits must not be shown as {kind}")
    return raw.astype(f"u{dtype.itemsize}").view(dtype)


class SteppedDevice(Device):
    """A device whose runs somebody goes through.

    Parameters
    ----------
    config
        The chip: a golden model.
    drive
        Called with each run that begins.
    compiled
        What runs, where it is a compiled program: then its tensors are known.
    """

    def __init__(self, config: Any, drive: Callable[[SteppedRun], None],
                 compiled: Compiled | None = None):
        self._loaded: LoadedProgram | None = None
        self._drive, self._compiled = drive, compiled
        super().__init__(SteppedTransport(config, self._begin), "model")

    def run(self, program: Any, *args: Any, **options: Any) -> Any:
        """Run as a device does."""
        if isinstance(program, LoadedProgram):
            self._loaded = program
        return super().run(program, *args, **options)

    def _begin(self, stepper: Stepper) -> None:
        assert self._loaded is not None
        program = self._loaded.program
        self._drive(SteppedRun(stepper, self._loaded, tuple(self._of(program)), {
            each.label: each.name for each in (self._compiled.inputs if self._compiled else ())
            if each.label}))

    def _of(self, program: Program) -> Iterator[Place]:
        for step in self._compiled.steps if self._compiled else ():
            if isinstance(step, ChipStep) and step.program is program:
                yield from step.places
