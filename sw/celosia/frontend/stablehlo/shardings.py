"""Shardings and manual computations of Shardy as operations of the graph.

On one device, for replicas, and inside of a manual computation they say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from celosia.frontend.stablehlo.attributes import tensor_type
from celosia.frontend.stablehlo.callbacks import ticket
from celosia.frontend.stablehlo.control import calls_functions
from celosia.frontend.stablehlo.parts import flat_types
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import (
    Graph,
    Node,
    Source,
    TensorType,
    Value,
    constant,
    inlined,
    op,
    parameter,
    splat,
)
from celosia.graph.sharding import DeviceGroups, Sharding

__all__ = ["given_in_parts"]

@translates("sdy.propagation_barrier")
def _barrier(here: Here) -> Sequence[Value]:
    return here.operands


@translates("sdy.sharding_constraint", "sdy.reshard")
def _constraint(here: Here) -> Sequence[Value]:
    [x] = here.operands
    if here.whole is None:
        return here.operands
    return here.node("shard", x, sharding=here.whole.sharding(here["sharding"], x.type.rank))


def _summed(x: Value, groups: DeviceGroups, source: Source) -> Value:
    """Return what arrays of devices add up to, inside of what each device does."""
    return op("all_reduce", x, groups=groups, reducer="add", source=source)


def _one_of(x: Value, groups: DeviceGroups, source: Source) -> Value:
    """Return arrays of devices that add up to one that all have: zeros but for the first."""
    number, first = op("device_id", source=source), None
    for group in groups:
        mine = op("compare", number, constant(np.uint32(group[0]), source=source),
                  direction="eq", source=source)
        first = mine if first is None else op("or", first, mine, source=source)
    assert first is not None
    if x.type.rank:
        first = op("broadcast", first, shape=x.shape, source=source)
    return op("select", first, x, splat(x.dtype.numpy.type(0), x.type, source), source=source)


def given_in_parts(x: Value, groups: DeviceGroups, cut: Sharding, *, entering: bool) -> Value:
    """Return an array that devices have as a sum, whole; or, where it leaves, as a sum.

    Parameters
    ----------
    x
        An argument or a result of the program.
    groups
        Devices whose arrays add up: see `Meshes.parts`.
    cut
        How it is cut otherwise.
    entering
        Whether it is an argument.
    """
    source = x.node.source
    inside = parameter(TensorType(x.dtype, cut.tile(x.shape)), source=source)
    found = (_summed if entering else _one_of)(inside, groups, source)
    body = Graph("sum" if entering else "part", (inside,), (found,))
    return Node("manual", (x,), {"entering": [cut], "leaving": [cut]}, (body,), source).result


def _of_sums(here: Here, body: Graph, entering: Sequence[DeviceGroups],
             leaving: Sequence[DeviceGroups]) -> Graph:
    """Return what each device does where arguments and results are sums that are not formed."""
    if not any(entering) and not any(leaving):
        return body
    params = [parameter(each.type, source=here.source) for each in body.params]
    given = [_one_of(x, groups, here.source) if groups else x
             for x, groups in zip(params, (*entering, *[()] * len(params)), strict=False)]
    found = [_summed(x, groups, here.source) if groups else x
             for x, groups in zip(inlined(body, given), (*leaving, ()), strict=False)]
    return Graph(body.name, params, found)


def _of_flat(given: Iterable[Any], values: Iterable[Any]) -> Iterator[Any]:
    """Yield what is given for each value, for both parts of a complex one."""
    for each, value in zip(given, values, strict=True):
        for _ in flat_types([tensor_type(value.type)]):
            yield each


@translates("sdy.manual_computation")
def _manual_computation(here: Here) -> Sequence[Value]:
    [region], meshes = here.op.regions, here.whole
    if meshes is None:
        return here.importer.block(region.blocks[0], here)
    from jaxlib.mlir.dialects import sdy
    manual: Any = sdy.ManualAxesAttr(here["manual_axes"])
    axes = [*map(str, manual)]
    given, taken = ([*_of_flat(sdy.TensorShardingPerValueAttr(here[name]).shardings, values)]
                    for name, values in (("in_shardings", here.op.operands),
                                         ("out_shardings", here.op.results)))
    entering = [meshes.sharding(each, x.type.rank, axes)
                for each, x in zip(given, here.operands, strict=True)]
    leaving = [meshes.sharding(each, type.rank, axes)
               for each, type in zip(taken, here.types, strict=True)]
    parts, sums = ([meshes.parts(each) for each in cuts] for cuts in (given, taken))
    # What is known stays so inside; both parts of a complex number are parameters.
    places = [*_of_flat(range(len(here.op.operands)), here.op.operands)]
    known = {i: x for i, x in enumerate(here.operands)
             if x.node in here.importer.constants and entering[i].is_replicated
             and not parts[i] and places.count(places[i]) == 1}
    before = ticket(here) if calls_functions(here) else None
    frame = here.importer.region("device", region, here, of_device=True,
                                 known={places[i]: x for i, x in known.items()}, ticket=before)
    if frame.ticket is not None:
        frame.outputs = (*frame.outputs, frame.ticket)
        leaving.append(meshes.whole(0))
    captured = list(frame.captured)
    operands = [x for i, x in enumerate(here.operands) if i not in known]
    cuts = [cut for i, cut in enumerate(entering) if i not in known]
    cuts += [meshes.whole(x.type.rank) for x in captured]
    body = _of_sums(here, frame.close(captured),
                    [groups for i, groups in enumerate(parts) if i not in known], sums)
    results = here.node("manual", *operands, *captured, regions=(body,), entering=cuts,
                        leaving=leaving)
    if before is not None:
        *results, here.frame.region.ticket = results
    return results
