"""Weights: arrays that stay with a program from request to request."""

from __future__ import annotations

import difflib
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.compiled import Compiled
from celosia.compiled.parts import Argument
from celosia.graph import DType

__all__ = ["bind", "find", "read"]

_LAST = re.compile(r"\w+(?=\W*$)")
_POSITION = re.compile(r"(?:arr_)?(\d+)")


def read(path: str | Path) -> dict[str, NDArray[Any]]:
    """Read an ``.npz`` file.

    Raises
    ------
    ValueError
        If it is none, or holds objects of Python.
    OSError
        If it cannot be read.
    """
    try:
        with Path(path).open("rb") as raw:
            file = np.load(raw, allow_pickle=False)
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise ValueError("it holds one array without a name")
            return {name: file[name] for name in file.files}
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: weights must be an .npz file of arrays, as numpy.savez writes "
                         f"it ({error})") from None


def _label(argument: Argument) -> str:
    return argument.label or argument.name


def find(inputs: Sequence[Argument], key: str | int, what: str) -> int:
    """Return the number of the argument that a key means.

    A key is the argument's name ("params['w1']", or "arg2" as the program calls it), its number
    (2, "2" or "arr_2", as `numpy.savez` names what is given without a name), or, where only one
    argument's name ends so, the last word of it ("w1").

    Raises
    ------
    ValueError
        If there is no such argument, or several.
    """
    if isinstance(key, bool) or not isinstance(key, (str, int)):
        raise ValueError(f"{what} must be a name or a number, not {key!r}")
    match = _POSITION.fullmatch(str(key))
    if match or isinstance(key, int):
        number = int(match[1]) if match else -1
        if 0 <= number < len(inputs):
            return number
        raise ValueError(f"{what} must be an argument from 0 to {len(inputs) - 1}, not {key!r}")
    for names in ([each.label for each in inputs], [each.name for each in inputs],
                  [found[0] if (found := _LAST.search(_label(each))) else "" for each in inputs]):
        found = [number for number, name in enumerate(names) if name == key]
        if len(found) == 1:
            return found[0]
        if found:
            raise ValueError(f"{what} must mean one argument, not "
                             f"{' and '.join(_label(inputs[each]) for each in found)}, "
                             f"as {key!r} does")
    known = [_label(each) for each in inputs]
    close = difflib.get_close_matches(key, known, 1)
    raise ValueError(f"{what} must be an argument of the program ({', '.join(known)}), "
                     f"not {key!r}{f'; do you mean {close[0]!r}?' if close else ''}")


def bind(compiled: Compiled,
         weights: Mapping[Any, Any] | None) -> dict[int, NDArray[Any]]:
    """Return weights by the number of the argument that each is, as the argument has them.

    Parameters
    ----------
    compiled
        The program.
    weights
        By key, see `find`; of the argument's shape. Floating-point numbers of any precision
        become those of the argument, integers only if they fit.

    Raises
    ------
    ValueError
        If a key means no argument, two mean the same one, or an array does not fit.
    """
    bound: dict[int, NDArray[Any]] = {}
    for key, value in (weights or {}).items():
        number = find(compiled.inputs, key, f"weight {key!r} of {compiled.name}")
        if number in bound:
            raise ValueError(f"weights of {compiled.name} must be given once: there are two for "
                             f"{_label(compiled.inputs[number])}")
        bound[number] = _fitting(compiled, number, np.asarray(value))
    return bound


def _fitting(compiled: Compiled, number: int, array: NDArray[Any]) -> NDArray[Any]:
    argument = compiled.inputs[number]
    type = argument.type
    wanted = type.dtype.numpy
    if type.dtype is DType.BF16 and array.dtype.kind == "V" and array.dtype.itemsize == 2:
        array = array.view(wanted)  # a file keeps the bytes of bfloat16 and forgets its name
    made = None
    if array.dtype == wanted:
        made = array
    elif type.dtype.is_float and _is_float(array.dtype):
        made = array.astype(wanted)
    elif type.dtype.is_integer and array.dtype.kind in "iu":
        made = array.astype(wanted)
        if not np.array_equal(made, array):
            made = None
    if made is None or array.shape != type.shape:
        raise ValueError(f"weight {_label(argument)} of {compiled.name} must be "
                         f"{wanted}{list(type.shape)}, not {array.dtype}{list(array.shape)}")
    return np.ascontiguousarray(made).reshape(type.shape)


def _is_float(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or dtype == DType.BF16.numpy
