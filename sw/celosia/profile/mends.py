"""What a program or a chip could be instead: each a change that can be compiled and costed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from celosia.arch.config import BANKS, PRESETS, TpuConfig
from celosia.compiler.changes import batches, given, named, narrowable, narrowed, resized
from celosia.compiler.pipeline import canonical
from celosia.compiler.split import host_nodes
from celosia.graph import Graph, GraphError, Node, Value, replace_nodes
from celosia.graph import op as graph_op
from celosia.model.timing import Timing

__all__ = ["Mend", "changed", "chip_mends", "program_mends", "reference"]

#: Batches that may be too small, and one that is not.
_SMALL_BATCH, _LARGE_BATCH = 64, 128
#: Fields of a chip that make it slower where they are small, and what they are short of.
_FIELDS = {"bus_bytes": "bytes a beat of the bus to memory", "window": "instructions in the window",
           "ibuf": "instructions in the buffer", "lanes": "lanes of the vector unit",
           "ub_rows": "rows of the unified buffer", "acc_rows": "rows of the accumulators"}
#: Fields of the memory: what is slower where it is not as it is by itself.
_MEMORY = {"read_latency": "cycles of the memory to a first beat",
           "write_latency": "cycles of the memory to a response",
           "outstanding": "reads that the memory takes at once"}


@dataclass(frozen=True)
class Mend:
    """A change, for a what-if run.

    Attributes
    ----------
    kind
        What it is about: "bus_bytes", "window", "weights", "layout", "host" and so on.
    what
        What is wrong, in a few words.
    attempt
        What to try, a sentence.
    place
        The user's place, or "".
    config, timing, graph
        What changes; None: nothing.
    repeats
        How often the work of the program as it is that does, as twice a batch does.
    """

    kind: str
    what: str
    attempt: str
    place: str = ""
    config: TpuConfig | None = None
    timing: Timing | None = None
    graph: Graph | None = None
    repeats: int = 1


def changed(config: TpuConfig, timing: Timing, changes: dict[str, int]) -> tuple[TpuConfig, Timing]:
    """Return a chip and its memory with some fields changed.

    Raises
    ------
    ValueError
        If there is no such field, or it cannot have such a value.
    """
    of_chip = {each.name for each in dataclasses.fields(config)} - {"name"}
    of_memory = {each.name for each in dataclasses.fields(timing)}
    unknown = sorted(set(changes) - of_chip - of_memory)
    if unknown:
        raise ValueError(f"a what-if must change one of {', '.join(sorted(of_chip | of_memory))}, "
                         f"not {', '.join(unknown)}")
    chip = {name: type(getattr(config, name))(value) for name, value in changes.items()
            if name in of_chip}
    memory = {name: value for name, value in changes.items() if name in of_memory}
    if "dim" in chip and "lanes" not in chip:
        chip["lanes"] = chip["dim"] // config.fold
    for name, value in memory.items():
        if value < (name != "bank_conflicts"):
            raise ValueError(f"{name} must be 1 at least, not {value}")
    return dataclasses.replace(config, **chip), dataclasses.replace(timing, **memory)


def reference(config: TpuConfig) -> TpuConfig | None:
    """Return the preset that a chip is like: of its name, else of its array; None for neither."""
    if config.name in PRESETS and PRESETS[config.name].dim == config.dim:
        return PRESETS[config.name]
    return next((each for each in PRESETS.values() if each.dim == config.dim
                 and set(config.formats) <= set(each.formats)), None)


def chip_mends(config: TpuConfig, timing: Timing) -> Iterator[Mend]:
    """Yield what a chip has less of than the preset that it is like, and a memory than usual."""
    like, usual = reference(config), Timing()
    for name, what in _FIELDS.items():
        mine, theirs = getattr(config, name), getattr(like, name) if like else 0
        if mine < theirs:
            assert like is not None
            yield Mend(name, f"the chip has {mine:,} {what}, {like.name} has {theirs:,}",
                       f"{name}={theirs}", config=dataclasses.replace(config, **{name: theirs}))
    for name, what in _MEMORY.items():
        mine, theirs = getattr(timing, name), getattr(usual, name)
        if mine != theirs and (mine < theirs) == (name == "outstanding"):
            yield Mend(name, f"{mine:,} {what}, {theirs:,} are usual", f"{name}={theirs}",
                       timing=dataclasses.replace(timing, **{name: theirs}))
    if timing.bank_conflicts:
        yield Mend("bank_conflicts", "rows wait for one another in a bank of a memory on chip",
                   f"streams of one memory that do not begin and step alike, modulo {BANKS} rows",
                   timing=dataclasses.replace(timing, bank_conflicts=False))


def program_mends(graph: Graph) -> Iterator[Mend]:
    """Yield what could be otherwise in a program."""
    level = canonical(graph)
    yield from _host(level)
    yield from _narrow(graph)
    for value in level.params:
        yield from _layout(level, value, named(level, [value]))
    yield from _batch(graph)


def _place(node: Node) -> str:
    return node.source.place or node.op


def _host(graph: Graph) -> Iterator[Mend]:
    """What the host does, which could be left out or done by the chip."""
    nodes = dict(host_nodes(graph))
    for node, reason in nodes.items():
        instead = _without(graph, node)
        yield Mend("host", f"{node.op} runs on the host: {reason}",
                   "another operation, or the same one outside of the compiled function",
                   _place(node), graph=instead)


def _without(graph: Graph, node: Node) -> Graph | None:
    """Return a graph in which the operand of a node stands for its result, if that can be."""
    try:
        [value] = node.results
        given = next(each for each in node.operands if each.type.size == value.type.size)
        if given.dtype is not value.dtype:
            given = graph_op("convert", given, dtype=value.dtype, source=node.source)
        if given.shape != value.shape:
            given = graph_op("reshape", given, shape=value.shape, source=node.source)
    except (StopIteration, ValueError, GraphError):
        return None
    return replace_nodes(graph, lambda _, old, __: (given,) if old is node else None)


def _narrow(graph: Graph) -> Iterator[Mend]:
    """Arguments of 32 bits that nothing but the array looks at, which rounds them to 16."""
    for kind, values in narrowable(graph).items():
        if not values:
            continue
        said, comes = named(graph, list(values)), "comes" if len(values) == 1 else "come"
        largest = max(values, key=lambda each: each.type.size)
        yield Mend(kind, f"{said} {comes} as f32, and the array rounds to bf16",
                   f"give {said} in bf16", _place(values[largest]),
                   graph=narrowed(graph, list(values)))


def _layout(graph: Graph, value: Value, name: str) -> Iterator[Mend]:
    """Arguments that are turned, or of which rows or columns are left out, before their use."""
    users = graph.users.get(value, ())
    if value in graph.outputs or len(users) != 1 or value.type.rank < 2:
        return
    [node] = users
    shape, how = node.result.shape, "in the order in which it is used"
    back: tuple[int, ...] = (1, 0)
    if node.op == "transpose":
        back = tuple(np.argsort(node.attrs["permutation"]).tolist())
    elif node.op == "slice" and max(node.attrs["stride"]) > 1:
        how, back = "without what is left out", ()
    elif node.op == "dot" and value.type.rank == 2 and _turned(node, value):
        shape = value.shape[::-1]
    else:
        return
    new = Node("parameter", (), {**value.node.attrs, "shape": shape}, (), value.node.source).result
    if back:
        made = given(graph, {value: (new, graph_op("transpose", new, permutation=back,
                                                    source=node.source))})
    else:
        cut = replace_nodes(graph.with_((*graph.params, new), graph.outputs),
                            lambda _, old, __: (new,) if old is node else None)
        made = cut.with_([new if each is value else each for each in graph.params], cut.outputs)
    yield Mend("layout", f"{name}, {value.type}, is loaded with steps for {node.op}",
               f"give {name} {how}: {new.type}", _place(node), graph=made)


def _turned(dot: Node, value: Value) -> bool:
    """Whether a product goes through a matrix against the order in which the array takes it."""
    left, right = zip(*dot.attrs["contract"], strict=True) if dot.attrs["contract"] else ((), ())
    return (dot.operands[0] is value and left == (0,)) or (
        dot.operands[1] is value and right == (1,))


def _batch(graph: Graph) -> Iterator[Mend]:
    """A batch so small that the array waits for weights."""
    for size, mine in batches(graph):
        times = max(2, _LARGE_BATCH // size)
        grown = resized(graph, size, size * times) if size <= _SMALL_BATCH else None
        if grown is not None:
            yield Mend("batch", f"a batch of {size} leaves the array waiting for weights",
                       f"a batch of {size * times}", _place(mine[0].node), graph=grown,
                       repeats=times)
            return
