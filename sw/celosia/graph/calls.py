"""Functions of the host that graphs call, by number."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from celosia.graph.types import DType, TensorType

__all__ = ["CallError", "HostFunction", "call", "functions"]

_numbers = itertools.count()


class CallError(RuntimeError):
    """A function of the host failed, or there is none of a number; its text is for the user."""


class HostFunction:
    """A function that operations ``callback`` call as long as somebody keeps this.

    Parameters
    ----------
    function
        Takes arrays, which it must not change, and returns a sequence of arrays.

    Attributes
    ----------
    number
        What graphs call it by.
    """

    def __init__(self, function: Callable[..., Sequence[Any]]):
        self.function = function
        self.number = next(_numbers)
        _functions[self.number] = self


_functions: WeakValueDictionary[int, HostFunction] = WeakValueDictionary()


def functions(numbers: Iterable[int]) -> tuple[HostFunction, ...]:
    """Return those of some numbers that there are, for whoever must keep them."""
    return tuple(found for number in numbers if (found := _functions.get(number)) is not None)


def call(number: int, values: Sequence[NDArray[Any]], types: Sequence[TensorType],
         place: str) -> list[NDArray[Any]]:
    """Call a function.

    Parameters
    ----------
    number, values
        Which one, and what to give to it.
    types
        What its results must be.
    place
        Where the program calls it, for errors.

    Raises
    ------
    CallError
        If there is no such function, it raises anything, or its results are of other types.
    """
    found = _functions.get(number)
    if found is None:
        raise CallError(f"{place}: function of the host must be one of this process, not number "
                        f"{number}: who made it has dropped it, or the program is of another one")
    try:
        results = [np.asarray(each) for each in found.function(*values)]
    except Exception as error:
        # The first frame is this one's.
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
        told = "".join(traceback.format_exception(error)).rstrip()
        raise CallError(f"{place}: a function of the host that the program calls raised "
                        f"{type(error).__name__}: {error}\n{told}") from error
    if len(results) != len(types):
        raise CallError(f"{place}: results of a function of the host must be {len(types)}, not "
                        f"{len(results)}")
    for i, (result, type_) in enumerate(zip(results, types, strict=True)):
        if (result.dtype, result.shape) != (type_.dtype.numpy, type_.shape):
            try:
                got = str(TensorType(DType.of(result.dtype), result.shape))
            except ValueError:
                got = f"{result.dtype}{list(result.shape)}"
            raise CallError(f"{place}: result {i} of a function of the host must be {type_}, not "
                            f"{got}")
    return results
