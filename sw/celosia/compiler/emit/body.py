"""The vector work of a cluster: what runs once, and in each block of rows and panels."""

from __future__ import annotations

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem
from celosia.arch.vector import Reduce, Src, VectorOp
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.nodes import CodeOp
from celosia.compiler.emit.fold import Turn
from celosia.compiler.emit.frame import Frame, Setting
from celosia.compiler.emit.instructions import compute, copy_panels, in_place, lane_rows, put
from celosia.compiler.emit.joins import Accumulator
from celosia.compiler.emit.plan import Plan, plan
from celosia.compiler.emit.script import script
from celosia.compiler.emit.slots import Slot, Slots
from celosia.compiler.emit.walks import Immediate, Ref, issue
from celosia.compiler.kernels.terms import Extent, Leaf, Term
from celosia.compiler.lowered import Cluster, Code, OnChip

__all__ = ["Body"]


class Body:
    """Makes the operations of a cluster, but for its product.

    Parameters
    ----------
    config
        The chip.
    cluster, code
        What to do; all tensors have a home. The space has no dimension of size 0.

    Attributes
    ----------
    whole_rows
        Whether a block must have all panels of its rows: values go from lane to lane, or elements
        of rows are joined, which must happen once.
    is_of_columns
        Whether most steps are on columns, an element for each row.

    Raises
    ------
    CompileError
        If a tensor on chip lies as no instruction can reach it.
    """

    def __init__(self, config: TpuConfig, cluster: Cluster, code: Code):
        made = script(config, cluster, code)
        self._setting = Setting(config, cluster, made)
        self._script = made
        joins = [step for step in made.block if step.reduce is Reduce.ROWS]
        self.whole_rows = any(
            step.reduce is Reduce.LANES
            or (step.reduce is Reduce.ROWS and step.extent is Extent.ROWS)
            for step in made.block)
        extents = [step.extent for step in made.block if step.destination is None]
        self.is_of_columns = extents.count(Extent.ROWS) > len(extents) / 2
        self._plans: dict[tuple[int, int, bool], Plan] = {}
        # What lies in rows that are kept: values of one row, the mask, results of joins.
        self._single = Frame(self._setting, 0, 1, 0, self._setting.panels)
        kept = {value for step in made.block for value in step.values if value in made.kept}
        slots = Slots()
        self._mask = slots.take(1) if self._needs_mask() else None
        self._joins = [(Accumulator(self._setting, step), slots.take(
            Accumulator(self._setting, step).rows)) for step in joins]
        given = {value: slots.take(self._once_size(value)) for value in made.reads
                 if self._once_size(value)}
        given |= {value: slots.take(self._setting.panels) for value in made.indexes}
        self._once_plan = plan(made.once, slots, given, kept | set(given), self._once_size,
                               lambda step: self._temporaries(self._single, step),
                               lambda step, value: in_place(self._single, step, value))
        self._once = 0
        #: Instructions of steps, by all that they depend on.
        self._made: dict[tuple, list[CodeOp]] = {}

    def _needs_mask(self) -> bool:
        """Whether lanes beyond the last column must be told from others."""
        made, setting = self._script, self._setting
        clears = any(step.destination is not None and isinstance(
            home := step.destination.access.tensor.home, OnChip) and home.mem == Mem.UB
            for step in (*made.once, *made.block))
        joins = any(step.reduce is Reduce.LANES for step in (*made.once, *made.block))
        return setting.ragged and (clears or joins)

    def _size(self, value: Term, count: int, panels: int) -> int:
        """Return the rows of a value; 0 where it is in a tensor on chip."""
        if value in self._script.homes or (value in self._script.reads
                                           and self._setting.stays(value)):
            return 0
        return ((count if Extent.ROWS in value.extent else 1)
                * (panels if Extent.LANES in value.extent else 1))

    def _once_size(self, value: Term) -> int:
        if value not in self._script.kept:
            return 0
        return self._size(value, 1, self._setting.panels)

    def _temporaries(self, frame: Frame, step: Term) -> list[int]:
        if step.reduce is Reduce.ROWS:
            return Accumulator(self._setting, step).temporaries(frame)
        return lane_rows(frame, step) if step.reduce is Reduce.LANES else []

    def _plan(self, count: int, panels: int, apart: bool) -> Plan:
        if (count, panels, apart) in self._plans:
            return self._plans[count, panels, apart]
        made = self._script
        frame = Frame(self._setting, 0, count, 0, panels,
                      once=dict.fromkeys(self._once_plan.where, 0))
        has_sums = made.sums is not None
        slots = Slots(count * panels if has_sums else 0, apart=apart)
        given: dict[Term, Slot] = {}
        if made.sums is not None:
            given[made.sums] = Slot(1, 0, count * panels)
        for value in self._loaded:
            given[value] = slots.take_new(self._size(value, count, panels))

        def size(value: Term) -> int:
            if value in made.kept:
                return 0
            return self._size(value, count, panels)

        found = plan(made.block, slots, given, (), size,
                     lambda step: self._temporaries(frame, step),
                     lambda step, value: in_place(frame, step, value))
        self._plans[count, panels, apart] = found
        return found

    @property
    def _loaded(self) -> list[Term]:
        """Values that each block loads."""
        return [value for value in self._script.reads
                if value not in self._script.kept and not self._setting.stays(value)]

    def once_rows(self) -> int:
        """Return the accumulator rows that are kept for the whole cluster."""
        return self._once_plan.rows

    def block_rows(self, rows: int, panels: int, *, apart: bool = False) -> int:
        """Return the accumulator rows of a block, besides the sums of the product.

        ``apart``: see `block`.
        """
        return self._plan(rows, panels, apart).rows

    def shared_rows(self, rows: int, panels: int) -> int:
        """Return the accumulator rows that blocks share where the sums are kept apart."""
        return self._plan(rows, panels, True).shared

    @property
    def sums_share(self) -> float:
        """Part of the vector work of a block after which the product's sums are no longer read."""
        uses = [i for i, step in enumerate(self._script.block, 1)
                if self._script.sums in step.values]
        return max(uses, default=0) / max(1, len(self._script.block))

    def _rows_of_once(self) -> dict[Term, int]:
        return {value: self._once + slot.offset for value, slot in self._once_plan.where.items()}

    def _accumulators(self) -> dict[Term, Accumulator]:
        return {join.step: Accumulator(self._setting, join.step, self._once + slot.offset)
                for join, slot in self._joins}

    @property
    def _mask_row(self) -> int | None:
        return None if self._mask is None else self._once + self._mask.offset

    def begin(self, at: int) -> list[CodeOp]:
        """Return what runs before the first block; ``at`` is the first of the `once_rows`."""
        self._once = at
        self._made.clear()
        made, setting = self._script, self._setting
        dim, source = setting.config.dim, setting.cluster.source
        once = self._rows_of_once()
        frame = Frame(setting, 0, 1, 0, setting.panels, once=once)
        out = []
        for value in made.reads:
            if value in made.kept and value in once:
                out += self._load(frame, value)
        if self._mask_row is not None:
            out.append(issue(VectorOp.ILT, Ref(self._mask_row, (1,)), [
                Immediate(Src.LANE_INDEX, (setting.panels - 1) * dim),
                Immediate(Src.SCALAR, setting.lanes)], (1,), source=source))
        for value, base in made.indexes.items():
            rows = Ref(once[value], (1,))
            out.append(issue(VectorOp.SHL, rows, [
                Immediate(Src.ROW_INDEX, 0), Immediate(Src.SCALAR, dim.bit_length() - 1)],
                (setting.panels,), source=source))
            out.append(issue(VectorOp.IADD, rows, [rows, Immediate(Src.LANE_INDEX, base)],
                             (setting.panels,), source=source))
        for accumulator in self._accumulators().values():
            out += accumulator.identity()
        for step, slots in zip(made.once, self._once_plan.temporaries, strict=True):
            rows = [at + slot.offset for slot in slots]
            out += (put(frame, step, self._mask_row) if step.destination is not None
                    else compute(frame, step, rows, self._mask_row))
        return out

    def _load(self, frame: Frame, value: Term) -> list[CodeOp]:
        """Bring a value that is read into the rows of a block."""
        read, setting = self._script.reads[value], self._setting
        access, ref = read.access, frame.ref(value)
        if isinstance(access.tensor.home, OnChip):
            parts = frame.homes(access, read.extent)
            rows, panels = frame.shape(read.extent)
            return [op for at, home in parts
                    for op in copy_panels(ref.at(at, 0), home, rows // len(parts), panels,
                                          setting.cluster.source)]
        return frame.transfers(nodes.load, access, read.extent, ref.row, 1, ref.strides[1])

    def block(self, at: int, rows: tuple[int, int], panels: tuple[int, int],
              sums: int | None = None,
              shared: int | None = None) -> tuple[list[CodeOp], list[CodeOp]]:
        """Return the loads, and the work with its stores, of a block.

        Parameters
        ----------
        at
            First of the `block_rows`.
        rows, panels
            First one, and how many; the rows are one of the ranges of `cut`.
        sums
            Accumulator row where the product's result lies, panel after panel. The rows may be
            used for other values, but for ``shared``.
        shared
            First of the `shared_rows`: all blocks may have the same ones. The rows of the sums are
            not used for other values then.
        """
        made, setting = self._script, self._setting
        (first, count), (panel, width) = rows, panels
        found = self._plan(count, width, shared is not None)
        frame = Frame(setting, first, count, panel, width, found.where,
                      (at, sums or 0, shared or 0), self._rows_of_once())
        loads, work = [], []
        for value in self._loaded:
            loads += self._load(frame, value)
        accumulators = self._accumulators()
        for step, slots in zip(made.block, found.temporaries, strict=True):
            temporaries = [frame.slot(slot) for slot in slots]
            if step.reduce is Reduce.ROWS:
                work += accumulators[step].block(frame, temporaries)
            elif step.destination is not None:
                work += put(frame, step, self._mask_row)
            elif self._moves(step):
                work += compute(frame, step, temporaries, self._mask_row)
            else:
                key = step, count, panel, width, frame.areas
                if key not in self._made:
                    self._made[key] = compute(frame, step, temporaries, self._mask_row)
                work += self._made[key]
        return loads, work

    def turn(self, at: int, rows: tuple[int, int], panels: tuple[int, int]) -> Turn:
        """Return the turn of which `block` makes the block; the parameters are those of it."""
        (first, count), (panel, width) = rows, panels
        setting = self._setting
        columns = Frame(setting, first, count, panel, width).columns
        begin = first % setting.group
        # What a join over rows writes depends on where in a group it is.
        ends = ((begin == 0, begin + count == setting.group)
                if any(not accumulator.kept for accumulator in self._accumulators().values())
                else ())
        index = []
        for size in reversed(setting.rows):
            first, i = divmod(first, size)
            index.append(i)
        return Turn((count, width, columns, ends), (at, panel, *index))

    def _moves(self, step: Term) -> bool:
        """Whether instructions of a step depend on the first row of their block."""
        made = self._script
        return (step in made.homes or any(arg.op is Leaf.ROW for arg in step.args)
                or any(value in made.homes or (value in made.reads and self._setting.stays(value))
                       for value in step.values))

    def end(self) -> list[CodeOp]:
        """Return what runs after the last block: the stores of what was joined over rows."""
        return [op for accumulator in self._accumulators().values() for op in accumulator.end()]
