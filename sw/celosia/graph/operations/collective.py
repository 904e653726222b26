"""Operations in which devices that run the same graph take part together."""

from __future__ import annotations

from typing import Any

from celosia.graph.attributes import INT, PAIRS, Attribute, AttributeKind, enum
from celosia.graph.operations.reduce import REDUCERS, require_reducible
from celosia.graph.operations.shape import require_dims
from celosia.graph.spec import Call, Trait, define, having, require
from celosia.graph.types import DType, TensorType

__all__ = ["COLLECTIVES"]


def _groups(value: Any) -> tuple[tuple[int, ...], ...]:
    groups = tuple(PAIRS.normal([(number, 0) for number in group]) for group in value)
    return tuple(tuple(number for number, _ in group) for group in groups)


GROUPS = AttributeKind(
    "a list of lists of integers", "lists", _groups, lambda value: "[" + ",".join(
        "[" + ",".join(map(str, group)) + "]" for group in value) + "]")


def _size(call: Call) -> int:
    """Return how many devices a group has; `ValueError` if the groups are not well formed."""
    groups = call["groups"]
    devices = [device for group in groups for device in group]
    require(bool(devices) and len({len(group) for group in groups}) == 1,
            f"groups must be one or more, of one size, not {list(map(list, groups))}")
    require(len(set(devices)) == len(devices) and min(devices) >= 0,
            f"groups must have each device once, not {list(map(list, groups))}")
    return len(groups[0])


def _scaled(x: TensorType, dim: int, size: int, down: bool) -> TensorType:
    extent = x.shape[dim]
    require(not down or extent % size == 0,
            f"extent {dim} of {x} must be a multiple of {size}, not {extent}")
    scaled = extent // size if down else extent * size
    return TensorType(x.dtype, (*x.shape[:dim], scaled, *x.shape[dim + 1:]))


@define("all_reduce", "x", groups=Attribute(GROUPS), reducer=Attribute(enum(*REDUCERS)),
        traits=Trait.COLLECTIVE)
def _all_reduce(call: Call) -> TensorType:
    """The x of all devices of a group as one, elementwise. Device i of n owns the elements from
    i/n of x on, in the order of memory, in whole blocks of 16; the first half of these is joined in
    the order of a ring, beginning behind the owner: ((x[i+1] + x[i+2]) + ..) + x[i], the second
    half the other way round. A bf16 sum or product is made in fp32 and rounded once.
    """
    [x] = call.operands
    _size(call)
    require_reducible(call["reducer"], x.dtype)
    return x


@define("all_gather", "x", groups=Attribute(GROUPS), dim=Attribute(INT),
        traits=Trait.COLLECTIVE)
def _all_gather(call: Call) -> TensorType:
    """The x of all devices of a group, one after another along `dim`, in the order of the group."""
    [x] = call.operands
    require_dims("dim", [call["dim"]], x.rank)
    return _scaled(x, call["dim"], _size(call), down=False)


@define("reduce_scatter", "x", groups=Attribute(GROUPS), reducer=Attribute(enum(*REDUCERS)),
        dim=Attribute(INT), traits=Trait.COLLECTIVE)
def _reduce_scatter(call: Call) -> TensorType:
    """The x of all devices of a group as one, cut along `dim`: the first part for the group's
    first device, which owns it, and so on. The order is that of `all_reduce`.
    """
    [x] = call.operands
    require_dims("dim", [call["dim"]], x.rank)
    require_reducible(call["reducer"], x.dtype)
    return _scaled(x, call["dim"], _size(call), down=True)


@define("all_to_all", "x", groups=Attribute(GROUPS), split=Attribute(INT), concat=Attribute(INT),
        traits=Trait.COLLECTIVE)
def _all_to_all(call: Call) -> TensorType:
    """The x of each device of a group is cut along `split`; part i of each goes to the group's
    device i, where they stand one after another along `concat`.
    """
    [x] = call.operands
    for name in ("split", "concat"):
        require_dims(name, [call[name]], x.rank)
    size = _size(call)
    return _scaled(_scaled(x, call["split"], size, down=True), call["concat"], size, down=False)


@define("collective_permute", "x", pairs=Attribute(PAIRS), traits=Trait.COLLECTIVE)
def _collective_permute(call: Call) -> TensorType:
    """The x of device a on device b for each [a,b] in `pairs`; zeros where nothing arrives."""
    [x] = call.operands
    for i, what in enumerate(("source", "target")):
        ends = [pair[i] for pair in call["pairs"]]
        require(len(set(ends)) == len(ends) and min(ends, default=0) >= 0,
                f"pairs must have each {what} once, not {list(map(list, call['pairs']))}")
    return x


@define("device_id", traits=Trait.COLLECTIVE)
def _device_id(call: Call) -> TensorType:
    """Number of the device that runs it: its replica times the partitions, plus its partition."""
    return TensorType(DType.U32)


#: What runs on no chip alone.
COLLECTIVES = having(Trait.COLLECTIVE)
