"""Tensors as the protocol writes them in JSON, and as NumPy has them.

JSON has no floats of 16 bits: such tensors travel as FP32, which holds each of their values, and
are rounded to the nearest even on the way in. It has no infinities and no NaN either: they are the
strings "Infinity", "-Infinity" and "NaN", as in the JSON form of protocol buffers.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.graph import DType
from celosia.serve.errors import Refusal

__all__ = ["accepted", "datatype", "decode", "encode"]

_NAMES = {DType.BOOL: "BOOL", DType.I8: "INT8", DType.U8: "UINT8", DType.I16: "INT16",
          DType.U16: "UINT16", DType.I32: "INT32", DType.U32: "UINT32", DType.F16: "FP32",
          DType.BF16: "FP32", DType.F32: "FP32"}
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def datatype(dtype: DType) -> str:
    """Return what the protocol calls the elements of a tensor on their way."""
    return _NAMES[dtype]


def accepted(dtype: DType) -> tuple[str, ...]:
    """Return what a request may call them."""
    own = {DType.BF16: ("BF16",), DType.F16: ("FP16",)}.get(dtype, ())
    return (_NAMES[dtype], *own)


def _json(value: Any) -> str:
    """Name a value of JSON, shortened."""
    if isinstance(value, list):
        return f"an array of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _flat(data: Any, shape: tuple[int, ...], where: str) -> list:
    """Return the elements of a tensor that is written nested as its shape, or flat."""
    if not isinstance(data, list):
        raise Refusal(400, f"{where} must be an array, not {_json(data)}")
    size = math.prod(shape)
    if len(shape) < 2 or not data or not isinstance(data[0], list):
        if len(data) != size:
            raise Refusal(400, f"{where} must hold {size} elements, as many as shape "
                               f"{list(shape)} has, not {len(data)}")
        return data
    level: list[Any] = [data]
    for depth, extent in enumerate(shape):
        for number, part in enumerate(level):
            if not isinstance(part, list) or len(part) != extent:
                index = np.unravel_index(number, shape[:depth]) if depth else ()
                place = where + "".join(f"[{i}]" for i in index)
                raise Refusal(400, f"{place} must be an array of {extent}, as shape "
                                   f"{list(shape)} says, not {_json(part)}")
        level = list(chain.from_iterable(level))
    return level


def _is_special(value: Any) -> bool:
    return isinstance(value, str) and value in _SPECIAL


def _first(flat: list[Any], wrong: Any) -> tuple[int, Any]:
    """Return the first element of which ``wrong`` is true, and its number."""
    return next((i, each) for i, each in enumerate(flat) if wrong(each))


def decode(data: Any, dtype: DType, shape: tuple[int, ...], where: str) -> NDArray[Any]:
    """Return the tensor that "data" of a request describes.

    Parameters
    ----------
    data
        What the request holds, read from JSON.
    dtype, shape
        Of the tensor.
    where
        What to call it in errors.

    Raises
    ------
    Refusal
        Status 400, if the number of elements, their types or values are wrong.
    """
    flat: list[Any] = _flat(data, shape, where)
    types = set(map(type, flat))
    if dtype is DType.BOOL:
        allowed, what = {bool}, "true or false"
    elif dtype.is_float:
        allowed, what = {int, float}, "a number, \"NaN\", \"Infinity\" or \"-Infinity\""
        if str in types and all(_is_special(each) for each in flat if type(each) is str):
            allowed.add(str)
    else:
        allowed, what = {int}, "an integer"
    if types - allowed:
        number, value = _first(flat, lambda each: type(each) not in allowed
                               and not (dtype.is_float and _is_special(each)))
        raise Refusal(400, f"{where} must hold {what} in every element, not {_json(value)}, as in "
                           f"element {number}")
    if dtype.is_float:
        array = _floats(flat, where)
        return array.astype(dtype.numpy).reshape(shape)
    if dtype.is_integer and flat:
        limits = np.iinfo(dtype.numpy)
        if min(flat) < limits.min or max(flat) > limits.max:
            number, value = _first(flat, lambda each: not limits.min <= each <= limits.max)
            raise Refusal(400, f"{where} must hold numbers from {limits.min} to {limits.max} "
                               f"({datatype(dtype)}), not {_json(value)}, as in element {number}")
    return np.array(flat, dtype.numpy).reshape(shape)


def _floats(flat: list[Any], where: str) -> NDArray[np.float32]:
    """Return numbers, and strings that stand for some, as float32 has them."""
    special = str in set(map(type, flat))
    numbers = ([_SPECIAL[each] if type(each) is str else each for each in flat]
               if special else flat)
    try:
        with np.errstate(over="ignore"):
            array = np.array(numbers, np.float64).astype(np.float32)
        wrong = [number for number in np.flatnonzero(~np.isfinite(array))
                 if type(flat[number]) is not str]  # what is meant to be infinite says so
    except OverflowError:
        wrong = [_first(flat, lambda each: type(each) is int and abs(each) >= 1 << 128)[0]]
        array = np.empty(0, np.float32)
    if wrong:
        raise Refusal(400, f"{where} must hold numbers that FP32 can, not "
                           f"{_json(flat[wrong[0]])}, as in element {wrong[0]}")
    return array


def encode(array: NDArray[Any]) -> list[Any]:
    """Return the elements of a tensor, row-major, as JSON has them."""
    if array.dtype.kind not in "biu":
        array = array.astype(np.float32, copy=False)
        flat = array.ravel().tolist()
        if np.isfinite(array).all():
            return flat
        return [each if math.isfinite(each) else
                "NaN" if math.isnan(each) else "Infinity" if each > 0 else "-Infinity"
                for each in flat]
    return array.ravel().tolist()
