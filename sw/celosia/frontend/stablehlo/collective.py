"""Collectives, and numbers of devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.attributes import array_of
from celosia.frontend.stablehlo.regions import reducer_of
from celosia.frontend.stablehlo.translation import Here, Translator, translates
from celosia.graph import Value
from celosia.graph.sharding import DeviceGroups

__all__ = []



def _among_devices(*names: str) -> Callable[[Translator], Translator]:
    """Enter the translator of operations that are about a device among others."""
    def enter(translator: Translator) -> Translator:
        def of_device(here: Here) -> Value | Sequence[Value]:
            if here.whole is not None:
                raise Unsupported(f"must be in a manual computation (jax.shard_map), where the "
                                  f"program is for {here.importer.partitions} partitions")
            return translator(here)

        return translates(*(f"stablehlo.{name}" for name in names))(of_device)

    return enter


def _rows(here: Here, name: str) -> list[list[int]]:
    array: Any = array_of(here[name]) if here.has(name) else np.empty((0, 0), np.int64)
    # Rows of unequal length are filled up with -1.
    return [[int(number) for number in row if number >= 0] for row in array.reshape(
        array.shape if array.ndim == 2 else (0, 0))]


def _channel(here: Here) -> bool:
    """Return whether the operation goes across partitions."""
    if not here.has("channel_handle"):
        return False
    from jaxlib.mlir.dialects import stablehlo
    return stablehlo.ChannelHandle(here["channel_handle"]).handle > 0


def _kind(here: Here, *, reduces: bool) -> str:
    """Return what the numbers in the groups of an operation are.

    "replica", "partition", "device", or "both": of replicas, all partitions of which take part.
    """
    if not _channel(here):
        return "replica"
    if not reduces:
        return "partition"
    return "device" if here.has("use_global_device_ids") else "both"


def _counted(here: Here, kind: str) -> bool:
    """Return whether such numbers are those of devices: else all there is of them is 0.

    A program has several replicas or several partitions, not both.
    """
    importer = here.importer
    return kind == "device" or (importer.replicas > 1) == (kind != "partition")


def _groups(here: Here, *, reduces: bool = True) -> DeviceGroups:
    if here.importer.devices == 1:
        return ((0,),)
    if here.has("replica_groups") and "mesh_axes" in str(here["replica_groups"]):
        if here.importer.meshes is None:
            raise Unsupported(f"replica_groups must be numbers, not {here['replica_groups']}")
        return here.importer.meshes.groups(here["replica_groups"])
    count, kind = here.importer.devices, _kind(here, reduces=reduces)
    groups = _rows(here, "replica_groups")
    if _counted(here, kind):
        return tuple(map(tuple, groups)) or (tuple(range(count)),)
    if kind == "both":
        return (tuple(range(count)),)
    return tuple((device,) for device in range(count))


def _collective(here: Here, name: str, groups: DeviceGroups, **attrs: Any) -> Sequence[Value]:
    """Return an operation on each operand; the operands where devices are alone."""
    if all(len(group) == 1 for group in groups):
        return here.operands
    missing = set(range(here.importer.devices)) - {each for group in groups for each in group}
    if missing:
        raise Unsupported(f"replica_groups must have all {here.importer.devices} devices, not "
                          f"none with {min(missing)}")
    return [here.emit(name, x, groups=groups, **attrs) for x in here.operands]


@_among_devices("all_reduce")
def _all_reduce(here: Here) -> Sequence[Value]:
    return _collective(here, "all_reduce", _groups(here), reducer=reducer_of(here.op.regions[0]))


@_among_devices("all_gather")
def _all_gather(here: Here) -> Sequence[Value]:
    return _collective(here, "all_gather", _groups(here), dim=here.int("all_gather_dim"))


@_among_devices("reduce_scatter")
def _reduce_scatter(here: Here) -> Sequence[Value]:
    return _collective(here, "reduce_scatter", _groups(here), dim=here.int("scatter_dimension"),
                       reducer=reducer_of(here.op.regions[0]))


@_among_devices("all_to_all")
def _all_to_all(here: Here) -> Sequence[Value]:
    return _collective(here, "all_to_all", _groups(here, reduces=False),
                       split=here.int("split_dimension"), concat=here.int("concat_dimension"))


@_among_devices("collective_broadcast")
def _collective_broadcast(here: Here) -> Sequence[Value]:
    groups = _groups(here, reduces=False)
    if all(len(group) == 1 for group in groups):
        return here.operands
    found = []
    for x in here.operands:
        rows = here.emit("reshape", x, shape=(1, *x.shape))
        rows = here.emit("all_gather", rows, groups=groups, dim=0)
        first = here.emit("slice", rows, start=(0,) * rows.type.rank, limit=(1, *x.shape),
                          stride=(1,) * rows.type.rank)
        found.append(here.emit("reshape", first, shape=x.shape))
    return found


@_among_devices("collective_permute")
def _collective_permute(here: Here) -> Sequence[Value]:
    pairs = tuple((a, b) for a, b in _rows(here, "source_target_pairs"))
    if here.importer.devices == 1 or not _counted(here, _kind(here, reduces=False)):
        # Each device is alone.
        return here.operands if pairs else [here.splat(0, x.type) for x in here.operands]
    return [here.emit("collective_permute", x, pairs=pairs) for x in here.operands]


@_among_devices("partition_id", "replica_id")
def _device_id(here: Here) -> Value:
    importer = here.importer
    count = importer.replicas if "replica" in here.op.name else importer.partitions
    return here.emit("device_id") if count > 1 else here.constant(np.array(0, np.uint32))
