"""How the arrays of a program for several partitions lie on its devices.

A sharding is written as a list of two: how many tiles there are along each dimension, and the
number of the tile of each device. `celosia.compiler.spmd` takes these operations away.
"""

from __future__ import annotations

from celosia.graph.attributes import SHARDING, SHARDINGS, Attribute
from celosia.graph.spec import Call, Trait, define, require
from celosia.graph.types import TensorType

__all__: list[str] = []


@define("shard", "x", sharding=Attribute(SHARDING), traits=Trait.SPMD)
def _shard(call: Call) -> TensorType:
    """x, cut so where its extents allow it: a wish, which changes no number."""
    [x] = call.operands
    require(call["sharding"] is not None, "sharding must be given")
    require(len(call["sharding"].parts) == x.rank,
            f"sharding must be of rank {x.rank}, not {len(call['sharding'].parts)}")
    return x


@define("manual", "values...", "device", entering=Attribute(SHARDINGS),
        leaving=Attribute(SHARDINGS), traits=Trait.SPMD)
def _manual(call: Call) -> tuple[TensorType, ...]:
    """What each device does with its tiles, by number and by exchange: values are cut as
    `entering` says, tiles of the results joined as `leaving` says.
    """
    [device] = call.regions
    for name, values in (("entering", call.operands), ("leaving", device.results)):
        require(len(call[name]) == len(values) and None not in call[name],
                f"{name} must be {len(values)} shardings, not {len(call[name])}")
    tiles = tuple(TensorType(type.dtype, cut.tile(type.shape))
                  for type, cut in zip(call.operands, call["entering"], strict=True))
    require(device.params == tiles,
            f"region device must take ({', '.join(map(str, tiles))}), not "
            f"({', '.join(map(str, device.params))})")
    whole = [TensorType(type.dtype, cut.whole(type.shape))
             for type, cut in zip(device.results, call["leaving"], strict=True)
             if len(cut.parts) == type.rank]
    require(len(whole) == len(device.results), "leaving must be of the ranks of the results")
    return tuple(whole)
