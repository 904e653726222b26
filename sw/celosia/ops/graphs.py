"""Products and what is done to their sums as graphs, and programs made of these."""

from __future__ import annotations

import dataclasses

from celosia.arch.config import TpuConfig
from celosia.compiler.api import compile
from celosia.compiler.builder import Builder
from celosia.graph import DType, Graph, Source, Value
from celosia.ops.formats import DTYPES
from celosia.program import Program

__all__ = ["dense", "program"]


def dense(x: Value, weights: Value, output: str, *, transpose_x: bool = False,
          transpose_weights: bool = False, bias: Value | None = None, scale: Value | None = None,
          relu: bool = False, zero_point: int = 0, label: str = "") -> Value:
    """Return ``finish(x @ weights * scale + bias)`` as a node of a graph.

    Parameters
    ----------
    x, weights
        (m, k) and (k, n), or stored the other way round where they are to be transposed; both i8
        or both bf16.
    output
        Type of the result, one of `celosia.ops.formats.OUTPUTS`.
    bias, scale
        Of n elements; ``scale`` holds requantise words for an int8 result, else factors.
    relu, zero_point
        As of `celosia.ops.matmul`.
    label
        What the source map calls it.
    """
    make = Builder(Source(name=label))
    contract = [(0 if transpose_x else 1, 1 if transpose_weights else 0)]
    sums = DType.I32 if x.dtype is DType.I8 else DType.F32
    y = make("dot", x, weights, dtype=sums, contract=contract)

    def row(value: Value) -> Value:
        return make.broadcast(value, y.shape, (1,))

    if output == "int8":
        assert scale is not None
        offset = make.full(0, y.type) if bias is None else row(bias)
        low = max(-128, zero_point) if relu else -128
        return make("requantise", y, row(scale), offset, zero_point=zero_point, low=low, high=127)
    if scale is not None:
        y = make("multiply", y, row(scale))
    if bias is not None:
        y = make("add", y, row(bias))
    if relu:
        y = make("maximum", y, 0)
    return make.convert(y, DTYPES[output])


def program(config: TpuConfig, name: str, params: tuple[Value, ...], result: Value,
            output: str) -> Program:
    """Return the program of a graph, compiled or from the cache of `celosia.compile`.

    It has a buffer for each parameter, and one called ``output``. Errors are those of
    `celosia.compile`.
    """
    graph = Graph(name, params, (result,))
    made = compile(graph, config, strict=True)
    # One of the cache has the names, and a result's shape before it is reshaped, of the graph that
    # it was made of first.
    names = (*(value.node.attrs["name"] for value in params), output)
    shown = {given.name: {"name": name, "shape": value.shape} for given, name, value in zip(
        (*made.inputs, *made.outputs), names, (*params, result), strict=True)}
    return dataclasses.replace(made.program, buffers=tuple(
        dataclasses.replace(each, **shown.get(each.name, {})) for each in made.program.buffers))
