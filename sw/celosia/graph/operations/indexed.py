"""Elements moved to or from places that are known when the program runs."""

from __future__ import annotations

from celosia.graph.attributes import BOOL, INT, INTS, Attribute, enum
from celosia.graph.operations.reduce import REDUCERS, require_reducible
from celosia.graph.operations.shape import require_dims, require_rank
from celosia.graph.spec import Call, Trait, define, require, same
from celosia.graph.types import DType, TensorType

__all__ = ["SCATTERS"]

#: How an update joins what is there: "set" replaces it.
SCATTERS = ("set", *REDUCERS)


def _starts(call: Call, first: int, rank: int) -> None:
    starts = call.operands[first:]
    require(len(starts) == rank, f"start indices must be {rank}, not {len(starts)}")
    for start in starts:
        require(start.rank == 0 and start.dtype.is_integer,
                f"start indices must be integer scalars, not {start}")


@define("dynamic_slice", "x starts...", sizes=Attribute(INTS), traits=Trait.VIEW | Trait.DYNAMIC)
def _dynamic_slice(call: Call) -> TensorType:
    """`sizes` elements of x from the start indices on, which are first clamped so that all are
    in x.
    """
    x = call.operands[0]
    require_rank(call, x.rank, "sizes")
    _starts(call, 1, x.rank)
    require(all(0 <= size <= extent for size, extent in zip(call["sizes"], x.shape, strict=True)),
            f"sizes must be within {x}, not {list(call['sizes'])}")
    return TensorType(x.dtype, call["sizes"])


@define("dynamic_update_slice", "x update starts...", traits=Trait.MOVEMENT | Trait.DYNAMIC)
def _dynamic_update_slice(call: Call) -> TensorType:
    """`update` put over x from the start indices on, first clamped so that all is in x."""
    x, update = call.operands[:2]
    _starts(call, 2, x.rank)
    require(update.dtype is x.dtype and update.rank == x.rank
            and all(size <= extent for size, extent in zip(update.shape, x.shape, strict=True)),
            f"update must be within {x}, not {update}")
    return x


@define("gather", "x indices", offset_dims=Attribute(INTS, ()), collapsed=Attribute(INTS, ()),
        x_batch=Attribute(INTS, ()), indices_batch=Attribute(INTS, ()),
        start_map=Attribute(INTS), index_dim=Attribute(INT), sizes=Attribute(INTS),
        traits=Trait.MOVEMENT | Trait.DYNAMIC)
def _gather(call: Call) -> TensorType:
    """Slices of x of `sizes`, as StableHLO's gather defines them: start indices lie along
    `index_dim` of indices, belong to the dimensions `start_map` of x and are clamped so that the
    slice is in x.
    """
    x, indices = call.operands
    require(indices.dtype.is_integer, f"indices must be integers, not {indices}")
    require_rank(call, x.rank, "sizes")
    gone = call["collapsed"] + call["x_batch"]
    _index_dims(call, x, indices, gone)
    for dim, (size, extent) in enumerate(zip(call["sizes"], x.shape, strict=True)):
        # The slice of a dimension that goes away holds one element.
        most = min(extent, 1) if dim in gone else extent
        require(0 <= size <= most, f"sizes[{dim}] must be at most {most}, not {size}")
    batch = _without(indices.shape, (call["index_dim"],))
    offset = [size for dim, size in enumerate(call["sizes"]) if dim not in gone]
    require(len(call["offset_dims"]) == len(offset),
            f"offset_dims must have {len(offset)} entries, not {len(call['offset_dims'])}")
    rank = len(batch) + len(offset)
    require_dims("offset_dims", call["offset_dims"], rank)
    sizes, offsets = iter(batch), dict(zip(sorted(call["offset_dims"]), offset, strict=True))
    return TensorType(x.dtype, tuple(offsets[dim] if dim in offsets else next(sizes)
                                     for dim in range(rank)))


@define("scatter", "x indices updates", window_dims=Attribute(INTS, ()),
        inserted=Attribute(INTS, ()), x_batch=Attribute(INTS, ()),
        indices_batch=Attribute(INTS, ()), start_map=Attribute(INTS), index_dim=Attribute(INT),
        reducer=Attribute(enum(*SCATTERS)), unique=Attribute(BOOL, False),
        traits=Trait.MOVEMENT | Trait.DYNAMIC)
