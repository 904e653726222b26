"""Lowering: a canonical graph becomes a list of work on tensors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.counting import Counter, line, written_over
from celosia.compiler.errors import CompileError
from celosia.compiler.fusion import Halves, NotFused
from celosia.compiler.groups import Group, is_fused
from celosia.compiler.lowered import (
    Access,
    Case,
    Fill,
    GatherRows,
    Move,
    ScatterRows,
    Tensor,
    While,
    Work,
    storage,
)
from celosia.compiler.lowering.clusters import cluster
from celosia.compiler.lowering.coalesce import coalesce
from celosia.compiler.lowering.dead import without_dead
from celosia.compiler.lowering.forward import forward
from celosia.compiler.lowering.order import longest_last, side_by_side
from celosia.compiler.lowering.scope import Scope, source_text
from celosia.compiler.lowering.tensors import Tensors, whole, word_of
from celosia.compiler.lowering.turned import turned
from celosia.compiler.movement import byte_offset, concatenate, pad
from celosia.compiler.passes.loops import counter
from celosia.compiler.placement import place
from celosia.compiler.verify import enabled
from celosia.compiler.verify.works import check_works
from celosia.compiler.views import View
from celosia.graph import Graph, Node, Value

__all__ = ["Lowered", "lower"]

@dataclass(frozen=True)
class Lowered:
    """A graph as work.

    Attributes
    ----------
    works
        In the order in which they run.
    tensors
        All that there are, without homes.
    constants
        Contents of some.
    inputs, outputs
        The tensors of parameters and results; a result may be a parameter or another result.
    apart
        What was not fused, and why.
    """

    works: list[Work]
    tensors: list[Tensor]
    constants: Mapping[Tensor, NDArray]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    apart: tuple[NotFused, ...]


class _Lowering:
    def __init__(self, config: TpuConfig, late: Collection[Node], halves: Sequence[Halves]):
        self.config, self.late, self.halves = config, late, halves
        self.apart: list[NotFused] = []
        self.tensors = Tensors(config)

    def region(self, graph: Graph, given: Mapping[Value, Access],
               count: Counter | None = None) -> tuple[Scope, tuple[tuple[Base, int, int], ...]]:
        """Lower one graph; its outputs can be had from the scope.

        With the counter of the loop whose body it is, return the registers besides that count on.
        """
        offsets: dict[Node, Value] = {}
        known: dict[tuple, Value] = {}
        for node in graph.nodes:
            if node.op not in ("dynamic_slice", "dynamic_update_slice"):
                continue
            x = node.operands[0]
            starts = node.operands[1 if node.op == "dynamic_slice" else 2:]
            sizes = (node.attrs["sizes"] if node.op == "dynamic_slice"
                     else node.operands[1].shape)
            size = storage(self.config, x.dtype).nbytes
            key = (starts, sizes, x.shape, size)
            if key not in known:
                known[key] = byte_offset(list(starts), sizes, x.shape, size)
            offsets[node] = known[key]
        counted: dict[Value, Base] = {}
        lines: list[tuple[Base, int, int]] = []
        for value in known.values():
            found = None if count is None else line(value, count)
            if found is not None:
                base = counted[value] = Base(f"{graph.name} {value.node.source}")
                lines.append((base, found.first, found.step))
        computed = [value for value in known.values() if value not in counted]
        if computed:
            graph = Graph(graph.name, graph.params, (*graph.outputs, *computed))
        scope = Scope(self.tensors, graph, offsets, given, counted, self.late, self.halves)
        self.apart += scope.apart
        for unit in scope.units():
            if isinstance(unit, Group):
                made = cluster(scope, unit)
                if made.writes:
                    scope.works.append(made)
            else:
                self.node(scope, unit)
        return scope, tuple(lines)

    def node(self, scope: Scope, node: Node) -> None:
        """Lower work of its own."""
        if all(type.size == 0 for type in node.types):
            for value in node.results:
                scope.result(value)
        elif is_fused(node):  # nothing is reduced or summed up
            word = 0
            if node.op == "reduce":
                word = word_of(node.operands[1].node.attrs["value"].numpy.reshape(-1)[0],
                               node.result.dtype)
            dst = whole(scope.result(node.result))
            scope.works.append(Fill(dst, word, source_text(node)))
        else:
            method = getattr(self, f"_{node.op}", None)
            if method is None:
                found = place(node)
                raise CompileError(f"{node.source}: {node.op} would run on the host: "
                                   f"{found.reason}")
            method(scope, node)

    def _concatenate(self, scope: Scope, node: Node) -> None:
        parts = [scope.get(value) for value in node.operands if value.type.size]
        dst = whole(scope.result(node.result))
        scope.works += concatenate(parts, node.attrs["dim"], dst, source_text(node))

    def _pad(self, scope: Scope, node: Node) -> None:
        x, value = node.operands
        attrs, text = node.attrs, source_text(node)
        access = scope.get(x)
        base = scope.roots.base(value)[0].node
        if base.op == "constant" and value.dtype is base.types[0].dtype:
            word = word_of(base.attrs["value"].numpy.reshape(-1)[0], value.dtype)
            dst = whole(scope.result(node.result))
            scope.works += pad(self.config, access, word, attrs["low"], attrs["high"],
                               attrs["interior"], dst, text)
            return
        every = scope.get(value)
        dst = whole(scope.result(node.result))
        scope.works.append(Move(Access(every.tensor, every.view.broadcast(node.result.shape, ()),
                                       every.base), dst, text))
        if x.type.size:
            start = attrs["low"]
            step = tuple(inner + 1 for inner in attrs["interior"])
            limit = tuple(a + (n - 1) * s + 1 for a, n, s in zip(start, x.shape, step, strict=True))
            scope.works.append(Move(access, Access(dst.tensor, dst.view.slice(start, limit, step)),
                                    text))

    def _dynamic_update_slice(self, scope: Scope, node: Node) -> None:
        x, update = node.operands[:2]
        text = source_text(node)
        old, new = scope.get(x), scope.get(update)
        base = scope.base(scope.offsets[node], node) if update.type.size else None
        dst = whole(scope.result(node.result))
        scope.works.append(Move(old, dst, text))
        if update.type.size:
            to = Access(dst.tensor, View(0, update.shape, dst.view.strides), base)
            scope.works += (Move(*each, text) for each in (
                self._pieces(scope, update, to) or [(new, to)]))

    def _pieces(self, scope: Scope, value: Value, to: Access) -> list[tuple[Access, Access]]:
        """Return the parts of a concatenation, and where they go if it goes ``to`` a place.

        Those that make them can write them there.
        """
        joined, chain = scope.roots.base(value)
        if joined.node.op != "concatenate" or any(each.op != "reshape" for each in chain):
            return []
        view = to.view.reshape(joined.shape)
        if view is None:
            return []
        found: list[tuple[Access, Access]] = []
        start, dim = 0, joined.node.attrs["dim"]
        for part in joined.node.operands:
            limit = start + part.shape[dim]
            low, high = [0] * len(joined.shape), list(joined.shape)
            low[dim], high[dim], start = start, limit, limit
            if part.type.size:
                found.append((scope.get(part),
                              Access(to.tensor, view.slice(low, high), to.base)))
        return found

    def _gather(self, scope: Scope, node: Node) -> None:
        table, indices = map(scope.plain, node.operands)
        dst = whole(scope.result(node.result))
        scope.works.append(GatherRows(table, indices, dst, source_text(node)))

    def _scatter(self, scope: Scope, node: Node) -> None:
        found = place(node)
        if found.where != "chip":
            raise CompileError(f"{node.source}: {node.op} would run on the host: {found.reason}")
        table, indices, updates = node.operands
        old, text = scope.get(table), source_text(node)
        where, new = scope.plain(indices), scope.plain(updates)
        dst = whole(scope.result(node.result))
        scope.works.append(Move(old, dst, text))
        if updates.type.size:
            scope.works.append(ScatterRows(dst, where, new, text))

    def _while(self, scope: Scope, node: Node) -> None:
        cond, body = node.regions
        text = source_text(node)
        carried: dict[int, Tensor] = {}
        inside: list[Access] = []
        count = counter(node)
        counting = None if count is None else Counter(body.params[count[0]], *count[1:])
        for i, value in enumerate(node.operands):
            access = scope.get(value)
            if body.outputs[i] == body.params[i] or value.type.size == 0:
                if access.base is not None:
                    access = scope.plain(value)
                inside.append(access)
                continue
            carried[i] = tensor = self.tensors.new(value.type, "carried")
            if counting is None or not written_over(node, i, counting):
                scope.works.append(scope.fill_or_move(value, whole(tensor), node))
            inside.append(whole(tensor))
        predicate, conditions = None, ()
        if count is None:
            test, _ = self.region(cond, dict(zip(cond.params, inside, strict=True)))
            predicate, conditions = test.plain(test.graph.outputs[0]), tuple(test.works)
        elif not count[2]:  # nothing is done
            scope.values.update(zip(node.results, inside, strict=True))
            return
        run, lines = self.region(body, dict(zip(body.params, inside, strict=True)), counting)
        self.carry(run, carried, node)
        scope.works.append(While(conditions, predicate, tuple(run.works), count and count[2], text,
                                 lines))
        for i, value in enumerate(node.results):
            scope.values[value] = inside[i]

    def carry(self, run: Scope, carried: dict[int, Tensor], node: Node) -> None:
        """Bring what a turn of a loop has made to where the next one finds it."""
        moves: list[Work] = []
        for i, tensor in carried.items():
            work = run.fill_or_move(run.graph.outputs[i], whole(tensor), node)
            if isinstance(work, Move) and work.src.tensor in carried.values():
                # It would be written over before it is read.
                work = Move(run.copied(work.src, node), work.dst, work.source)
            moves.append(work)
        run.works += moves

    def _case(self, scope: Scope, node: Node) -> None:
        index = scope.plain(node.operands[0])
        given = [scope.get(value) for value in node.operands[1:]]
        results = [scope.result(value, "case") for value in node.results]
        branches = []
        for region in node.regions:
            run, _ = self.region(region, dict(zip(region.params, given, strict=True)))
            for i, tensor in enumerate(results):
                if tensor.nbytes:
                    run.works.append(run.fill_or_move(run.graph.outputs[i], whole(tensor), node))
            branches.append(tuple(run.works))
        scope.works.append(Case(index, tuple(branches), source_text(node)))


def _donated(graph: Graph, inputs: Sequence[Tensor],
             outputs: Sequence[Tensor]) -> dict[Tensor, Tensor]:
    """Return for results donated parameters of their types that they may be written over.

    That is worth it where it needs no copy.
    """
    free = [(value.type, tensor) for value, tensor in zip(graph.params, inputs, strict=True)
            if value.node.attrs["donated"] and tensor not in outputs]
    given: dict[Tensor, Tensor] = {}
    for value, tensor in zip(graph.outputs, outputs, strict=True):
        found = next((each for each in free if each[0] == value.type), None)
        if found is not None and tensor not in inputs and tensor not in given:
            given[tensor] = found[1]
            free.remove(found)
    return given


def lower(config: TpuConfig, graph: Graph, late: Collection[Node] = (),
          halves: Sequence[Halves] = ()) -> Lowered:
    """Return the work of a canonical graph; ``late`` and ``halves`` as of `fusion.fuse`.

    Raises
    ------
    CompileError
        If the chip lacks what a node needs.
    """
    lowering = _Lowering(config, late, halves)
    given: dict[Value, Access] = {}
    inputs: list[Tensor] = []
    for i, value in enumerate(graph.params):
        tensor = lowering.tensors.new(value.type, value.node.attrs["name"] or f"arg{i}")
        inputs.append(tensor)
        given[value] = whole(tensor)
    scope, _ = lowering.region(graph, given)
    outputs: list[Tensor] = []
    for value in scope.graph.outputs[:len(graph.outputs)]:
        access = scope.get(value)
        tensor = access.tensor
        same = access.base is None and access.view.offset == 0 and access.view.is_contiguous
        if not (same and tensor.dtype is value.dtype and tensor not in lowering.tensors.constants
                and access.view.size * tensor.element_bytes == tensor.nbytes):
            tensor = scope.result(value, "result")
            scope.works.append(Move(access, whole(tensor), value.node.source.told("result")))
        outputs.append(tensor)
    constants = lowering.tensors.constants

    def passed(works: list[Work], results: Sequence[Tensor],
               passes: Mapping[str, Callable[[list[Work]], list[Work]]]) -> list[Work]:
        for name, step in passes.items():
            works = step(works)
            if enabled():
                check_works(config, works, (*inputs, *constants), results, name)
        return works

    donated = _donated(graph, inputs, outputs)
    origins = {tensor: value.node.source.told("result")
               for value, tensor in zip(graph.outputs, outputs, strict=True)}
    while True:
        results = [donated.get(tensor, tensor) for tensor in outputs]
        fixed = {*inputs, *results, *constants}
        works = passed([*scope.works, *(Move(whole(tensor), whole(to), origins[tensor])
                                        for tensor, to in donated.items())], results, {
            "lowering": lambda works: works,
            "coalesce": lambda works, fixed=fixed: coalesce(works, fixed),
            "forward": lambda works, fixed=fixed: forward(works, fixed),
            "dead": lambda works, fixed=fixed: without_dead(works, fixed)})
        left = {work.dst.tensor for work in works if isinstance(work, Move)}
        if left.isdisjoint(donated.values()):
            break
        donated = {tensor: to for tensor, to in donated.items() if to not in left}
    works = passed(works, results, {
        "turned": lambda works: turned(config, works, lowering.tensors),
        "order": lambda works: longest_last(config, works),
        "beside": lambda works: side_by_side(config, works)})
    return Lowered(works, lowering.tensors.made, constants, tuple(inputs), tuple(results),
                   tuple(lowering.apart))
