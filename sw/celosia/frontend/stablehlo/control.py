"""Calls and control flow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from celosia.frontend.stablehlo.callbacks import has_effects, ticket
from celosia.frontend.stablehlo.frames import RegionFrame
from celosia.frontend.stablehlo.reader import operations_of
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import DType, Graph, TensorType, Value, inlined, parameter

__all__ = ["FLAT", "RETURNS", "callee_of", "calls_functions"]

#: Operations that end a block.
RETURNS = ("func.return", "stablehlo.return", "sdy.return")
#: Operations that stand for a function, and the attribute that names it.
_CALLEES = {"func.call": "callee", "stablehlo.composite": "decomposition"}
#: Operations that pass values on, the parts of complex ones one by one.
FLAT = frozenset({*_CALLEES, "stablehlo.optimization_barrier", "stablehlo.while",
                  "stablehlo.case", "stablehlo.if", "stablehlo.map", "stablehlo.sort",
                  "sdy.manual_computation", "sdy.propagation_barrier"})


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
    before = ticket(here) if calls_functions(here) else None
    frames = [here.importer.region(name, here.op.regions[i], here, ticket=before, carried=True)
              for i, name in enumerate(("cond", "body"))]
    if before is None:
        return _loop(here, frames, here.operands)
    tests = frames[0].ticket is not frames[0].params[-1]
    for frame in frames if tests else frames[1:]:
        assert frame.ticket is not None
        frame.outputs = (*frame.outputs, frame.ticket)
    loop = _tested_loop if tests else _loop
    *results, here.frame.region.ticket = loop(here, frames, (*here.operands, before))
    return results


def _loop(here: Here, frames: Sequence[RegionFrame], values: Sequence[Value]) -> Sequence[Value]:
    [cond, body], captured = _closed(frames)
    invariant = body.params[len(body.params) - len(captured):]
    body = Graph(body.name, body.params, (*body.outputs, *invariant))
    return here.node("while", *values, *captured, regions=(cond, body))[:len(values)]


def _tested_loop(here: Here, frames: Sequence[RegionFrame],
                 values: Sequence[Value]) -> Sequence[Value]:
    """Make a loop whose condition calls functions, which a condition cannot: the body has it."""
    [cond, body], captured = _closed(frames)
    first, second = (parameter(TensorType(DType.BOOL), source=here.source) for _ in range(2))
    others = [parameter(value.type, source=here.source) for value in (*values, *captured)]
    params = [parameter(value.type, source=here.source) for value in (*values, *captured)]
    invariant = params[len(values):]
    made = [*inlined(body, params), *invariant]
    again, after = inlined(cond, made)
    regions = (Graph(cond.name, (first, *others), (first,)),
               Graph(body.name, (second, *params),
                     (again, *made[:len(values) - 1], after, *invariant)))
    begin, after = inlined(cond, (*values, *captured))
    return here.node("while", begin, *values[:-1], after, *captured,
                     regions=regions)[1:len(values) + 1]


@translates("stablehlo.case")
def _case(here: Here) -> Sequence[Value]:
    return _branches(here, here.op.regions, here.operands[0])


@translates("stablehlo.if")
def _if(here: Here) -> Sequence[Value]:
    # The first region is the one for true.
    index = here.emit("convert", here.emit("not", here.operands[0]), dtype=DType.I32)
    return _branches(here, here.op.regions, index)


def _branches(here: Here, regions: Iterable[Any], index: Value) -> Sequence[Value]:
    before = ticket(here) if calls_functions(here) else None
    frames = [here.importer.region("branch", region, here, ticket=before) for region in regions]
    for frame in frames:
        if frame.ticket is not None:
            frame.outputs = (*frame.outputs, frame.ticket)
    branches, captured = _closed(frames)
    results = here.node("case", index, *captured, regions=branches)
    if before is not None:
        *results, here.frame.region.ticket = results
    return results


def calls_functions(here: Here) -> bool:
    """Whether the operation at hand has functions of the host called for their effects."""
    seen: set[str] = set()

    def calls(op: Any) -> bool:
        for inner in operations_of(op):
            callee = callee_of(inner)
            if callee is not None and callee not in seen:
                seen.add(callee)
                if calls(here.importer.functions[callee]):
                    return True
            if has_effects(inner):
                return True
        return False

    return calls(here.op)


def _closed(regions: Sequence[RegionFrame]) -> tuple[list[Graph], list[Value]]:
    """Return regions that all take what any of them captures, and those values."""
    captured = list(dict.fromkeys(value for region in regions for value in region.captured))
    return [region.close(captured) for region in regions], captured
