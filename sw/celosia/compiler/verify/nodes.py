"""The rules of operations and loops in their order: `celosia.compiler.codegen.nodes`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.arch.commands import Command, Matmul, Stride, Vector
from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem
from celosia.arch.streams import Strides
from celosia.arch.vector import Reduce, VectorOp
from celosia.compiler.codegen.blocks import Emitted
from celosia.compiler.codegen.nodes import CodeNode, CodeOp
from celosia.compiler.verify import refuse
from celosia.compiler.verify.footprints import Bytes, Footprints

__all__ = ["check_nodes"]

#: Numbers that stand for what rows and bytes hold, equal where the same is computed.
_Values = NDArray[np.uint64]
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MASK = (1 << 64) - 1


def check_nodes(config: TpuConfig, works: Sequence[Emitted], nodes: Sequence[CodeNode], depth: int,
                held: Mapping[int, Strides]) -> None:
    """Check that nodes leave behind what pieces of work do, one after another.

    Both are executed with numbers in place of rows and bytes. Rows of their own that pieces of
    work have in other places are no difference.

    Parameters
    ----------
    depth
        Loops may nest so deep.
    held
        What the stride registers hold before.

    Raises
    ------
    IllFormed
        With every rule that is broken, and where.
    """
    shape = [*_nested(nodes, depth)]
    refuse("code with loops", shape)
    wanted = [op for work in works for op in work.operations]
    found = [*_unrolled(nodes)]
    refuse("code with loops", _strides(found, dict(held)))
    found = [op for op in found if not isinstance(op.command, Stride)]
    footprints = Footprints(config)
    extent = _Extent(footprints, wanted)
    before, after = _Chip(config, footprints, extent), _Chip(config, footprints, extent)
    cared = [np.ones(config.ub_rows, np.bool_), np.ones(config.acc_rows, np.bool_)]
    for work in works:
        for op in work.operations:
            before.execute(op)
            for each in footprints(op).writes:
                cared[each.mem][each.index(op.varying)] = True
        for rows, private in zip(cared, work.private or (), strict=work.private is not None):
            rows[private.start:private.stop] = False
    problems = []
    for op in found:
        if not after.has(op):
            problems.append(f"{_name(op)} must stay where operations of the blocks are, not touch "
                            f"{op.varying}")
            break
        after.execute(op)
    else:
        problems += _different(before, after, cared, wanted, found)
    refuse("code with loops", problems)


def _name(op: CodeOp | None) -> str:
    return "nobody" if op is None else f"{op.mnemonic} of {op.source or 'unknown source'}"


def _nested(nodes: Sequence[CodeNode], depth: int) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, CodeOp):
            continue
        if depth < 1:
            yield f"a loop of {_name(_first(node))} must not nest deeper than the chip's loops do"
        if node.count < 1:
            yield f"a loop of {_name(_first(node))} must have a turn, not {node.count}"
        if len(node.steps) != len(node.varying):
            yield (f"a loop of {_name(_first(node))} must have a step for each of its "
                   f"{len(node.varying)} words, not {len(node.steps)}")
        else:
            yield from _nested(node.body, depth - 1)


def _first(node: CodeNode) -> CodeOp:
    return node if isinstance(node, CodeOp) else _first(node.body[0])


def _unrolled(nodes: Sequence[CodeNode]) -> Iterator[CodeOp]:
    for node in nodes:
        if isinstance(node, CodeOp):
            yield node
            continue
        values = node.varying
        for _ in range(node.count):
            yield from _unrolled(node.with_varying(values).body)
            values = tuple(value + step for value, step in zip(values, node.steps, strict=True))


def _strides(ops: Sequence[CodeOp], held: dict[int, Strides]) -> Iterator[str]:
    """Yield which operations find other strides in their registers than those of their streams."""
    known: dict[Command, dict[str, Strides | None]] = {}
    for op in ops:
        command = op.command
        if isinstance(command, Stride):
            held[command.x] = (command.s0, command.s1, command.s2)
            continue
        triples = known.get(command)
        if triples is None:
            triples = {name: stream.triple for name, stream in command.streams.items()}
            known[command] = triples
        registers = op.registers or (0,) * len(triples)
        for (name, triple), register in zip(triples.items(), registers, strict=True):
            there = held.get(register) if register else None
            if there != triple:
                yield (f"{_name(op)} must find the strides {triple} of {name} in x{register}, not "
                       f"{there}")


class _Extent:
    """The part of external memory that operations touch, and the unit of all their addresses."""

    def __init__(self, footprints: Footprints, ops: Sequence[CodeOp]):
        self.first, self.end, self.unit = 1 << 62, 0, 0
        for op in ops:
            external = footprints(op).external
            if external is None:
                continue
            if op.reach is not None:
                first, last = op.reach
                sizes = first, last + 1
            else:
                first = op.varying[1]
                last = first + (external.rows - 1) * external.pitch + external.row_bytes - 1
                sizes = first, external.row_bytes, external.pitch if external.rows > 1 else 0
            self.unit = math.gcd(self.unit, *sizes)
            self.first, self.end = min(self.first, first), max(self.end, last + 1)
        self.unit = self.unit or 1
        self.first = min(self.first, self.end)


class _Chip:
    """Rows and bytes as numbers, which say what was done to make what they hold."""

    def __init__(self, config: TpuConfig, footprints: Footprints, extent: _Extent):
        self._dim, self._footprints, self._extent = config.dim, footprints, extent
        self.rows = [_numbers(rows) for rows in (config.ub_rows, config.acc_rows)]
        self.bytes = _numbers((extent.end - extent.first) // extent.unit)
        self._ramp = _numbers(max(map(len, self.rows)))
        self._tile = 0

    def has(self, op: CodeOp) -> bool:
        """Whether all that an operation touches is there."""
        footprint = self._footprints(op)
        external, extent = footprint.external, self._extent
        if external is not None and op.reach is None:
            first = op.varying[1]
            end = first + (external.rows - 1) * external.pitch + external.row_bytes
            if first < extent.first or end > extent.end or first % extent.unit:
                return False
        return all(0 <= each.row(op.varying, 0) and each.row(op.varying, -1) < len(
            self.rows[each.mem]) for each in (*footprint.reads, *footprint.writes))

    def execute(self, op: CodeOp) -> None:
        """Have an operation change rows and bytes."""
        reads, writes, external, masks = self._footprints(op)
        words = tuple(word & mask for word, mask in zip(op.varying, masks, strict=True))
        start = hash((op.command, words, op.base))
        found = [self.rows[each.mem][each.index(op.varying)] for each in reads]
        if external is not None:
            part = self._external(op, external)
            if writes:
                made = self._made(start ^ _hash(part.tobytes()), writes[0].stream.length)
                self.rows[writes[0].mem][writes[0].index(op.varying)] = made
                return
            source = _hash(*(rows.tobytes() for rows in found))
            # Of all that an address may reach, some stays as it is.
            kept = np.uint64(0 if op.reach is None else _FACTOR)
            part[...] = part * kept ^ self._made(start ^ source, part.size).reshape(part.shape)
            return
        if isinstance(op.command, Matmul):
            if op.command.weights is not None:
                self._tile = _hash(found.pop().tobytes(), op.command.transpose)
            made = _rowwise(self._made(start ^ self._tile, op.command.length), found)
        else:
            assert isinstance(op.command, Vector)
            made = self._vector(op.command, start, found)
        self.rows[writes[0].mem][writes[0].index(op.varying)] = made

    def first_byte(self, number: int) -> int:
        """Return the address of a number of `bytes`."""
        return self._extent.first + number * self._extent.unit

    def writer(self, ops: Sequence[CodeOp], mem: Mem | None, at: int) -> CodeOp | None:
        """Return the last operation that writes a row, or a byte of external memory."""
        for op in reversed(ops):
            _, writes, external, _ = self._footprints(op)
            for each in writes:
                rows = np.arange(len(self.rows[each.mem]))[each.index(op.varying)]
                if each.mem is mem and at in rows:
                    return op
            if mem is None and not writes and external is not None:
                if op.reach is not None and op.reach[0] <= at <= op.reach[1]:
                    return op
                offset = at - op.varying[1]
                row = offset // external.pitch if external.pitch else 0
                if op.reach is None and 0 <= row and any(
                        0 <= offset - i * external.pitch < external.row_bytes
                        for i in (min(row, external.rows - 1), 0)):
                    return op
        return None

    def _external(self, op: CodeOp, external: Bytes) -> _Values:
        extent = self._extent
        if op.reach is not None:
            first, last = op.reach
            return self.bytes[(first - extent.first) // extent.unit:
                              (last + 1 - extent.first) // extent.unit]
        return external.of(self.bytes, op.varying[1] - extent.first, extent.unit)

    def _made(self, start: int, count: int) -> _Values:
        if count > len(self._ramp):
            self._ramp = _numbers(count)
        return self._ramp[:count] ^ np.uint64(start & _MASK)

    def _vector(self, command: Vector, start: int, found: list[_Values]) -> _Values:
        if command.op is VectorOp.TRANSPOSE:
            found = [np.repeat(each, self._dim) for each in found]
        if command.op is VectorOp.SCATTER:
            return found[0] * _FACTOR ^ self._made(
                start ^ _hash(*(each.tobytes() for each in found[1:])), len(found[0]))
        made = _rowwise(self._made(start, command.length), found)
        if command.reduce in (Reduce.ROWS, Reduce.COLLECT):
            groups = made.reshape(-1, command.counts[0])
            return (groups * self._ramp[:command.counts[0]]).sum(axis=1, dtype=np.uint64)
        return made


def _numbers(count: int) -> _Values:
    return (np.arange(1, count + 1, dtype=np.uint64) * _FACTOR)


def _hash(*parts: object) -> int:
    return hash(parts)


def _rowwise(made: _Values, found: Sequence[_Values]) -> _Values:
    """Return numbers that depend on their place, and on the row of each operand that goes there."""
    for each in found:
        if len(each) not in (1, len(made)):
            each = np.full(1, hash(each.tobytes()) & _MASK, np.uint64)
        made = made * _FACTOR + (each ^ each >> np.uint64(29)) * (_FACTOR + np.uint64(2))
    return made


def _different(before: _Chip, after: _Chip, cared: Sequence[NDArray[np.bool_]],
               wanted: Sequence[CodeOp], found: Sequence[CodeOp]) -> Iterator[str]:
    """Yield the first row of each memory, and the first byte, that do not hold what they must."""
    for mem in Mem:
        rows = np.flatnonzero((before.rows[mem] != after.rows[mem]) & cared[mem])
        if len(rows):
            yield _sentence(before, f"{mem.name} row {rows[0]}", mem, int(rows[0]), wanted, found)
    bytes_ = np.flatnonzero(before.bytes != after.bytes)
    if len(bytes_):
        at = before.first_byte(int(bytes_[0]))
        yield _sentence(before, f"byte {at} of the arena", None, at, wanted, found)


def _sentence(chip: _Chip, place: str, mem: Mem | None, at: int, wanted: Sequence[CodeOp],
              found: Sequence[CodeOp]) -> str:
    first, second = (_name(chip.writer(ops, mem, at)) for ops in (wanted, found))
    if first == second:
        return f"{place}: {first} must read what it reads in blocks"
    return f"{place} must hold what {first} makes, not {second}"
