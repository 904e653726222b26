"""Arrays of a caller as a graph has them, and as buffers of the chip have them.

Buffers hold int8, int32, float32 and bfloat16. What is none of these is widened: a bool is 0 or
-1, u8, i16 and u16 are extended as their type says, u32 keeps its bits. Complex numbers and
integers of 64 bits are two elements each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.compiled.parts import Argument
from celosia.graph import DType, TensorType

__all__ = ["check_count", "decode", "encode", "host_array"]


def check_count(name: str, inputs: Sequence[Argument], given: int) -> None:
    """Raise ValueError unless a program is given as many arguments as it takes."""
    if given != len(inputs):
        names = ", ".join(each.label or each.name for each in inputs)
        plural = "" if len(inputs) == 1 else "s"
        raise ValueError(f"{name} must be called with {len(inputs)} argument{plural}"
                         f"{f' ({names})' if names else ''}, not {given}")


def _scalar(value: Any, type: TensorType) -> NDArray[Any] | None:
    """Return a number of Python in the type that a parameter has; None if it does not fit."""
    if type.shape or not isinstance(value, (bool, int, float)):
        return None
    if isinstance(value, bool):
        good = type.dtype is DType.BOOL
    elif isinstance(value, int):
        good = type.dtype.is_float or type.dtype.is_complex
        if type.dtype.is_integer:
            limits = np.iinfo(type.dtype.numpy)
            good = limits.min <= value <= limits.max
    else:
        good = type.dtype.is_float or type.dtype.is_complex
    return np.array(value, type.dtype.numpy) if good else None


def describe(dtype: object, shape: Sequence[int]) -> str:
    """Return "float32[2, 3]"."""
    return f"{dtype}{list(shape)}"


def host_array(name: str, index: int, argument: Argument, value: Any) -> NDArray[Any]:
    """Return an argument as an array, which must have the type of the parameter.

    Parameters
    ----------
    name
        What to call the program.
    index
        Number of the argument.
    argument
        The parameter.
    value
        An array of NumPy, what NumPy makes one of, or, for a scalar, a number that fits.

    Raises
    ------
    ValueError
        If shape or elements differ; the message names the argument.
    """
    type = argument.type
    wanted = type.dtype.numpy
    array = _scalar(value, type)
    if array is not None:
        return array
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"argument {index} of {name}, {argument.label or argument.name}, must be "
                         f"{describe(wanted, type.shape)}, not {value!r} ({error})") from None
    if array.dtype != wanted or array.shape != type.shape:
        raise ValueError(f"argument {index} of {name}, {argument.label or argument.name}, must be "
                         f"{describe(wanted, type.shape)}, "
                         f"not {describe(array.dtype, array.shape)}")
    return array


def encode(array: NDArray[Any], dtype: np.dtype, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array as a buffer holds it; the array itself where nothing changes.

    Parameters
    ----------
    array
        As the graph has it.
    dtype, shape
        Elements and shape of the buffer.
    """
    if array.dtype.itemsize == 8:
        array = np.ascontiguousarray(array).view(dtype)
    elif array.dtype == np.bool_:
        array = np.negative(array.view(np.int8), dtype=dtype)
    elif array.dtype == np.uint32:
        array = array.view(np.int32)
    elif array.dtype != dtype:
        array = array.astype(dtype)
    return array.reshape(shape)


def decode(array: NDArray[Any], type: TensorType) -> NDArray[Any]:
    """Return what a buffer holds as the graph has it: the inverse of `encode`."""
    wanted = type.dtype.numpy
    if wanted.itemsize == 8:
        array = np.ascontiguousarray(array).view(wanted)
    elif wanted == np.uint32:
        array = array.view(np.uint32)
    elif array.dtype != wanted:
        array = array.astype(wanted)
    return array.reshape(type.shape)
