"""The rules of `celosia.compiler.lowered`."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

from celosia.arch.config import TpuConfig
from celosia.compiler.accesses import accesses, inner
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import (
    Access,
    Case,
    Cluster,
    Convolution,
    Dot,
    Fill,
    GatherRows,
    Move,
    Read,
    ReadWord,
    ScatterRows,
    Tensor,
    While,
    Work,
    Write,
    storage,
)
from celosia.compiler.verify import refuse
from celosia.graph import DType, Value

__all__ = ["check_works", "reach"]

_INDEX = (DType.I32, DType.U32)


def check_works(config: TpuConfig, works: Sequence[Work], inputs: Collection[Tensor],
                outputs: Collection[Tensor], level: str) -> None:
    """Check a list of work.

    Parameters
    ----------
    inputs
        Tensors that hold something when it begins: parameters and constants.
    outputs
        Tensors that must be written when it ends.
    level
        What has made it, for the message.

    Raises
    ------
    IllFormed
        With every rule that is broken, and where.
    """
    order = _Order(inputs)
    refuse(f"work after {level}", [
        *(f"{_name(work)}: {problem}" for work in _all(works) for problem in _work(config, work)),
        *order.works(works),
        *(f"result {tensor.name} must be written" for tensor in outputs
          if tensor not in order.written and math.prod(tensor.shape))])


def _all(works: Sequence[Work]) -> Iterator[Work]:
    for work in works:
        yield work
        for part in inner(work):
            yield from _all(part)


def _name(work: Work) -> str:
    return f"{type(work).__name__} of {work.source or 'unknown source'}"


def reach(access: Access) -> tuple[int, int]:
    """Return the first and the last element of its tensor that an access shows, without a base."""
    view = access.view
    steps = [(size - 1) * stride for size, stride in zip(view.shape, view.strides, strict=True)]
    return (view.offset + sum(min(step, 0) for step in steps),
            view.offset + sum(max(step, 0) for step in steps))


def _access(config: TpuConfig, access: Access) -> Iterator[str]:
    tensor, view = access.tensor, access.view
    if len(view.shape) != len(view.strides):
        yield f"a view of {tensor.name} must have as many strides as sizes, not {view}"
        return
    if tensor.format is not storage(config, tensor.dtype):
        yield (f"{tensor.name} of {tensor.dtype} must be stored as "
               f"{storage(config, tensor.dtype).name}, not {tensor.format.name}")
    if view.size:
        first, last = reach(access)
        count = math.prod(tensor.shape)
        if first < 0 or last >= count:
            yield (f"a view of {tensor.name} must be within its {count} elements, not reach from "
                   f"{first} to {last}")


def _work(config: TpuConfig, work: Work) -> Iterator[str]:
    if not inner(work):
        for access, _ in accesses(work):
            yield from _access(config, access)
    match work:
        case Cluster():
            yield from _cluster(config, work)
        case Move():
            yield from _move(work)
        case Fill():
            if not 0 <= work.word < 1 << 32:
                yield f"the word must have 32 bits, not be {work.word:#x}"
        case GatherRows():
            yield from _rows(work.table, work.indices, work.dst)
        case ScatterRows():
            yield from _rows(work.table, work.indices, work.updates)
        case ReadWord():
            yield from _single("the access", work.access)
        case While():
            yield from _while(work)
        case Case():
            yield from _single("the index", work.index)
            if not work.branches:
                yield "there must be a branch"


def _single(what: str, access: Access) -> Iterator[str]:
    if access.view.size != 1:
        yield f"{what} must be of one element, not of {list(access.view.shape)}"


def _move(work: Move) -> Iterator[str]:
    src, dst = work.src, work.dst
    if src.view.shape != dst.view.shape:
        yield (f"source and target must have one shape, not {list(src.view.shape)} and "
               f"{list(dst.view.shape)}")
    if src.tensor.format is not dst.tensor.format:
        yield (f"source and target must have one format, not {src.tensor.format.name} and "
               f"{dst.tensor.format.name}")


def _rows(table: Access, indices: Access, moved: Access) -> Iterator[str]:
    shapes = [list(each.view.shape) for each in (table, indices, moved)]
    if [len(shape) for shape in shapes] != [2, 1, 2] or (
            shapes[2] != [shapes[1][0], shapes[0][1]]):
        yield ("table, indices and rows must have the shapes [R,C], [K] and [K,C], not "
               + ", ".join(map(str, shapes)))
    if indices.tensor.dtype not in _INDEX:
        yield f"indices must be of i32 or u32, not {indices.tensor.dtype}"
    if table.tensor.dtype is not moved.tensor.dtype:
        yield (f"table and rows must have one type, not {table.tensor.dtype} and "
               f"{moved.tensor.dtype}")


def _while(work: While) -> Iterator[str]:
    if work.trips is None:
        if work.predicate is None:
            yield "a loop must have a predicate or a number of turns"
        else:
            yield from _single("the predicate", work.predicate)
        if work.counts:
            yield "only a loop with a number of turns may count registers"
    elif work.trips < 0 or work.cond or work.predicate is not None:
        yield f"a loop of {work.trips} turns must have no condition"


def _cluster(config: TpuConfig, work: Cluster) -> Iterator[str]:
    space = work.space
    if not 0 <= work.kept <= max(len(space) - 1, 0):
        yield f"kept must be a number of row dimensions of {list(space)}, not {work.kept}"
    for each in work.reads:
        yield from _use("read", each, [_shape(space, each.extent)])
    for each in work.writes:
        wanted = [_shape(space, each.extent)]
        if work.kept < len(space) - 1:
            wanted.append(_shape((*space[:work.kept], *space[-1:]), each.extent))
        if Extent.ROWS not in each.extent:
            yield (f"{each.access.tensor.name} must be written with rows, FULL or ROWS, not "
                   f"{each.extent.name}")
        yield from _use("written", each, wanted)
    if len({read.value for read in work.reads}) < len(work.reads):
        yield "values must be read once each"
    if len({write.access for write in work.writes}) < len(work.writes):
        yield "places must be written once each"
    yield from _nodes(work)
    if (work.product is None) != (work.result is None):
        yield "a product must have a result, and nothing else"
    if isinstance(work.product, Dot):
        yield from _dot(config, work, work.product)
    elif isinstance(work.product, Convolution):
        yield from _convolution(work, work.product)


def _shape(space: tuple[int, ...], extent: Extent) -> tuple[int, ...]:
    rows = space[:-1] if Extent.ROWS in extent else ()
    return rows + (space[-1:] if Extent.LANES in extent else ())


def _use(what: str, use: Read | Write, wanted: list[tuple[int, ...]]) -> Iterator[str]:
    view, name = use.access.view, use.access.tensor.name
    if view.shape not in wanted:
        yield (f"{name}, {what} {use.extent.name}, must have the shape "
               f"{' or '.join(str(list(shape)) for shape in wanted)}, not {list(view.shape)}")
    elif Extent.LANES in use.extent and view.shape and (
            view.shape[-1] != 1 and view.strides[-1] != 1):
        yield (f"{name}, {what} {use.extent.name}, must have the last stride 1, not "
               f"{view.strides[-1]}")


def _nodes(work: Cluster) -> Iterator[str]:
    """Yield what is wrong with the order of nodes, and which reads and nodes have no use."""
    known: set[Value] = {read.value for read in work.reads}
    if work.result is not None:
        known.add(work.result)
    used: set[Value] = {write.value for write in work.writes}
    for node in work.nodes:
        # What a reduction starts from changes nothing, and is not there.
        needed = node.operands[:1] if node.op == "reduce" else node.operands
        # Of what goes through a barrier together some may be made later, or be no concern of this.
        missing = [value for value in needed if value not in known and node.op != "barrier"]
        if missing:
            yield (f"{node.op} must come after what it needs, and {missing[0].node.op} is neither "
                   "read nor made before it")
        known.update(node.results)
        used.update(needed)
    made = {write.value for write in work.writes} - known
    if made:
        yield f"what is written must be read or made, and {next(iter(made)).node.op} is not"
    idle = [read.access.tensor.name for read in work.reads if read.value not in used]
    idle += [node.op for node in work.nodes if used.isdisjoint(node.results)]
    if idle:
        yield f"everything must have a use, and {', '.join(idle)} has none"


def _streamed(what: str, access: Access) -> Iterator[str]:
    view = access.view
    if not any(view.shape[i] == 1 or view.strides[i] == 1 for i in (1, 2)):
        yield (f"{what} must have the stride 1 along one of its last two dimensions, not "
               f"{list(view.strides)}")


def _dot(config: TpuConfig, work: Cluster, product: Dot) -> Iterator[str]:
    lhs, rhs, space = product.lhs.view.shape, product.rhs.view.shape, work.space
    if len(lhs) != 3 or len(rhs) != 3 or len(space) < 2:
        yield (f"operands must have the shapes [B,M,K] and [B,K,N], not {list(lhs)} and "
               f"{list(rhs)}")
        return
    wanted = (space[0], math.prod(space[1:-1]), lhs[2])
    if lhs != wanted or rhs != (space[0], lhs[2], space[-1]):
        yield (f"operands over {list(space)} must have the shapes [B,M,K] and [B,K,N], not "
               f"{list(lhs)} and {list(rhs)}")
    yield from _streamed("the left operand", product.lhs)
    yield from _streamed("the right operand", product.rhs)
    if product.turned is not None and (lhs[0] != 1 or lhs[1] % config.dim):
        yield (f"an operand that is transposed must be one matrix of a multiple of {config.dim} "
               f"rows, not {list(lhs)}")


def _convolution(work: Cluster, product: Convolution) -> Iterator[str]:
    x, w = product.x.view, product.w.view
    if len(x.shape) != 4 or len(w.shape) != 4 or len(work.space) != 4:
        yield f"operands must have four dimensions, not {list(x.shape)} and {list(w.shape)}"
        return
    sizes = [1 + (size - (1 + (taps - 1) * dilation)) // stride
             for size, taps, stride, dilation in zip(
                 x.shape[1:3], w.shape[:2], product.stride, product.dilation, strict=True)]
    wanted = (x.shape[0], *sizes, w.shape[3])
    if work.space != wanted or x.shape[3] != w.shape[2]:
        yield (f"a convolution of {list(x.shape)} by {list(w.shape)} must be over {list(wanted)}, "
               f"not {list(work.space)}")
    for what, view in (("x", x), ("w", w)):
        if view.shape[-1] != 1 and view.strides[-1] != 1:
            yield f"{what} must have the last stride 1, not {view.strides[-1]}"


class _Order:
    """Whether tensors and registers hold something when they are read."""

    def __init__(self, inputs: Collection[Tensor]):
        self.written: set[Tensor] = set(inputs)
        self.bases: set[Base] = set()

    def works(self, works: Sequence[Work]) -> Iterator[str]:
        for work in works:
            yield from self.work(work)

    def work(self, work: Work) -> Iterator[str]:
        if isinstance(work, While):
            yield from self.loop(work)
        elif isinstance(work, Case):
            yield from self.touched(work, [(work.index, False)])
            before, after = self.written, []
            for branch in work.branches:
                self.written = set(before)
                yield from self.works(branch)
                after.append(self.written)
            self.written = set.intersection(*after) if after else before
        else:
            yield from self.touched(work, list(accesses(work)))
            if isinstance(work, ReadWord):
                self.bases.add(work.base)

    def loop(self, work: While) -> Iterator[str]:
        self.bases.update(base for base, _, _ in work.counts)
        yield from self.works(work.cond)
        if work.predicate is not None:
            yield from self.touched(work, [(work.predicate, False)])
        before = set(self.written)
        yield from self.works(work.body)
        if not work.trips:  # perhaps no turn at all
            self.written = before

    def touched(self, work: Work, found: list[tuple[Access, bool]]) -> Iterator[str]:
        for access, _ in found:
            if access.base is not None and access.base not in self.bases:
                yield (f"{_name(work)}: the address of {access.tensor.name} must be read before "
                       "it is used")
        if isinstance(work, Move) and work.src.tensor not in self.written:
            return  # a copy of nothing: what reads it is wrong
        for access, written in found:
            if not written and access.tensor not in self.written and access.view.size:
                yield f"{_name(work)}: {access.tensor.name} must be written before it is read"
        self.written.update(access.tensor for access, written in found if written)
