"""What the vector unit does for a cluster, once and in each block, before anything has rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem
from celosia.arch.vector import Post, Reduce, ReduceOp, VectorOp
from celosia.arch.words import ceil_div
from celosia.compiler.emit.dma import merged
from celosia.compiler.lowered import Access, Cluster, Code, Extent, OnChip, Read, Write
from celosia.kernels.trace import Index, Scalar, Tile, Word

__all__ = ["Action", "Script", "has_one_stride", "script"]

#: Panels from which on lane indexes are kept as a row value: two instructions for all panels.
_MANY_PANELS = 3
#: Part of the accumulators that values of one row may take for the whole cluster.
_ROWS_SHARE = 4


@dataclass(frozen=True, eq=False)
class Action:
    """One step over all rows and panels of a block.

    Attributes
    ----------
    op, operands, post, param, reduce, reduce_op
        As of a step; values are numbers.
    result
        The value that it makes, or None.
    write
        Where the result goes instead: the one value that it writes.
    join
        With ``write``: how rows are joined before.
    """

    op: VectorOp
    operands: tuple[int | Word | Index, ...]
    post: Post = Post.NONE
    param: int = 0
    reduce: Reduce = Reduce.NONE
    reduce_op: ReduceOp = ReduceOp.SUM_I
    result: int | None = None
    write: Write | None = None
    join: ReduceOp | None = None

    @property
    def values(self) -> tuple[int, ...]:
        """The operands that are values."""
        return tuple(operand for operand in self.operands if isinstance(operand, int))

    @property
    def moves(self) -> bool:
        """Whether it gives its one value as it is."""
        return self.op == VectorOp.MOV and not self.post and bool(self.values)

    def indexes(self, of_row: bool) -> bool:
        """Whether it has an index of this kind among its operands."""
        return any(isinstance(operand, Index) and operand.of_row == of_row
                   for operand in self.operands)


@dataclass
class Script:
    """Actions of a cluster.

    Attributes
    ----------
    once, block
        In order: those of one row, and those of each block.
    extents
        Of every value.
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

    extents: dict[int, Extent]
    reads: dict[int, Read]
    sums: int | None
    rows_once: bool
    once: list[Action] = field(default_factory=list)
    block: list[Action] = field(default_factory=list)
    homes: dict[int, Write] = field(default_factory=dict)
    indexes: dict[int, int] = field(default_factory=dict)
    kept: set[int] = field(default_factory=set)
    moved: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.kept |= {value for value in self.reads if self._may_be_kept(value)}

    def _may_be_kept(self, value: int) -> bool:
        extent = self.extents[value]
        return extent == Extent.SCALAR or (extent == Extent.ROW and self.rows_once)

    def add(self, action: Action) -> None:
        """Append an action to those that it belongs to."""
        once = action.join is None and all(value in self.kept for value in action.values)
        if action.result is not None:
            once = once and self._may_be_kept(action.result)
        elif action.write is not None:
            once = once and bool(action.values)
        if once and action.result is not None:
            self.kept.add(action.result)
        (self.once if once else self.block).append(action)

    def new(self, extent: Extent) -> int:
        """Return the number of another value."""
        number = max(self.extents, default=-1) + 1
        self.extents[number] = extent
        return number


def has_one_stride(access: Access, extent: Extent, rows: tuple[int, ...]) -> bool:
    """Whether all rows of an access are as far from one another: an instruction reaches them."""
    strides = {Extent.FULL: access.view.strides[:-1],
               Extent.COLUMN: access.view.strides}.get(extent, ())
    return not strides or len(merged(list(zip(rows, strides, strict=True)))) <= 1


def _operand(operand: Tile | Word | Scalar | Index) -> int | Word | Index:
    assert not isinstance(operand, Scalar), operand
    return operand.number if isinstance(operand, Tile) else operand


def _computes(made: Script, code: Code, panels: int) -> list[Action]:
    """Return the steps as actions."""
    bases: dict[int, int] = {}
    out = []
    for step in code.steps:
        operands = []
        for operand in map(_operand, step.operands):
            if (made.rows_once and isinstance(operand, Index) and not operand.of_row
                    and panels >= _MANY_PANELS):
                if operand.base not in bases:
                    bases[operand.base] = number = made.new(Extent.ROW)
                    made.indexes[number] = operand.base
                    made.kept.add(number)
                operand = bases[operand.base]
            operands.append(operand)
        out.append(Action(step.op, tuple(operands), step.post, step.param, step.reduce,
                          step.reduce_op, step.result.number))
    return out


