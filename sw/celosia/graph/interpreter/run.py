"""Running a graph in NumPy: what it means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from celosia.graph.interpreter import (
    callback,
    collective,
    contract,
    control,
    elementwise,
    indexed,
    reduce,
    shape,
    spmd,
)
from celosia.graph.interpreter.kernels import KERNELS, HostArray, KernelContext, Peer
from celosia.graph.node import Graph, Node, Value
from celosia.graph.types import DType, TensorType

__all__ = ["evaluate", "interpret"]

#: Modules that fill the table of kernels.
_PARTS = (callback, collective, contract, control, elementwise, indexed, reduce, shape, spmd)

#: Called with each node after it ran, its operands and its results.
Trace = Callable[[Node, Sequence[HostArray], Sequence[HostArray]], None]


def interpret(graph: Graph, inputs: Sequence[Any], *, precision: str | None = None,
              trace: Trace | None = None, peer: Peer | None = None) -> list[HostArray]:
    """Return the outputs of a graph.

    This defines what the operations mean: floats as NumPy computes them in fp32, bf16 results
    rounded once for each operation, integers modulo their range. The order of sums is free, so
    another implementation agrees within a tolerance.

    Parameters
    ----------
    graph
        Any graph that `celosia.graph.check` accepts.
    inputs
        An array for each parameter, of exactly its type.
    precision
        "highest" to take all dot products and convolutions in fp32, whatever they ask for.
    trace
        Called with each node, also those in regions, its operands and its results.
    peer
        The device, if others run the graph at the same time; `celosia.collectives` has them.

    Raises
    ------
    ValueError
        If inputs do not fit the parameters.
    """
    arrays = [np.asarray(array) for array in inputs]
    if len(arrays) != len(graph.params):
        raise ValueError(f"inputs of graph {graph.name} must be {len(graph.params)}, not "
                         f"{len(arrays)}")
    for i, (array, value) in enumerate(zip(arrays, graph.params, strict=True)):
        found = TensorType(DType.of(array.dtype), array.shape)
        if found != value.type:
            name = value.node.attrs["name"]
            raise ValueError(f"input {i}{f' ({name})' if name else ''} of graph {graph.name} must "
                             f"be {value.type}, not {found}")
    with np.errstate(all="ignore"):
        return _run(graph, arrays, precision, trace, peer)


def evaluate(node: Node, operands: Sequence[HostArray]) -> list[HostArray]:
    """Return the results of one node for given operands."""
    with np.errstate(all="ignore"):
        return _node(node, operands, None, None, None)


def _run(graph: Graph, inputs: Sequence[HostArray], precision: str | None,
         trace: Trace | None, peer: Peer | None) -> list[HostArray]:
    values: dict[Value, HostArray] = dict(zip(graph.params, inputs, strict=True))
    for node in graph.nodes:
        if node.op != "parameter":
            operands = [values[value] for value in node.operands]
            results = _node(node, operands, precision, trace, peer)
            if trace is not None:
                trace(node, operands, results)
            values.update(zip(node.results, results, strict=True))
    return [values[value] for value in graph.outputs]


def _node(node: Node, operands: Sequence[HostArray], precision: str | None,
          trace: Trace | None, peer: Peer | None) -> list[HostArray]:
    run = KernelContext(node, lambda region, inputs: _run(region, inputs, precision, trace, peer),
                        precision, peer)
    found = KERNELS[node.op](run, *operands)
    # A NumPy scalar is one array, a list or tuple several.
    results = list(found) if isinstance(found, list | tuple) else [np.asarray(found)]
    for result, type in zip(results, node.types, strict=True):
        assert (result.shape, result.dtype) == (type.shape, type.dtype.numpy), \
            f"{node.source}: {node.op}: {result.dtype}{result.shape} for {type}"
    return results
