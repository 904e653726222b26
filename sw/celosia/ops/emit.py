"""Makes vector instructions of a kernel, with a place on chip for every value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from celosia.arch.config import COUNT_MAX
from celosia.arch.vector import LANE_BITS_LSB, Dst, Reduce, Src, VectorOp
from celosia.arch.words import ceil_div
from celosia.compiler.codegen.nodes import Op, vector
from celosia.kernels.terms import Leaf, Term, word
from celosia.kernels.trace import Input, Kernel

__all__ = ["Lane", "Layout", "Place", "Scalars", "emit", "lay_out"]


@dataclass(frozen=True)
class Place:
    """First of the rows of a tile; in the unified buffer its elements are int8 or bf16."""

    row: int
    kind: Dst = Dst.ACC


@dataclass(frozen=True)
class Lane:
    """A scalar on chip: one lane of one row."""

    row: int
    lane: int = 0
    kind: Dst = Dst.ACC


@dataclass(frozen=True)
class _Temporary:
    slot: int
    one_row: bool


#: What a scalar may be bound to: a float for its fp32, an int for its bits, a lane on chip.
Scalars = Mapping[str, float | int | Lane]
Places = Mapping[str, Place | Sequence[Place]]
_Where = Place | _Temporary


def _of(places: Places, taken: Input, what: str) -> Sequence[Place]:
    if taken.name not in places:
        raise ValueError(f"{what} must have a place for {taken.name}")
    found = places[taken.name]
    found = (found,) if isinstance(found, Place) else tuple(found)
    if len(found) != len(taken.tiles):
        raise ValueError(f"{what} must have {len(taken.tiles)} places for {taken.name}, "
                         f"not {len(found)}")
    return found


def _rows(place: Place) -> tuple[bool, int]:
    return place.kind == Dst.ACC, place.row


@dataclass
class _Slots:
    """Temporaries of one height: given out, and taken back."""

    count: int = 0
    free: list[int] = field(default_factory=list)

    def take(self) -> int:
        if self.free:
            return self.free.pop()
        self.count += 1
        return self.count - 1


@dataclass(frozen=True)
class Layout:
    """A kernel with a place for every value; made by `lay_out`.

    Attributes
    ----------
    tiles, single_rows
        Temporaries of as many rows as the tiles have, and of one row.
    """

    kernel: Kernel
    places: Mapping[Term, _Where]
    moves: tuple[tuple[Term, Place], ...]
    tiles: int
    single_rows: int

    def temporary_rows(self, rows: int) -> int:
        """Return the accumulator rows that the temporaries take with tiles of ``rows`` rows."""
        return self.tiles * rows + self.single_rows

    def emit(self, rows: int, temporaries: int = 0, scalars: Scalars | None = None,
             first_row: int = 0, source: str | None = None, parts: int = 1) -> list[Op]:
        """Return the instructions for tiles of ``rows`` rows.

        Parameters
        ----------
        rows
            1..65535; the tiles may be higher.
        temporaries
            First of the `temporary_rows`, consecutive accumulator rows.
        scalars
            What each of `Kernel.scalars` is.
        first_row
            Number of the first row in the whole matrix.
        source
            What the instructions come from; None: the name of the kernel.
        parts
            Into how many parts to cut the rows. An instruction waits for the end of the one whose
            result it takes; with two parts the instructions of one run meanwhile.
        """
        if not 1 <= rows <= COUNT_MAX:
            raise ValueError(f"rows must be from 1 to {COUNT_MAX}, not {rows!r}")
        scalars = scalars or {}
        if missing := [name for name in self.kernel.scalars if name not in scalars]:
            raise ValueError(f"scalars of {self.kernel.name} must hold {', '.join(missing)}")
        text = self.kernel.name if source is None else source
        emitter = _Emitter(self, rows, temporaries, scalars, first_row, text)
        steps = [(step, emitter.place(step)) for step in self.kernel.steps]
        steps += [(Term(VectorOp.MOV, (tile,), tile.extent), place) for tile, place in self.moves]
        return [op for step, place in steps for op in emitter.ops(step, place, parts)]


def lay_out(kernel: Kernel, inputs: Places, outputs: Places) -> Layout:
    """Give every value of a kernel a place.

    A value takes the place of an operand that is not needed any more where it can.

    Parameters
    ----------
    kernel
        What will run.
    inputs, outputs
        A place for each tile by name. The place of an output may be that of an input; other
        places must not share rows. Inputs keep their values otherwise.

    Raises
    ------
    ValueError
        If a place is missing, or outputs are inputs in each other's places.
    """
    places: dict[Term, _Where] = {}
    last = {value: i for i, step in enumerate(kernel.steps) for value in step.values}
    busy: dict[tuple[bool, int], int] = {}  # last step that reads the rows of an input
    for taken in kernel.inputs:
        for tile, place in zip(taken.tiles, _of(inputs, taken, "inputs"), strict=True):
            places[tile] = place
            busy[_rows(place)] = max(busy.get(_rows(place), -1), last.get(tile, -1))
    wanted = [(tile, place) for given in kernel.outputs
              for tile, place in zip(given.tiles, _of(outputs, given, "outputs"), strict=True)]
    for tile, _ in wanted:
        if isinstance(place := places.get(tile), Place):
            busy[_rows(place)] = len(kernel.steps)  # an input that is moved at the end
    targets = {tile: place for tile, place in reversed(wanted)}

    slots = {False: _Slots(), True: _Slots()}
    for i, step in enumerate(kernel.steps):
        in_place = step.reduce in (Reduce.NONE, Reduce.LANES)
        target = targets.get(step)
        dead = {place for value in step.values if last[value] == i
                and isinstance(place := places[value], _Temporary) and value not in targets}
        same = sorted((place for place in dead if place.one_row == step.one_row),
                      key=lambda place: place.slot) if in_place else []
        if (target is not None and busy.get(_rows(target), -1) < i + in_place
                and (target.kind == Dst.ACC or step not in last)):
            places[step] = target
        elif same:
            places[step] = same[0]
            dead.remove(same[0])
        else:
            places[step] = _Temporary(slots[step.one_row].take(), step.one_row)
        for place in dead:
            slots[place.one_row].free.append(place.slot)
    moves = tuple((tile, place) for tile, place in wanted if places[tile] != place)
    for i, (_, place) in enumerate(moves):
        if any(_rows(place) == _rows(source) for tile, _ in moves[i + 1:]
               if isinstance(source := places[tile], Place)):
            raise ValueError(f"outputs of {kernel.name} must not be inputs in each other's places")
    return Layout(kernel, places, moves, slots[False].count, slots[True].count)


@dataclass(frozen=True)
class _Emitter:
    layout: Layout
    rows: int
    temporaries: int
    scalars: Scalars
    first_row: int
    source: str

    def place(self, tile: Term) -> Place:
        place = self.layout.places[tile]
        if isinstance(place, Place):
            return place
        at = (self.layout.tiles * self.rows + place.slot if place.one_row
              else place.slot * self.rows)
        return Place(self.temporaries + at)

    def _operand(self, arg: Term, first: int) -> tuple[Src, int]:
        if arg.op is Leaf.ROW:
            return Src.ROW_INDEX, arg.param + self.first_row + first
        if arg.op is Leaf.LANE:
            return Src.LANE_INDEX, arg.param
        if arg.op in (Leaf.SCALAR, Leaf.WORD):
            bound = self.scalars[arg.source] if arg.op is Leaf.SCALAR else arg
            if isinstance(bound, Lane):
                return Src[f"{bound.kind.name}_LANE_ROW"], bound.row | bound.lane << LANE_BITS_LSB
            immediate = word(bound)
            if not immediate.is_word:
                raise TypeError(f"scalar must be a number or a Lane, not {bound!r}")
            return Src.SCALAR, immediate.param
        place = self.place(arg)
        if arg.one_row:
            return Src[f"{place.kind.name}_ROW"], place.row
        return Src[place.kind.name], place.row + first

    def ops(self, step: Term, place: Place, parts: int) -> Iterator[Op]:
        """Make a step, in parts where its rows go their own ways."""
        rows = self.rows if step.walks else 1
        if step.one_row:
            parts = 1
        size = ceil_div(rows, parts)
        for first in range(0, rows, size):
            yield self._vector(step, place, first, min(size, rows - first))

    def _vector(self, step: Term, place: Place, first: int, rows: int) -> Op:
        sources = tuple(self._operand(arg, first) for arg in step.args)
        return vector(step.first, place.kind, place.row + first, rows, sources, step.post,
                      step.param, self.source, reduce=step.reduce, reduce_op=step.reduce_op)


def emit(kernel: Kernel, rows: int, inputs: Places, outputs: Places, temporaries: int = 0,
         scalars: Scalars | None = None, first_row: int = 0,
         source: str | None = None, parts: int = 1) -> list[Op]:
    """Return the instructions of a kernel: `lay_out`, then `Layout.emit`."""
    return lay_out(kernel, inputs, outputs).emit(rows, temporaries, scalars, first_row, source,
                                                 parts)
