"""A compiled program as data: instructions, arguments, work, and what it is expected to cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from celosia.arch.config import TpuConfig
from celosia.compiled.expected import expected
from celosia.compiled.parts import Argument, Place, WorkInfo
from celosia.driver.discovery import differences
from celosia.program import Program

if TYPE_CHECKING:
    from celosia.model.timing.predict import Prediction

__all__ = ["Description"]

#: Tensors that a message names.
_MOST_NAMED = 3


class Description:
    """What is known of a program for one chip.

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
        if program.fingerprint != config.fingerprint:
            raise ValueError(f"{self.name} must be for {config.name}, not for "
                             f"{differences(program.fingerprint, config)}")
        for argument in (*self.inputs, *self.outputs):
            program.buffer(argument.name)

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

    @cached_property
    def prediction(self) -> Prediction:
        """What a run is expected to cost; see `celosia.compiled.expected`."""
        return expected(self.program, self.config)

    def largest_tensors(self) -> str:
        """Say how much external memory the program wants, and what for."""
        sizes = [(f"{place.name} {place.type}", place.size) for place in self.places
                 if place.memory == "external"]
        sizes = sizes or [(buffer.name, buffer.nbytes) for buffer in self.program.buffers]
        order = sorted(sizes, key=lambda each: -each[1])[:_MOST_NAMED]
        largest = ", ".join(f"{name} ({size:,} bytes)" for name, size in order)
        return (f"{self.name} wants {self.program.arena_bytes:,} bytes; its largest tensors are "
                f"{largest}")
