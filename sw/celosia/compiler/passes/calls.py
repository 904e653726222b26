"""Fission of loops and branches: what the chip computes, then the calls of functions of the host.

A function that gives nothing back, as `jax.debug.print` calls one, can be called later. So a loop
of a known count keeps what the calls of each turn are given, row by row, and a second loop, the
host's, makes the calls in their order; a branch hands over what its calls are given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from celosia.compiler.builder import Builder
from celosia.compiler.passes.loops import trips
from celosia.graph import (
    DType,
    Graph,
    Node,
    TensorType,
    Trait,
    Value,
    having,
    parameter,
    replace_nodes,
)
from celosia.graph.operations.callback import CALLS

__all__ = ["MOST_KEPT", "calls_apart", "only_calls"]

#: Bytes of all turns that a loop keeps for its calls.
MOST_KEPT = 16 << 20
_CHEAP = having(Trait.CHEAP)
#: What may be beside calls on the host: it finds the rows, and computes nothing of an array.
_BESIDE = having(Trait.LEAF) | having(Trait.VIEW) | {"parameter"}


def _has_calls(node: Node) -> bool:
    return node.op in CALLS or any(
        _has_calls(inner) for region in node.regions for inner in region.nodes)


def _is_light(node: Node) -> bool:
    if node.op in CALLS | _BESIDE:
        return True
    if node.regions:
        return all(_is_light(inner) for region in node.regions for inner in region.nodes)
    return all(type.shape == () for type in (*node.types, *(x.type for x in node.operands)))


def only_calls(node: Node) -> bool:
    """Return whether all that a loop or a branch does is to call functions of the host."""
    return _has_calls(node) and _is_light(node)


def calls_apart(graph: Graph) -> Graph:
    """Return a canonical graph with calls that give nothing back out of the chip's loops."""
    return replace_nodes(graph, _apart)


