"""A compiled program as data: steps of chip and host, arguments, what it is expected to cost."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Self

from celosia.arch.config import TpuConfig
from celosia.compiled.expected import expected
from celosia.compiled.parts import Apart, Argument, Place, WorkInfo
from celosia.compiled.steps import ChipStep, HostStep, ProgramStep
from celosia.program import Program

if TYPE_CHECKING:
    from celosia.model.timing.predict import Prediction

__all__ = ["Description"]


class Description:
    """What is known of a program for one chip and, where it lacks something, the host.

    Parameters
    ----------
    steps
        In the order in which they run; for most programs one of the chip.
    gives
        Numbers of the values that are results; see `celosia.compiled.steps.ChipStep`.
    config
        The chip.
    inputs, outputs
        Parameters and results of the graph, in order.
    name
        What to call it in messages.
    graph
        Fingerprint of the graph that it was made of.

    Raises
    ------
    ValueError
        If an argument has no buffer, a step takes a value that is not there yet, or the program
        is for another chip than ``config``.
    """

    def __init__(self, steps: Iterable[ProgramStep], gives: Iterable[int], config: TpuConfig,
                 inputs: Iterable[Argument], outputs: Iterable[Argument], name: str = "",
                 graph: str = ""):
        self.steps, self.gives, self.config = tuple(steps), tuple(gives), config
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        only = self.on_chip
        self.name = name or (only.program.name if only else "") or "the program"
        self.graph = graph
        self._check()

    def _check(self) -> None:
        count = len(self.inputs)
        for i, step in enumerate(self.steps):
            wanted = len(step.graph.params if isinstance(step, HostStep) else step.inputs)
            self._check_numbers(f"step {i} of {self.name} must take", step.takes, wanted, count)
            if isinstance(step, ChipStep):
                step.check(self.config, self.name)
            count += step.gives
        self._check_numbers(f"{self.name} must give", self.gives, len(self.outputs), count)

    def _check_numbers(self, what: str, numbers: tuple[int, ...], wanted: int, count: int) -> None:
        if len(numbers) != wanted or not all(0 <= number < count for number in numbers):
            raise ValueError(f"{what} {wanted} of {count} values, not those of the numbers "
                             f"{list(numbers)}")

    @classmethod
    def of_chip(cls, step: ChipStep, config: TpuConfig, name: str = "", graph: str = "") -> Self:
        """Return a program of one step, whose arguments and results are the step's buffers."""
        count = len(step.inputs)
        return cls([step], range(count, count + len(step.outputs)), config, step.inputs,
                   step.outputs, name, graph)

    @property
    def on_chip(self) -> ChipStep | None:
        """The only step, if it is of the chip."""
        first = self.steps[0] if len(self.steps) == 1 else None
        return first if isinstance(first, ChipStep) else None

    @property
    def arena_bytes(self) -> int:
        """Bytes of external memory that the steps of the chip have together."""
        return max((step.program.arena_bytes for step in self.steps
                    if isinstance(step, ChipStep)), default=0)

    def _alone(self, what: str) -> ChipStep:
        only = self.on_chip
        if only is None:
            steps = ", ".join(step.where for step in self.steps) or "none"
            raise ValueError(f"{self.name} must run on the chip alone to have one {what}: its "
                             f"steps are {steps}, see its report")
        return only

    @property
    def program(self) -> Program:
        """Instructions and buffers; ValueError unless it runs on the chip alone."""
        return self._alone("program").program

    @property
    def prediction(self) -> Prediction:
        """What a run is expected to cost; ValueError unless it runs on the chip alone."""
        self._alone("prediction")
        (found,) = self.predictions
        assert found is not None
        return found

    @cached_property
    def predictions(self) -> tuple[Prediction | None, ...]:
        """What each step of the chip is expected to cost (`celosia.compiled.expected`); None for
        one of the host.
        """
        return tuple(expected(step.program, self.config) if isinstance(step, ChipStep) else None
                     for step in self.steps)

    @property
    def works(self) -> tuple[WorkInfo, ...]:
        """What all the steps do, in order."""
        return tuple(work for step in self.steps for work in step.works)

    @property
    def places(self) -> tuple[Place, ...]:
        """Where the tensors of the steps of the chip lie."""
        return tuple(place for step in self.steps if isinstance(step, ChipStep)
                     for place in step.places)

    @property
    def proofs(self) -> tuple[str, ...]:
        """Why functions that have a short form keep their bounds: sentences."""
        return tuple(proof for step in self.steps if isinstance(step, ChipStep)
                     for proof in step.proofs)

    @property
    def apart(self) -> tuple[Apart, ...]:
        """What does not run together in the steps of the chip, and why."""
        return tuple(each for step in self.steps if isinstance(step, ChipStep)
                     for each in step.apart)

    def check_config(self, config: TpuConfig) -> None:
        """Raise ValueError unless a chip is the one that the program is for."""
        if config.fingerprint == self.config.fingerprint:
            return
        raise ValueError(f"{self.name} must run on the chip that it was compiled for, "
                         f"{self.config.name}, not on {config.name}: "
                         f"{self.config.differences(config)}")
