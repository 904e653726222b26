"""What the collective operations compute, on arrays of all devices of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Literal

import numpy as np

from celosia.collectives.schedule import Schedule, meaning, reduce_scatter, ring_sizes
from celosia.collectives.schedule.table import BLOCK
from celosia.collectives.topology import Topology
from celosia.graph import Node
from celosia.graph.interpreter.elementwise import BINARY
from celosia.graph.interpreter.kernels import HostArray, in_f32

__all__ = ["ReplicaGroup"]


@lru_cache(64)
def _scatter(topology: Topology, words: int, equal: bool) -> Schedule:
    return reduce_scatter(topology, ring_sizes(topology, words, BLOCK, equal=equal), 1)


@dataclass(frozen=True)
class ReplicaGroup:
    """Devices that take part in a collective operation together.

    The methods take the array of each device, in the order of ``devices``, and return the result
    of each: the same bits on every device, every time.

    Attributes
    ----------
    devices
        Their numbers.
    topology
        How links would connect them; None: as a ring, in the order of ``devices``.
    order
        In which elements are joined. ``ring``: as
        `celosia.collectives.schedule.reduce_scatter` says of its topology. ``group``: the first
        with the second, then with the third and so on.
    """

    devices: tuple[int, ...]
    topology: Topology | None = None
    order: Literal["ring", "group"] = "ring"

    def __post_init__(self) -> None:
        if self.topology is not None and self.topology.chips != len(self.devices):
            raise ValueError(f"topology must be of {len(self.devices)} devices, not "
                             f"{self.topology}")
        if self.order not in ("ring", "group"):
            raise ValueError(f"order must be ring or group, not {self.order!r}")

    def all_reduce(self, arrays: Sequence[HostArray], reducer: str) -> list[HostArray]:
        """Return the arrays as one, by a reducer of `celosia.graph.operations.reduce`.

        What each device owns, in the order of memory, are whole blocks
        (`celosia.collectives.schedule.ring_sizes`).
        """
        def join(*arrays: HostArray) -> HostArray:
            shares = self._join([each.ravel() for each in arrays], reducer, equal=False)
            return np.concatenate(shares).reshape(arrays[0].shape)

        return [in_f32(join, *arrays)] * len(self.devices)

    def _join(self, arrays: list[HostArray], reducer: str, *, equal: bool) -> list[HostArray]:
        """Return the share that each device owns of flat arrays joined; ``equal``: all alike."""
        size, count = arrays[0].size, len(self.devices)
        with np.errstate(all="ignore"):
            if self.order == "ring":
                return meaning(_scatter(self.topology or Topology.ring(count), size, equal),
                               arrays, BINARY[reducer])
            joined = np.asarray(reduce(BINARY[reducer], arrays))
        return [joined[size * i // count:size * (i + 1) // count] for i in range(count)]

    def all_gather(self, arrays: Sequence[HostArray], dim: int) -> list[HostArray]:
        """Return the arrays one after another along a dimension."""
        return [np.concatenate(arrays, dim)] * len(self.devices)

    def reduce_scatter(self, arrays: Sequence[HostArray], reducer: str,
                       dim: int) -> list[HostArray]:
        """Return the parts along a dimension of the arrays as one; device i owns part i."""
        def join(*arrays: HostArray) -> HostArray:
            flat = [np.concatenate([part.ravel() for part in np.split(
                each, len(self.devices), dim)]) for each in arrays]
            return np.stack(self._join(flat, reducer, equal=True))

        shape = np.split(arrays[0], len(self.devices), dim)[0].shape
        return [share.reshape(shape) for share in in_f32(join, *arrays)]

    def all_to_all(self, arrays: Sequence[HostArray], split: int, concat: int) -> list[HostArray]:
        """Return for device i the parts i along ``split``, one after another along ``concat``."""
        parts = [np.split(array, len(self.devices), split) for array in arrays]
        return [np.concatenate(each, concat) for each in zip(*parts, strict=True)]

    def permute(self, arrays: Sequence[HostArray],
                pairs: Sequence[tuple[int, int]]) -> list[HostArray]:
        """Return for device b the array of a for each pair of devices (a, b); else zeros."""
        given = dict(zip(self.devices, arrays, strict=True))
        source = {b: a for a, b in pairs}
        return [given[source[device]] if device in source else np.zeros_like(array)
                for device, array in given.items()]

    def run(self, node: Node, arrays: Sequence[HostArray]) -> list[HostArray]:
        """Return the result of a graph's operation for each device."""
        attrs = node.attrs
        match node.op:
            case "all_reduce":
                return self.all_reduce(arrays, attrs["reducer"])
            case "all_gather":
                return self.all_gather(arrays, attrs["dim"])
            case "reduce_scatter":
                return self.reduce_scatter(arrays, attrs["reducer"], attrs["dim"])
            case "all_to_all":
                return self.all_to_all(arrays, attrs["split"], attrs["concat"])
            case "collective_permute":
                return self.permute(arrays, attrs["pairs"])
        raise ValueError(f"{node.source}: operation must be collective, not {node.op!r}")
