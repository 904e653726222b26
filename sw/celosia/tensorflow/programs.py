"""Functions of TensorFlow as programs of the chip: traced, compiled for shapes, run."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportAttributeAccessIssue=false

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops

from celosia.frontend.stablehlo.reader import aliases_of, chain_collectives, operations_of
from celosia.frontend.tensorflow import module_of, variables_of
from celosia.pjrt.buffers import PjrtBuffer
from celosia.pjrt.client import LoadedExecutable
from celosia.pjrt.factorisations import factorise
from celosia.tensorflow.cores import client, run, upload
from celosia.tensorflow.variables import VariableCell, bare_handle, cell_of

__all__ = ["CallArguments", "Replicated", "Shapes"]

#: Seconds after which it is said that a program is still being compiled.
_LONG = 10.0


class CallArguments:
    """Arguments of a call: tensors, and what else there is, which is part of the program.

    Attributes
    ----------
    tensors
        The tensors among the arguments, in order.
    key
        What is no tensor, and where the tensors are.
    """

    def __init__(self, args: Any, kwargs: Any):
        self._whole = (args, kwargs)
        flat = tf.nest.flatten(self._whole, expand_composites=True)
        self._flat = [tf.convert_to_tensor(each) if _is_array(each) else each for each in flat]
        self._places = [i for i, each in enumerate(self._flat) if tf.is_tensor(each)]
        self.tensors = [self._flat[i] for i in self._places]

    @property
    def key(self) -> Any:
        """What makes another program of the same function."""
        rest = tuple(None if tf.is_tensor(each) else each for each in self._flat)
        kinds = tuple(each.dtype for each in self.tensors)
        structure = repr(tf.nest.map_structure(lambda _: None, self._whole))
        return structure, rest, kinds, _shapes(self.tensors)

    def filled(self, tensors: Sequence[Any]) -> Any:
        """Return args and kwargs with other tensors."""
        flat = list(self._flat)
        for place, tensor in zip(self._places, tensors, strict=True):
            flat[place] = tensor
        return tf.nest.pack_sequence_as(self._whole, flat, expand_composites=True)


def _shapes(tensors: Iterable[Any]) -> tuple[tuple[int | None, ...] | None, ...]:
    """Return the shape of each tensor: None for a rank that is not known, and for an extent."""
    return tuple(None if each.shape.rank is None else tuple(each.shape.as_list())
                 for each in tensors)


def _common(shapes: Sequence[Any]) -> Any:
    """Return the shape that all have, None where they differ."""
    first = shapes[0]
    for each in shapes[1:]:
        first = first.most_specific_compatible_shape(each)
    return first


def _container(single: Any) -> Any:
    """Return what has the copies of a variable; TensorFlow notes it at it or at its handle."""
    return getattr(single, "_distributed_container", lambda: None)()


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


@contextmanager
def _patience(name: str, operations: int) -> Iterator[None]:
    """Say that a program is being compiled still, if that takes long."""
    timer = threading.Timer(_LONG, print, (
        f"celosia: {name} is being compiled still: it has {operations:,} operations",),
        {"file": sys.stderr, "flush": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@dataclass
class Shapes:
    """What is assumed of the shapes of replicas while a function is traced that knows none.

    Attributes
    ----------
    alike
        Whether all replicas have the same ones.
    wanted
        Whether that matters.
    """

    alike: bool
    wanted: bool = False


@dataclass(frozen=True)
class _Program:
    """A function for one set of shapes, on the chips.

    Attributes
    ----------
    executable
        What the chips run.
    aliases
        Which parameter gets the value of which result.
    """

    executable: LoadedExecutable
    aliases: Mapping[int, int]


class Replicated:
    """A function that replicas run, and its programs.

    Parameters
    ----------
    function
        Called with `Shapes`, the number of the replica and the arguments.
    name
        What it is called.
    replicas
        How many run it.
    """

    def __init__(self, function: Callable[..., Any], name: str, replicas: int):
        self._function, self.name, self._replicas = function, name, replicas
        self._traced: dict[Any, list[Any]] = {}
        self._programs: dict[Any, _Program] = {}
        self._cells: dict[Any, list[list[VariableCell] | None]] = {}
        self._numbers: list[PjrtBuffer] = []

    def trace(self, calls: Sequence[CallArguments]) -> list[Any]:
        """Return the function for arguments of one kind, given for each replica, as a graph.

        Behind it, where it is another one, that for replicas whose arguments have different shapes.
        """
        key = tuple(each.key for each in calls)
        if key not in self._traced:
            alike = Shapes(True)
            self._traced[key] = [self._trace(calls, alike)]
            if alike.wanted and self._replicas > 1:
                self._traced[key].append(self._trace(calls, Shapes(False)))
        return self._traced[key]

    def _trace(self, calls: Sequence[CallArguments], shapes: Shapes) -> Any:
        def traced(number: Any, *tensors: Any) -> Any:
            args, kwargs = calls[0].filled(tensors)
            return self._function(shapes, number, *args, **kwargs)

        specs = [tf.TensorSpec(_common([each.shape for each in same]), same[0].dtype)
                 for same in zip(*(each.tensors for each in calls), strict=True)]
        function = tf.function(traced, jit_compile=True, autograph=False)
        return function.get_concrete_function(tf.TensorSpec((), tf.int32), *specs)

    def handles(self, concrete: Any) -> list[Any]:
        """Return the variables that a function uses, as all replicas have them."""
        return [bare_handle(each) for copies in self._variables(concrete) for each in copies or ()]

    def _variables(self, concrete: Any) -> list[list[Any] | None]:
        """Return for each captured input the copies of that variable; None if it is none."""
        found: list[list[Any] | None] = []
        for each, variable in zip(concrete.captured_inputs, variables_of(concrete), strict=True):
            if variable is None:
                found.append(None)
                continue
            container = _container(each)
            if container is None:
                container = _container(variable)
            if container is None and self._replicas > 1:
                raise ValueError(f"variable {variable.name} must be made in the scope of the "
                                 f"strategy: {self.name} uses it on {self._replicas} replicas")
            found.append([variable] if container is None else list(container._values))
        return found

    def run(self, traced: Sequence[Any], rows: Sequence[Sequence[Any]],
            captured: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Run on tensors.

        Parameters
        ----------
        traced
            What `trace` gave.
        rows
            The tensors of each replica.
        captured
            For each of what was traced, values of what it has captured of a function under
            construction.

        Raises
        ------
        PjrtError, FrontendError, CompileError
            As of the chips.
        """
        shapes = {_shapes(row) for row in rows}
        concrete, outer = (traced[-1], captured[-1]) if len(shapes) > 1 else (traced[0],
                                                                             captured[0])
        programs = [self._program(concrete, row, outer, len(shapes) > 1) for row in rows]
        cells = self._cells_of(concrete)
        arguments, chips = [], programs[0].executable.chips
        if not self._numbers:
            self._numbers = [upload(chip, np.array(number, np.int32), "the number of a replica")
                             for number, chip in enumerate(chips)]
        for number, (chip, row) in enumerate(zip(chips, rows, strict=True)):
            more = iter(outer)
            arguments.append([
                self._numbers[number],
                *(upload(chip, each._numpy(), f"argument {i} of {self.name}")
                  for i, each in enumerate(row)),
                *(own[number].argument() if own is not None else upload(
                    chip, (next(more) if not isinstance(each, ops.EagerTensor) else each).numpy(),
                    "what is captured")
                  for own, each in zip(cells, concrete.captured_inputs, strict=True))])
        given = 1 + len(rows[0])
        results = run([each.executable for each in programs], arguments)
        found = []
        for number, row in enumerate(results):
            for parameter, result in programs[number].aliases.items():
                own = cells[parameter - given]
                assert own is not None, "only variables are written"
                own[number].put(row[result])
            found.append([_tensor(buffer, output)
                          for buffer, output in zip(row, concrete.outputs, strict=False)])
        return found

    def _cells_of(self, concrete: Any) -> list[list[VariableCell] | None]:
        found = self._cells.get(concrete)
        if found is None:
            chips = client().chips
            found = self._cells[concrete] = [
                None if copies is None else [cell_of(copy, chip) for copy, chip
                                             in zip(copies, chips, strict=False)]
                for copies in self._variables(concrete)]
        return found

    def _program(self, concrete: Any, row: Sequence[Any], outer: Sequence[Any],
                 differ: bool) -> _Program:
        key = (concrete, differ, _shapes((*row, *outer)))
        found = self._programs.get(key)
        if found is None:
            found = self._programs[key] = self._compile(concrete, row, outer, differ)
        return found

    def _compile(self, concrete: Any, row: Sequence[Any], outer: Sequence[Any],
                 differ: bool) -> _Program:
        start = time.monotonic()
        more = iter(outer)
        captured = [each if isinstance(each, ops.EagerTensor) else next(more)
                    for each in concrete.captured_inputs]
        specs = [tf.TensorSpec((), tf.int32), *(tf.TensorSpec(each.shape, each.dtype)
                                                for each in row)]
        module = module_of(concrete, specs, captured, self.name)
        factorise(module)
        aliases = aliases_of(module)
        if differ:
            chain_collectives(module)
        code = BytesIO()
        module.operation.write_bytecode(code)
        chips = client()
        with _patience(self.name, sum(1 for _ in operations_of(module.operation))):
            program = chips.programs.get(code.getvalue(), replicas=self._replicas, narrows=True)
        executable = LoadedExecutable(chips, program, [chips.chips[:self._replicas]])
        shapes = ", ".join(map(str, _shapes(row)))
        print(f"celosia: {self.name} was compiled for {shapes or 'no arguments'} in "
              f"{time.monotonic() - start:.1f} s", file=sys.stderr)
        return _Program(executable, aliases)


def _tensor(buffer: PjrtBuffer, output: Any) -> Any:
    value = buffer.read()
    return tf.constant(value.astype(output.dtype.as_numpy_dtype))
