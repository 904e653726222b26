"""Vector instructions of the steps of a block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from celosia.arch.vector import NEUTRAL, Dst, Post, Reduce, ReduceOp, Src, VectorOp
from celosia.arch.words import ceil_div
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.nodes import CodeOp
from celosia.compiler.emit.frame import Frame
from celosia.compiler.emit.walks import Immediate, OperandSource, Ref, issue, moving_streams
from celosia.compiler.kernels.terms import Extent, Leaf, Term
from celosia.compiler.lowered import External

__all__ = ["JOINS", "compute", "copy_panels", "in_place", "lane_rows", "origin", "put",
           "sliced"]

#: Rows from which on it is worth to cut: the next instruction can begin while the other part runs.
_PART = 64

#: The operation that joins two words as a reduction does.
JOINS = {ReduceOp.SUM_I: VectorOp.IADD, ReduceOp.MAX_I: VectorOp.IMAX,
         ReduceOp.MIN_I: VectorOp.IMIN, ReduceOp.AND: VectorOp.AND, ReduceOp.OR: VectorOp.OR,
         ReduceOp.SUM_F: VectorOp.FADD, ReduceOp.MAX_F: VectorOp.FMAX,
         ReduceOp.MIN_F: VectorOp.FMIN}

#: First row and rows, first panel and panels.
Chunk = tuple[int, int, int, int]


def _is_flat(refs: Sequence[OperandSource], rows: int) -> bool:
    return all(ref.strides[1] == rows * ref.strides[0] for ref in refs if isinstance(ref, Ref)
               if any(ref.strides))


def _pieces(count: int, parts: int) -> Iterator[tuple[int, int]]:
    size = ceil_div(count, parts)
    for first in range(0, count, size):
        yield first, min(size, count - first)


def _has(step: Term, *leaves: Leaf) -> bool:
    """Whether a step has such an operand."""
    return any(arg.op in leaves for arg in step.args)


def sliced(frame: Frame, step: Term, rows: int, panels: int) -> bool:
    """Whether a step needs an instruction for each panel."""
    sources = frame.sources(step)
    return panels > 1 and (moving_streams(sources, (rows, panels)) > 2 or _has(step, Leaf.LANE)
                           or (_has(step, Leaf.ROW) and rows > 1))


def _chunks(frame: Frame, step: Term, dst: Ref, rows: int, panels: int) -> Iterator[Chunk]:
    if panels == 1:
        for first, count in _pieces(rows, 2 if rows >= 2 * _PART else 1):
            yield first, count, 0, 1
        return
    flat = _is_flat([dst, *frame.sources(step)], rows)
    if sliced(frame, step, rows, panels) or not (flat or rows < _PART):
        parts = panels
    else:
        parts = 2 if rows * panels >= 2 * _PART else 1
    for first, count in _pieces(panels, parts):
        yield 0, rows, first, count


def in_place(frame: Frame, step: Term, value: Term) -> bool:
    """Whether the result of a step may take the rows of an operand in the same block."""
    if step.destination or step.reduce or step.extent is not value.extent:
        return False
    dst = frame.ref(step)
    rows, panels = frame.shape(step.extent)
    if _is_flat([dst, *frame.sources(step)], rows):
        return True
    return all(count == 1 or parts == 1
               for _, count, _, parts in _chunks(frame, step, dst, rows, panels))


def origin(frame: Frame, step: Term) -> str:
    """Return what the instructions of a step say they come from."""
    return step.origin or frame.setting.cluster.source


def _each(frame: Frame, step: Term, dst: Ref, rows: int, panels: int) -> list[CodeOp]:
    """Run a step without its reduction over rows and panels."""
    return [issue(step.first, dst.at(row, panel), frame.sources(step, row, panel, count),
                  (count, parts), step.post, step.param,
                  source=origin(frame, step))
            for row, count, panel, parts in _chunks(frame, step, dst, rows, panels)]


def lane_rows(frame: Frame, step: Term) -> list[int]:
    """Return the temporary rows that a reduction over lanes needs."""
    rows, panels, ragged = frame.count, frame.setting.panels, frame.setting.ragged
    whole = [rows * panels] if _materialised(frame, step) else []
    return whole + [rows] * ((panels > 1) + ragged)


def _materialised(frame: Frame, step: Term) -> bool:
    panels = frame.setting.panels
    return panels > 1 and (_has(step, Leaf.LANE, Leaf.ROW)
                           or moving_streams(frame.sources(step), (frame.count, panels)) > 2)


def _lanes(frame: Frame, step: Term, dst: Ref, temporaries: Sequence[int],
           mask: int | None) -> list[CodeOp]:
    """Join the lanes of rows: panel after panel, then the lanes of what that gives."""
    setting, source = frame.setting, origin(frame, step)
    panels, free, out = setting.panels, list(temporaries), []
    if _materialised(frame, step):
        whole = Ref(free.pop(0), (1, frame.count))
        out += _each(frame, step, whole, frame.count, panels)
        step = Term(VectorOp.MOV, (step,), reduce=step.reduce, reduce_op=step.reduce_op,
                    origin=step.origin)
    else:
        whole = None
    rows = frame.count
    head = Ref(free.pop(0), (1, 0)) if panels > 1 else None
    tail = Ref(free.pop(0), (1, 0)) if setting.ragged else None
    plain = step.moves
    neutral = Immediate(Src.SCALAR, NEUTRAL[step.reduce_op])

    def sources(row: int, panel: int, count: int) -> list[OperandSource]:
        return ([whole.at(row, panel)] if whole is not None
                else frame.sources(step, row, panel, count))

    for row, count in _pieces(rows, 2 if rows >= 2 * _PART else 1):
        target = dst.at(row, 0)
        # What is left to join: panels before the last, and the last.
        words: list[OperandSource] = []
        before = panels - 1 if tail is not None or plain else panels
        if head is not None and before == 1 and plain:
            words.append(sources(row, 0, count)[0])
        elif head is not None and before == 1:
            out.append(issue(step.first, head.at(row, 0), sources(row, 0, count), (count, 1),
                             step.post, step.param, source=source))
            words.append(head.at(row, 0))
        elif head is not None:
            turned = [ref.along(*reversed(ref.strides)) if isinstance(ref, Ref) else ref
                      for ref in sources(row, 0, count)]
            out.append(issue(step.first, head.at(row, 0).along(0, 1), turned, (before, count),
                             step.post, step.param, Reduce.ROWS, step.reduce_op, source))
            words.append(head.at(row, 0))
        op, post, param = JOINS[step.reduce_op], Post.NONE, 0
        if tail is not None:
            assert mask is not None
            last = sources(row, panels - 1, count)
            if not plain:
                out.append(issue(step.first, tail.at(row, 0), last, (count, 1), step.post,
                                 step.param, source=source))
                last = [tail.at(row, 0)]
            kept: list[OperandSource] = [Ref(mask, (0, 0)), last[0], neutral]
            if words:
                out.append(issue(VectorOp.SELECT, tail.at(row, 0), kept, (count, 1),
                                 source=source))
                words.append(tail.at(row, 0))
            else:
                op, words = VectorOp.SELECT, kept
        elif before < panels and words:
            words.append(sources(row, panels - 1, count)[0])
        elif words:
            op = VectorOp.MOV
        else:
            op, post, param = step.first, step.post, step.param
            words = sources(row, 0, count)
        out.append(issue(op, target, words, (count, 1), post, param, Reduce.LANES,
                         step.reduce_op, source))
    return out


def compute(frame: Frame, step: Term, temporaries: Sequence[int],
            mask: int | None) -> list[CodeOp]:
    """Return the instructions that make the result of a step.

    ``mask``: row with ones in the lanes that the last panel has.
    """
    dst = frame.ref(step)
    if step.reduce == Reduce.LANES:
        return _lanes(frame, step, dst, temporaries, mask)
    return _each(frame, step, dst, *frame.shape(step.extent))


def copy_panels(dst: Ref, ref: Ref, rows: int, panels: int, source: str) -> list[CodeOp]:
    """Return moves of rows and panels, in parts that the next instruction need not wait for."""
    if panels < 1:
        return []
    if panels == 1:
        cuts = [(row, count, 0, 1) for row, count in _pieces(rows, 2 if rows >= 2 * _PART else 1)]
    else:
        cuts = [(0, rows, at, count)
                for at, count in _pieces(panels, 2 if rows * panels >= 2 * _PART else 1)]
    return [issue(VectorOp.MOV, dst.at(row, panel), [ref.at(row, panel)], (count, parts),
                  source=source) for row, count, panel, parts in cuts]


def put(frame: Frame, step: Term, mask: int | None) -> list[CodeOp]:
    """Return what writes a value: a store, or a move to the rows of a tensor on chip."""
    (value,) = step.values
    access, extent = step.destination.access, step.destination.extent
    setting, ref = frame.setting, frame.ref(value)
    source = origin(frame, step)
    rows, panels = frame.shape(extent)
    if isinstance(access.tensor.home, External):
        return frame.transfers(nodes.store, access, extent, ref.row, *ref.strides)
    out = []
    parts = frame.homes(access, extent)
    clears = (setting.ragged and setting.lanes > 1 and parts[0][1].kind != Dst.ACC
              and Extent.LANES in extent and frame.panel + panels == setting.panels)
    for at, home in parts:
        out += copy_panels(home, ref.at(at, 0), rows // len(parts), panels - clears, source)
        if clears:
            assert mask is not None
            out.append(issue(VectorOp.AND, home.at(0, panels - 1),
                             (ref.at(at, panels - 1), Ref(mask, (0, 0))), (rows // len(parts), 1),
                             source=source))
    return out
