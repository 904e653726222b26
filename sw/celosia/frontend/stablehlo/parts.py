"""Complex values as what stands for them: their real and their imaginary parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from celosia.graph import DType, TensorType, Value

__all__ = ["ComplexValue", "Imported", "flat", "flat_types", "grouped", "part_type"]


@dataclass(frozen=True)
class ComplexValue:
    """Two values, f32 of one shape, that stand for a complex one."""

    real: Value
    imag: Value

    @property
    def type(self) -> TensorType:
        """The type that it stands for."""
        return TensorType(DType.C64, self.real.shape)


Imported = Value | ComplexValue


def part_type(type: TensorType) -> TensorType:
    """Return the type of each part of a complex value."""
    return TensorType(DType.F32, type.shape)


def flat(values: Iterable[Imported]) -> list[Value]:
    """Return values with the parts of complex ones one after the other."""
    return [part for value in values for part in (
        (value.real, value.imag) if isinstance(value, ComplexValue) else (value,))]


def flat_types(types: Iterable[TensorType]) -> list[TensorType]:
    """Return types with those of the parts of complex ones one after the other."""
    return [part for type in types for part in (
        (part_type(type),) * 2 if type.dtype.is_complex else (type,))]


def grouped(values: Sequence[Any], types: Iterable[TensorType]) -> list[Any]:
    """Return what `flat` was made of, by the types."""
    rest = iter(values)
    return [ComplexValue(next(rest), next(rest)) if type.dtype.is_complex else next(rest)
            for type in types]
