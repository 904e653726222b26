"""Copies that change the order of elements within rows: by transposes of D x D tiles.

The vector unit moves words without change. A bf16 is the upper half of its word; two rows of them
become one row of words that hold a pair each before they are stored, where the target is aligned
for it: a store of bf16 from the accumulators would round.
"""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.vector import TABLE_LIMIT, Dst, Reduce, ReduceOp, Src, VectorOp
from celosia.arch.words import WORD_MASK, ceil_div
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.blocks import Block, Emitted
from celosia.compiler.codegen.nodes import CodeOp
from celosia.compiler.emit.copies import Copy, Dim, need
from celosia.compiler.emit.pieces import Piece, even, fold_groups, grids, offset
from celosia.compiler.lowered import Region

__all__ = ["repeat_lanes", "pick_lanes", "transpose"]

#: On-chip rows of the tiles that one vector instruction transposes, where there are enough.
_TILE_ROWS = 128
_PIECES = 8
_HALF = 16


def _paired(copy: Copy) -> bool:
    """Whether pairs of bf16 of the target's rows are words."""
    return copy.fmt == DmaFormat.BF16 and copy.dst.words() is not None


@dataclass(frozen=True)
class _Staging:
    """Where rows are loaded to, for the vector unit to read.

    Words go to the accumulators; others to the unified buffer, whose words are as wide when they
    are read: there loads do not meet the rows that the vector unit writes.

    Attributes
    ----------
    step
        From one row to the next. Where a row of words takes two cycles of the bus, 2: so loads move
        from bank to bank as fast as the vector unit does, and meet it once, not again and again.
    """

    mem: Mem
    kind: Src
    rows: range
    step: int

    @classmethod
    def of(cls, config: TpuConfig, copy: Copy, region: Region) -> _Staging:
        if copy.fmt != DmaFormat.W32 and len(region.ub) >= 8 * config.dim:
            kind = Src.UB_I8 if copy.fmt == DmaFormat.I8 else Src.UB_BF16
            return cls(Mem.UB, kind, region.ub, 1)
        slow = copy.fmt == DmaFormat.W32 and config.dim * copy.fmt.nbytes == 2 * config.bus_bytes
        return cls(Mem.ACC, Src.ACC, region.acc,
                   2 if slow and len(region.acc) >= 64 * config.dim else 1)

    def budget(self, acc: range, loaded: int, other: int) -> int:
        """Return rows of an area, where there are ``loaded`` of loaded rows and ``other`` ones."""
        if self.mem == Mem.ACC:
            return len(acc) // (loaded * self.step + other)
        return min(len(self.rows) // loaded, len(acc) // other)

    def fits(self, piece: _Piece, acc: int) -> bool:
        """Whether a piece takes no more rows than one of two may, of accumulators ``acc``."""
        if self.mem == Mem.ACC:
            return piece.loaded * self.step + piece.made <= acc
        return piece.loaded <= len(self.rows) // 2 and piece.made <= acc

    def loads(self, copy: Copy, row: int, at: int, rows: int, cols: int, pitch: int,
              height: int) -> list[CodeOp]:
        """Load rows, ``height`` rows for each panel; one by one where they lie backwards."""
        step = self.step
        if pitch >= 0:
            return [copy.load(self.mem, row, at, rows, cols, pitch, step, height * step)]
        return [copy.load(self.mem, row + i * step, at + i * pitch, 1, cols, 0, 1, height * step)
                for i in range(rows)]


def _shifts(row: int, source: str) -> list[CodeOp]:
    """Set two rows to how far `_join` shifts the first and the second of a pair."""
    return [nodes.vector(VectorOp.MOV, Dst.ACC, row + i, 1, ((Src.SCALAR, amount),), source=source)
            for i, amount in enumerate((_HALF, 0))]


def _join(src: tuple[Src, int], dst: int, rows: tuple[int, int], steps: tuple[int, int, int],
          shifts: int, source: str) -> CodeOp:
    """Make words of pairs of rows: the upper half of the first is the lower one of the word.

    ``steps`` go from the first of a pair to the second, from pair to pair, and from one run of
    ``rows[0]`` pairs to the next.
    """
    return nodes.vector(VectorOp.SHR, Dst.ACC, dst, 2, (src, (Src.ACC, shifts)), source=source,
                        n1=rows[0], n2=rows[1], reduce=Reduce.ROWS, reduce_op=ReduceOp.OR,
                        xa=steps, xb=(1, 0, 0))


def _tiles(dst: int, src: tuple[Src, int], tiles: tuple[int, int],
           src_steps: tuple[int, int, int], dst_steps: tuple[int, int], dim: int,
           source: str) -> CodeOp:
    """Transpose ``tiles[0]`` * ``tiles[1]`` tiles; steps from row to row and from tile to tile."""
    return nodes.vector(VectorOp.TRANSPOSE, Dst.ACC, dst, dim, (src,), source=source,
                        n1=tiles[0], n2=tiles[1], xa=src_steps, xdst=(1, *dst_steps))


def transpose(config: TpuConfig, copy: Copy, region: Region) -> Emitted:
    """Copy where another dimension has the step 1 in the source than in the target."""
    dim, paired = config.dim, _paired(copy)
    outer = list(copy.dims)
    across = outer.pop()  # rows of the source, lanes of the target
    along = outer.pop(next(i for i, dim in enumerate(outer) if dim.src == 1))
    pair = 2 if paired else 1
    # Areas of tiles: as loaded, joined to pairs, transposed; two places of each.
    staging = _Staging.of(config, copy, region)
    work_rows = range(region.acc.start, region.acc.stop - 2)
    areas = 2 + 2 * paired
    budget = staging.budget(work_rows, 2 * pair, areas)
    if budget < dim:
        least = areas + 2 * pair * (staging.mem == Mem.ACC)
        need(region.acc, least * dim + 2, Mem.ACC, copy.source)
    tiles = max(min(budget // 2, _TILE_ROWS) // dim, 1)
    lanes = ceil_div(across.size, dim * pair)
    wide = min(ceil_div(along.size, dim), max(int(tiles ** 0.5), tiles // lanes))
    high = min(lanes, tiles // wide)
    rows = even(across.size, high * dim * pair, dim * pair)
    columns = even(along.size, wide * dim, dim)
    area = ceil_div(rows, dim * pair) * ceil_div(columns, dim) * dim
    pieces = max(1, min(_PIECES, budget // area, max(2, _TILE_ROWS // area)))
    place = pieces * area
    loaded = pair * place * staging.step
    shifts = region.acc.stop - 2
    first_row = region.acc.start + 2 * loaded * (staging.mem == Mem.ACC)
    dims = [*outer, across, along]

    def block(group: list[Piece], half: int) -> Block:
        made = Block([[] for _ in range(3 + paired)])
        step = staging.step
        for i, (first, (*_, r, c)) in enumerate(group):
            a = staging.rows.start + half * loaded + i * pair * area * step
            joined = first_row + half * place + i * area
            result = joined + 2 * place * paired
            down, right = ceil_div(r, dim * pair), ceil_div(c, dim)
            used, height, width = down * right * dim, down * dim, right * dim
            made.stages[0] += staging.loads(copy, a, offset(first, [d.src for d in dims]), r, c,
                                            across.src, pair * height)
            origin, steps = (staging.kind, a), (step, dim * step, height * step)
            if paired:
                made.stages[1].append(_join(origin, joined, (used, 1), (step, 2 * step, 0), shifts,
                                            copy.source))
                origin, steps = (Src.ACC, joined), (1, dim, height)
            made.stages[-2].append(_tiles(result, origin, (down, right), steps, (width, dim), dim,
                                          copy.source))
            made.stages[-1].append(copy.store(
                Mem.ACC, result, offset(first, [d.dst for d in dims]), c, r // pair, along.dst, 1,
                width, fmt=DmaFormat.W32 if paired else None))
        return made

    return Emitted(_shifts(shifts, copy.source) if paired else [],
                   fold_groups([d.size for d in dims], [*(1 for _ in outer), rows, columns],
                               pieces, block))


def _walked(dims: list[Dim], backwards: bool = False) -> Dim:
    """Take out the longest dimension that one load can walk; ``backwards``: or else any."""
    usable = [i for i, dim in enumerate(dims) if dim.src >= 0] or (
        list(range(len(dims))) if backwards else [])
    at = max(usable, key=lambda i: dims[i].size, default=None)
    return Dim(1, 0, 0) if at is None else dims.pop(at)


def repeat_lanes(config: TpuConfig, copy: Copy, region: Region) -> Emitted:
    """Copy where every element goes to a whole row of the target."""
    paired = _paired(copy)
    outer = list(copy.dims)
    last = outer.pop()
    row = _walked(outer)
    need(region.acc, 6, Mem.ACC, copy.source)
    room = (len(region.acc) - 2) // 4
    height = even(row.size, min(room, _TILE_ROWS))
    columns = even(last.size, COUNT_MAX - 1, 2)
    pieces = max(1, min(_PIECES, room // height, max(2, _TILE_ROWS // 4 // height)))
    place = pieces * height
    shifts = region.acc.start + 4 * place
    dims = [*outer, row, last]

    def block(group: list[Piece], half: int) -> Block:
        a = region.acc.start + half * place
        b = a + 2 * place
        loads, stores = [], []
        for i, (first, (*_, r, c)) in enumerate(group):
            loads.append(copy.load(Mem.ACC, a + i * height, offset(first, [d.src for d in dims]),
                                   r, 1, row.src))
            stores.append(copy.store(
                Mem.ACC, b + i * height, offset(first, [d.dst for d in dims]), r,
                c // 2 if paired else c, row.dst, fmt=DmaFormat.W32 if paired else None))
        rows = (len(group) - 1) * height + group[-1][1][-2]
        work = nodes.vector(VectorOp.MOV, Dst.ACC, b, rows, ((Src.ACC_LANE, a),),
                            source=copy.source)
        if paired:
            work = _join((Src.ACC_LANE, a), b, (rows, 1), (0, 1, 0), shifts, copy.source)
        return Block([loads, [work], stores])

    return Emitted(_shifts(shifts, copy.source) if paired else [],
                   fold_groups([d.size for d in dims], [*(1 for _ in outer), height, columns],
                               pieces, block))


class _Piece:
    """Sizes of one piece of a copy that picks lanes, and the rows of its areas."""

    def __init__(self, dim: int, rows: int, columns: int, step: int, paired: bool):
        self.rows, self.columns = rows, columns
        self.span = (columns - 1) * step + 1
        self.down = ceil_div(rows, dim)
        self.across = ceil_div(self.span, dim)
        self.pair = 2 if paired else 1
        #: Tiles of the result next to each other.
        self.right = ceil_div(columns, dim * self.pair)
        self.loaded = self.down * self.across * dim
        #: Rows of the columns of D source rows: what is picked may lie beyond the last tile.
        self.height = max(self.across * dim, (self.right * dim * self.pair - 1) * step + 1)
        self.turned = self.down * self.height
        self.picked = self.down * self.right * dim
        #: Rows of what is made on chip.
        self.made = self.turned + (self.pair + 1) * self.picked


def _sizes(dim: int, row: int, last: int, step: int, paired: bool, staging: _Staging,
           acc: int) -> tuple[int, int]:
    """Choose rows and columns of a piece that takes at most ``acc`` accumulators, if there are."""
    unit = dim * (2 if paired else 1)
    columns = even(last, max(_TILE_ROWS // step, unit), unit)
    across = ceil_div((columns - 1) * step + 1, dim)
    rows = min(row, max(_TILE_ROWS // across, dim))
    while (columns > unit or rows > dim) and not staging.fits(
            _Piece(dim, rows, columns, step, paired), acc):
        if rows > dim:
            rows = max(rows // 2 // dim, 1) * dim
        else:
            columns = max(columns // 2 // unit, 1) * unit
    return even(row, rows, dim), even(last, columns, unit)


def pick_lanes(config: TpuConfig, copy: Copy, region: Region) -> Emitted | None:
    """Copy where the last dimension has a small step in the source, perhaps backwards.

    Whole rows are loaded and transposed; rows of what is wanted are picked, backwards by a gather,
    and transposed back. None where that does not fit.
    """
    dim, paired = config.dim, _paired(copy)
    outer = list(copy.dims)
    last = outer.pop()
    step, back = abs(last.src), last.src < 0
    row = _walked(outer, backwards=True)
    if row.size < dim // 2 and last.size >= 4 * dim:
        # Rows are made of the last dimension itself.
        outer += [row] if row.size > 1 else []
        part = 2 * dim
        if rest := last.size % part:
            return _with_rest(config, copy, outer, last, rest, region)
        row, last = Dim(last.size // part, last.src * part, part), Dim(part, last.src, 1)
    unit = dim * (2 if paired else 1)
    indices = ceil_div(min(last.size, max(_TILE_ROWS // step, unit)), dim) + 2 if back else 0
    staging = _Staging.of(config, copy, region)
    beside = 2 + 2 * indices
    rows, columns = _sizes(dim, row.size, last.size, step, paired, staging,
                           (len(region.acc) - beside) // 2)
    size = _Piece(dim, rows, columns, step, paired)
    staged = size.loaded * staging.step
    own = staging.mem == Mem.ACC  # the accumulators of a piece begin with what is loaded
    place = size.made + own * staged
    if len(region.acc) < 2 * place + beside or len(staging.rows) < 2 * staged or (
            size.height > TABLE_LIMIT):
        return None
    shifts = region.acc.start + 2 * place
    free = shifts + 2
    dims = [*outer, row, last]
    out = Emitted(_shifts(shifts, copy.source) if paired else [])
    box, steps = [d.size for d in dims], [*(1 for _ in outer), rows, columns]
    counting: dict[int, int] = {}
    for _, [(_, (*_, r, c)), *_] in grids(box, steps) if back else ():
        if c not in counting:
            counting[c] = free
            piece = _Piece(dim, r, c, step, paired)
            out.before += _backwards(dim, free, piece, step, copy.source)
            free += piece.right * piece.pair

    def block(group: list[Piece], half: int) -> Block:
        [(first, (*_, r, c))] = group
        a = staging.rows.start + half * (place if own else staged)
        turned = region.acc.start + half * place + own * staged
        return _picked(copy, dims, first, _Piece(dim, r, c, step, paired), staging, (a, turned),
                       size, counting.get(c), shifts)

    out.runs = fold_groups(box, steps, 1, block)
    return out


def _with_rest(config: TpuConfig, copy: Copy, outer: list[Dim], last: Dim, rest: int,
               region: Region) -> Emitted | None:
    """Copy the last ``rest`` elements of the rows after all others."""
    whole = last.size - rest
    out = pick_lanes(config, Copy.of(copy.src, copy.dst, (*outer, last._replace(size=whole)),
                                 copy.source), region)
    others = pick_lanes(config, Copy.of(copy.src.moved(whole * last.src), copy.dst.moved(whole),
                                    (*outer, last._replace(size=rest)), copy.source), region)
    if out is None or others is None:
        return None
    out.after = [*others.operations]
    return out


def _backwards(dim: int, row: int, piece: _Piece, step: int, source: str) -> list[CodeOp]:
    """Make rows of indices that count down from the last column to 0."""
    count = piece.right * piece.pair
    ops = [nodes.vector(VectorOp.IMUL, Dst.ACC, row + i, 1,
                        ((Src.LANE_INDEX, i * dim - (piece.columns - 1) & WORD_MASK),
                         (Src.SCALAR, -step & WORD_MASK)), source=source) for i in range(count)]
    return [*ops, nodes.vector(VectorOp.IMAX, Dst.ACC, row, count,
                               ((Src.ACC, row), (Src.SCALAR, 0)), source=source)]


def _picked(copy: Copy, dims: list[Dim], first: tuple[int, ...], piece: _Piece,
            staging: _Staging, places: tuple[int, int], size: _Piece, indices: int | None,
            shifts: int) -> Block:
    """Return the block of one piece; ``places`` are the rows for what is loaded and made."""
    *_, row, last = dims
    step, pair, source = abs(last.src), piece.pair, copy.source
    count = piece.picked // piece.down  # rows that become lanes of the result
    dim = count // piece.right
    a, turned = places
    chosen = turned + size.turned
    result = chosen + pair * size.picked
    at = offset(first, [d.src for d in dims])
    if indices is not None:
        at += last.src * (piece.columns - 1)
    height = piece.down * dim
    loads = staging.loads(copy, a, at, piece.rows, piece.span, row.src, height)
    apart = staging.step
    turn = _tiles(turned, (staging.kind, a), (piece.down, piece.across),
                  (apart, dim * apart, height * apart), (piece.height, dim), dim, source)
    work = []
    origin, steps = turned, (step, dim * step, piece.height)
    if indices is not None:
        work += [nodes.vector(VectorOp.GATHER, Dst.ACC, chosen + i * pair * count, dim,
                              ((Src.ACC, turned + i * piece.height), (Src.ACC, indices)),
                              param=piece.height, source=source, n1=pair * piece.right)
                 for i in range(piece.down)]
        origin, steps = chosen, (1, dim, count)
        if pair == 2:
            origin = turned
            work.append(_join((Src.ACC, chosen), turned, (count, piece.down), (1, 2, 2 * count),
                              shifts, source))
    elif pair == 2:
        origin, steps = chosen, (1, dim, count)
        work.append(_join((Src.ACC, turned), chosen, (count, piece.down),
                          (step, 2 * step, piece.height), shifts, source))
    work.append(_tiles(result, (Src.ACC, origin), (piece.right, piece.down), steps,
                       (height, dim), dim, source))
    store = copy.store(Mem.ACC, result, offset(first, [d.dst for d in dims]), piece.rows,
                       piece.columns // pair, row.dst, 1, height,
                       fmt=DmaFormat.W32 if pair == 2 else None)
    return Block([loads, [turn], work, [store]])
