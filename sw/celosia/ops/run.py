"""Products and networks of arrays, on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.ops.formats import OPERANDS
from celosia.ops.gemm import matmul
from celosia.ops.network import scale_words

if TYPE_CHECKING:
    from celosia.driver import Device, RunResult

__all__ = ["run_matmul"]


def _operand(name: str, array: NDArray) -> NDArray:
    if not isinstance(array, np.ndarray) or array.dtype not in OPERANDS:
        kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(f"{name} must be a NumPy array of int8 or bfloat16, not {kind}")
    if array.ndim != 2:
        raise ValueError(f"{name} must have two axes, not shape {list(array.shape)}")
    return array


def _factors(scale: ArrayLike, n: int) -> NDArray[np.float32]:
    values = np.asarray(scale, np.float32)
    if values.shape not in ((), (n,)):
        raise ValueError(f"scale must be a number or {n} of them, not of shape "
                         f"{list(values.shape)}")
    return np.broadcast_to(values, (n,)).copy()


def run_matmul(device: Device, a: NDArray, b: NDArray, *, bias: NDArray | None = None,
               scale: ArrayLike | None = None, zero_point: int = 0, relu: bool = False,
               transpose_a: bool = False, transpose_b: bool = False,
               output: str | None = None) -> tuple[NDArray, RunResult]:
    """Compute ``finish(a @ b + bias)`` on a device.

    Parameters
    ----------
    device
        The chip.
    a, b
        Both int8 or both bfloat16; each transposed before the product where that is asked for.
    bias
        A sum for each column: int32 or float32.
    scale
        Real factors, one or one for each column: they requantise int8 products to int8
        (`celosia.ops.scale_words`), or multiply the sums of bfloat16 before the bias is added.
    zero_point, relu, output
        As of `celosia.ops.matmul`.

    Returns
    -------
    NDArray, RunResult
        The product, and the run with its counters.

    Raises
    ------
    TypeError, ValueError
        If the arrays do not fit each other or the chip.
    """
    a, b = _operand("a", a), _operand("b", b)
    if a.dtype != b.dtype:
        raise TypeError(f"b must be {a.dtype} as a is, not {b.dtype}")
    m, k = a.shape[::-1] if transpose_a else a.shape
    depth, n = b.shape[::-1] if transpose_b else b.shape
    if depth != k:
        raise ValueError(f"b must have depth {k} as a has, not {depth} (a is {list(a.shape)}"
                         f"{' transposed' if transpose_a else ''}, b is {list(b.shape)}"
                         f"{' transposed' if transpose_b else ''})")
    fmt = OPERANDS[a.dtype]
    if fmt == "int8":
        if scale is not None and output is None:
            output = "int8"
        if (scale is None) == (output == "int8"):
            raise ValueError(f"scale must be given if and only if the output is int8, not "
                             f"{scale!r} with {output}")
    program = matmul(device.config, m, k, n, fmt, transpose_a=transpose_a,
                     transpose_b=transpose_b, bias=bias is not None, relu=relu, output=output,
                     scale=fmt == "bf16" and scale is not None, zero_point=zero_point)
    inputs = {"a": a, "b": b}
    if bias is not None:
        inputs["bias"] = bias
    if scale is not None:
        inputs["scale"] = scale_words(scale, n) if fmt == "int8" else _factors(scale, n)
    result = device.run(program, inputs)
    return result["c"], result
