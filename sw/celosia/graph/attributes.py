"""Kinds of attributes: what values are good, how they print, how they are read back."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from celosia.graph.sharding import Sharding
from celosia.graph.types import Array, DType

__all__ = ["ARRAY", "BOOL", "DTYPE", "INT", "INTS", "PAIRS", "REQUIRED", "SHARDING", "SHARDINGS",
           "STRING", "Attribute", "AttributeKind", "enum"]

#: Stands for "no default".
REQUIRED: Any = object()


@dataclass(frozen=True)
class AttributeKind:
    """A kind of attribute.

    Attributes
    ----------
    name
        What the values are, as errors say it: "a list of integers".
    form
        How they are written: "int", "bool", "lists" (also of lists), "dtype", "word", "string",
        "array".
    normal
        Returns the one Python value for equal inputs, raises `TypeError` or `ValueError`.
    text
        Returns the text form.
    choices
        The words that there are, for the form "word".
    """

    name: str
    form: str
    normal: Callable[[Any], Any]
    text: Callable[[Any], str]
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attribute:
    """An attribute that an operation has: its kind, and its value where it is left out."""

    kind: AttributeKind
    default: Any = REQUIRED


def _int(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _ints(value: Any) -> tuple[int, ...]:
    return tuple(_int(item) for item in value)


def _pairs(value: Any) -> tuple[tuple[int, int], ...]:
    pairs = tuple((_int(low), _int(high)) for low, high in value)
    return pairs


def _brackets(items: Any) -> str:
    return "[" + ",".join(map(str, items)) + "]"


def _dtype(value: Any) -> DType:
    return value if isinstance(value, DType) else DType(value)


def _sharding(value: Any) -> Sharding | None:
    if value is None or isinstance(value, Sharding):
        return value
    parts, tiles = value
    return Sharding(_ints(parts), _ints(tiles))


def _shardings(value: Any) -> tuple[Sharding | None, ...]:
    return tuple(map(_sharding, value))


def _sharding_text(value: Sharding | None) -> str:
    return "none" if value is None else _brackets(map(_brackets, (value.parts, value.tiles)))


def _array(value: Any) -> Array:
    return value if isinstance(value, Array) else Array(value)


INT = AttributeKind("an integer", "int", _int, str)
BOOL = AttributeKind("a bool", "bool", _bool, lambda value: "true" if value else "false")
INTS = AttributeKind("a list of integers", "lists", _ints, _brackets)
PAIRS = AttributeKind("a list of pairs of integers", "lists", _pairs,
                      lambda value: _brackets(map(_brackets, value)))
DTYPE = AttributeKind("an element type", "dtype", _dtype, str)
#: None where nothing is said, which only a default can be.
SHARDING = AttributeKind("a sharding", "lists", _sharding, _sharding_text)
SHARDINGS = AttributeKind("a list of shardings", "lists", _shardings,
                          lambda value: _brackets(map(_sharding_text, value)))
STRING = AttributeKind("a string", "string", _string, json.dumps)
#: Printed by `celosia.graph.printer`, which decides how much of it to show.
ARRAY = AttributeKind("an array", "array", _array, repr)


def enum(*choices: str) -> AttributeKind:
    """Return the kind of the words ``choices``."""
    def normal(value: Any) -> str:
        if value not in choices:
            raise ValueError
        return str(value)

    return AttributeKind("one of " + ", ".join(choices), "word", normal, str, choices)
