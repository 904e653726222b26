"""Rematerialisation over loops: what a turn keeps is dropped if it follows from the rest.

The forward loop of a scan keeps the gates for the backward loop, and their derivatives, s (1 - s)
of a gate s. Where the one follows from the other in few steps, the loop that wants it takes these
steps, and neither stores nor loads it.
"""

from __future__ import annotations

from celosia.arch.vector import FLOAT_OPS
from celosia.compiler.builder import Builder, scalar_of
from celosia.compiler.counting import Counter, written_over
from celosia.compiler.levels import INSTRUCTIONS
from celosia.compiler.passes.loops import counter
from celosia.graph import Graph, Node, Value, parameter, replace_nodes

__all__ = ["MOST_STEPS", "ONE_STEP", "residuals"]

#: Operations that take one step of the vector unit.
ONE_STEP = frozenset(name for name, (op, _) in INSTRUCTIONS.items() if op in FLOAT_OPS)
#: Steps for one value, at most: fewer cycles than its store and its load take.
MOST_STEPS = 2


def _plain(value: Value) -> Value:
    while value.node.op == "reshape":
        value = value.node.operands[0]
    return value


def _sources(value: Value, known: dict[Value, int], most: int = MOST_STEPS) -> set[int] | None:
    """Return which of the known values a value follows from in few steps; None if from none."""
    if value.node.op not in ONE_STEP:
        return None
    found: set[int] = set()
    for operand in value.node.operands:
        base = _plain(operand)
        if scalar_of(operand) is not None:
            continue
        if base in known and base.shape == operand.shape:
            found.add(known[base])
            continue
        more = _sources(base, known, most - 1) if most > 1 and base == operand else None
        if more is None:
            return None
        found |= more
    return found


def _again(value: Value, known: dict[Value, int], given: dict[int, Value]) -> Value:
    """Return a value made of the known ones, each given in another shape."""
    type = next(iter(given.values())).type
    made = {base: given[i] for base, i in known.items() if i in given}
    stack = [value]
    while stack:
        node = stack[-1].node
        numbers = [scalar_of(operand) for operand in node.operands]
        bases = list(map(_plain, node.operands))
        missing = [base for base, number in zip(bases, numbers, strict=True)
                   if number is None and base not in made]
        if missing:
            stack += missing
            continue
        b = Builder(node.source)
        made[stack.pop()] = node.on(tuple(
            made[base] if number is None else b.full(number, type)
            for base, number in zip(bases, numbers, strict=True))).result
    return made[value]


def _only_sliced(loop: Node, i: int) -> bool:
    """Whether a loop takes parts of what it keeps as ``i``, and does nothing else with it."""
    cond, body = loop.regions
    param = body.params[i]
    return (body.outputs[i] == param and body.outputs.count(param) == 1
            and not cond.users.get(cond.params[i]) and all(
                user.op == "dynamic_slice" and user.operands[0] == param
                for user in body.users.get(param, ())))


def _not_kept(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
    """Return a loop's results, those that follow from others made of these."""
    count = counter(now)
    if count is None or count[2] < 1:
        return None
    body = now.regions[1]
    counting = Counter(body.params[count[0]], *count[1:])
    kept = [i for i in range(len(body.outputs)) if written_over(now, i, counting)]
    parts = {i: _plain(body.outputs[i].node.operands[1]) for i in kept}
    places = {i: (body.outputs[i].node.operands[2:], body.outputs[i].node.operands[1].shape,
                  body.outputs[i].type) for i in kept}
    sources: set[int] = set()
    gone: dict[int, dict[Value, int]] = {}
    for i in kept:
        users = graph.users.get(was.results[i], ())
        if not users or was.results[i] in graph.outputs or not all(
                user.op == "while" and all(_only_sliced(user, at) for at, operand in enumerate(
                    user.operands) if operand == was.results[i]) for user in users):
            continue
        known = {parts[j]: j for j in kept if j != i and j not in gone
                 and places[j] == places[i] and parts[j].shape == parts[i].shape}
        found = None if i in sources else _sources(parts[i], known)
        if found:
            sources |= found
            gone[i] = known
    if not gone:
        return None
    outputs = [body.params[i] if i in gone else value for i, value in enumerate(body.outputs)]
    made = Node("while", now.operands, now.attrs,
                (now.regions[0], Graph(body.name, body.params, outputs)), now.source)
    results = list(made.results)
    for i, known in gone.items():
        given = {j: made.results[j] for j in known.values()}
        results[i] = _again(parts[i], known, given)
    return tuple(results)


def _leaves(value: Value) -> list[Value]:
    """Return what steps begin with, each once; the value itself where it is made by none."""
    leaves: dict[Value, None] = {}
    seen: set[Value] = set()
    stack = [value]
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        if value.node.op not in ONE_STEP:
            leaves[value] = None
        else:
            stack += [each for each in value.node.operands[::-1] if scalar_of(each) is None]
    return list(leaves)


def _made_inside(now: Node, was: Node, graph: Graph) -> Node:
    """Return a loop that makes itself what it takes parts of, where loops keep the sources."""
    body = now.regions[1]
    operands, params = list(now.operands), list(body.params)
    added: dict[Value, Value] = {}
    inside: dict[Value, Value] = {}
    for i, value in enumerate(now.operands):
        leaves = _leaves(value)
        if (leaves == [value] or not _only_sliced(now, i) or graph.users[was.operands[i]] != (was,)
                or any(leaf.node.op != "while" or leaf.type != value.type for leaf in leaves)):
            continue
        for leaf in leaves:
            same = next((j for j, operand in enumerate(now.operands)
                         if operand == leaf and body.outputs[j] == body.params[j]), None)
            if same is not None:
                added[leaf] = body.params[same]
            elif leaf not in added:
                added[leaf] = parameter(leaf.type, source=leaf.node.source)
                operands.append(leaf)
                params.append(added[leaf])
        inside[body.params[i]] = value

    sliced: dict[Value, dict[int, Value]] = {}

    def replace(node: Node, old: Node, within: Graph) -> tuple[Value, ...] | None:
        # In the shape in which it is wanted, as the sources may be, too.
        of = old.operands[0] if old.op == "reshape" else old.result if len(old.types) == 1 else None
        if of is None or of.node.op != "dynamic_slice" or of.node.operands[0] not in inside:
            return None
        value = inside[of.node.operands[0]]
        leaves = {leaf: n for n, leaf in enumerate(_leaves(value))}
        if old.op == "dynamic_slice":
            sliced[of] = given = {
                n: Node("dynamic_slice", (added[leaf], *node.operands[1:]), node.attrs, (),
                        node.source).result for leaf, n in leaves.items()}
        else:
            b = Builder(node.source)
            given = {n: b.reshape(part, *node.result.shape) for n, part in sliced[of].items()}
        return (_again(value, leaves, given),)

    if not inside:
        return now
    changed = replace_nodes(body, replace)
    cond = now.regions[0]
    more = params[len(body.params):]
    others = [parameter(value.type, source=value.node.source) for value in more]
    regions = (Graph(cond.name, (*cond.params, *others), cond.outputs),
               Graph(body.name, params, (*changed.outputs, *more)))
    return Node("while", operands, now.attrs, regions, now.source)


def _replace(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
    if now.op != "while":
        return None
    made = _made_inside(now, was, graph)
    found = _not_kept(made, was, graph)
    if found is None and made is not now:
        found = made.results
    return None if found is None else found[:len(now.results)]


def residuals(graph: Graph) -> Graph:
    """Return a canonical graph whose loops keep less for others."""
    return replace_nodes(graph, _replace)