def _scatter(call: Call) -> TensorType:
    """Each element of updates joined by `reducer` to the element of x at its index, as
    StableHLO's scatter defines it; an element whose index is not in x is left out. Of several
    that "set" one place the last in row-major order of updates stays; other reducers may go in
    any order. `unique` promises that no two go to one place.
    """
    x, indices, updates = call.operands
    require(indices.dtype.is_integer, f"indices must be integers, not {indices}")
    require(updates.dtype is x.dtype, f"updates must be of {x.dtype}, not {updates}")
    if call["reducer"] != "set":
        require_reducible(call["reducer"], x.dtype)
    gone = call["inserted"] + call["x_batch"]
    _index_dims(call, x, indices, gone)
    batch = _without(indices.shape, (call["index_dim"],))
    window = call["window_dims"]
    require(len(window) == x.rank - len(gone),
            f"window_dims must have {x.rank - len(gone)} entries, not {len(window)}")
    require(updates.rank == len(batch) + len(window),
            f"updates must have rank {len(batch) + len(window)}, not {updates}")
    require_dims("window_dims", window, updates.rank)
    require(_without(updates.shape, window) == batch,
            f"updates must have the batch {list(batch)} of indices, not {updates}")
    extents = _without(x.shape, gone)
    for dim, extent in zip(sorted(window), extents, strict=True):
        require(updates.shape[dim] <= extent,
                f"extent {dim} of updates must be at most {extent}, not {updates.shape[dim]}")
    return x


def _without(shape: tuple[int, ...], dims: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(extent for dim, extent in enumerate(shape) if dim not in dims)


def _index_dims(call: Call, x: TensorType, indices: TensorType, gone: tuple[int, ...]) -> None:
    require_dims("dimensions of x that go", gone, x.rank)
    require_dims("start_map", call["start_map"] + call["x_batch"], x.rank)
    require(0 <= call["index_dim"] <= indices.rank,
            f"index_dim must be 0 to {indices.rank}, not {call['index_dim']}")
    vector = (*indices.shape, 1)[call["index_dim"]]
    require(len(call["start_map"]) == vector,
            f"start_map must have {vector} entries, not {len(call['start_map'])}")
    require(len(call["x_batch"]) == len(call["indices_batch"]),
            "x_batch and indices_batch must have as many entries")
    require_dims("indices_batch", (*call["indices_batch"], call["index_dim"]), indices.rank + 1)
    for mine, theirs in zip(call["x_batch"], call["indices_batch"], strict=True):
        same("extents of batch dimensions", [x.shape[mine], indices.shape[theirs]])


@define("sort", "x xs...", dim=Attribute(INT), keys=Attribute(INT, 1),
        descending=Attribute(BOOL, False),
        traits=Trait.MOVEMENT | Trait.DYNAMIC | Trait.ORDERING)
def _sort(call: Call) -> tuple[TensorType, ...]:
    """The operands reordered together along `dim`: by the first, then the second, up to `keys` of
    them. Elements with equal keys stay in order; zeros are equal, a NaN is greater than any other.
    """
    same("shapes", [x.shape for x in call.operands])
    require_dims("dim", [call["dim"]], call.operands[0].rank)
    require(1 <= call["keys"] <= len(call.operands),
            f"keys must be 1 to {len(call.operands)}, not {call['keys']}")
    return call.operands


@define("top_k", "x", k=Attribute(INT),
        traits=Trait.MOVEMENT | Trait.DYNAMIC | Trait.ORDERING)
def _top_k(call: Call) -> tuple[TensorType, TensorType]:
    """The k greatest elements along the last dimension, descending, and their indices (i32); of
    equal ones the first come first. Floats are in the total order of their bits: -0 is below 0, a
    NaN above all others or, with the sign bit, below them.
    """
    [x] = call.operands
    require(x.rank > 0 and 0 <= call["k"] <= x.shape[-1],
            f"k must be at most the last extent of {x}, not {call['k']}")
    shape = (*x.shape[:-1], call["k"])
    return TensorType(x.dtype, shape), TensorType(DType.I32, shape)
