"""Sums of products: dot products and convolutions."""

from __future__ import annotations

from typing import Any, NamedTuple

from celosia.graph.attributes import DTYPE, INT, INTS, PAIRS, Attribute, AttributeKind, enum
from celosia.graph.operations.shape import require_dims, require_rank
from celosia.graph.spec import Call, Trait, define, require
from celosia.graph.types import DType, TensorType

__all__ = ["LAYOUT", "PRECISION", "ConvolutionLayout", "window_extent"]

#: How float operands enter the products: "default" rounds them to bf16 but keeps those of f16,
#: "high" keeps at least 16 bits of significand, "highest" keeps them. Sums are fp32 (int32) in any
#: order.
PRECISION = enum("default", "high", "highest")


class ConvolutionLayout(NamedTuple):
    """Which dimension is what in a convolution; prints as ``b01f_01io->b01f``.

    Attributes
    ----------
    x, w, result
        A letter for each dimension: b batch, f feature; i, o features in and out of the kernel;
        digits the spatial dimensions.
    """

    x: str
    w: str
    result: str

    def __str__(self) -> str:
        return f"{self.x}_{self.w}->{self.result}"

    @property
    def spatial(self) -> str:
        """Letters of the spatial dimensions in order."""
        return "".join(sorted(letter for letter in self.x if letter.isdigit()))

    @classmethod
    def of(cls, value: Any) -> ConvolutionLayout:
        """Return the layout that prints as ``value``; `ValueError` if there is none."""
        operands, _, result = str(value).partition("->")
        x, _, w = operands.partition("_")
        layout = cls(x, w, result)
        count = len(x) - 2
        digits = "".join(map(str, range(count)))
        good = (sorted(x) == sorted(digits + "bf") and sorted(w) == sorted(digits + "io")
                and sorted(result) == sorted(digits + "bf") and str(layout) == str(value))
        if not good or count > 9:
            raise ValueError
        return layout


LAYOUT = AttributeKind("a layout like b01f_01io->b01f", "string", ConvolutionLayout.of,
                       lambda layout: f'"{layout}"')


def window_extent(extent: int, padding: tuple[int, int], dilation: int, window: int,
                  window_dilation: int, stride: int) -> int:
    """Return how many windows fit along a dimension."""
    padded = (extent - 1) * dilation + 1 if extent else 0
    padded += sum(padding)
    reach = (window - 1) * window_dilation + 1 if window else 0
    return (padded - reach) // stride + 1 if padded >= reach else 0


def _result_dtype(call: Call) -> DType:
    a, b = call.operands
    dtype: DType = call["dtype"]
    require(a.dtype is not DType.BOOL and a.dtype.is_float == b.dtype.is_float
            and b.dtype is not DType.BOOL,
            f"operands must both be floats or both integers, not {a} and {b}")
    require(dtype.is_float == a.dtype.is_float and dtype is not DType.BOOL,
            f"dtype must be {'a float' if a.dtype.is_float else 'an integer'}, not {dtype}")
    return dtype


@define("dot", "a b", dtype=Attribute(DTYPE), batch=Attribute(PAIRS, ()),
        contract=Attribute(PAIRS), precision=Attribute(PRECISION, "default"),
        traits=Trait.PRODUCT)
def _dot(call: Call) -> TensorType:
    """Sums of products over pairs of dimensions (of a, of b) in `contract`, for each index of the
    pairs in `batch`, as StableHLO's dot_general. Dimensions of the result: batch, rest of a,
    rest of b.
    """
    a, b = call.operands
    dtype = _result_dtype(call)
    pairs = call["batch"] + call["contract"]
    for side, name in enumerate(("a", "b")):
        require_dims(f"dimensions of {name}", [pair[side] for pair in pairs],
                     call.operands[side].rank)
    for i, j in pairs:
        require(a.shape[i] == b.shape[j],
                f"extents of pair [{i},{j}] must be equal, not {a.shape[i]} and {b.shape[j]}")
    batch = tuple(a.shape[i] for i, _ in call["batch"])
    rest = [tuple(extent for dim, extent in enumerate(call.operands[side].shape)
                  if dim not in [pair[side] for pair in pairs]) for side in (0, 1)]
    return TensorType(dtype, batch + rest[0] + rest[1])


@define("convolution", "x w", dtype=Attribute(DTYPE), layout=Attribute(LAYOUT),
        stride=Attribute(INTS), padding=Attribute(PAIRS), x_dilation=Attribute(INTS),
        w_dilation=Attribute(INTS), groups=Attribute(INT, 1), batch_groups=Attribute(INT, 1),
        precision=Attribute(PRECISION, "default"), traits=Trait.PRODUCT)
def _convolution(call: Call) -> TensorType:
    """Sums of products of windows of x with the kernels w, which are not mirrored. Spatial
    attributes follow the digits of `layout`; `groups` splits the features of x and w's outputs,
    `batch_groups` the batch of x and w's outputs.
    """
    x, w = call.operands
    dtype = _result_dtype(call)
    layout: ConvolutionLayout = call["layout"]
    for name, operand in (("x", x), ("w", w)):
        require(operand.rank == len(layout.x),
                f"{name} must have rank {len(layout.x)} for {layout}, not {operand}")
    spatial = layout.spatial
    require_rank(call, len(spatial), "stride", "padding", "x_dilation", "w_dilation")
    for name in ("stride", "x_dilation", "w_dilation"):
        require(all(value > 0 for value in call[name]),
                f"{name} must be positive, not {list(call[name])}")
    of_x = dict(zip(layout.x, x.shape, strict=True))
    of_w = dict(zip(layout.w, w.shape, strict=True))
    groups, batch_groups = call["groups"], call["batch_groups"]
    require(groups > 0 and batch_groups > 0 and 1 in (groups, batch_groups),
            f"groups and batch_groups must be positive and one of them 1, not {groups} and "
            f"{batch_groups}")
    require(of_x["f"] == of_w["i"] * groups,
            f"features of x must be {of_w['i']} x {groups} groups, not {of_x['f']}")
    require(of_x["b"] % batch_groups == 0,
            f"batch of x must be a multiple of {batch_groups}, not {of_x['b']}")
    require(of_w["o"] % (groups * batch_groups) == 0,
            f"outputs of w must be a multiple of {groups * batch_groups}, not {of_w['o']}")
    extents = {"b": of_x["b"] // batch_groups, "f": of_w["o"]}
    for i, letter in enumerate(spatial):
        extents[letter] = window_extent(of_x[letter], call["padding"][i], call["x_dilation"][i],
                                        of_w[letter], call["w_dilation"][i], call["stride"][i])
    return TensorType(dtype, tuple(extents[letter] for letter in layout.result))
