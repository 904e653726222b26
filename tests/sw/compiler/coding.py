"""Hand-made clusters and code, what NumPy makes of them, and what the golden model does."""

from collections import Counter
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from moving import FORMATS, Memory

from celosia import driver
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.vector import NEUTRAL, Post, Reduce, ReduceOp, VectorOp
from celosia.compiler.codegen.generate import generate
from celosia.compiler.emit.instructions import JOINS
from celosia.compiler.emit.map import emit_map
from celosia.compiler.kernels.terms import Extent, Leaf, Term, extent_of, word
from celosia.compiler.lowered import Access, Cluster, Code, External, OnChip, Read, Region, Write
from celosia.compiler.views import View
from celosia.graph import TensorType, parameter
from celosia.model.lanes import PLAIN
from celosia.program import Buffer, Program

FULL, COLUMN, ROW, SCALAR = Extent.FULL, Extent.ROWS, Extent.LANES, Extent.SCALAR
__all__ = ["COLUMN", "FULL", "ROW", "SCALAR", "Coding"]


def widened(bits, fmt):
    """Words of elements as loads make them."""
    if fmt == DmaFormat.W32:
        return bits.astype(np.uint32)
    if fmt == DmaFormat.BF16:
        return bits.astype(np.uint32) << 16
    return bits.astype(np.int32).view(np.uint32)


def narrowed(words, fmt):
    """Elements of words as stores make them."""
    if fmt == DmaFormat.W32:
        return words
    if fmt == DmaFormat.BF16:
        return ((words + 0x7FFF + (words >> 16 & 1)) >> 16).astype(np.uint16)
    return np.clip(words.view(np.int32), -128, 127).astype(np.int8)


def _elements(view):
    """The element of the tensor that each index of a view names."""
    index = np.full(view.shape, view.offset)
    for dim, (count, step) in enumerate(zip(view.shape, view.strides, strict=True)):
        index = index + (np.arange(count) * step).reshape(
            [-1 if d == dim else 1 for d in range(len(view.shape))])
    return index


