"""Which part of an array each device has."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DeviceGroups", "Sharding", "UnevenSharding"]

#: Devices that exchange with one another, group by group.
DeviceGroups = tuple[tuple[int, ...], ...]


class UnevenSharding(ValueError):
    """An array that cannot be cut into tiles of one shape."""


@dataclass(frozen=True)
class Sharding:
    """An array cut into tiles of one shape, of which each device has one.

    Attributes
    ----------
    parts
        How many tiles there are along each dimension.
    tiles
        For each device the number of its tile, row-major. Devices with the same tile have copies.
    """

    parts: tuple[int, ...]
    tiles: tuple[int, ...]

    def __post_init__(self) -> None:
        count = math.prod(self.parts)
        if min(self.parts, default=1) < 1 or not self.tiles or not all(
                0 <= tile < count for tile in self.tiles):
            raise ValueError(f"tiles must be one of {list(self.parts)} for each device, not "
                             f"{list(self.tiles)}")

    @classmethod
    def replicated(cls, rank: int, devices: int) -> Sharding:
        """Return the sharding of which every device has all."""
        return cls((1,) * rank, (0,) * devices)

    @property
    def is_replicated(self) -> bool:
        """Whether every device has all."""
        return all(count == 1 for count in self.parts)

    @property
    def devices(self) -> int:
        """Number of devices."""
        return len(self.tiles)

    def place(self, device: int) -> tuple[int, ...]:
        """Return which tile a device has, for each dimension."""
        return tuple(int(i) for i in np.unravel_index(self.tiles[device], self.parts or (1,)))[
            :len(self.parts)]

    def tile(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of a tile; `UnevenSharding` if a dimension cannot be cut evenly."""
        if len(shape) != len(self.parts):
            raise UnevenSharding(f"sharding must be of rank {len(shape)}, not "
                                 f"{len(self.parts)}")
        for dim, (extent, count) in enumerate(zip(shape, self.parts, strict=True)):
            if extent % count:
                raise UnevenSharding(f"extent {dim} of {list(shape)} must be a multiple of "
                                     f"{count}, not {extent}")
        return tuple(extent // count for extent, count in zip(shape, self.parts, strict=True))

    def whole(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of the array whose tiles have a shape."""
        return tuple(extent * count for extent, count in zip(shape, self.parts, strict=True))

    def index(self, device: int, shape: Sequence[int]) -> tuple[slice, ...]:
        """Return which part of an array of a shape a device has."""
        return tuple(slice(i * extent, (i + 1) * extent) for i, extent in zip(
            self.place(device), self.tile(shape), strict=True))

    def cut(self, array: Any) -> list[NDArray[Any]]:
        """Return the tile of each device."""
        array = np.asarray(array)
        return [np.ascontiguousarray(array[self.index(device, array.shape)])
                .reshape(self.tile(array.shape)) for device in range(self.devices)]

    def join(self, tiles: Sequence[Any]) -> NDArray[Any]:
        """Return the array of the tiles of all devices; of copies the first device's."""
        first = np.asarray(tiles[0])
        made = np.empty(self.whole(first.shape), first.dtype)
        for device in reversed(range(self.devices)):
            made[self.index(device, made.shape)] = tiles[device]
        return made

    def select(self, dims: Sequence[int | None]) -> Sharding:
        """Return the sharding of an array whose dimensions are some of this one's, or not cut."""
        parts = tuple(1 if dim is None else self.parts[dim] for dim in dims)
        tiles = []
        for device in range(self.devices):
            place, number = self.place(device), 0
            for dim, count in zip(dims, parts, strict=True):
                number = number * count + (0 if dim is None else place[dim])
            tiles.append(number)
        return Sharding(parts, tuple(tiles))

    @classmethod
    def joint(cls, axes: Sequence[tuple[Sharding, int]]) -> Sharding | None:
        """Return the sharding of an array whose dimensions are of several shardings.

        None if there are tiles that no device has, or that more devices have than others.
        """
        parts = tuple(sharding.parts[dim] for sharding, dim in axes)
        tiles = [0] * axes[0][0].devices if axes else [0]
        for sharding, dim in axes:
            tiles = [number * sharding.parts[dim] + sharding.place(device)[dim]
                     for device, number in enumerate(tiles)]
        copies = Counter(tiles)
        even = len(copies) == math.prod(parts) and len(set(copies.values())) == 1
        return cls(parts, tuple(tiles)) if even else None

    def groups(self, dim: int) -> tuple[tuple[int, ...], ...]:
        """Return the devices whose tiles follow one another along a dimension, in order.

        Where devices have copies, the first of each go together, then the second, and so on.
        """
        copies: dict[int, int] = {}
        found: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
        for device, number in enumerate(self.tiles):
            copy = copies[number] = copies.get(number, -1) + 1
            place = self.place(device)
            others = (copy, *place[:dim], *place[dim + 1:])
            found.setdefault(others, []).append((place[dim], device))
        return tuple(tuple(device for _, device in sorted(group)) for group in found.values())

    @property
    def hlo(self) -> str:
        """The text of the same sharding in HLO."""
        if self.is_replicated:
            return "{replicated}"
        tiles = len(set(self.tiles))
        order = sorted(range(self.devices), key=lambda device: (self.tiles[device], device))
        copies = self.devices // tiles
        extents = (*self.parts, copies) if copies > 1 else self.parts
        last = " last_tile_dim_replicate" if copies > 1 else ""
        return (f"{{devices=[{','.join(map(str, extents))}]{','.join(map(str, order))}{last}}}")
