"""The table of operations: operands, attributes, regions, and the types of the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from typing import Any, NamedTuple

from celosia.graph.attributes import REQUIRED, Attribute
from celosia.graph.errors import suggest
from celosia.graph.types import TensorType

__all__ = ["OPS", "Call", "OpSpec", "Signature", "Trait", "define", "having", "require", "same"]


class Trait(Flag):
    """What an operation is; its definition says so, and `having` tells passes.

    Attributes
    ----------
    LEAF
        Kind: it takes nothing, and is there before the program runs or counted on the way.
    VIEW
        Kind: elements of its operand looked at in another way. It computes nothing, and moves
        nothing where an address can say as much.
    MOVEMENT
        Kind: puts elements elsewhere, by work of its own.
    ELEMENTWISE
        Kind: each element of the result follows from one element of each operand.
    PRODUCT
        Kind: sums of products, which the array makes.
    REDUCTION
        Kind: many elements become one.
    CONTROL
        Kind: runs other graphs, its regions.
    COLLECTIVE
        Kind: devices that run the same graph do it together. Never a constant, whatever its
        operands are.
    CALL
        Kind: has the host run a function, because the program says so. Never a constant.
    SPMD
        Kind: says which part of an array each device has.
    STORED
        A leaf that lies in memory.
    CHEAP
        Whoever needs it makes it again rather than have it brought along.
    IN_ORDER
        A view with the elements in their order in memory, each once or repeated.
    UNCHANGED
        A view of the same numbers, result by result, from places that do not depend on data.
    BIJECTIVE
        A view of each element once, as it was.
    DYNAMIC
        Where elements come from or go to depends on data.
    ORDERING
        Looks which of two elements is greater: for unsigned integers other than for signed ones.
    FLOAT
        An elementwise operation on floats alone.
    COMMUTATIVE
        An elementwise operation whose two operands may change places; and, as all that are here
        are associative but for rounding, one that reductions may have.
    IDEMPOTENT
        An elementwise operation of which x and x make x.
    INVOLUTION
        An elementwise operation that, done twice, gives back its operand.
    """

    LEAF = auto()
    VIEW = auto()
    MOVEMENT = auto()
    ELEMENTWISE = auto()
    PRODUCT = auto()
    REDUCTION = auto()
    CONTROL = auto()
    COLLECTIVE = auto()
    CALL = auto()
    SPMD = auto()
    STORED = auto()
    CHEAP = auto()
    IN_ORDER = auto()
    UNCHANGED = auto()
    BIJECTIVE = auto()
    DYNAMIC = auto()
    ORDERING = auto()
    FLOAT = auto()
    COMMUTATIVE = auto()
    IDEMPOTENT = auto()
    INVOLUTION = auto()


#: An operation is of one of these.
_KINDS = (Trait.LEAF, Trait.VIEW, Trait.MOVEMENT, Trait.ELEMENTWISE, Trait.PRODUCT,
          Trait.REDUCTION, Trait.CONTROL, Trait.COLLECTIVE, Trait.CALL,
          Trait.SPMD)
_NONE = Trait(0)
#: Traits that operations of one kind alone have.
_OF_KIND = {
    Trait.LEAF: Trait.STORED,
    Trait.VIEW: Trait.IN_ORDER | Trait.UNCHANGED | Trait.BIJECTIVE,
    Trait.ELEMENTWISE: Trait.FLOAT | Trait.COMMUTATIVE | Trait.IDEMPOTENT | Trait.INVOLUTION,
}


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
    traits
        What it is.
    """

    name: str
    group: str
    doc: str
    operands: tuple[str, ...]
    attrs: Mapping[str, Attribute]
    regions: tuple[str, ...]
    infer: Infer
    traits: Trait

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


def define(name: str, /, operands: str = "", regions: str = "", *, traits: Trait = _NONE,
           **attrs: Attribute) -> Callable[[Infer], Infer]:
    """Enter the decorated function into the table as the types of operation ``name``.

    Its docstring becomes the doc of the operation. ``operands`` and ``regions`` are names
    separated by spaces.

    Raises
    ------
    ValueError
        If there is such an operation, or ``traits`` do not say of what kind it is, or what only
        one of another kind can be.
    """
    found = tuple(operands.split()), tuple(regions.split())
    for problem in _problems(name, *found, traits):
        raise ValueError(f"operation {name}: {problem}")

    def enter(infer: Infer) -> Infer:
        doc = " ".join((infer.__doc__ or "").split())
        group = infer.__module__.rpartition(".")[2]
        OPS[name] = OpSpec(name, group, doc, found[0], attrs, found[1], infer, traits)
        return infer

    return enter


def having(traits: Trait) -> frozenset[str]:
    """Return the operations that have all of ``traits``."""
    return frozenset(name for name, spec in OPS.items() if traits in spec.traits)


def _names(traits: Trait) -> str:
    return ", ".join(str(trait.name) for trait in traits)


def _problems(name: str, operands: tuple[str, ...], regions: tuple[str, ...],
              traits: Trait) -> Iterator[str]:
    """Yield what is wrong with the traits of an operation."""
    if name in OPS:
        yield "name must be new"
    kinds = [kind for kind in _KINDS if kind in traits]
    if len(kinds) != 1:
        every = ", ".join(str(kind.name) for kind in _KINDS)
        yield f"traits must have one of {every}, not {_names(traits) or 'none'}"
        return
    [kind] = kinds
    for other, more in _OF_KIND.items():
        if other is not kind and traits & more:
            yield f"{_names(traits & more)} must go with {other.name}, not with {kind.name}"
    if (kind is Trait.LEAF) != (not operands) and kind is not Trait.COLLECTIVE:
        yield f"operands must be none of a LEAF alone, not {len(operands)} of a {kind.name}"
    if (kind is Trait.CONTROL) != bool(regions) and kind is not Trait.SPMD:
        yield f"regions must be of a CONTROL alone, not {len(regions)} of a {kind.name}"
    for trait, count in ((Trait.COMMUTATIVE, 2), (Trait.IDEMPOTENT, 2), (Trait.INVOLUTION, 1)):
        if trait in traits and len(operands) != count:
            yield f"operands of a {trait.name} must be {count}, not {len(operands)}"


def require(condition: bool, message: str) -> None:
    """Raise `ValueError` unless ``condition``."""
    if not condition:
        raise ValueError(message)


def same(what: str, types: Sequence[Any]) -> Any:
    """Return the one value in ``types``; `ValueError` if they differ."""
    if any(each != types[0] for each in types):
        raise ValueError(f"{what} must be equal, not {', '.join(map(str, types))}")
    return types[0]
