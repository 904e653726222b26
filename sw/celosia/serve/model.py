"""A model: a compiled program, its weights, and which of its arguments a request brings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from celosia.compiled import Compiled
from celosia.compiled.parts import Argument
from celosia.graph import DType, TensorType
from celosia.serve import tensors
from celosia.serve.weights import bind, find

__all__ = ["Model", "WireTensor", "make_model"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class WireTensor:
    """What a request brings, or an answer.

    Attributes
    ----------
    name
        In requests and answers.
    number
        Of the argument or result of the program.
    type
        Of all the rows of the program's batch.
    """

    name: str
    number: int
    type: TensorType

    @property
    def dtype(self) -> DType:
        """Elements."""
        return self.type.dtype

    def shape(self, axis: int, rows: int) -> tuple[int, ...]:
        """Return the shape of some rows."""
        return (*self.type.shape[:axis], rows, *self.type.shape[axis + 1:])

    def metadata(self, axis: int) -> dict[str, Any]:
        """Describe it as the protocol does; -1 is the batch."""
        return {"name": self.name, "datatype": tensors.datatype(self.dtype),
                "shape": list(self.shape(axis, -1))}


@dataclass(frozen=True)
class Model:
    """A program that answers requests; made by `make_model`.

    Attributes
    ----------
    name
        In the paths of requests.
    compiled
        The program.
    weights
        Arguments that stay, by number.
    inputs
        What a request brings, in the order of the arguments.
    outputs
        What it gets.
    axis
        The axis of all of these along which requests are put together.
    batch
        Rows of a run.
    version
        In the paths of TensorFlow Serving.
    """

    name: str
    compiled: Compiled
    weights: Mapping[int, NDArray[Any]]
    inputs: tuple[WireTensor, ...]
    outputs: tuple[WireTensor, ...]
    axis: int
    batch: int
    version: int = 1

    @property
    def metadata(self) -> dict[str, Any]:
        """What the protocol says of a model."""
        return {"name": self.name, "platform": f"celosia_{self.compiled.config.name}",
                "inputs": [each.metadata(self.axis) for each in self.inputs],
                "outputs": [each.metadata(self.axis) for each in self.outputs]}


def make_model(compiled: Compiled, weights: Mapping[Any, Any] | None = None, *,
               inputs: Sequence[str | int] | Mapping[str, str | int] | None = None,
               outputs: Sequence[str] | None = None, axis: int = 0,
               name: str | None = None, version: int = 1) -> Model:
    """Make a model of a program.

    Parameters
    ----------
    compiled
        The program. All inputs and outputs must have the same extent along ``axis``, the batch.
    weights
        Arguments that stay, by name or number; see `celosia.serve.weights.find`.
    inputs
        Arguments that requests bring, by name or number, or a mapping of the names that requests
        use to these; None: those that are no weights, by their names in the program.
    outputs
        Names of the results, in order; None: output0 and so on, or those of the program.
    axis
        The batch axis.
    name
        In the paths of requests, of letters, digits, ".", "_" and "-"; None: the program's.
    version
        In the paths of TensorFlow Serving.

    Raises
    ------
    ValueError
        If an argument is neither weight nor input or both, names are not distinct, or the batch
        is not the same everywhere.
    """
    bound = bind(compiled, weights)
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", compiled.name).strip("_") if name is None else name
    if not _NAME.fullmatch(name):
        raise ValueError(f"name of the model must consist of letters, digits, '.', '_' and '-', "
                         f"not {name!r}")
    taken = _inputs(compiled, bound, inputs)
    given = tuple(WireTensor(label, number, argument.type)
                  for number, (label, argument) in enumerate(
        zip(_output_names(compiled, outputs), compiled.outputs, strict=True)))
    for what, names in (("inputs", [each.name for each in taken]),
                        ("outputs", [each.name for each in given])):
        if len(set(names)) != len(names):
            raise ValueError(f"names of {what} of {name} must differ, not be {', '.join(names)}")
    batch = _batch(name, axis, taken, given, bound)
    return Model(name, compiled, bound, taken, given, axis, batch, version)


def _label(argument: Argument) -> str:
    return argument.label or argument.name


def _inputs(compiled: Compiled, bound: Mapping[int, Any],
            inputs: Sequence[str | int] | Mapping[str, str | int] | None) -> tuple[WireTensor, ...]:
    arguments = compiled.inputs
    if inputs is None:
        names = {number: _label(each) for number, each in enumerate(arguments)
                 if number not in bound}
    else:
        pairs = inputs.items() if isinstance(inputs, Mapping) else ((None, key) for key in inputs)
        names = {}
        for label, key in pairs:
            number = find(arguments, key, f"input {key!r} of {compiled.name}")
            names[number] = label or _label(arguments[number])
    for number, argument in enumerate(arguments):
        if (number in names) == (number in bound):
            state = "both" if number in bound else "neither"
            raise ValueError(f"argument {number} of {compiled.name}, {_label(argument)} "
                             f"{argument.type}, must be a weight or an input of requests, "
                             f"not {state}")
    if not names:
        raise ValueError(f"{compiled.name} must have an argument that requests bring: all "
                         f"{len(arguments)} are weights")
    return tuple(WireTensor(names[number], number, arguments[number].type)
                 for number in sorted(names))


def _output_names(compiled: Compiled, outputs: Sequence[str] | None) -> Sequence[str]:
    if outputs is None:
        return [each.label or f"output{number}" for number, each in enumerate(compiled.outputs)]
    if isinstance(outputs, str) or len(outputs) != len(compiled.outputs):
        raise ValueError(f"outputs must name {len(compiled.outputs)} results of {compiled.name}, "
                         f"not be {outputs!r}")
    return outputs


def _batch(name: str, axis: int, inputs: Sequence[WireTensor], outputs: Sequence[WireTensor],
           bound: Mapping[int, Any]) -> int:
    """Return the extent of the batch, which must be the same everywhere."""
    if isinstance(axis, bool) or not isinstance(axis, int) or axis < 0:
        raise ValueError(f"batch axis must be an integer of at least 0, not {axis!r}")
    extents = {each.type.shape[axis] if axis < each.type.rank else None
               for each in (*inputs, *outputs)}
    if len(extents) == 1 and (batch := extents.pop()):
        return batch
    found = ", ".join(f"{each.name} {each.type}" for each in (*inputs, *outputs))
    hint = "" if bound else "; are some of them weights?"
    raise ValueError(f"inputs and outputs of {name} must have the same batch on axis {axis}, "
                     f"but they are {found}{hint}")
