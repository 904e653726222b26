"""Meshes and shardings of Shardy as `celosia.graph.sharding.Sharding`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from celosia.frontend.errors import Unsupported
from celosia.graph.sharding import DeviceGroups, Sharding

__all__ = ["Mesh", "Meshes"]


_SHARDING = "sdy.sharding"
#: The mesh and the axes of the groups of a collective, as StableHLO prints them.
_OF_MESH = re.compile(r'mesh = @"?([^",]+)"?, axes = \[(.*)\]')
_AXIS = re.compile(r'#stablehlo\.axis_ref<name = "([^"]*)">')


class Mesh(NamedTuple):
    """Devices in a grid whose axes have names.

    Attributes
    ----------
    axes
        Extent of each axis, in order.
    devices
        Numbers of the devices, row-major.
    """

    axes: dict[str, int]
    devices: tuple[int, ...]


def _mesh(attribute: Any) -> Mesh:
    from jaxlib.mlir.dialects import sdy
    mesh = sdy.MeshAttr(attribute)
    axes = {axis.name: axis.size for axis in map(sdy.MeshAxisAttr, mesh.axes)}
    return Mesh(axes, tuple(mesh.device_ids) or tuple(range(math.prod(axes.values()))))


class Meshes:
    """The meshes of a module.

    Parameters
    ----------
    operations
        The module's ``sdy.mesh`` operations.
    least
        Devices that the program has at least.

    Attributes
    ----------
    devices
        Devices of the program: as many as the largest mesh has.
    """

    def __init__(self, operations: Iterable[Any], least: int = 1):
        self.named = {op.attributes["sym_name"].value: _mesh(op.attributes["mesh"])
                      for op in operations}
        self.devices = max((math.prod(mesh.axes.values()) for mesh in self.named.values()),
                           default=1)
        self.devices = max(self.devices, least)

    def whole(self, rank: int) -> Sharding:
        """Return the sharding of what every device has all of."""
        return Sharding.replicated(rank, self.devices)

    def groups(self, attribute: Any) -> tuple[tuple[int, ...], ...]:
        """Return the groups of a collective that are given by axes of a mesh.

        Devices of a group differ in their places along these axes only, and follow one another
        with the last axis the fastest.

        Raises
        ------
        Unsupported
            If it has parts of axes, or a mesh that the module has not.
        """
        found = _OF_MESH.search(str(attribute))
        names = _AXIS.findall(found[2]) if found else []
        if not found or len(names) != found[2].count("axis_ref<") or found[1] not in self.named:
            raise Unsupported(f"replica_groups must be numbers, or whole axes of a mesh, "
                              f"not {attribute}")
        return self._along(self.named[found[1]], names)

    def parts(self, attribute: Any) -> DeviceGroups:
        """Return the devices whose arrays add up to the one that a sharding of Shardy is about.

        Groups of them; none where it is not "unreduced".
        """
        from jaxlib.mlir.dialects import sdy
        found = sdy.TensorShardingAttr(attribute)
        names = re.search(r"unreduced=\{([^}]*)\}", str(attribute))
        return self._along(self._mesh(found), re.findall(r'"([^"]*)"', names[1])) if names else ()

    def parts_of_attributes(self, attributes: Any) -> DeviceGroups:
        """Return `parts` of what attributes of an argument or result say."""
        if attributes is None or _SHARDING not in attributes:
            return ()
        return self.parts(attributes[_SHARDING])

    def _mesh(self, sharding: Any) -> Mesh:
        name = str(sharding.mesh_or_ref)
        return self.named[name.removeprefix("@").strip('"')] if name.startswith(
            "@") else _mesh(sharding.mesh_or_ref)

    @staticmethod
    def _along(mesh: Mesh, names: Sequence[str]) -> DeviceGroups:
        """Return groups of devices that differ along axes, the last one the fastest."""
        grid = np.array(mesh.devices).reshape(tuple(mesh.axes.values()))
        order = list(mesh.axes)
        others = [axis for axis in order if axis not in names]
        size = math.prod(mesh.axes[name] for name in names)
        rows = grid.transpose([order.index(name) for name in (*others, *names)]).reshape(-1, size)
        return tuple(tuple(int(device) for device in row) for row in rows)

    def of_attributes(self, attributes: Any, rank: int) -> Sharding | None:
        """Return the sharding that attributes of an argument or result ask for, if they do.

        Raises
        ------
        Unsupported
            As of `sharding`, or if it is one of GSPMD that cuts.
        """
        if attributes is None:
            return None
        if _SHARDING in attributes:
            return self.sharding(attributes[_SHARDING], rank)
        if "mhlo.sharding" in attributes:
            text = attributes["mhlo.sharding"].value
            if text not in ("{replicated}", "{maximal device=0}"):
                raise Unsupported(f"sharding must be one of Shardy, not {text}")
            return self.whole(rank)
        return None

    def sharding(self, attribute: Any, rank: int, only: Sequence[str] | None = None) -> Sharding:
        """Return what a sharding of Shardy says of an array.

        Parameters
        ----------
        attribute
            The ``sdy.sharding``. What it leaves open is taken as not cut, and sums that are not
            formed yet (`parts`) as formed.
        rank
            Of the array.
        only
            Axes that count; None: all.

        Raises
        ------
        Unsupported
            If it has parts of axes, or devices that the program has not.
        """
        from jaxlib.mlir.dialects import sdy
        found = sdy.TensorShardingAttr(attribute)
        mesh = self._mesh(found)
        cuts: list[list[str]] = []
        for dim in map(sdy.DimensionShardingAttr, found.dimension_shardings):
            axes = list(map(sdy.AxisRefAttr, dim.axes))
            if any(axis.sub_axis_info is not None for axis in axes):
                raise Unsupported(f"sharding must be by whole axes, not {attribute}")
            cuts.append([axis.name for axis in axes if only is None or axis.name in only])
        devices = self.devices
        if not any(cuts):
            return self.whole(rank)
        if sorted(mesh.devices) != list(range(devices)):
            raise Unsupported(f"mesh must be of all {devices} devices, not of "
                              f"{list(mesh.devices)}")
        parts = tuple(math.prod(mesh.axes[axis] for axis in cut) for cut in cuts)
        grid = tuple(mesh.axes.values())
        tiles = [0] * devices
        for at, device in enumerate(mesh.devices):
            place = dict(zip(mesh.axes, np.unravel_index(at, grid), strict=True))
            number = 0
            for cut, count in zip(cuts, parts, strict=True):
                inner = 0
                for axis in cut:
                    inner = inner * mesh.axes[axis] + int(place[axis])
                number = number * count + inner
            tiles[device] = number
        # The sharding of a scalar may be written without dimensions for any rank.
        return Sharding(parts, tuple(tiles)) if len(parts) == rank else self.whole(rank)
