"""Products and what is done to their sums as graphs, and programs made of these."""

from __future__ import annotations

import dataclasses

from celosia.arch.config import TpuConfig
from celosia.compiler.build import build
from celosia.compiler.builder import Builder
from celosia.graph import DType, Graph, Source, Value
from celosia.ops.formats import DTYPES
from celosia.program import Program

__all__ = ["dense", "program"]

#: Bytes that addresses of 32 bits reach.
_MEMORY = (1 << 32) - 1
#: Buffers begin at multiples of this.
_ALIGNMENT = 128


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
    """Return the program of a graph: a buffer for each parameter, and one called ``output``.

    Raises
    ------
    ValueError
        If the buffers do not fit 32-bit addresses, or a block does not fit the on-chip memories.
    """
    graph = Graph(name, params, (result,))
    kept = [*params, *(node.result for node in graph.nodes if node.op == "constant"), result]
    size = sum(-(-value.type.size * value.dtype.numpy.itemsize // _ALIGNMENT) * _ALIGNMENT
               for value in kept)
    if size > _MEMORY:
        raise ValueError(f"operands and results of {name} must fit {_MEMORY} bytes of external "
                         f"memory, not take {size}")
    built = build(graph, config, {"memory": _MEMORY})
    (given,) = built.outputs
    # A result that is reshaped at the end has its buffer in the shape before.
    buffers = [dataclasses.replace(buffer, name=output, shape=result.shape)
               if buffer.name == given.name else buffer for buffer in built.program.buffers]
    return dataclasses.replace(built.program, buffers=tuple(buffers))