def _apart(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
    if not now.regions or not _has_calls(now) or _is_light(now):
        return None
    return _loop(now) if now.op == "while" else _branches(now) if now.op == "case" else None


def _calling(graph: Graph, params: Iterable[Value]) -> dict[Node, None]:
    """Return the nodes that call, and those that use what they give or some parameters."""
    of, found = set(params), dict[Node, None]()
    for node in graph.nodes:
        if node.op != "parameter" and (_has_calls(node) or any(
                value.node in found or value in of for value in node.operands)):
            found[node] = None
    return found


def _copied(nodes: Iterable[Node], values: dict[Value, Value]) -> None:
    """Make nodes again, for other values; and whatever cheap ones they need."""
    def find(value: Value) -> Value:
        if value not in values:
            copy(value.node)
        return values[value]

    def copy(node: Node) -> None:
        made = node.on(tuple(map(find, node.operands)), node.regions)
        values.update(zip(node.results, made.results, strict=True))

    for node in nodes:
        copy(node)


def _free(value: Value) -> bool:
    """Whether a value is made again rather than kept."""
    return value.node.op in _CHEAP and all(map(_free, value.node.operands))


def _given(nodes: Mapping[Node, None], known: Collection[Value]) -> list[Value]:
    """Return what nodes take from others, but for what is known."""
    taken = dict.fromkeys(value for node in nodes for value in node.operands)
    return [value for value in taken
            if value.node not in nodes and value not in known and not _free(value)]


def _params(values: Iterable[Value]) -> list[Value]:
    return [parameter(value.type, source=value.node.source) for value in values]


def _loop(node: Node) -> tuple[Value, ...] | None:
    """Return the results of a loop as two, or None where that cannot be."""
    (cond, body), turns = node.regions, trips(node)
    if not turns:
        return None
    own: list[int] = []  # numbers of the values that calls carry
    while True:
        calling = _calling(body, [body.params[i] for i in own])
        found = [i for i, value in enumerate(body.outputs) if i in own or value.node in calling]
        if found == own:
            break
        own = found
    tested = _calling(cond, [cond.params[i] for i in own])
    if tested or not all(map(_is_light, calling)):
        return None
    rest = [i for i in range(len(body.params)) if i not in own]
    same = {body.params[i]: node.operands[i] for i in rest if body.outputs[i] == body.params[i]}
    carried = [body.params[i] for i in own]
    kept = [value for value in _given(calling, carried) if value not in same]
    if turns * sum(value.type.nbytes for value in kept) > MOST_KEPT:
        return None
    b = Builder(node.source)
    rows = [b.full(np.zeros((), value.dtype.numpy)[()], TensorType(value.dtype,
                                                                 (turns, *value.shape)))
            for value in kept]
    zero = b.constant(0, DType.I32)
    *computed, _ = b.all("while", *(node.operands[i] for i in rest), *rows, zero, regions=(
        _keeps_cond(cond, rest, rows, b), _keeping(body, rest, kept, rows, b)))
    values, filled = computed[:len(rest)], computed[len(rest):]
    through = [value for value in same if any(value in each.operands for each in calling)]
    last = b.all("while", *(node.operands[i] for i in own), *(same[value] for value in through),
                 *filled, zero, regions=(
                     _counted([*carried, *through], filled, turns, b),
                     _making(body, own, calling, [*carried, *through], kept, filled, b)))
    results = dict(zip(rest, values, strict=True)) | dict(zip(own, last, strict=False))
    return tuple(results[i] for i in range(len(body.params)))


def _keeps_cond(cond: Graph, rest: Sequence[int], rows: Sequence[Value], b: Builder) -> Graph:
    """Return the condition, of what the chip carries."""
    params = [*_params(cond.params[i] for i in rest), *_params(rows), _count()]
    values = {cond.params[i]: params[k] for k, i in enumerate(rest)}
    _copied((each for each in cond.nodes if each.op != "parameter"), values)
    return Graph(cond.name, params, [values[value] for value in cond.outputs])


def _count() -> Value:
    return parameter(TensorType(DType.I32))


def _starts(b: Builder, at: Value, rank: int) -> list[Value]:
    return [at, *(b.constant(0, DType.I32) for _ in range(rank))]


def _keeping(body: Graph, rest: Sequence[int], kept: Sequence[Value], rows: Sequence[Value],
             b: Builder) -> Graph:
    """Return a loop's body without calls, which keeps in its turn's rows what they are given."""
    params = [*_params(body.params[i] for i in rest), *_params(rows), _count()]
    values = {body.params[i]: params[k] for k, i in enumerate(rest)}
    wanted = _needed(body, [*(body.outputs[i] for i in rest), *kept])
    _copied(wanted, values)
    at = params[-1]
    filled = [b("dynamic_update_slice", row, b.reshape(values[value], 1, *value.shape),
                *_starts(b, at, len(value.shape)))
              for row, value in zip(params[len(rest):-1], kept, strict=True)]
    return Graph(body.name, params,
                 [*(values[body.outputs[i]] for i in rest), *filled, b("add", at, 1)])


def _needed(graph: Graph, values: Iterable[Value]) -> list[Node]:
    """Return the nodes that values of a graph need, in order."""
    return [node for node in Graph(graph.name, graph.params, values).nodes
            if node.op != "parameter"]


def _counted(passed: Sequence[Value], filled: Sequence[Value], turns: int, b: Builder) -> Graph:
    """Return the condition of a loop of calls."""
    at = _count()
    return Graph("cond", [*_params(passed), *_params(filled), at], [b.compare("lt", at, turns)])


def _making(body: Graph, own: Sequence[int], calling: Mapping[Node, None],
            passed: Sequence[Value], kept: Sequence[Value], filled: Sequence[Value],
            b: Builder) -> Graph:
    """Return the body of a loop of calls; each turn has its row of what was kept."""
    params = [*_params(passed), *_params(filled), _count()]
    at, rows = params[-1], params[len(passed):-1]
    values = dict(zip(passed, params, strict=False))
    for row, value in zip(rows, kept, strict=True):
        part = b("dynamic_slice", row, *_starts(b, at, len(value.shape)),
                 sizes=(1, *value.shape))
        values[value] = b("reshape", part, shape=value.shape)
    _copied(calling, values)
    return Graph(body.name, params, [*(values[body.outputs[i]] for i in own),
                                     *params[len(own):-1], b("add", at, 1)])


def _branches(node: Node) -> tuple[Value, ...] | None:
    """Return the results of branches as those of the chip and those of calls."""
    index, *operands = node.operands
    calling = [_calling(branch, ()) for branch in node.regions]
    if not all(_is_light(each) for nodes in calling for each in nodes):
        return None
    own = [i for i in range(len(node.types)) if any(
        branch.outputs[i].node in nodes
        for branch, nodes in zip(node.regions, calling, strict=True))]
    rest = [i for i in range(len(node.types)) if i not in own]
    # What calls of each branch are given, and what it passes on in their place.
    kept = [list(dict.fromkeys([*_given(nodes, branch.params), *(
        branch.outputs[i] for i in own if branch.outputs[i].node not in nodes
        and branch.outputs[i] not in branch.params and not _free(branch.outputs[i]))]))
        for branch, nodes in zip(node.regions, calling, strict=True)]
    b = Builder(node.source)
    computed: Sequence[Value] = ()
    if rest or any(kept):
        computed = _case(b, index, operands, [
            _computing(branch, rest, kept, number, b)
            for number, branch in enumerate(node.regions)])
    values, handed = computed[:len(rest)], computed[len(rest):]
    last = _case(b, index, [*operands, *handed], [
        _handing(branch, own, calling[number], kept, number, handed)
        for number, branch in enumerate(node.regions)])
    results = dict(zip(rest, values, strict=True)) | dict(zip(own, last, strict=True))
    return tuple(results[i] for i in range(len(node.types)))


def _case(b: Builder, index: Value, operands: Sequence[Value],
          branches: Sequence[Graph]) -> tuple[Value, ...]:
    """Return the results of branches that are given what any of them uses: no ticket of another."""
    used = {branch.params.index(value) for branch in branches
            for value in (*branch.outputs, *(x for node in branch.nodes for x in node.operands))
            if value.node.op == "parameter"}
    taken = sorted(used)
    return b.all("case", index, *(operands[i] for i in taken), regions=[
        Graph(branch.name, [branch.params[i] for i in taken], branch.outputs)
        for branch in branches])


def _computing(branch: Graph, rest: Sequence[int], kept: Sequence[Sequence[Value]], number: int,
               b: Builder) -> Graph:
    """Return a branch without calls; what those of others are given is zeros."""
    params = _params(branch.params)
    values = dict(zip(branch.params, params, strict=True))
    _copied(_needed(branch, [*(branch.outputs[i] for i in rest), *kept[number]]), values)
    given = [values[value] if other == number
             else b.full(np.zeros((), value.dtype.numpy)[()], value.type)
             for other, each in enumerate(kept) for value in each]
    return Graph(branch.name, params, [*(values[branch.outputs[i]] for i in rest), *given])


def _handing(branch: Graph, own: Sequence[int], calling: Mapping[Node, None],
             kept: Sequence[Sequence[Value]], number: int, handed: Sequence[Value]) -> Graph:
    """Return the calls of a branch."""
    params = [*_params(branch.params), *_params(handed)]
    values = dict(zip(branch.params, params, strict=False))
    begin = len(branch.params) + sum(map(len, kept[:number]))
    values.update(zip(kept[number], params[begin:], strict=False))
    _copied(calling, values)
    free = [branch.outputs[i] for i in own if branch.outputs[i] not in values]
    _copied(_needed(branch, free), values)
    return Graph(branch.name, params, [values[branch.outputs[i]] for i in own])
