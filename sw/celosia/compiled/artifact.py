"""A compiled program as an object that can be called, saved, loaded and asked what it costs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, overload

from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.compiled.description import Description
from celosia.compiled.executable import Executable
from celosia.compiled.file import write
from celosia.compiled.report import facts, text
from celosia.driver import Device, open

__all__ = ["Compiled"]


class Compiled(Description):
    """A program for one chip that takes and gives arrays as its graph does.

    What the chip lacks the host does, in steps between those of the chip; most programs are one
    step of the chip. Calling it runs it on the golden model; `load` puts it on any device. Made by
    `celosia.compile`, `celosia.compiled.load` and `celosia.jit`.

    Parameters and errors are those of `celosia.compiled.description.Description`.
    """

    _own: Executable | None = None

    def __repr__(self) -> str:
        if self.on_chip is None:
            places = [step.where for step in self.steps]
            all = dict.fromkeys((self.config.name, *(
                f"the {place}" for place in places if place != "chip")))
            return f"<{self.name} for {' and '.join(all)}: {', '.join(places)}>"
        return (f"<{self.name} for {self.config.name}: "
                f"({', '.join(str(each.type) for each in self.inputs)}) -> "
                f"({', '.join(str(each.type) for each in self.outputs)}), "
                f"{len(self.program.insns)} instructions>")

    def renamed(self, name: str, config: TpuConfig, labels: Iterable[str]) -> Compiled:
        """Return the same program with other names: its own, the chip's and the arguments'."""
        inputs = (dataclasses.replace(each, label=label)
                  for each, label in zip(self.inputs, labels, strict=True))
        steps, only = self.steps, self.on_chip
        if only is not None and only.program.name != name:
            program = dataclasses.replace(only.program, name=name)
            steps = (dataclasses.replace(only, program=program),)
        return Compiled(steps, self.gives, config, inputs, self.outputs, name, self.graph)

    def moved(self, places: Mapping[str, str]) -> Compiled:
        """Return the same program of a graph that says other places: new ones by the old.

        A graph that the host runs keeps those that it has.
        """
        if all(old == new for old, new in places.items()):
            return self
        return Compiled(tuple(step.moved(places) for step in self.steps), self.gives, self.config,
                        self.inputs, self.outputs, self.name, self.graph)

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

    @overload
    def report(self, *, json: Literal[False] = False) -> str: ...

    @overload
    def report(self, *, json: Literal[True]) -> dict[str, Any]: ...

    def report(self, *, json: bool = False) -> str | dict[str, Any]:
        """Say what the program will do: work, places, cycles, memory; see
        `celosia.compiled.report`.

        Parameters
        ----------
        json
            Return a dictionary that the module ``json`` can write, in place of a text.
        """
        known = facts(self)
        return known if json else text(known, self.config)

    def save(self, path: str | Path) -> None:
        """Write the program into a file that `celosia.compiled.load` reads."""
        Path(path).write_bytes(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the contents of a file; equal programs give equal bytes."""
        return write(self)
