"""The rules of `celosia.compiler.codegen.blocks`: operations before they have an order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

import numpy as np

from celosia.arch.commands import Command, Matmul, Stride, Vector
from celosia.arch.config import TpuConfig
from celosia.arch.faults import AnyFault, Fault
from celosia.arch.isa import Mem
from celosia.arch.vector import Reduce, VectorOp
from celosia.compiler.codegen.blocks import Choose, Emitted, Item, ReadScalar
from celosia.compiler.codegen.nodes import Base, CodeOp
from celosia.compiler.verify import refuse
from celosia.compiler.verify.footprints import Bytes, Footprints, Rows
from celosia.model.checks import EVERYWHERE, Stop, check

__all__ = ["check_items"]

#: Problems that are listed: one that is made early makes many.
_MOST = 20
#: What a row or a byte is: never written; a copy of that, which loops may make; written.
_NOTHING, _COPIED, _HELD = range(3)


def check_items(config: TpuConfig, items: Sequence[Item], size: int,
                given: Sequence[tuple[int, int]],
                results: Mapping[str, tuple[int, int]] | None = None) -> None:
    """Check that the chip runs every operation, and that each reads what others wrote before it.

    Bytes whose address is known at run time only count as written. External memory that nobody
    wrote may be copied, but is no operand of a product, no word of control, no part of a result.

    Parameters
    ----------
    size
        Bytes of the arena.
    given
        First byte, and what follows the last, of what is there before the program runs.
    results
        The same of what must be there when it ends, by name.

    Raises
    ------
    IllFormed
        With the first rules that are broken, and where.
    """
    state = _Check(config, size, given)
    refuse("code in blocks", islice(chain(state.items(items), state.end(results or {})), _MOST))


class _Check:
    def __init__(self, config: TpuConfig, size: int, given: Sequence[tuple[int, int]]):
        self.config, self.size = config, size
        self.footprints = Footprints(config)
        self.bases: set[Base] = set()
        self.rows = [np.zeros(rows, np.uint8) for rows in (config.ub_rows, config.acc_rows)]
        self.bytes = np.zeros(size, np.uint8)
        for first, end in given:
            self.bytes[first:end] = _HELD

    def _state(self) -> tuple[np.ndarray, ...]:
        return (*(rows.copy() for rows in self.rows), self.bytes.copy())

    def _restore(self, state: tuple[np.ndarray, ...]) -> None:
        *self.rows, self.bytes = (each.copy() for each in state)

    def items(self, items: Sequence[Item]) -> Iterator[str]:
        for item in items:
            if isinstance(item, Emitted):
                yield from self.work(item)
            elif isinstance(item, ReadScalar):
                yield from self.word(f"base {item.base.name}", item.row, item.source)
                self.bases.add(item.base)
            elif isinstance(item, Choose):
                yield from self.choose(item)
            else:
                self.bases.update(base for base, _, _ in item.counts)
                yield from self.items(item.cond)
                if item.count is None:
                    yield from self.word("the condition", item.row, item.source)
                before = self._state()
                yield from self.items(item.body)
                if not item.count:  # perhaps no turn at all
                    self._restore(before)

    def end(self, results: Mapping[str, tuple[int, int]]) -> Iterator[str]:
        for name, (first, end) in results.items():
            missing = np.flatnonzero(self.bytes[first:end] != _HELD)
            if len(missing):
                yield f"result {name} must be written, and its byte {missing[0]} is not"

    def choose(self, item: Choose) -> Iterator[str]:
        if not item.branches:
            yield f"{item.source or 'unknown source'}: there must be a branch"
            return
        if len(item.branches) > 1:
            yield from self.word("the index", item.row, item.source)
        before, after = self._state(), []
        for branch in item.branches:
            self._restore(before)
            yield from self.items(branch)
            after.append(self._state())
        self._restore(tuple(np.minimum.reduce(each) for each in zip(*after, strict=True)))

    def word(self, what: str, row: int, source: str) -> Iterator[str]:
        """Yield what is wrong with a word that the scalar unit reads."""
        source = source or "unknown source"
        if not 0 <= row < self.config.acc_rows:
            yield (f"{source}: {what} must be in the {self.config.acc_rows} rows of ACC, not in "
                   f"row {row}")
        elif self.rows[Mem.ACC][row] != _HELD:
            yield f"{source}: {what} must be written to ACC row {row} before it is read"

    def work(self, work: Emitted) -> Iterator[str]:
        self._forget(work)
        tile = False
        for op in work.operations:
            name = f"{op.mnemonic} of {op.source or 'unknown source'}"
            if isinstance(op.command, Stride):
                yield f"{name} must not be there before operations have an order"
                continue
            command = op.command.at(op.varying)
            problem = self._illegal(op, command)
            if problem:
                yield f"{name} {problem}"
                continue
            if op.base is not None and op.base not in self.bases:
                yield f"{name} must come after base {op.base.name} is read"
            if isinstance(command, Matmul):
                tile = tile or command.weights is not None
                if not tile:
                    yield f"{name} must bring weights: none are in the array yet"
            yield from (f"{name} {missing}" for missing in self._touched(op))
        self._forget(work)

    def _forget(self, work: Emitted) -> None:
        """A work finds nothing in its private rows, and leaves nothing there."""
        for rows, private in zip(self.rows, work.private or (), strict=work.private is not None):
            rows[private.start:private.stop] = _NOTHING

    def _illegal(self, op: CodeOp, command: Command) -> str:
        """Say why the chip would refuse an operation, "" if it does not."""
        config, windows = self.config, ((0, self.size - 1),)
        if op.reach is not None:
            first, last = op.reach
            if first < 0 or last >= self.size:
                return f"must stay within the {self.size} bytes of the arena, not {first}..{last}"
            windows = EVERYWHERE
        try:
            check(config, command, windows)
        except Stop as stop:
            said: dict[AnyFault, str] = {
                Fault.UB_RANGE: f"must stay within the {config.ub_rows} rows of UB, not reach row "
                                f"{stop.addr}",
                Fault.ACC_RANGE: f"must stay within the {config.acc_rows} rows of ACC, not reach "
                                 f"row {stop.addr}",
                Fault.WINDOW: f"must stay within the {self.size} bytes of the arena, not begin at "
                              f"{stop.addr}",
                Fault.MISALIGNED: f"must begin at a whole element, not at byte {stop.addr}",
                Fault.INDEX_RANGE: f"must use a lane below {config.dim}, not {stop.addr}",
                Fault.OVERLAP: "must not write rows that it has still to read",
            }
            return said.get(stop.fault, f"is refused: {stop.wanted}")
        return ""

    def _touched(self, op: CodeOp) -> Iterator[str]:
        """Note what an operation writes; yield what it reads and nobody wrote."""
        reads, writes, external, _ = self.footprints(op)
        found = [self.rows[each.mem][each.index(op.varying)] for each in reads]
        made: np.ndarray | int = min((int(held.min()) for held in found), default=_HELD)
        least = _HELD if isinstance(op.command, Matmul) else _COPIED
        if isinstance(op.command, Vector) and made != _HELD:
            made = _made(op.command, found, self.config.dim)
        if np.max(made) < least:
            at, held = next((i, held) for i, held in enumerate(found) if held.min() < least)
            yield (f"must read what is written before, not {reads[at].mem.name} row "
                   f"{reads[at].row(op.varying, int(np.argmin(held)))}")
            made = _HELD
        if external is None:
            self._write(op, writes[0], made)
        elif reads:
            held = np.maximum(found[0].reshape(external.rows, -1).min(axis=1), made)
            self._bytes(op, external)[...] = _HELD if op.reach is not None else held[:, None]
        else:
            there = np.maximum(self._bytes(op, external).min(axis=1), _COPIED)
            self._write(op, writes[0], _HELD if op.reach is not None else np.repeat(
                there, writes[0].stream.counts[0]))

    def _write(self, op: CodeOp, rows: Rows, made: np.ndarray | int) -> None:
        self.rows[rows.mem][rows.index(op.varying)] = made

    def _bytes(self, op: CodeOp, external: Bytes) -> np.ndarray:
        if op.reach is not None:
            first, last = op.reach
            return self.bytes[None, first:last + 1]
        return external.of(self.bytes, op.varying[1])


def _made(command: Vector, found: Sequence[np.ndarray], dim: int) -> np.ndarray:
    """Return what the rows of its destination are once a vector instruction has made them.

    It may run over more rows than there are, as long as nobody stores or multiplies what it makes
    of these.
    """
    out = np.full(command.length, _HELD, np.uint8)
    for held in found:
        if command.op is VectorOp.TRANSPOSE:  # a tile is there where its first row is
            held = np.repeat(held, dim)
        out = np.minimum(out, held if len(held) == len(out) else held.min())
    if command.op is VectorOp.SCATTER:
        return np.full(command.dst.length, out.min())
    if command.reduce in (Reduce.ROWS, Reduce.COLLECT):
        return np.minimum.reduce(out.reshape(-1, command.counts[0]), axis=1)
    return out