@dataclass
class Coding:
    """A cluster that grows read by read and step by step."""

    config: object
    space: tuple
    kept: int | None = None
    seed: int = 0
    reads: list = field(default_factory=list)
    writes: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    inputs: dict = field(default_factory=dict)
    outputs: dict = field(default_factory=dict)
    joins: dict = field(default_factory=dict)

    def __post_init__(self):
        self.kept = len(self.space) - 1 if self.kept is None else self.kept
        self.memory = Memory(self.config, self.seed)
        self.rng = np.random.default_rng(self.seed + 1)
        self.values = {}

    def shape(self, extent):
        return {FULL: self.space, COLUMN: self.space[:-1], ROW: self.space[-1:],
                SCALAR: ()}[extent]

    def data(self, shape, dtype):
        """Numbers whose sums are exact."""
        numbers = self.rng.integers(-9, 10, shape)
        if dtype == "i8":
            return numbers.astype(np.int8)
        if dtype == "i32":
            return self.rng.integers(0, 1 << 32, shape, np.uint32)
        floats = numbers.astype(np.float32).view(np.uint32)
        return (floats >> 16).astype(np.uint16) if dtype == "bf16" else floats

    def value(self, shape, dtype):
        return parameter(TensorType(FORMATS[dtype if dtype != "i32" else "f32"], tuple(shape)),
                         f"v{len(self.values)}")

    def read(self, extent, dtype="f32", whole=None, view=None, home=None, name=None):
        """Add an operand: all of a tensor, or a ``view`` of one of shape ``whole``."""
        shape = self.shape(extent)
        whole = shape if whole is None else whole
        name = name or f"in{len(self.reads)}"
        kind = "f32" if dtype == "i32" else dtype
        values = self.data(whole, dtype)
        tensor = self.memory.tensor(name, whole, kind, home=home, values=values)
        access = Access(tensor, View.contiguous(shape) if view is None else view)
        value = self.value(shape, dtype)
        tile = Term(Leaf.READ, (), extent)
        self.reads.append(Read(value, extent, access))
        self.inputs[value] = tile
        words = widened(values, tensor.format).reshape(-1)
        if home is not None:
            self._place(tensor, words)
        self.values[tile] = self._matrix(words[_elements(access.view)], extent)
        return tile

    def _matrix(self, words, extent):
        rows, lanes = prod(self.space[:-1]), self.space[-1] if self.space else 1
        return words.reshape(rows if extent in (FULL, COLUMN) else 1,
                             lanes if extent in (FULL, ROW) else 1)

    def _place(self, tensor, words):
        dim = self.config.dim
        columns = tensor.shape[-1] if tensor.shape else 1
        matrix = words.reshape(-1, columns)
        panels = -(-columns // dim)
        rows = np.zeros((len(matrix), panels * dim), np.uint32)
        rows[:, :columns] = matrix
        if columns == 1:
            rows[...] = matrix
        if tensor.home.mem == Mem.UB:
            kind = self.memory
            rows = (rows >> 16 if tensor.format == DmaFormat.BF16 else rows & 0xFF)
            rows = rows.astype(np.uint16 if kind.config.bf16 else np.uint8)
            if tensor.format == DmaFormat.I8 and kind.config.bf16:
                rows = rows.astype(np.int8).astype(np.int16).view(np.uint16)
        self.memory.on_chip[tensor.name] = rows.reshape(len(matrix), panels, dim).transpose(
            1, 0, 2).reshape(-1, dim)

    def step(self, op, *operands, extent=None, post=Post.NONE, param=0, reduce=Reduce.NONE,
             reduce_op=ReduceOp.SUM_I):
        words = tuple(word(operand) for operand in operands)
        if extent is None:
            extent = extent_of(words, reduce)
        step = Term(op, words, extent, post, reduce, reduce_op, param)
        self.steps.append(step)
        self._evaluate(step)
        return step

    def _evaluate(self, step):
        rows, lanes = prod(self.space[:-1]), self.space[-1] if self.space else 1
        operands = []
        for arg in step.args:
            if arg.op in (Leaf.LANE, Leaf.ROW):
                index = (np.arange(rows)[:, None] if arg.op is Leaf.ROW
                         else np.arange(lanes)[None])
                operands.append((index + arg.param).astype(np.uint32))
            elif arg.is_word:
                operands.append(np.full((1, 1), arg.param, np.uint32))
            else:
                operands.append(self.values[arg])
        with np.errstate(over="ignore"):
            made = PLAIN.second(step.post, PLAIN.first(step.op, operands, step.param), step.param)
            if step.reduce:
                height = rows if step.extent == COLUMN else 1
                made = self._joined(np.broadcast_to(made, (height, lanes)), step.reduce_op)
        self.values[step] = made

    def _joined(self, words, op):
        dim = self.config.dim
        pad = -words.shape[1] % dim
        words = np.pad(words, ((0, 0), (0, pad)), constant_values=NEUTRAL[op])
        panels = [words[:, at:at + dim] for at in range(0, words.shape[1], dim)]
        head = panels[0]
        for panel in panels[1:]:
            head = PLAIN.first(JOINS[op], [head, panel], 0)
        return PLAIN.join_lanes(op, np.ascontiguousarray(head)).reshape(-1, 1)

    def write(self, tile, extent=None, dtype="f32", whole=None, view=None, home=None, join=None,
              tensor=None):
        extent = tile.extent if extent is None else extent
        shape = self.shape(extent)
        if join is not None:
            shape = self.space[:self.kept] + (self.space[-1:] if extent == FULL else ())
        whole = shape if whole is None else whole
        if tensor is None:
            tensor = self.memory.tensor(f"out{len(self.writes)}", whole, dtype, home=home)
        access = Access(tensor, View.contiguous(shape) if view is None else view)
        value = self.value(shape, dtype)
        self.writes.append(Write(value, extent, access))
        self.outputs[value] = tile
        if join is not None:
            self.joins[value] = join
        return tensor

    @property
    def cluster(self):
        return Cluster(self.space, self.kept, None, None, (), tuple(self.reads),
                       tuple(self.writes), "test")

    @property
    def code(self):
        """The steps, with joins over rows: of what a step makes for nothing else, in that step."""
        steps, outputs = list(self.steps), dict(self.outputs)
        used = Counter(value for step in steps for value in step.values) + Counter(outputs.values())
        for value, join in self.joins.items():
            tile = outputs[value]
            [extent] = [write.extent for write in self.writes if write.value is value]
            fused = tile in steps and used[tile] == 1 and not tile.reduce
            first = tile if fused else Term(VectorOp.MOV, (tile,))
            made = replace(first, extent=extent, reduce=Reduce.ROWS, reduce_op=join)
            outputs[value] = made
            if fused:
                steps[steps.index(tile)] = made
            else:
                steps.append(made)
        return Code(tuple(steps), self.inputs, outputs)

    def expected(self, write):
        """Return the words that a write must give, as a matrix."""
        rows, lanes = prod(self.space[:-1]), self.space[-1] if self.space else 1
        words = self.values[self.outputs[write.value]]
        shape = (rows if write.extent in (FULL, COLUMN) else 1,
                 lanes if write.extent in (FULL, ROW) else 1)
        words = np.broadcast_to(words, shape)
        op = self.joins.get(write.value)
        if op is None:
            return words
        groups = words.reshape(prod(self.space[:self.kept]), -1, words.shape[1])
        with np.errstate(over="ignore"):
            out = np.full((len(groups), words.shape[1]), NEUTRAL[op], np.uint32)
            for i in range(groups.shape[1]):
                out = PLAIN.first(JOINS[op], [out, np.ascontiguousarray(groups[:, i])], 0)
        return out

    def check(self, region=None, pipelined=True):
        """Run, compare the whole arena and the tensors on chip; return what was emitted."""
        region = region or Region(range(0), range(self.config.acc_rows))
        return self.check_emitted(emit_map(self.config, self.cluster, self.code, region), pipelined)

    def check_emitted(self, emitted, pipelined=True):
        """As `check`, of operations that are there already."""
        memory = self.memory
        image = np.frombuffer(bytes(memory.data) + bytes(64), np.uint8).copy()
        for write in self.writes:
            tensor = write.access.tensor
            if isinstance(tensor.home, External):
                _, at = memory.seen(write.access)
                bits = narrowed(np.ascontiguousarray(self.expected(write)), tensor.format)
                size = tensor.element_bytes
                image[at.reshape(-1, 1) + np.arange(size)] = np.ascontiguousarray(bits).view(
                    np.uint8).reshape(-1, size)
        self.cycles = []
        runs = [lambda: memory.run(emitted)]
        if pipelined:
            runs.append(lambda: self._built(emitted))
        for run in runs:
            after, machine, cycles = run()
            np.testing.assert_array_equal(np.frombuffer(after, np.uint8), image[:len(after)])
            for write in self.writes:
                if isinstance(write.access.tensor.home, OnChip):
                    self._check_on_chip(write, machine)
            self.cycles.append(cycles)
        return emitted

    def _check_on_chip(self, write, machine):
        tensor, dim = write.access.tensor, self.config.dim
        words = np.ascontiguousarray(self.expected(write))
        columns = tensor.shape[-1] if tensor.shape else 1
        elements = np.zeros(words.size, np.uint32)
        elements[_elements(write.access.view).reshape(-1)] = words.reshape(-1)
        matrix = elements.reshape(-1, columns)
        memory = machine.acc if tensor.home.mem == Mem.ACC else machine.ub
        for panel in range(-(-columns // dim)):
            at = tensor.home.row + panel * len(matrix)
            rows = memory[at:at + len(matrix)]
            part = matrix[:, panel * dim:(panel + 1) * dim]
            if columns == 1:
                part = np.broadcast_to(part, (len(matrix), dim))
            if tensor.home.mem == Mem.UB:
                part = narrowed(np.ascontiguousarray(part), tensor.format)
                part = np.pad(part, ((0, 0), (0, dim - part.shape[1])))
                rows = rows.astype(part.dtype)
            np.testing.assert_array_equal(rows[:, :part.shape[1]], part)

    def _built(self, emitted):
        """As `Memory.run`, but as code generation orders it."""
        memory, config = self.memory, self.config
        code = generate(config, [emitted])
        data = memory.data + bytearray(memory.end + 64 - len(memory.data))
        words = np.frombuffer(bytes(data), np.int32)
        program = Program(config.fingerprint, tuple(code.insns), arena_bytes=len(data),
                          buffers=(Buffer("arena", 0, words.shape, "int32", "input"),),
                          relocations=tuple(code.relocations))
        with driver.open("model", config=config) as device:
            machine = device.transport.machine
            machine.acc[...] = memory.rng.integers(0, 1 << 32, machine.acc.shape, np.uint32)
            for name, rows in memory.on_chip.items():
                home = memory.tensors[name].home
                chip = machine.acc if home.mem else machine.ub
                chip[home.row:home.row + len(rows)] = rows
            result = device.run(program, {"arena": words}, outputs=["arena"])
            self.insns = len(code.insns)
            return result["arena"].tobytes(), machine, result.cycles
