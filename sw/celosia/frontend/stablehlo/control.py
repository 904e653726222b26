"""Calls and control flow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celosia.frontend.stablehlo.frames import RegionFrame
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import DType, Graph, Value

__all__ = ["FLAT", "RETURNS", "callee_of"]

#: Operations that end a block.
RETURNS = ("func.return", "stablehlo.return", "sdy.return")
#: Operations that stand for a function, and the attribute that names it.
_CALLEES = {"func.call": "callee", "stablehlo.composite": "decomposition"}
#: Operations that pass values on, the parts of complex ones one by one.
FLAT = frozenset({*_CALLEES, "stablehlo.optimization_barrier", "stablehlo.while",
                  "stablehlo.case", "stablehlo.if", "stablehlo.sort"})


def callee_of(op: Any) -> str | None:
    """Return the function that an operation stands for, or None."""
    name = _CALLEES.get(op.name)
    return None if name is None else op.attributes[name].value


@translates(*_CALLEES)
def _call(here: Here) -> Sequence[Value]:
    name = callee_of(here.op)
    assert name is not None
    if here.op.name == "stablehlo.composite" and here["name"].value == "chlo.top_k":
        return here.node("top_k", *here.operands, k=here["composite_attributes"]["k"].value)
    return here.importer.inline(name, here)


@translates("stablehlo.optimization_barrier")
def _barrier(here: Here) -> Sequence[Value]:
    return here.node("barrier", *here.operands) if here.operands else ()


@translates("stablehlo.while")
def _while(here: Here) -> Sequence[Value]:
    regions = [here.importer.region(name, here.op.regions[i], here)
               for i, name in enumerate(("cond", "body"))]
    [cond, body], captured = _closed(regions)
    invariant = body.params[len(body.params) - len(captured):]
    body = Graph(body.name, body.params, (*body.outputs, *invariant))
    results = here.node("while", *here.operands, *captured, regions=(cond, body))
    return results[:len(here.operands)]


@translates("stablehlo.case")
def _case(here: Here) -> Sequence[Value]:
    regions = [here.importer.region("branch", region, here) for region in here.op.regions]
    branches, captured = _closed(regions)
    return here.node("case", here.operands[0], *captured, regions=branches)


@translates("stablehlo.if")
def _if(here: Here) -> Sequence[Value]:
    regions = [here.importer.region("branch", region, here) for region in here.op.regions]
    branches, captured = _closed(regions)
    # The first region is the one for true.
    index = here.emit("convert", here.emit("not", here.operands[0]), dtype=DType.I32)
    return here.node("case", index, *captured, regions=branches)


def _closed(regions: Sequence[RegionFrame]) -> tuple[list[Graph], list[Value]]:
    """Return regions that all take what any of them captures, and those values."""
    captured = list(dict.fromkeys(value for region in regions for value in region.captured))
    return [region.close(captured) for region in regions], captured
