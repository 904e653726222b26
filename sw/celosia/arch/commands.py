"""Tensor instructions with their operands: what a unit is told to do.

One form for everybody: the compiler's codegen makes commands, schedules them by what they touch and
packs them into instructions; the model makes them of instructions again, checks, executes and times
them. A command is an instruction whose registers are looked up: streams have their strides, operand
words their values. The first `places` operand words say where it works, `at` moves it; the others,
and the fields, say what it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from celosia.arch.config import COUNT_BITS, COUNT_MAX, TpuConfig
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem, Opcode, Unit
from celosia.arch.streams import Stream, Strides
from celosia.arch.vector import (
    INDEXED_OPS,
    LANE_BITS_LSB,
    LANE_ROW_SRCS,
    LANE_SRCS,
    MEMORY_SRCS,
    SOURCES,
    STREAM_SRCS,
    TARGETS,
    Dst,
    Post,
    Reduce,
    ReduceOp,
    Src,
    VectorOp,
    operand_names,
)
from celosia.arch.words import ceil_div

__all__ = ["DST_MEM", "EXTERNAL", "PLACES", "ROW_MASK", "SRC_MEM", "Command", "Dma", "Load",
           "Matmul", "Store", "Stride", "Touch", "Vector", "VectorOperand", "row_accesses",
           "unpack"]

#: Memory of a vector source or destination.
SRC_MEM = {src: each.mem for src, each in SOURCES.items() if each.mem is not None}
DST_MEM = {dst: each.mem for dst, each in TARGETS.items()}
#: The space beside `Mem` that touches may be in: external memory.
EXTERNAL = 2
#: The row in an operand word, which may hold a lane above it.
ROW_MASK = (1 << LANE_BITS_LSB) - 1


#: Rows of a memory, or bytes of external memory, that are touched: the operand word that names the
#: first one; a `Mem` or `EXTERNAL`; the first and the last one; whether they are written, and not
#: only read. A plain tuple: the model makes some for every instruction.
Touch = tuple[int, int, int, int, bool]


class _Command:
    """What all commands have in common. Their hash is kept: codegen asks for it again and again."""

    __slots__ = ("_hash",)
    __match_args__: ClassVar[tuple[str, ...]]
    #: The instruction, its unit, and how many operand words say where it works.
    opcode: ClassVar[Opcode]
    unit: ClassVar[Unit]
    places: ClassVar[int]

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            made = hash((self.opcode, *(getattr(self, name) for name in self.__match_args__)))
            object.__setattr__(self, "_hash", made)
            return made


@dataclass(frozen=True, slots=True)
class Dma(_Command):
    """A load or a store of ``rows`` x ``cols`` elements.

    Row m of external memory is at ``addr`` + m * ``pitch``; its group g of D elements is on-chip
    row ``row`` + m * ``row_step`` + g * ``group_step``.
    """

    mem: Mem
    fmt: DmaFormat
    row: int
    addr: int
    rows: int
    cols: int
    pitch: int
    row_step: int = 1
    group_step: int = 0

    __hash__ = _Command.__hash__
    places = 2

    def chip(self, dim: int) -> Stream:
        """Return the on-chip rows; a row of external memory is finished before the next."""
        return Stream(self.row, (ceil_div(self.cols, dim), self.rows),
                      (self.group_step, self.row_step))

    @property
    def row_bytes(self) -> int:
        """Bytes of a row in external memory."""
        return self.cols * self.fmt.nbytes

    @property
    def end(self) -> int:
        """First byte behind the transfer."""
        return self.addr + (self.rows - 1) * self.pitch + self.row_bytes

    def touches(self, config: TpuConfig) -> tuple[Touch, ...]:
        """Return what it reads and writes."""
        load, chip = self.unit == Unit.LOAD, self.chip(config.dim)
        return ((0, self.mem, chip.base, chip.last, load),
                (1, EXTERNAL, self.addr, self.end - 1, not load))

    def at(self, words: Sequence[int]) -> Self:
        """Return the same command at another row and address."""
        row, addr = words
        return type(self)(self.mem, self.fmt, row, addr, self.rows, self.cols, self.pitch,
                          self.row_step, self.group_step)

    @property
    def streams(self) -> Mapping[str, Stream]:
        """Its streams that may name a stride register, by the name of the field."""
        return {}

    @property
    def fields(self) -> Mapping[str, int]:
        """The fields of its instruction but for stride registers."""
        return {"mem": self.mem, "fmt": self.fmt}

    @property
    def words(self) -> tuple[int, ...]:
        """The operand words of its instruction."""
        return (self.row, self.addr, _pair(self.rows, self.cols), self.pitch,
                _pair(self.row_step, self.group_step))


@dataclass(frozen=True, slots=True)
class Load(Dma):
    """External memory to on-chip memory."""

    __hash__ = _Command.__hash__
    opcode, unit = Opcode.LOAD, Unit.LOAD


@dataclass(frozen=True, slots=True)
class Store(Dma):
    """On-chip memory to external memory."""

    __hash__ = _Command.__hash__
    opcode, unit = Opcode.STORE, Unit.STORE


@dataclass(frozen=True, slots=True)
class Matmul(_Command):
    """A matmul. ``weights`` is None where the last tile is kept."""

    fmt: MatmulFormat
    accumulate: bool
    transpose: bool
    acc: Stream
    acts: Stream
    weights: Stream | None

    __hash__ = _Command.__hash__
    opcode, unit, places = Opcode.MATMUL, Unit.MXU, 3

    @staticmethod
    def of(fmt: MatmulFormat, accumulate: bool, transpose: bool, places: Sequence[int],
           counts: tuple[int, int, int], wrows: int | None,
           strides: Sequence[Strides | None]) -> Matmul:
        """Return the command whose acc, acts and w have these first rows and strides.

        None for strides of consecutive rows, and for ``wrows`` where the last tile is kept.
        """
        xacc, xacts, xw = strides
        return Matmul(fmt, accumulate, transpose, _stream(places[0], counts, xacc),
                      _stream(places[1], counts, xacts),
                      None if wrows is None else _stream(places[2], (wrows, 1, 1), xw))

    @property
    def counts(self) -> tuple[int, ...]:
        """Rows in each dimension, innermost first."""
        return self.acts.counts

    @property
    def length(self) -> int:
        """Rows of the walk."""
        return self.acts.length

    def touches(self, config: TpuConfig) -> tuple[Touch, ...]:
        """Return what it reads and writes."""
        acc, acts, weights = self.acc, self.acts, self.weights
        out = ((0, Mem.ACC, acc.base, acc.last, True),
               (1, Mem.UB, acts.base, acts.last, False))
        if weights is None:
            return out
        return (*out, (2, Mem.UB, weights.base, weights.last, False))

    def at(self, words: Sequence[int]) -> Matmul:
        """Return the same command at other rows."""
        acc, acts, w = words
        return Matmul(self.fmt, self.accumulate, self.transpose, self.acc.at(acc),
                      self.acts.at(acts), self.weights and self.weights.at(w))

    @property
    def streams(self) -> Mapping[str, Stream]:
        """Its streams that may name a stride register, by the name of the field."""
        found = {"xacc": self.acc, "xacts": self.acts}
        return found if self.weights is None else {**found, "xw": self.weights}

    @property
    def fields(self) -> Mapping[str, int]:
        """The fields of its instruction but for stride registers."""
        return {"fmt": self.fmt, "accumulate": int(self.accumulate),
                "wload": int(self.weights is not None), "transpose": int(self.transpose)}

    @property
    def words(self) -> tuple[int, ...]:
        """The operand words of its instruction."""
        n0, n1, n2 = self.counts
        w, wrows = (0, 0) if self.weights is None else (self.weights.base, self.weights.counts[0])
        return self.acc.base, self.acts.base, w, _pair(n0, n1), n2, wrows


@dataclass(frozen=True, slots=True)
class VectorOperand:
    """A source of a vector instruction.

    ``stream``: the rows that it reads: one for each row of the walk, one row (a stream of length
    1), the index rows or the table of a gather or scatter; None for a value. ``value``: that value,
    or the first row. ``lane``: the one lane that is used.
    """

    kind: Src
    value: int
    stream: Stream | None
    lane: int | None = None

    def at(self, word: int) -> VectorOperand:
        """Return the same operand with another word."""
        if self.stream is None:
            return VectorOperand(self.kind, word, None)
        if self.lane is None:
            return VectorOperand(self.kind, word, self.stream.at(word))
        row = word & ROW_MASK
        return VectorOperand(self.kind, row, self.stream.at(row), word >> LANE_BITS_LSB)

    @property
    def word(self) -> int:
        """The operand word."""
        return self.value if self.lane is None else self.value | self.lane << LANE_BITS_LSB


@dataclass(frozen=True, slots=True)
class Vector(_Command):
    """A vector instruction. ``dst`` of a scatter is its whole table."""

    op: VectorOp
    post: Post
    kind: Dst
    dst: Stream
    sources: tuple[VectorOperand, ...]
    param: int
    counts: tuple[int, int, int]
    reduce: Reduce = Reduce.NONE
    reduce_op: ReduceOp = ReduceOp.SUM_I

    __hash__ = _Command.__hash__
    opcode, unit, places = Opcode.VECTOR, Unit.VPU, 4

    @staticmethod
    def of(op: VectorOp, post: Post, kind: Dst, places: Sequence[int], kinds: Sequence[Src],
           counts: tuple[int, int, int], param: int, reduce: Reduce, reduce_op: ReduceOp,
           strides: Sequence[Strides | None]) -> Vector:
        """Return the command whose dst, a, b and c have these words and strides.

        ``kinds`` are those of a, b, c. None for strides of consecutive rows.
        """
        groups = (1, *counts[1:])
        if op == VectorOp.SCATTER:
            dst = Stream(places[0], (param,), (1,))
        else:
            joined = reduce in (Reduce.ROWS, Reduce.COLLECT)
            dst = _stream(places[0], groups if joined else counts, strides[0])
        sources = []
        for i, src in enumerate(kinds, 1):
            word = places[i]
            if src == Src.NONE:
                continue
            if src not in MEMORY_SRCS:
                sources.append(VectorOperand(src, word, None))
                continue
            lane = None
            if src in LANE_SRCS or src in LANE_ROW_SRCS:
                lane, word = word >> LANE_BITS_LSB, word & ROW_MASK
            if op == VectorOp.GATHER and not sources:
                stream = Stream(word, (param,), (1,))
            elif src in STREAM_SRCS:
                indexes = op in INDEXED_OPS and len(sources) == 1
                stream = _stream(word, groups if indexes else counts, strides[i])
            else:
                stream = Stream(word, (1,), (1,))
            sources.append(VectorOperand(src, word, stream, lane))
        return Vector(op, post, kind, dst, tuple(sources), param, counts, reduce, reduce_op)

    @property
    def length(self) -> int:
        """Rows of the walk."""
        n0, n1, n2 = self.counts
        return n0 * n1 * n2

    @property
    def names(self) -> str:
        """Which of a, b, c its sources are."""
        return operand_names(self.op, self.post)

    def touches(self, config: TpuConfig) -> tuple[Touch, ...]:
        """Return what it reads and writes."""
        dst = self.dst
        return ((0, DST_MEM[self.kind], dst.base, dst.last, True),
                *[(_WORD[name], SRC_MEM[source.kind], source.stream.base, source.stream.last, False)
                  for name, source in zip(self.names, self.sources, strict=True)
                  if source.stream is not None])

    def at(self, words: Sequence[int]) -> Vector:
        """Return the same command at other rows, with other values."""
        return Vector(self.op, self.post, self.kind, self.dst.at(words[0]), tuple(
            source.at(words[_WORD[name]])
            for name, source in zip(self.names, self.sources, strict=True)),
            self.param, self.counts, self.reduce, self.reduce_op)

    @property
    def streams(self) -> Mapping[str, Stream]:
        """Its streams that may name a stride register, by the name of the field."""
        found = {} if self.op == VectorOp.SCATTER else {"xdst": self.dst}
        for name, source in zip(self.names, self.sources, strict=True):
            if source.stream is not None and source.kind in STREAM_SRCS and not (
                    self.op == VectorOp.GATHER and name == "a"):
                found[f"x{name}"] = source.stream
        return found

    @property
    def fields(self) -> Mapping[str, int]:
        """The fields of its instruction but for stride registers."""
        kinds = {f"{name}_kind": source.kind
                 for name, source in zip(self.names, self.sources, strict=True)}
        return {"op": self.op, "post": self.post, "dst_kind": self.kind, **kinds,
                "n2": self.counts[2], "reduce": self.reduce, "reduce_op": self.reduce_op}

    @property
    def words(self) -> tuple[int, ...]:
        """The operand words of its instruction."""
        words = dict(zip(self.names, (source.word for source in self.sources), strict=True))
        return (self.dst.base, *(words.get(name, 0) for name in "abc"), _pair(*self.counts[:2]),
                self.param)


@dataclass(frozen=True, slots=True)
class Stride(_Command):
    """What sets stride register ``x``; the scalar unit executes it, no `Command`."""

    x: int
    s0: int
    s1: int
    s2: int

    __hash__ = _Command.__hash__
    opcode, unit, places = Opcode.STRIDE, Unit.SCALAR, 0

    @property
    def streams(self) -> Mapping[str, Stream]:
        """It has none."""
        return {}

    @property
    def fields(self) -> Mapping[str, int]:
        """The fields of its instruction."""
        return {"x": self.x}

    @property
    def words(self) -> tuple[int, ...]:
        """The operand words of its instruction."""
        return self.s0, self.s1, self.s2


Command = Load | Store | Matmul | Vector

#: How many operand words of each instruction say where it works.
PLACES = {each.opcode: each.places for each in (Load, Store, Matmul, Vector)}
_WORD = {"a": 1, "b": 2, "c": 3}


def _pair(low: int, high: int) -> int:
    return low | high << COUNT_BITS


def _stream(base: int, counts: tuple[int, int, int], strides: Strides | None) -> Stream:
    return Stream.linear(base, counts) if strides is None else Stream(base, counts, strides)


def unpack(opcode: Opcode, fields: Mapping[str, Any], words: Sequence[int],
           registers: Sequence[Strides]) -> Command:
    """Return the command of a tensor instruction.

    Parameters
    ----------
    opcode, fields
        Of the instruction; fields that name a value are members of their enumeration.
    words
        Its operands, registers looked up. Nothing is asked of them: `celosia.model.checks` says
        whether a chip would execute the command.
    registers
        What the stride registers hold; x0 is not looked at.
    """
    def triple(name: str) -> Strides | None:
        number = fields[name]
        return registers[number] if number else None

    if opcode == Opcode.MATMUL:
        counts = words[3] & COUNT_MAX, words[3] >> COUNT_BITS, words[4]
        return Matmul.of(fields["fmt"], bool(fields["accumulate"]),
                         bool(fields["transpose"]), words, counts,
                         words[5] if fields["wload"] else None,
                         (triple("xacc"), triple("xacts"), triple("xw")))
    if opcode == Opcode.VECTOR:
        counts = words[4] & COUNT_MAX, words[4] >> COUNT_BITS, fields["n2"]
        return Vector.of(fields["op"], fields["post"], fields["dst_kind"], words,
                         (fields["a_kind"], fields["b_kind"], fields["c_kind"]), counts, words[5],
                         fields["reduce"], fields["reduce_op"],
                         (triple("xdst"), triple("xa"), triple("xb"), triple("xc")))
    row, addr, shape, pitch, steps = words
    return (Load if opcode == Opcode.LOAD else Store)(
        fields["mem"], fields["fmt"], row, addr, shape & COUNT_MAX,
        shape >> COUNT_BITS, pitch, steps & COUNT_MAX, steps >> COUNT_BITS)


def row_accesses(command: Command, dim: int) -> tuple[int, int]:
    """Return how many rows of the unified buffer and of the accumulators a command reads and
    writes; one that it adds to counts twice.
    """
    rows = [0, 0]
    if isinstance(command, Dma):
        rows[command.mem] += command.chip(dim).length
    elif isinstance(command, Matmul):
        rows[Mem.UB] += command.acts.length + (command.weights.length if command.weights else 0)
        rows[Mem.ACC] += command.acc.length * (1 + command.accumulate)
    else:
        # A scatter writes a row for each index.
        rows[DST_MEM[command.kind]] += (command.length if command.op == VectorOp.SCATTER
                                        else command.dst.length)
        for source in command.sources:
            if source.stream is not None:
                rows[SRC_MEM[source.kind]] += source.stream.length
    return rows[Mem.UB], rows[Mem.ACC]
