"""Shardings and manual computations of Shardy as operations of the graph.

On one device, for replicas, and inside of a manual computation they say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celosia.frontend.stablehlo.callbacks import ticket
from celosia.frontend.stablehlo.control import calls_functions
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import Value

__all__ = []

@translates("sdy.propagation_barrier")
def _barrier(here: Here) -> Sequence[Value]:
    return here.operands


@translates("sdy.sharding_constraint", "sdy.reshard")
def _constraint(here: Here) -> Sequence[Value]:
    [x] = here.operands
    if here.whole is None:
        return here.operands
    return here.node("shard", x, sharding=here.whole.sharding(here["sharding"], x.type.rank))


@translates("sdy.manual_computation")
def _manual_computation(here: Here) -> Sequence[Value]:
    [region], meshes = here.op.regions, here.whole
    if meshes is None:
        return here.importer.block(region.blocks[0], here)
    from jaxlib.mlir.dialects import sdy
    manual: Any = sdy.ManualAxesAttr(here["manual_axes"])
    axes = [*map(str, manual)]
    entering, leaving = (
        [meshes.sharding(each, type.rank, axes) for each, type in zip(
            sdy.TensorShardingPerValueAttr(here[name]).shardings, types, strict=True)]
        for name, types in (("in_shardings", [x.type for x in here.operands]),
                            ("out_shardings", here.types)))
    # What is known stays so inside.
    known = {i: x for i, x in enumerate(here.operands)
             if x.node in here.importer.constants and entering[i].is_replicated}
    before = ticket(here) if calls_functions(here) else None
    frame = here.importer.region("device", region, here, of_device=True, known=known,
                                 ticket=before)
    if frame.ticket is not None:
        frame.outputs = (*frame.outputs, frame.ticket)
        leaving.append(meshes.whole(0))
    captured = list(frame.captured)
    operands = [x for i, x in enumerate(here.operands) if i not in known]
    cuts = [cut for i, cut in enumerate(entering) if i not in known]
    cuts += [meshes.whole(x.type.rank) for x in captured]
    results = here.node("manual", *operands, *captured, regions=(frame.close(captured),),
                        entering=cuts, leaving=leaving)
    if before is not None:
        *results, here.frame.region.ticket = results
    return results
