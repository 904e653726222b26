"""Lowered work as text, a line for each piece, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from celosia.arch.vector import Post, Reduce
from celosia.compiler.codegen.blocks import Emitted
from celosia.compiler.groups import Group
from celosia.compiler.kernels.terms import Extent, Leaf, Term
from celosia.compiler.lowered import (
    Access,
    Case,
    Cluster,
    Code,
    Dot,
    External,
    Fill,
    GatherRows,
    Move,
    OnChip,
    ReadWord,
    ScatterRows,
    Tensor,
    While,
    Work,
)

__all__ = ["blocks_text", "code_text", "group_text", "names_of", "tensor_text", "work_text"]


def _extent(extent: Extent) -> str:
    assert extent.name
    return extent.name.lower()


def _sizes(sizes: Iterable[int]) -> str:
    return "[" + ",".join(map(str, sizes)) + "]"


def tensor_text(tensor: Tensor) -> str:
    """Return name, type and home of a tensor."""
    home = "nowhere yet"
    if isinstance(tensor.home, External):
        home = f"byte {tensor.home.offset} of the arena"
    elif isinstance(tensor.home, OnChip):
        home = f"{tensor.home.mem.name.lower()} row {tensor.home.row}"
    return f"{tensor.name}: {tensor.dtype}{_sizes(tensor.shape)} at {home}"


def _access(access: Access, whole: bool = False) -> str:
    name, view = access.tensor.name, access.view
    if whole and view.is_contiguous and not view.offset and access.base is None:
        return name
    start = f" from {view.offset}" if view.offset else ""
    if access.base is not None:
        start += " + register"
    return f"{name}{_sizes(view.shape)} by {_sizes(view.strides)}{start}"


def group_text(group: Group) -> str:
    """Return the space and the operations of a group of nodes."""
    names = " ".join(node.op for node in group.nodes)
    return f"{_sizes(group.space.dims)}: {names}"


def _cluster(work: Cluster) -> Iterator[str]:
    kind = "cluster" if work.product is None else type(work.product).__name__.lower()
    kept = f", rows joined down to {_sizes(work.space[:work.kept])}" if work.kept < (
        len(work.space) - 1) else ""
    yield f"{kind} over {_sizes(work.space)}{kept}: {work.source}"
    if isinstance(work.product, Dot):
        yield f"  lhs {_access(work.product.lhs)}"
        yield f"  rhs {_access(work.product.rhs)}"
        if work.product.turned is not None:
            yield f"  leaves lhs transposed in {_access(work.product.turned)}"
    elif work.product is not None:
        yield f"  x {_access(work.product.x)}"
        yield f"  w {_access(work.product.w)}"
    for read in work.reads:
        yield f"  reads {_extent(read.extent)} {_access(read.access)}"
    for write in work.writes:
        yield f"  writes {_extent(write.extent)} {_access(write.access)}"


def work_text(work: Work) -> str:
    """Return a piece of work, and all that is in it, in lines."""
    return "\n".join(_lines(work))


def _lines(work: Work) -> Iterator[str]:
    match work:
        case Cluster():
            yield from _cluster(work)
        case Move():
            yield f"move {_access(work.src)} to {_access(work.dst)}: {work.source}"
        case Fill():
            yield f"fill {_access(work.dst, True)} with {work.word:#x}: {work.source}"
        case GatherRows():
            yield (f"gather rows {work.indices.tensor.name} of {_access(work.table, True)} to "
                   f"{_access(work.dst, True)}: {work.source}")
        case ScatterRows():
            yield (f"scatter {_access(work.updates, True)} to rows {work.indices.tensor.name} of "
                   f"{_access(work.table, True)}: {work.source}")
        case ReadWord():
            yield f"read {_access(work.access, True)} into a register: {work.source}"
        case While():
            turns = f"{work.trips} times" if work.trips is not None else "while"
            yield f"loop, {turns}: {work.source}"
            for part in work.cond:
                yield from ("  while " + line for line in _lines(part))
            for part in work.body:
                yield from ("  " + line for line in _lines(part))
        case Case():
            yield f"branch on {work.index.tensor.name}: {work.source}"
            for i, branch in enumerate(work.branches):
                for part in branch:
                    yield from (f"  {i}: " + line for line in _lines(part))


def _operand(arg: Term, names: Mapping[Term, str]) -> str:
    if arg.op is Leaf.WORD:
        return f"{arg.param:#010x}"
    if arg.op in (Leaf.LANE, Leaf.ROW):
        return f"{arg.op.name.lower()} + {arg.param}"
    return names[arg]


def names_of(code: Code) -> dict[Term, str]:
    """Return what `code_text` calls the terms."""
    return {term: f"t{i}" for i, term in enumerate(code.terms)}


def code_text(code: Code) -> str:
    """Return the vector instructions of a cluster, a line for each."""
    names = names_of(code)
    lines = [f"{names[term]} = {_extent(term.extent)} {value.type}, {value.node.op}"
             for value, term in code.inputs.items()]
    for step in code.steps:
        text = f"{names[step]} = {step.op.name.lower()} " + ", ".join(
            _operand(arg, names) for arg in step.args)
        if step.post is not Post.NONE:
            text += f", then {step.post.name.lower()}"
        if step.reduce is not Reduce.NONE:
            text += f", {step.reduce_op.name.lower()} over {step.reduce.name.lower()}"
        lines.append(text + ("" if step.extent is Extent.FULL else f"  ({_extent(step.extent)})"))
    lines += [f"write {names[term]}" for term in code.outputs.values()]
    return "\n".join(lines)


def blocks_text(emitted: Emitted) -> str:
    """Return how many operations of which kind the blocks of a piece of work have."""
    def count(ops: Iterable) -> str:
        found: dict[str, int] = {}
        for op in ops:
            found[op.mnemonic] = found.get(op.mnemonic, 0) + 1
        return ", ".join(f"{number} {name}" for name, number in found.items()) or "nothing"

    lines = [f"before: {count(emitted.before)}"]
    shapes: list[tuple[str, int]] = []
    for block in emitted.blocks:
        text = " | ".join(count(stage) for stage in block.stages)
        if shapes and shapes[-1][0] == text:
            shapes[-1] = (text, shapes[-1][1] + 1)
        else:
            shapes.append((text, 1))
    lines += [f"{number} block{'s'[:number != 1]}: {text}" for text, number in shapes]
    return "\n".join([*lines, f"after: {count(emitted.after)}"])