def _is_home(write: Write, uses: int, ragged: bool, rows: tuple[int, ...]) -> bool:
    """Whether a value that is used so often may be made where it is written."""
    home = write.access.tensor.home
    if not isinstance(home, OnChip) or not has_one_stride(write.access, write.extent, rows):
        return False
    if home.mem == Mem.ACC:
        return True
    return uses == 1 and not (ragged and write.extent in (Extent.FULL, Extent.ROW))


def script(config: TpuConfig, cluster: Cluster, code: Code) -> Script:
    """Put the steps, joins and writes of a cluster into order."""
    lanes = cluster.space[-1] if cluster.space else 1
    ragged = lanes % config.dim != 0 and lanes != 1
    panels = ceil_div(lanes, config.dim)
    rows = panels * sum(extent == Extent.ROW for extent in code.extents.values())
    made = Script(dict(code.extents),
                  {code.inputs[read.value].number: read for read in cluster.reads
                   if read.value in code.inputs},
                  None if cluster.result is None or cluster.result not in code.inputs
                  else code.inputs[cluster.result].number,
                  rows * _ROWS_SHARE <= config.acc_rows)
    computes = _computes(made, code, panels)
    makers = {action.result: action for action in computes}
    used = Counter(value for action in computes for value in set(action.values))
    used.update(code.outputs[write.value].number for write in cluster.writes)
    after: dict[int | None, list[Action]] = {}
    for write in cluster.writes:
        number = code.outputs[write.value].number
        join = code.joins.get(write.value)
        maker = makers.get(number)
        if join is not None:
            fused = maker is not None and used[number] == 1 and not maker.reduce
            first = maker if fused and maker else Action(VectorOp.MOV, (number,))
            if fused:
                computes.remove(first)
            action = replace(first, result=None, write=write, join=join)
            # A step that is joined at once stays where it was: after all of its operands.
            place = _latest(computes, action) if fused else number if maker else None
            after.setdefault(place, []).append(action)
            continue
        if made.extents[number] != write.extent or (
                number in made.reads
                and isinstance(made.reads[number].access.tensor.home, OnChip)):
            copy = made.new(write.extent)
            copying = Action(VectorOp.MOV, (number,), result=copy)
            after.setdefault(number if maker else None, []).append(copying)
            makers[copy], used[copy], number = copying, 1, copy
        if (number in makers and number not in made.homes
                and _is_home(write, used[number], ragged, cluster.space[:-1])):
            made.homes[number] = write
        else:
            place = number if number in makers else None
            after.setdefault(place, []).append(
                Action(VectorOp.MOV, (number,), write=write))
    _order(made, computes, after)
    made.moved = {value for value in made.reads if not _outlives(made, value, panels)}
    return made


def _outlives(made: Script, value: int, panels: int) -> bool:
    """Whether the rows of a read on chip are not written before it is used the last time.

    An instruction may write the rows that it reads where that is one walk of single steps.
    """
    read = made.reads[value]
    tensor = read.access.tensor
    targets = [write.access.tensor for write in made.homes.values()]
    targets += [action.write.access.tensor for action in (*made.once, *made.block) if action.write]
    if not isinstance(tensor.home, OnChip) or tensor not in targets:
        return True
    if read.extent is not Extent.FULL or panels > 1:
        return False
    used = [i for i, action in enumerate(made.block) if value in action.values]
    written = [i for i, action in enumerate(made.block)
               if (action.write is not None and action.write.access.tensor is tensor)
               or (action.result in made.homes
                   and made.homes[action.result].access.tensor is tensor)]
    return bool(written) and max(used, default=-1) <= min(written) and not any(
        made.block[i].reduce for i in written)


def _latest(computes: list[Action], action: Action) -> int | None:
    """Return the last operand of an action that is made by one of ``computes``."""
    return next((other.result for other in reversed(computes)
                 if other.result in action.values), None)


def _order(made: Script, computes: list[Action], after: dict[int | None, list[Action]]) -> None:
    """Fill `once` and `block`: every action, and what writes its result right behind it."""

    def add(action: Action) -> None:
        made.add(action)
        if action.result is not None:
            for follower in after.get(action.result, ()):
                add(follower)

    for number in made.indexes:
        for follower in after.get(number, ()):
            add(follower)
    for action in after.get(None, ()):
        add(action)
    for action in computes:
        add(action)
