"""A network of dense layers as one program."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.numerics import requant_scale
from celosia.graph import Source, TensorType, Value, constant, parameter
from celosia.ops.formats import DTYPES, OPERANDS, OUTPUTS
from celosia.ops.gemm import check_format, check_output, check_size, check_zero_point
from celosia.ops.graphs import dense, program
from celosia.program import Program

__all__ = ["Dense", "dense_network", "scale_words"]


def scale_words(scale: ArrayLike, columns: int, name: str = "scale") -> NDArray[np.int32]:
    """Encode one real factor, or one for each column, as requantise words.

    Raises
    ------
    ValueError
        If there are neither 1 nor ``columns`` of them, or one is not finite, not positive or out
        of range: the message says which.
    """
    factors = np.asarray(scale, np.float64)
    if factors.shape not in ((), (columns,)):
        raise ValueError(f"{name} must be one number or {columns}, one for each column, not an "
                         f"array of shape {list(factors.shape)}")
    words = []
    for column, factor in enumerate(np.broadcast_to(factors, (columns,))):
        try:
            words.append(requant_scale(float(factor)))
        except ValueError as error:
            raise ValueError(f"{name} of column {column}: {error}") from None
    return np.array(words, np.uint32).view(np.int32)


@dataclass(frozen=True, eq=False)
class Dense:
    """A dense layer: ``y = finish(x @ weights + bias)``.

    Parameters
    ----------
    weights
        int8 or bfloat16, shape (inputs, outputs), or (outputs, inputs) where ``transpose``.
    bias
        Of ``outputs`` sums: int32 for int8 weights, float32 for bfloat16. None: no bias.
    relu
        Whether negative results become zero.
    scale
        Real factors that requantise int32 sums to int8, one or one for each output. Every layer
        of int8 but the last needs them; the last layer gives int32 sums without.
    zero_point
        The int8 value that stands for 0 in the result. Zero points of inputs belong into the bias.
    transpose
        Whether the weights are stored (outputs, inputs).
    """

    weights: NDArray
    bias: NDArray | None = None
    relu: bool = False
    scale: ArrayLike | None = None
    zero_point: int = 0
    transpose: bool = False

    @property
    def inputs(self) -> int:
        """Elements of a row that goes in."""
        return self.weights.shape[1 if self.transpose else 0]

    @property
    def outputs(self) -> int:
        """Elements of a row that comes out."""
        return self.weights.shape[0 if self.transpose else 1]


def _check(layers: Sequence[Dense], config: TpuConfig) -> str:
    """Return the format of a network; ValueError or TypeError where the layers contradict it."""
    if not layers:
        raise ValueError("layers must hold at least one Dense, not none")
    for i, layer in enumerate(layers):
        name = f"layer {i}"
        if not isinstance(layer, Dense):
            raise TypeError(f"{name} must be a Dense, not {layer!r}")
        weights = layer.weights
        if not isinstance(weights, np.ndarray) or weights.dtype not in OPERANDS:
            kind = weights.dtype if isinstance(weights, np.ndarray) else type(weights).__name__
            raise TypeError(f"weights of {name} must be a NumPy array of int8 or bfloat16, not "
                            f"{kind}")
        if weights.ndim != 2 or 0 in weights.shape:
            raise ValueError(f"weights of {name} must have two sizes of at least 1, not shape "
                             f"{list(weights.shape)}")
        fmt = OPERANDS[weights.dtype]
        if fmt != OPERANDS[layers[0].weights.dtype]:
            raise TypeError(f"weights of {name} must be {layers[0].weights.dtype} as those of "
                            f"layer 0, not {weights.dtype}")
        if i and layer.inputs != layers[i - 1].outputs:
            raise ValueError(f"{name} must have {layers[i - 1].outputs} inputs, as layer {i - 1} "
                             f"has outputs, not {layer.inputs}")
        _check_finish(layer, fmt, name, i == len(layers) - 1)
    return check_format(config, OPERANDS[layers[0].weights.dtype])


def _check_finish(layer: Dense, fmt: str, name: str, last: bool) -> None:
    wanted = np.dtype(OUTPUTS[fmt][0])
    if layer.bias is not None:
        bias = layer.bias
        if not isinstance(bias, np.ndarray) or bias.dtype != wanted:
            kind = bias.dtype if isinstance(bias, np.ndarray) else type(bias).__name__
            raise TypeError(f"bias of {name} must be a NumPy array of {wanted}, not {kind}")
        if bias.shape != (layer.outputs,):
            raise ValueError(f"bias of {name} must have shape [{layer.outputs}], not "
                             f"{list(bias.shape)}")
    zero_point = check_zero_point(f"zero_point of {name}", layer.zero_point)
    if layer.scale is None:
        if fmt == "int8" and not last:
            raise ValueError(f"{name} must have a scale that brings its sums to int8, as "
                             f"another layer follows, not None")
        if zero_point:
            raise ValueError(f"zero_point of {name} must be 0 where there is no scale, not "
                             f"{zero_point!r}")
    elif fmt != "int8":
        raise ValueError(f"scale of {name} must be None for bfloat16 weights, not "
                         f"{layer.scale!r}")


def dense_network(config: TpuConfig, batch: int, layers: Sequence[Dense],
                  output: str | None = None, name: str = "") -> Program:
    """Return the program of dense layers, one after another, on ``batch`` rows.

    Activations between layers stay in the unified buffer where they fit, else they go through
    external memory.

    Parameters
    ----------
    config
        The chip.
    batch
        Rows.
    layers
        All int8 or all bfloat16; each takes what the one before gives.
    output
        Of bfloat16 layers: ``float32`` (None) or ``bfloat16``. Of int8 layers it follows from the
        last layer: int8 with a scale, else int32.
    name
        Of the program.

    Returns
    -------
    Program
        With an input ``x`` of shape (batch, inputs) and an output ``y`` of shape (batch, outputs);
        weights, biases and scales are constants.

    Raises
    ------
    TypeError, ValueError
        If the layers do not fit each other, the chip or the memories: what was wanted, and of
        which layer.
    """
    batch = check_size("batch", batch)
    fmt = _check(layers, config)
    last = layers[-1]
    if fmt == "int8":
        given = "int32" if last.scale is None else "int8"
        if output not in (None, given):
            raise ValueError(f"output must be {given} as the last layer has "
                             f"{'no' if last.scale is None else 'a'} scale, not {output!r}")
        output = given
    out = check_output(fmt, output)
    operand = OUTPUTS[fmt][1]
    x = parameter(TensorType(DTYPES[operand], (batch, layers[0].inputs)), "x")
    y = x
    for i, layer in enumerate(layers):
        label = f"layer{i}"

        def fixed(part: str, array: NDArray | None, label: str = label) -> Value | None:
            return None if array is None else constant(array, source=Source(
                name=f"{label}.{part}"))

        words = None
        if layer.scale is not None:
            words = scale_words(layer.scale, layer.outputs, f"scale of layer {i}")
        weights = fixed("weights", layer.weights)
        assert weights is not None
        y = dense(y, weights, out if i == len(layers) - 1 else operand,
                  transpose_weights=layer.transpose, bias=fixed("bias", layer.bias),
                  scale=fixed("scale", words), relu=layer.relu,
                  zero_point=operator.index(layer.zero_point), label=label)
    sizes = "-".join(str(size) for size in [layers[0].inputs, *(each.outputs for each in layers)])
    return program(config, name or f"dense {sizes} {fmt} batch {batch}", (x,), y, "y")
