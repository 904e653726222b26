"""Operations that make tensors or move their elements, known where they go."""

import math
from collections.abc import Iterable

from celosia.arch.words import ceil_div
from celosia.graph.attributes import ARRAY, BOOL, DTYPE, INT, INTS, SHARDING, STRING, Attribute
from celosia.graph.spec import Call, Trait, define, require, same
from celosia.graph.types import TensorType

__all__ = ["require_dims", "require_rank"]


def require_dims(name: str, dims: Iterable[int], rank: int) -> None:
    """Raise `ValueError` unless ``dims`` are different dimensions of a tensor of ``rank``."""
    dims = tuple(dims)
    require(len(set(dims)) == len(dims) and all(0 <= dim < rank for dim in dims),
            f"{name} must be different numbers from 0 to {rank - 1}, not {list(dims)}")


def require_rank(call: Call, rank: int, *names: str) -> None:
    """Raise `ValueError` unless the attributes have one entry for each dimension."""
    for name in names:
        require(len(call[name]) == rank,
                f"{name} must have {rank} entries, not {len(call[name])}")


@define("parameter", dtype=Attribute(DTYPE), shape=Attribute(INTS), name=Attribute(STRING, ""),
        donated=Attribute(BOOL, False), sharding=Attribute(SHARDING, None),
        traits=Trait.LEAF | Trait.STORED)
def _parameter(call: Call) -> TensorType:
    """What is given to a graph when it runs; if `donated`, its memory may be written over. With a
    `sharding` each device is given its tile.
    """
    if call["sharding"] is not None:
        call["sharding"].tile(call["shape"])
    return TensorType(call["dtype"], call["shape"])


@define("constant", value=Attribute(ARRAY), traits=Trait.LEAF | Trait.STORED | Trait.CHEAP)
def _constant(call: Call) -> TensorType:
    """The same array each time."""
    return call["value"].type


@define("iota", dtype=Attribute(DTYPE), shape=Attribute(INTS), dim=Attribute(INT, 0),
        traits=Trait.LEAF | Trait.CHEAP)
def _iota(call: Call) -> TensorType:
    """0, 1, 2 and so on along `dim`, the same along the others."""
    found = TensorType(call["dtype"], call["shape"])
    require_dims("dim", [call["dim"]], found.rank)
    return found


@define("broadcast", "x", shape=Attribute(INTS), dims=Attribute(INTS, ()),
        traits=Trait.VIEW | Trait.CHEAP | Trait.IN_ORDER | Trait.UNCHANGED)
def _broadcast(call: Call) -> TensorType:
    """Repeats: dimension i of x becomes dimension `dims[i]` of `shape`; an extent of 1 is
    repeated along it, as in StableHLO's broadcast_in_dim.
    """
    [x] = call.operands
    shape, dims = call["shape"], call["dims"]
    require_rank(call, x.rank, "dims")
    require_dims("dims", dims, len(shape))
    for i, dim in enumerate(dims):
        require(x.shape[i] in (1, shape[dim]),
                f"extent {i} of {x} must be 1 or {shape[dim]}, not {x.shape[i]}")
    return TensorType(x.dtype, shape)


@define("reshape", "x", shape=Attribute(INTS),
        traits=Trait.VIEW | Trait.CHEAP | Trait.IN_ORDER | Trait.UNCHANGED | Trait.BIJECTIVE)
def _reshape(call: Call) -> TensorType:
    """The same elements in row-major order in another shape."""
    [x] = call.operands
    require(math.prod(call["shape"]) == x.size,
            f"shape must have {x.size} elements as {x} does, not {list(call['shape'])}")
    return TensorType(x.dtype, call["shape"])


@define("transpose", "x", permutation=Attribute(INTS),
        traits=Trait.VIEW | Trait.UNCHANGED | Trait.BIJECTIVE)
def _transpose(call: Call) -> TensorType:
    """Dimension i of the result is dimension `permutation[i]` of x."""
    [x] = call.operands
    require_rank(call, x.rank, "permutation")
    require_dims("permutation", call["permutation"], x.rank)
    return TensorType(x.dtype, tuple(x.shape[dim] for dim in call["permutation"]))


@define("reverse", "x", dims=Attribute(INTS),
        traits=Trait.VIEW | Trait.UNCHANGED | Trait.BIJECTIVE)
def _reverse(call: Call) -> TensorType:
    """Backwards along `dims`."""
    [x] = call.operands
    require_dims("dims", call["dims"], x.rank)
    return x


@define("slice", "x", start=Attribute(INTS), limit=Attribute(INTS), stride=Attribute(INTS),
        traits=Trait.VIEW | Trait.UNCHANGED)
def _slice(call: Call) -> TensorType:
    """x[start:limit:stride] in each dimension."""
    [x] = call.operands
    require_rank(call, x.rank, "start", "limit", "stride")
    shape = []
    for i, (start, limit, stride) in enumerate(zip(call["start"], call["limit"], call["stride"],
                                                   strict=True)):
        require(0 <= start <= limit <= x.shape[i] and stride > 0,
                f"dimension {i} must have 0 <= start <= limit <= {x.shape[i]} and stride > 0, "
                f"not {start}:{limit}:{stride}")
        shape.append(ceil_div(limit - start, stride))
    return TensorType(x.dtype, tuple(shape))


@define("pad", "x value", low=Attribute(INTS), high=Attribute(INTS), interior=Attribute(INTS),
        traits=Trait.MOVEMENT)
def _pad(call: Call) -> TensorType:
    """`interior` copies of value between the elements of x along each dimension, `low` before
    and `high` after them; negative low and high cut off.
    """
    x, value = call.operands
    require(value == TensorType(x.dtype), f"value must be {x.dtype}[], not {value}")
    require_rank(call, x.rank, "low", "high", "interior")
    shape = []
    for i, extent in enumerate(x.shape):
        low, high, interior = (call[name][i] for name in ("low", "high", "interior"))
        require(interior >= 0, f"interior must not be negative, not {list(call['interior'])}")
        size = low + extent + max(extent - 1, 0) * interior + high
        require(size >= 0, f"extent {i} must not become negative, not {size}")
        shape.append(size)
    return TensorType(x.dtype, tuple(shape))


@define("concatenate", "x xs...", dim=Attribute(INT), traits=Trait.MOVEMENT)
def _concatenate(call: Call) -> TensorType:
    """The operands one after another along `dim`."""
    dim, first = call["dim"], call.operands[0]
    require_dims("dim", [dim], first.rank)
    same("element types", [x.dtype for x in call.operands])
    same("extents but that of dim",
         [x.shape[:dim] + (0,) + x.shape[dim + 1:] for x in call.operands])
    total = sum(x.shape[dim] for x in call.operands)
    return TensorType(first.dtype, (*first.shape[:dim], total, *first.shape[dim + 1:]))
