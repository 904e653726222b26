"""A compiled program as an object that can be called, saved, loaded and asked what it costs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.compiled.executable import Executable, largest
from celosia.compiled.expected import expected
from celosia.compiled.parts import Argument, Place, WorkInfo
from celosia.driver import Device, open
from celosia.driver.discovery import differences
from celosia.program import Program

if TYPE_CHECKING:
    from celosia.model.predict import Prediction

__all__ = ["Compiled"]


class Compiled:
    """A program for one chip that takes and gives arrays as its graph does.

    Calling it runs it on the golden model; `load` puts it on any device. Made by
    `celosia.compile`, `celosia.compiled.load` and `celosia.jit`.

    Parameters
    ----------
    program
        Instructions and buffers.
    config
        The chip.
    inputs, outputs
        Parameters and results of the graph, in order. A result may be in the buffer of a
        parameter, two in the same buffer.
    works
        What the program does, in order.
    places
        Where tensors lie.
    name
        What to call it in messages.
    graph
        Fingerprint of the graph that it was made of.
    proofs
        Why functions that have a short form keep the bounds of docs/numerics.md: sentences.

    Raises
    ------
    ValueError
        If an argument has no buffer, or the program is for another chip than ``config``.
    """

    def __init__(self, program: Program, config: TpuConfig, inputs: Iterable[Argument],
                 outputs: Iterable[Argument], works: Iterable[WorkInfo] = (),
                 places: Iterable[Place] = (), name: str = "", graph: str = "",
                 proofs: Iterable[str] = ()):
        self.program, self.config = program, config
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.works, self.places = tuple(works), tuple(places)
        self.name, self.graph = name or program.name or "the program", graph
        self.proofs = tuple(proofs)
        self._own: Executable | None = None
        if program.fingerprint != config.fingerprint:
            raise ValueError(f"{self.name} must be for {config.name}, not for "
                             f"{differences(program.fingerprint, config)}")
        for argument in (*self.inputs, *self.outputs):
            program.buffer(argument.name)

    def __repr__(self) -> str:
        return (f"<{self.name} for {self.config.name}: "
                f"({', '.join(str(each.type) for each in self.inputs)}) -> "
                f"({', '.join(str(each.type) for each in self.outputs)}), "
                f"{len(self.program.insns)} instructions>")

    def renamed(self, name: str, config: TpuConfig, labels: Iterable[str]) -> Compiled:
        """Return the same program with other names: its own, the chip's and the arguments'."""
        inputs = (dataclasses.replace(each, label=label)
                  for each, label in zip(self.inputs, labels, strict=True))
        program = self.program
        if program.name != name:
            program = dataclasses.replace(program, name=name)
        return Compiled(program, config, inputs, self.outputs, self.works, self.places, name,
                        self.graph, self.proofs)

    def check_config(self, config: TpuConfig) -> None:
        """Raise ValueError unless a chip is the one that the program is for."""
        if config.fingerprint == self.config.fingerprint:
            return
        pairs = ((field.name, getattr(self.config, field.name), getattr(config, field.name))
                 for field in dataclasses.fields(TpuConfig) if field.name != "name")
        differ = ", ".join(f"{name} {wanted} (here {here})"
                           for name, wanted, here in pairs if wanted != here)
        raise ValueError(f"{self.name} must run on the chip that it was compiled for, "
                         f"{self.config.name}, not on {config.name}: {differ}")

    def load(self, device: Device) -> Executable:
        """Put the program into a device's memory, for many calls.

        Raises
        ------
        ValueError
            If the device is another chip than the program is for.
        OutOfDeviceMemory
            If it does not fit; the message names the largest tensors.
        """
        return Executable(self, device)

    def run(self, device: Device, *args: Any) -> tuple[NDArray, ...]:
        """Run once on a device, which is left as it was; see `Executable.run`."""
        with self.load(device) as executable:
            return executable(*args)

    def __call__(self, *args: Any, device: Device | None = None) -> tuple[NDArray, ...]:
        """Run on arrays and return the results, a tuple.

        Parameters
        ----------
        args
            As of `Executable.run`.
        device
            Where; None: a golden model of the program's own.
        """
        if device is not None:
            return self.run(device, *args)
        if self._own is None:
            self._own = self.load(open("model", config=self.config))
        return self._own(*args)

    @cached_property
    def prediction(self) -> Prediction:
        """What a run is expected to cost; see `celosia.compiled.expected`."""
        return expected(self.program, self.config)

    @overload
    def report(self, *, json: Literal[False] = False) -> str: ...

    @overload
    def report(self, *, json: Literal[True]) -> dict[str, Any]: ...

    def report(self, *, json: bool = False) -> str | dict[str, Any]:
        """Say what the program will do: work, places, cycles, memory; see
        `celosia.compiler.report`.

        Parameters
        ----------
        json
            Return a dictionary that the module ``json`` can write, in place of a text.
        """
        from celosia.compiler.report import facts, text
        return facts(self) if json else text(self)

    def largest_tensors(self) -> str:
        """Say how much external memory the program wants, and what for."""
        sizes = [(f"{place.name} {place.type}", place.size) for place in self.places
                 if place.memory == "external"]
        sizes = sizes or [(buffer.name, buffer.nbytes) for buffer in self.program.buffers]
        return (f"{self.name} wants {self.program.arena_bytes:,} bytes; its largest tensors are "
                f"{largest(sizes)}")

    def save(self, path: str | Path) -> None:
        """Write the program into a file that `celosia.compiled.load` reads."""
        Path(path).write_bytes(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the contents of a file; equal programs give equal bytes."""
        from celosia.compiled.file import write
        return write(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Compiled:
        """Read what `to_bytes` wrote; ValueError as of `celosia.compiled.load`."""
        from celosia.compiled.file import read
        return read(data)
