"""What the vector unit does for a cluster, once and in each block, before anything has rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem
from celosia.arch.vector import Reduce, VectorOp
from celosia.arch.words import ceil_div
from celosia.compiler.kernels.terms import Extent, Leaf, Term
from celosia.compiler.layout import has_one_stride
from celosia.compiler.lowered import Cluster, Code, OnChip, Read, Write

__all__ = ["Script", "script"]

#: Panels from which on lane indexes are kept as a row value: two instructions for all panels.
_MANY_PANELS = 3
#: Part of the accumulators that values of one row may take for the whole cluster.
_ROWS_SHARE = 4


@dataclass
class Script:
    """The steps, joins and writes of a cluster.

    What is written has a destination; what is joined over rows before that has ``reduce`` ROWS.

    Attributes
    ----------
    once, block
        In order: those of one row, and those of each block.
    reads
        The values that are read.
    homes
        Values that are made in the rows of a tensor on chip.
    sums
        The value that is the product's result.
    indexes
        Values that are lane indexes, and their bases.
    rows_once
        Whether values of one row are made once; else each block makes its panels of them.
    kept
        Values that are made once.
    moved
        Values that are read on chip, but must be moved first: their rows are written too early.
    """

    reads: dict[Term, Read]
    sums: Term | None
    rows_once: bool
    once: list[Term] = field(default_factory=list)
    block: list[Term] = field(default_factory=list)
    homes: dict[Term, Write] = field(default_factory=dict)
    indexes: dict[Term, int] = field(default_factory=dict)
    kept: set[Term] = field(default_factory=set)
    moved: set[Term] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.kept |= {value for value in self.reads if self._may_be_kept(value)}

    def _may_be_kept(self, value: Term) -> bool:
        return value.extent is Extent.SCALAR or (value.extent is Extent.LANES and self.rows_once)

    def add(self, step: Term) -> None:
        """Append a step to those that it belongs to."""
        once = all(value in self.kept for value in step.values)
        if step.destination is None:
            if once and self._may_be_kept(step):
                self.kept.add(step)
            else:
                once = False
        else:
            once = once and step.reduce is not Reduce.ROWS and bool(step.values)
        (self.once if once else self.block).append(step)


def _kept_indexes(made: Script, code: Code, panels: int) -> Code:
    """Return the code with lane indexes as rows that are made once, where that pays."""
    if not made.rows_once or panels < _MANY_PANELS:
        return code
    bases: dict[int, Term] = {}

    def moved(leaf: Term) -> Term:
        if leaf.op is not Leaf.LANE:
            return leaf
        if leaf.param not in bases:
            bases[leaf.param] = index = Term(VectorOp.MOV, (leaf,), Extent.LANES)
            made.indexes[index] = leaf.param
            made.kept.add(index)
        return bases[leaf.param]

    return code.replaced(moved)


def _is_home(write: Write, uses: int, ragged: bool) -> bool:
    """Whether a value that is used so often may be made where it is written."""
    home = write.access.tensor.home
    if not isinstance(home, OnChip) or not has_one_stride(
            write.access.view, write.extent):
        return False
    if home.mem == Mem.ACC:
        return True
    return uses == 1 and not (ragged and Extent.LANES in write.extent)


def script(config: TpuConfig, cluster: Cluster, code: Code) -> Script:
    """Put the steps, joins and writes of a cluster into order."""
    lanes = cluster.space[-1] if cluster.space else 1
    ragged = lanes % config.dim != 0 and lanes != 1
    panels = ceil_div(lanes, config.dim)
    rows = panels * sum(term.extent is Extent.LANES for term in code.terms)
    made = Script({code.inputs[read.value]: read for read in cluster.reads
                   if read.value in code.inputs},
                  None if cluster.result is None else code.inputs.get(cluster.result),
                  rows * _ROWS_SHARE <= config.acc_rows)
    code = _kept_indexes(made, code, panels)
    steps = list(code.steps)
    makers = {*steps}
    used = Counter(value for step in steps for value in set(step.values))
    used.update(code.outputs[write.value] for write in cluster.writes)
    after: dict[Term | None, list[Term]] = {}
    for write in cluster.writes:
        value = code.outputs[write.value]
        if value.reduce is Reduce.ROWS:
            if value in steps:
                steps.remove(value)
            # It is done as soon as its operands are there.
            after.setdefault(_latest(steps, value), []).append(replace(value, destination=write))
            continue
        if value.extent != write.extent or (
                value in made.reads
                and isinstance(made.reads[value].access.tensor.home, OnChip)):
            copy = Term(VectorOp.MOV, (value,), write.extent, origin=value.origin)
            after.setdefault(value if value in makers else None, []).append(copy)
            makers.add(copy)
            used[copy], value = 1, copy
        if (value in makers and value not in made.homes
                and _is_home(write, used[value], ragged)):
            made.homes[value] = write
        else:
            place = value if value in makers else None
            after.setdefault(place, []).append(
                Term(VectorOp.MOV, (value,), write.extent, destination=write,
                     origin=value.origin))
    _order(made, steps, after)
    made.moved = {value for value in made.reads if not _outlives(made, value, panels)}
    return made


def _outlives(made: Script, value: Term, panels: int) -> bool:
    """Whether the rows of a read on chip are not written before it is used the last time.

    An instruction may write the rows that it reads where that is one walk of single steps.
    """
    read = made.reads[value]
    tensor = read.access.tensor
    targets = [write.access.tensor for write in made.homes.values()]
    targets += [step.destination.access.tensor for step in (*made.once, *made.block)
                if step.destination]
    if not isinstance(tensor.home, OnChip) or tensor not in targets:
        return True
    if read.extent is not Extent.FULL or panels > 1:
        return False
    used = [i for i, step in enumerate(made.block) if value in step.values]
    written = [i for i, step in enumerate(made.block)
               if (step.destination and step.destination.access.tensor is tensor)
               or (step in made.homes and made.homes[step].access.tensor is tensor)]
    return bool(written) and max(used, default=-1) <= min(written) and not any(
        made.block[i].reduce is Reduce.LANES for i in written)


def _latest(steps: list[Term], step: Term) -> Term | None:
    """Return the last operand of a step that is made by one of ``steps``."""
    return next((other for other in reversed(steps) if other in step.values), None)


def _order(made: Script, steps: list[Term], after: dict[Term | None, list[Term]]) -> None:
    """Fill `once` and `block`: every step, and what writes its result right behind it."""

    def add(step: Term) -> None:
        made.add(step)
        for follower in after.get(step, ()):
            add(follower)

    for index in made.indexes:
        for follower in after.get(index, ()):
            add(follower)
    for step in after.get(None, ()):
        add(step)
    for step in steps:
        add(step)
