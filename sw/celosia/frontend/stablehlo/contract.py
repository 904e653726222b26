"""Dot products and convolutions of StableHLO."""

from __future__ import annotations

from typing import Any

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.attributes import name_of
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import DType, Value

__all__ = []

#: From least to most.
_PRECISIONS = ("default", "high", "highest")


def _precision(here: Here) -> str:
    if here.has("algorithm"):
        return _algorithm(here)
    if not here.has("precision_config"):
        return "default"
    words = [name_of(each).lower() for each in here["precision_config"]]
    return max(words, key=_PRECISIONS.index, default="default")


def _algorithm(here: Here) -> str:
    from jaxlib.mlir.dialects import stablehlo
    found = stablehlo.DotAlgorithm(here["algorithm"])
    inputs = {str(found.lhs_precision_type), str(found.rhs_precision_type)}
    if str(found.accumulation_type) == "f32":
        if inputs == {"bf16"}:
            # One product of bf16, or the three or more that make up for its short significand.
            passes = found.num_primitive_operations
            return "default" if passes == 1 else "high" if passes <= 3 else "highest"
        if inputs <= {"f32", "tf32"}:
            return "highest"
    raise Unsupported(f"algorithm must be of bf16 or f32 with sums in f32, not "
                      f"{here['algorithm']}")


@translates("stablehlo.dot_general")
def _dot_general(here: Here) -> Value:
    from jaxlib.mlir.dialects import stablehlo
    dims = stablehlo.DotDimensionNumbers(here["dot_dimension_numbers"])
    return _product(
        here,
        batch=tuple(zip(dims.lhs_batching_dimensions, dims.rhs_batching_dimensions, strict=True)),
        contract=tuple(zip(dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions,
                           strict=True)))


@translates("stablehlo.dot")
def _dot(here: Here) -> Value:
    return _product(here, contract=((here.operands[0].type.rank - 1, 0),))


def _product(here: Here, **attrs: Any) -> Value:
    return _summed(here, "dot", *here.operands, **attrs)


def _summed(here: Here, name: str, a: Value, b: Value, **attrs: Any) -> Value:
    """Return a product in the type of the result, whose sums are of the operands' kind."""
    dtype = here.type.dtype
    if a.dtype is DType.BOOL and b.dtype is DType.BOOL:
        # Any is true where the number of those that are is not 0.
        a, b = (here.emit("convert", each, dtype=DType.I8) for each in (a, b))
        count = here.emit(name, a, b, dtype=DType.I32, **attrs)
        return count if dtype is DType.I32 else here.emit("convert", count, dtype=dtype)
    if not (a.dtype.is_integer and b.dtype.is_integer and dtype.is_float):
        return here.emit(name, a, b, dtype=dtype, precision=_precision(here), **attrs)
    if a.dtype.bits == b.dtype.bits == 8:
        # Sums of integers are exact, and rounded once.
        found = here.emit(name, a, b, dtype=DType.I32, **attrs)
    else:
        # Those of longer ones may not fit an integer.
        a, b = (here.emit("convert", each, dtype=DType.F32) for each in (a, b))
        found = here.emit(name, a, b, dtype=DType.F32, precision="highest", **attrs)
    return found if found.dtype is dtype else here.emit("convert", found, dtype=dtype)


def _letters(places: dict[int, str]) -> str:
    return "".join(places[dim] for dim in sorted(places))


@translates("stablehlo.convolution")
def _convolution(here: Here) -> Value:
    from jaxlib.mlir.dialects import stablehlo
    dims = stablehlo.ConvDimensionNumbers(here["dimension_numbers"])
    count = len(dims.input_spatial_dimensions)
    x, w, result = (
        _letters({batch: names[0], feature: names[1],
                  **{dim: str(i) for i, dim in enumerate(spatial)}})
        for names, batch, feature, spatial in (
            ("bf", dims.input_batch_dimension, dims.input_feature_dimension,
             dims.input_spatial_dimensions),
            ("io", dims.kernel_input_feature_dimension, dims.kernel_output_feature_dimension,
             dims.kernel_spatial_dimensions),
            ("bf", dims.output_batch_dimension, dims.output_feature_dimension,
             dims.output_spatial_dimensions)))
    image, kernel = here.operands
    mirrored = tuple(dim for dim, flag in zip(dims.kernel_spatial_dimensions,
                                              here.ints("window_reversal", (0,) * count),
                                              strict=True) if flag)
    if mirrored:
        kernel = here.emit("reverse", kernel, dims=mirrored)
    ones = (1,) * count
    return _summed(
        here, "convolution", image, kernel, layout=f"{x}_{w}->{result}",
        stride=here.ints("window_strides", ones), padding=here.pairs("padding", count),
        x_dilation=here.ints("lhs_dilation", ones), w_dilation=here.ints("rhs_dilation", ones),
        groups=here.int("feature_group_count"), batch_groups=here.int("batch_group_count"))
