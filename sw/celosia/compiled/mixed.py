"""Programs of which a part runs on the host, by the graph's interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.compiled.arguments import check_count, host_array
from celosia.compiled.artifact import Compiled
from celosia.compiled.executable import Executable, Resident
from celosia.compiled.file import write_steps
from celosia.compiled.parts import Argument, WorkInfo
from celosia.compiled.report import of_steps, on_host
from celosia.driver import Device
from celosia.driver.device import DEFAULT_TIMEOUT
from celosia.graph import Graph, interpret, to_text
from celosia.graph.interpreter.kernels import Peer

__all__ = ["HostPart", "Mixed", "Step"]


@dataclass(frozen=True)
class HostPart:
    """A graph that the interpreter runs, and what it consists of."""

    graph: Graph
    works: tuple[WorkInfo, ...]


@dataclass(frozen=True)
class Step:
    """A part of a program and the numbers of the values that it takes.

    Values are numbered: the arguments, then the results of each step, in order.
    """

    part: Compiled | HostPart
    takes: tuple[int, ...]

    @property
    def where(self) -> str:
        """Where it runs: "chip", "host" or "link" (see `celosia.compiler.placement.Place`)."""
        if not isinstance(self.part, HostPart):
            return "chip"
        return "link" if self.part.works and all(
            work.where == "link" for work in self.part.works) else "host"


class Mixed(Compiled):
    """A compiled program in steps, on the chip and on the host; otherwise as `Compiled`.

    Parameters
    ----------
    steps
        In the order in which they run.
    gives
        Numbers of the values that are results.
    config, inputs, outputs, name, graph
        As of `Compiled`.
    """

    def __init__(self, steps: Iterable[Step], gives: Sequence[int], config: TpuConfig,
                 inputs: Iterable[Argument], outputs: Iterable[Argument], name: str = "",
                 graph: str = ""):
        self.steps, self.gives = tuple(steps), tuple(gives)
        self.config, self.name, self.graph = config, name or "the program", graph
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.works = tuple(work for step in self.steps for work in step.part.works)
        self.places = ()
        self.proofs = tuple(proof for step in self.steps if isinstance(step.part, Compiled)
                            for proof in step.part.proofs)

    def __getattr__(self, name: str) -> NoReturn:
        if name in ("program", "prediction"):
            raise ValueError(f"{self.name} must run on the chip alone to have one {name}: it has "
                             f"{len(self.steps)} steps, see its report")
        raise AttributeError(name)

    def __repr__(self) -> str:
        places = [step.where for step in self.steps]
        others = " and ".join(f"the {each}" for each in dict.fromkeys(places) if each != "chip")
        return f"<{self.name} for {self.config.name} and {others}: {', '.join(places)}>"

    def renamed(self, name: str, config: TpuConfig, labels: Iterable[str]) -> Mixed:
        """Return the same program with other names; as of `Compiled`."""
        inputs = (replace(each, label=label)
                  for each, label in zip(self.inputs, labels, strict=True))
        return Mixed(self.steps, self.gives, config, inputs, self.outputs, name, self.graph)

    def load(self, device: Device) -> MixedExecutable:
        """Put the chip's parts into a device's memory; as of `Compiled`."""
        return MixedExecutable(self, device)

    def facts(self) -> dict[str, Any]:
        """Return what a report says; as of `Compiled`."""
        return of_steps(self, [
            on_host(self.config, step.where, step.part.works) if isinstance(step.part, HostPart)
            else {"where": "chip", **step.part.facts()} for step in self.steps])

    def to_bytes(self) -> bytes:
        """Return the contents of a file; as of `Compiled`."""
        return write_steps(self, self.gives, [
            (step.takes, to_text(step.part.graph).encode(), step.part.works)
            if isinstance(step.part, HostPart) else (step.takes, step.part.to_bytes(), None)
            for step in self.steps])


class MixedExecutable(Executable):
    """A `Mixed` program on a device and the host. Results are always on the host."""

    def __init__(self, compiled: Mixed, device: Device):
        compiled.check_config(device.config)
        self.compiled, self.device = compiled, device
        self.counters, self.runs = {}, 0
        self._steps: list[tuple[Executable | HostPart, tuple[int, ...]]] = []
        self._gives = compiled.gives
        try:
            for step in compiled.steps:
                part = step.part
                self._steps.append((part if isinstance(part, HostPart) else part.load(device),
                                    step.takes))
        except BaseException:
            self.free()
            raise

    @property
    def usable(self) -> bool:
        """Whether it is in the memory of an open device still."""
        return not self.device.closed and all(
            part.usable for part, _ in self._steps if isinstance(part, Executable))

    def __call__(self, *args: Any, timeout: int | None = DEFAULT_TIMEOUT,
                 peer: Peer | None = None) -> tuple[NDArray, ...]:
        """Run on arguments and return the results; as of `Executable`.

        Parameters
        ----------
        args, timeout
            As of `Executable.run`.
        peer
            The device among others that run the same program, which
            `celosia.collectives.HostInterconnect` has; for a program with collectives.
        """
        compiled = self.compiled
        check_count(compiled.name, compiled.inputs, len(args))
        values = [host_array(compiled.name, i, argument, value) for i, (argument, value)
                  in enumerate(zip(compiled.inputs, args, strict=True))]
        total: Counter[str] = Counter()
        self.runs += 1
        for part, takes in self._steps:
            inputs = [values[number] for number in takes]
            if isinstance(part, Executable):
                values += part(*inputs, timeout=timeout)
                total.update(part.counters)
            else:
                values += map(np.asarray, interpret(part.graph, inputs, peer=peer))
        self.counters = {"cycles": 0, **total}
        return tuple(np.array(values[number]) for number in self._gives)

    def run(self, *args: Any, timeout: int | None = DEFAULT_TIMEOUT) -> tuple[Resident, ...]:
        """Raise ValueError: a part is on the host, call the executable."""
        raise ValueError(f"{self.compiled.name} must be called, not run: its results are on the "
                         f"host, as a part of it is")

    def free(self) -> None:
        """Give the device's memory back."""
        for part, _ in self._steps:
            if isinstance(part, Executable):
                part.free()
