"""The rules of the vector IR: `celosia.compiler.lowered.Code`, after selection and fusion."""

from __future__ import annotations

from collections.abc import Iterator

from celosia.arch.config import TpuConfig
from celosia.arch.vector import DIV_OPS, MOVEMENT_OPS, Post, Reduce, VectorOp, operand_names
from celosia.compiler.kernels.terms import STREAMS, Extent, Leaf, Term, extent_of
from celosia.compiler.lowered import Cluster, Code
from celosia.compiler.verify import refuse

__all__ = ["check_code"]


def check_code(config: TpuConfig, cluster: Cluster, code: Code) -> None:
    """Check the vector instructions of a cluster.

    Raises
    ------
    IllFormed
        With every rule that is broken, and where.
    """
    refuse(f"vector code of {cluster.source or 'unknown source'}", [
        *_inputs(cluster, code), *_steps(code),
        *(f"step {i}, {_name(step)}, {problem}" for i, step in enumerate(code.steps)
          for problem in _step(config, step, cluster.space[-1:] in ((), (1,)))),
        *_outputs(cluster, code)])


def _name(term: Term) -> str:
    post = "" if not term.post else f", then {term.post.name.lower()}"
    return f"{term.op.name.lower()}{post}"


def _inputs(cluster: Cluster, code: Code) -> Iterator[str]:
    wanted = {read.value: read.extent for read in cluster.reads}
    if cluster.result is not None:
        wanted[cluster.result] = Extent.FULL
    for value, extent in wanted.items():
        term = code.inputs.get(value)
        if term is None:
            yield f"what is read must have a term, and {value.node.op} has none"
        elif term.op is not Leaf.READ or term.extent is not extent:
            yield (f"the term of {value.node.op} must be a read of {extent.name}, not "
                   f"{_name(term)} of {term.extent.name}")
    for value in code.inputs.keys() - wanted.keys():
        yield f"what has a term must be read, and {value.node.op} is not"


def _steps(code: Code) -> Iterator[str]:
    """Yield what is used before it is made, and what has no use."""
    known = set(code.inputs.values())
    used = set(code.outputs.values())
    for i, step in enumerate(code.steps):
        for arg in step.args:
            if (arg.args or arg.op is Leaf.READ) and arg not in known:
                yield (f"step {i}, {_name(step)}, must come after what it needs, and {_name(arg)} "
                       "is neither read nor made before it")
            if arg.reduce is Reduce.ROWS:
                yield (f"step {i}, {_name(step)}, must not read what is joined over rows: that is "
                       "written and nothing else")
        known.add(step)
        used.update(step.args)
    if len(set(code.steps)) < len(code.steps):
        yield "steps must be there once each"
    for i, step in enumerate(code.steps):
        if step not in used:
            yield f"step {i}, {_name(step)}, must have a use"


def _step(config: TpuConfig, step: Term, narrow: bool) -> Iterator[str]:
    """Yield what is wrong with a step; ``narrow``: to join the one lane that there is is a move."""
    if isinstance(step.op, Leaf):
        yield f"must be an instruction, not a {step.op.name}"
        return
    names = operand_names(step.op, step.post)
    if len(step.args) != len(names):
        yield f"must have {len(names)} operands, not {len(step.args)}"
    if step.op in MOVEMENT_OPS:
        yield "must not move words between rows and lanes"
    if step.post is Post.DIV and step.op not in DIV_OPS:
        yield "must not have the second stage div, which takes c"
    if step.reduce is Reduce.COLLECT:
        yield "must be joined over rows or lanes, not collected"
    if step.destination is not None:
        yield "must have no destination yet"
    streams = sum(arg.is_stream for arg in step.args)
    if streams > STREAMS:
        yield f"must read {STREAMS} streams at most, not {streams}"
    # What joins rows has those that the cluster keeps.
    lanes = step.reduce is Reduce.LANES or (narrow and step.extent is Extent.ROWS)
    extent = extent_of(step.args, Reduce.LANES if lanes else Reduce.NONE)
    # A move may repeat its operand over more rows and lanes.
    repeats = step.op is VectorOp.MOV and not lanes
    if extent is not step.extent and not (repeats and extent in step.extent):
        yield f"must have the extent of its operands, {extent.name}, not {step.extent.name}"
    if step.needs_bf16 and not config.bf16:
        yield "must not be floating point on a chip without"


def _outputs(cluster: Cluster, code: Code) -> Iterator[str]:
    made = {*code.steps, *([] if cluster.result is None else [code.inputs.get(cluster.result)])}
    for write in cluster.writes:
        term, name = code.outputs.get(write.value), write.access.tensor.name
        if term is None:
            yield f"{name}, which is written, must have a term"
        elif term not in made:
            yield f"{name} must be written by a step, or be the product's result, not {_name(term)}"
        elif term.extent is not write.extent:
            yield f"{name} must be written of {write.extent.name}, not of {term.extent.name}"
