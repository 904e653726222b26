"""The table of operations: operands, attributes, regions, and the types of the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from celosia.graph.attributes import REQUIRED, Attribute
from celosia.graph.errors import suggest
from celosia.graph.types import TensorType

__all__ = ["OPS", "Call", "OpSpec", "Signature", "define", "require", "same"]


class Signature(NamedTuple):
    """Types of the parameters and results of a region."""

    params: tuple[TensorType, ...]
    results: tuple[TensorType, ...]


@dataclass(frozen=True)
class Call:
    """What the result types of one operation follow from."""

    operands: tuple[TensorType, ...]
    attrs: Mapping[str, Any]
    regions: tuple[Signature, ...]

    def __getitem__(self, name: str) -> Any:
        return self.attrs[name]


Infer = Callable[[Call], TensorType | Sequence[TensorType]]


@dataclass(frozen=True)
class OpSpec:
    """One operation.

    Attributes
    ----------
    name, group, doc
        Its name, the file that defines it, and its meaning in a sentence.
    operands
        Names of the operands; the last may end in "..." for any number of them.
    attrs
        Attributes by name.
    regions
        Names of the regions; the last may end in "...".
    infer
        Returns the result types, or raises `ValueError` saying what is wrong.
    """

    name: str
    group: str
    doc: str
    operands: tuple[str, ...]
    attrs: Mapping[str, Attribute]
    regions: tuple[str, ...]
    infer: Infer

    def normal_attrs(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return every attribute in the order of the table, defaults filled in."""
        for name in given:
            if name not in self.attrs:
                raise ValueError(f"attributes must be of {', '.join(self.attrs) or 'none'}, not "
                                 f"{name!r}{suggest(name, self.attrs)}")
        found = {}
        for name, attribute in self.attrs.items():
            value = given.get(name, attribute.default)
            if value is REQUIRED:
                raise ValueError(f"attribute {name} must be given")
            try:
                found[name] = attribute.kind.normal(value)
            except (TypeError, ValueError):
                raise ValueError(f"attribute {name} must be {attribute.kind.name}, not "
                                 f"{value!r}") from None
        return found

    def results(self, call: Call) -> tuple[TensorType, ...]:
        """Return the result types of a call; `ValueError` if it is not well formed."""
        _count("operands", self.operands, len(call.operands))
        _count("regions", self.regions, len(call.regions))
        types = self.infer(call)
        return (types,) if isinstance(types, TensorType) else tuple(types)

    def region_names(self, count: int) -> Iterator[str]:
        """Yield a name for each of ``count`` regions."""
        for i in range(count):
            name = self.regions[min(i, len(self.regions) - 1)]
            yield name.removesuffix("...")


def _count(what: str, names: tuple[str, ...], count: int) -> None:
    if names and names[-1].endswith("..."):
        if count < len(names) - 1:
            raise ValueError(f"{what} must be at least {len(names) - 1}, not {count}")
    elif count != len(names):
        raise ValueError(f"{what} must be {len(names)} ({', '.join(names)}), not {count}")


#: Every operation by name.
OPS: dict[str, OpSpec] = {}


def define(name: str, /, operands: str = "", regions: str = "",
           **attrs: Attribute) -> Callable[[Infer], Infer]:
    """Enter the decorated function into the table as the types of operation ``name``.

    Its docstring becomes the doc of the operation. ``operands`` and ``regions`` are names
    separated by spaces.
    """
    def enter(infer: Infer) -> Infer:
        assert name not in OPS, name
        doc = " ".join((infer.__doc__ or "").split())
        group = infer.__module__.rpartition(".")[2]
        OPS[name] = OpSpec(name, group, doc, tuple(operands.split()), attrs,
                           tuple(regions.split()), infer)
        return infer

    return enter


def require(condition: bool, message: str) -> None:
    """Raise `ValueError` unless ``condition``."""
    if not condition:
        raise ValueError(message)


def same(what: str, types: Sequence[Any]) -> Any:
    """Return the one value in ``types``; `ValueError` if they differ."""
    if any(each != types[0] for each in types):
        raise ValueError(f"{what} must be equal, not {', '.join(map(str, types))}")
    return types[0]
