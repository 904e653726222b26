"""Pipelines as tables: stages of logic that names what it takes."""

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any, NamedTuple

from amaranth.hdl import Module, Signal, Value

__all__ = ["Logic", "Pipeline", "Stages"]


class Logic(NamedTuple):
    """Combinational logic within a stage, or logic that ends in registers of its own.

    Parameters
    ----------
    make
        Returns values by name. The names of its parameters declare what it takes: ``m``, the module
        of its stage; values that were made before it; fields of the control of the row that is in
        the stage; what all stages share. What it makes anew under a name stands for the value of
        that name from here on.
    when
        The row uses what this makes: of fields of its control, named by the parameters. Registers
        that carry it keep their value while it does not hold. Without it they always follow.
    registered
        What it makes comes out of registers or memories, at the end of the stage; or, as a number,
        so many stages later than it is taken, the end of its own being the first.
    """

    make: Callable[..., Mapping[str, Any]]
    when: Callable[..., Value] | None = None
    registered: int = 0


#: A pipeline: the logic of each stage, in order. Its latency is its length.
Stages = Sequence[Sequence[Logic]]


class _Line:
    """A value on its way: as it is at the ``first`` stage that can take it, and at later ones."""

    def __init__(self, value: Any, when: Callable[..., Value] | None, first: int):
        self.values, self.when, self.first = [value], when, first


class Pipeline:
    """Logic of a table, and registers that carry each value to the last stage that takes it.

    Parameters
    ----------
    modules
        The module of each stage: of its logic and of the registers at its end. One or many.
    stages
        The table.
    shared
        What all stages can take.
    controls
        Of each stage: fields of the control of the row that is in it.
    name
        Prefix of the registers' names; behind them stands the number of their stage, from 1 on.
    """

    def __init__(self, modules: Sequence[Module], stages: Stages, shared: Mapping[str, Any], *,
                 controls: Sequence[Mapping[str, Any]] = (), name: str = ""):
        self._modules, self._shared, self._controls = modules, shared, controls
        self._name = name
        self._lines: dict[str, _Line] = {}
        for number, stage in enumerate(stages):
            for logic in stage:
                made = logic.make(**{what: self._find(what, number)
                                     for what in signature(logic.make).parameters})
                for what, value in made.items():
                    self._lines[what] = _Line(value, logic.when, number + logic.registered)

    def value(self, name: str, stage: int) -> Any:
        """Return what stage ``stage`` finds under ``name``; stages are numbered from 0 on."""
        line = self._lines[name]
        if stage < line.first:
            raise ValueError(f"{name} must be taken from stage {line.first} on, not {stage}")
        for number in range(line.first + len(line.values) - 1, stage):
            m, value = self._modules[number], line.values[-1]
            register = Signal(value.shape(), name=f"{self._name}{name}_{number + 1}",
                              reset_less=True)
            with m.If(self._holds(line.when, number)):
                m.d.sync += register.eq(value)
            line.values.append(register)
        return line.values[stage - line.first]

    def _holds(self, when: Callable[..., Value] | None, stage: int) -> Any:
        if when is None:
            return 1
        return when(**{field: self._controls[stage][field]
                       for field in signature(when).parameters})

    def _find(self, name: str, stage: int) -> Any:
        if name == "m":
            return self._modules[stage]
        if name in self._lines:
            return self.value(name, stage)
        fields = {**self._shared, **(self._controls[stage] if self._controls else {})}
        if name not in fields:
            known = ", ".join(sorted({*fields, *self._lines}))
            raise ValueError(f"stage {stage} takes {name!r}, which is none of {known}")
        return fields[name]
