"""What the collective operations compute, on arrays of all devices of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from celosia.graph import Node
from celosia.graph.interpreter.elementwise import BINARY
from celosia.graph.interpreter.kernels import HostArray, in_f32

__all__ = ["ReplicaGroup"]



@dataclass(frozen=True)
class ReplicaGroup:
    """Devices that take part in a collective operation together.

    The methods take the array of each device, in the order of ``devices``, and return the result
    of each. Elements are joined in that order, the first with the second, then with the third and
    so on: results are the same bits on every device, every time.

    Attributes
    ----------
    devices
        Their numbers.
    """

    devices: tuple[int, ...]

    def all_reduce(self, arrays: Sequence[HostArray], reducer: str) -> list[HostArray]:
        """Return the arrays as one, by a reducer of `celosia.graph.operations.reduce`."""
        def join(*arrays: HostArray) -> HostArray:
            with np.errstate(all="ignore"):
                return np.asarray(reduce(BINARY[reducer], arrays))

        joined = in_f32(join, *arrays)
        return [joined] * len(self.devices)

    def all_gather(self, arrays: Sequence[HostArray], dim: int) -> list[HostArray]:
        """Return the arrays one after another along a dimension."""
        return [np.concatenate(arrays, dim)] * len(self.devices)

    def reduce_scatter(self, arrays: Sequence[HostArray], reducer: str,
                       dim: int) -> list[HostArray]:
        """Return the parts along a dimension of the arrays as one."""
        return np.split(self.all_reduce(arrays, reducer)[0], len(self.devices), dim)

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
