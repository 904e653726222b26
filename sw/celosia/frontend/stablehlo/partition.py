"""Programs for several devices outside of their manual computations: cut, gathered, or as one.

Inside a manual computation (``jax.shard_map``, ``jax.pmap``) a program says for one device what it
does. Outside it speaks of whole arrays; there elementwise operations stay on the tiles that their
operands are cut into, some others do by the rules of `propagation`, and the rest run on whole
arrays, the same on every device, for which tiles are gathered. That is always right; it gains
nothing where it is most of a program.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.control import callee_of
from celosia.frontend.stablehlo.elementwise import ELEMENTWISE
from celosia.frontend.stablehlo.frames import ValueFrame
from celosia.frontend.stablehlo.meshes import Meshes
from celosia.frontend.stablehlo.propagation import RULES, ShardingPlan
from celosia.frontend.stablehlo.reader import source_of
from celosia.frontend.stablehlo.translation import Here, Import
from celosia.graph import Node, Source, TensorType, Value, constant
from celosia.graph.sharding import Sharding, UnevenSharding

__all__ = ["Partitioner"]

_SHARDING = "sdy.sharding"
#: Operations that are about a device among others.
_OF_DEVICES = frozenset(f"stablehlo.{name}" for name in """
    all_gather all_reduce all_to_all collective_broadcast collective_permute partition_id
    reduce_scatter replica_id""".split())
_CONSTRAINTS = ("sdy.sharding_constraint", "sdy.reshard")


class Partitioner:
    """What is done to operations outside of manual computations.

    Parameters
    ----------
    importer
        The import.
    meshes
        Those of the module.
    """

    def __init__(self, importer: Import, meshes: Meshes):
        self.importer, self.meshes = importer, meshes
        self.devices = importer.devices

    # Shardings

    def whole(self, rank: int) -> Sharding:
        """Return the sharding of what every device has all of."""
        return Sharding.replicated(rank, self.devices)

    def asked(self, attribute: Any, rank: int, only: Sequence[str] | None = None) -> Sharding:
        """Return the sharding that an attribute asks for."""
        found = self.meshes.sharding(attribute, self.devices, only)
        # The sharding of a scalar may be written without dimensions for any rank.
        return found if len(found.parts) == rank else self.whole(rank)

    def of_attributes(self, attributes: Any, rank: int) -> Sharding | None:
        """Return the sharding that attributes of an argument or result ask for, if they do."""
        if attributes is None:
            return None
        if _SHARDING in attributes:
            return self.asked(attributes[_SHARDING], rank)
        if "mhlo.sharding" in attributes:
            text = attributes["mhlo.sharding"].value
            if text not in ("{replicated}", "{maximal device=0}"):
                raise Unsupported(f"sharding must be one of Shardy, not {text}")
            return self.whole(rank)
        return None

    def entered(self, value: Any, rank: int) -> Sharding | None:
        """Return the sharding in which an argument first enters a manual computation, if any."""
        for use in value.uses:
            op = use.owner.operation if hasattr(use.owner, "operation") else use.owner
            name = callee_of(op)
            if op.name == "sdy.manual_computation":
                shardings, axes, _ = self._manual_attributes(op)
                return self.asked(shardings[use.operand_number], rank, axes)
            if name is not None:
                block = self.importer.functions[name].regions[0].blocks[0]
                found = self.entered(block.arguments[use.operand_number], rank)
                if found is not None:
                    return found
        return None

    def argument(self, argument: Any, type: TensorType, attributes: Any,
                 frame: ValueFrame) -> TensorType:
        """Return the type of a device's part of an argument of the program."""
        cut = self.of_attributes(attributes, type.rank) or self.entered(argument, type.rank)
        if cut is None or cut.is_replicated:
            return type
        frame.shardings[argument] = cut
        return TensorType(type.dtype, cut.tile(type.shape))

    def result(self, value: Value, was: Sharding | None,
               attributes: Any) -> tuple[Value, Sharding]:
        """Return a result of the program as it is wanted, and how it is cut."""
        was = was or self.whole(value.type.rank)
        to = self.of_attributes(attributes, value.type.rank) or was
        return self.reshard(value, was, to, value.node.source), to

    # Values

    def gathered(self, op: Any, values: Sequence[Value | None],
                 frame: ValueFrame) -> Sequence[Value | None]:
        """Return what a region gives as whole arrays, as its operation does outside of it."""
        source = source_of(op.location, self.importer.filename)
        cuts = [frame.sharding(one) for one in op.operands]
        return [value if value is None or cut is None else self.gather(value, cut, source)
                for value, cut in zip(values, cuts, strict=True)]

    def reshard(self, value: Value, was: Sharding, to: Sharding, source: Source) -> Value:
        """Return a device's part of an array in another sharding."""
        kept = {dim for dim in range(len(to.parts)) if was.select([dim]) == to.select([dim])}
        return self.cut(self.gather(value, was, source, kept), to, source, kept)

    def gather(self, value: Value, was: Sharding, source: Source,
               kept: Collection[int] = ()) -> Value:
        """Return the whole array, but for some dimensions, on every device."""
        for dim, count in enumerate(was.parts):
            if count > 1 and dim not in kept:
                value = Node("all_gather", (value,), {"groups": was.groups(dim), "dim": dim}, (),
                             source).result
        return value

    def cut(self, value: Value, to: Sharding, source: Source,
            kept: Collection[int] = ()) -> Value:
        """Return a device's tile of what every device has; some dimensions are cut already."""
        parts = [1 if dim in kept else count for dim, count in enumerate(to.parts)]
        if all(count == 1 for count in parts):
            return value
        to = to.select([None if dim in kept else dim for dim in range(len(parts))])
        shape, node = to.tile(value.shape), value.node
        if node.op == "broadcast" and all(parts[dim] == 1 or node.operands[0].shape[i] == 1
                                          for i, dim in enumerate(node.attrs["dims"])):
            return Node("broadcast", node.operands, {**node.attrs, "shape": shape}, (),
                        node.source).result
        if node.op == "iota" and parts[node.attrs["dim"]] == 1:
            return Node("iota", (), {**node.attrs, "shape": shape}, (), node.source).result
        number = Node("device_id", (), {}, (), source).result
        starts = []
        for dim, extent in enumerate(shape):
            if parts[dim] == 1:
                starts.append(constant(np.array(0, np.int32), source=source))
                continue
            table = constant(np.array([to.place(device)[dim] * extent
                                       for device in range(self.devices)], np.int32),
                             source=source)
            entry = Node("dynamic_slice", (table, number), {"sizes": (1,)}, (), source).result
            starts.append(Node("reshape", (entry,), {"shape": ()}, (), source).result)
        return Node("dynamic_slice", (value, *starts), {"sizes": shape}, (), source).result

    # Operations

    def translate(self, here: Here) -> Sequence[Value]:
        """Return the results of an operation, and note in the frame how they are cut."""
        op, frame = here.op, here.frame
        shardings = [frame.sharding(value) or self.whole(type.rank) for value, type in zip(
            op.operands, (value.type for value in here.operands), strict=True)]
        found, made = self._translated(here, shardings)
        for value, sharding in zip(op.results, made, strict=True):
            if not sharding.is_replicated:
                frame.shardings[value] = sharding
        return found

    def _translated(self, here: Here, shardings: Sequence[Sharding],
                    ) -> tuple[Sequence[Value], Sequence[Sharding]]:
        op = here.op
        if op.name == "sdy.manual_computation":
            return self._manual(here, shardings)
        if op.name in _OF_DEVICES:
            raise Unsupported("must be in a manual computation (jax.shard_map), where the program "
                              f"is for {self.devices} partitions")
        name = callee_of(op)
        if name is not None:
            results, inside = self.importer.function(name, here)
            return results, self.returned(inside, results)
        if op.name in _CONSTRAINTS:
            [x], [was] = here.operands, shardings
            to = self.asked(here["sharding"], x.type.rank)
            try:
                to.tile(was.whole(x.shape))
            except UnevenSharding:
                to = was  # a wish that cannot be granted
            return [self.reshard(x, was, to, here.source)], [to]
        if op.name in ("stablehlo.optimization_barrier", "sdy.propagation_barrier"):
            return self.importer.translated(here), shardings
        if op.name in ELEMENTWISE:
            to = self._common(here, shardings)
            if to is not None:
                return self._elementwise(here, shardings, to)
        if op.name in RULES:
            plan = RULES[op.name](here, shardings)
            if plan is not None:
                return self._cut(here, shardings, plan)
        operands = [self.gather(x, was, here.source)
                    for x, was in zip(here.operands, shardings, strict=True)]
        results = self.importer.results_of(here.with_(operands, here.types))
        return results, [self.whole(value.type.rank) for value in results]

    def returned(self, frame: ValueFrame, values: Sequence[Value]) -> list[Sharding]:
        """Return how what a block has returned is cut."""
        return [frame.sharding(one) or self.whole(value.type.rank)
                for one, value in zip(frame.returned, values, strict=True)]

    def _common(self, here: Here, shardings: Sequence[Sharding]) -> Sharding | None:
        """Return a sharding that all operands have or can be cut into further; None if none is."""
        rank = here.type.rank
        cuts = [each for each in shardings if not each.is_replicated]
        if not cuts or len(here.types) != 1 or any(len(each.parts) != rank for each in cuts):
            return None
        axes: list[tuple[Sharding, int]] = []
        for dim in range(rank):
            found = [each for each in cuts if each.parts[dim] > 1]
            if len({each.select([dim]) for each in found}) > 1:
                return None
            axes.append((found[0] if found else cuts[0], dim))
        return Sharding.joint(axes)

    def _elementwise(self, here: Here, shardings: Sequence[Sharding],
                     to: Sharding) -> tuple[Sequence[Value], Sequence[Sharding]]:
        operands = [x if x.type.rank == 0 else self.reshard(x, was, to, here.source)
                    for x, was in zip(here.operands, shardings, strict=True)]
        types = [TensorType(type.dtype, to.tile(type.shape)) for type in here.types]
        return self.importer.results_of(here.with_(operands, types)), [to]

    def _cut(self, here: Here, shardings: Sequence[Sharding],
             plan: ShardingPlan) -> tuple[Sequence[Value], Sequence[Sharding]]:
        operands = [self.reshard(x, was, to, here.source) for x, was, to in zip(
            here.operands, shardings, plan.operands, strict=True)]
        type = TensorType(here.type.dtype, plan.result.tile(here.type.shape))
        [value] = self.importer.results_of(here.with_(operands, [type], plan.changes))
        for groups in plan.groups:
            value = Node("all_reduce", (value,), {"groups": groups, "reducer": plan.reducer}, (),
                         here.source).result
        return [value], [plan.result]

    @staticmethod
    def _manual_attributes(op: Any) -> tuple[Sequence[Any], Sequence[str], Sequence[Any]]:
        from jaxlib.mlir.dialects import sdy
        entering, leaving = (list(sdy.TensorShardingPerValueAttr(op.attributes[name]).shardings)
                             for name in ("in_shardings", "out_shardings"))
        axes: Any = sdy.ManualAxesAttr(op.attributes["manual_axes"])
        return entering, [*map(str, axes)], leaving

    def _manual(self, here: Here, shardings: Sequence[Sharding],
                ) -> tuple[Sequence[Value], Sequence[Sharding]]:
        entering, axes, leaving = self._manual_attributes(here.op)
        operands = [
            self.reshard(x, was, self.asked(attribute, x.type.rank, axes), here.source)
            for x, was, attribute in zip(here.operands, shardings, entering, strict=True)]
        block = here.op.regions[0].blocks[0]
        results = self.importer.block(block, here.with_(operands, here.types), manual=True)
        return results, [self.asked(attribute, value.type.rank, axes)
                         for attribute, value in zip(leaving, results, strict=True)]
