"""Random programs on the model and on a plain interpreter, one number at a time."""

import functools
from collections.abc import Callable

import numpy as np
import pytest

import exactfloat as xf
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Insn, Reg, unpack
from celosia.arch.vector import LANE_ROW_SRCS, LANE_SRCS, ROW_SRCS, Post, Src
from celosia.arch.vector import VectorOp as Op
from celosia.model import Machine, PlainMachine
from celosia_sim.randprog import random_program
from exactlanes import JOINS, WORD, clip, first, second, signed, tree

CONFIGS = [
    TpuConfig("int8", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=32, bus_bytes=4),
    TpuConfig("bf16", dim=4, int8=False, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=8),
    TpuConfig("both", dim=2, int8=True, bf16=True, ub_rows=32, acc_rows=128, bus_bytes=16),
    TpuConfig("wide", dim=8, int8=True, bf16=True, ub_rows=128, acc_rows=64, bus_bytes=32),
]


class Oracle:
    """Interpreter over lists of ints; legal programs only."""

    def __init__(self, config: TpuConfig, image: bytes, base: int):
        self.dim, self.lane = config.dim, config.lane_bits
        self.ub = [[0] * self.dim for _ in range(config.ub_rows)]
        self.acc = [[0] * self.dim for _ in range(config.acc_rows)]
        self.ext, self.base = bytearray(image), base
        self.r, self.x, self.loops, self.pc = [0] * 32, [(0, 0, 0)] * 8, [], 0
        self.tile: list[list[int]] = []

    def run(self, insns: tuple[Insn, ...]) -> int:
        steps = 0
        while True:
            insn = insns[self.pc]
            steps += 1
            names = [operand.name for operand in insn.instruction.operands]
            ops = {name: self.r[operand.number] if isinstance(operand, Reg) else operand.value
                   for name, operand in zip(names, insn.operands, strict=True)}
            name = insn.instruction.mnemonic
            if name == "halt":
                return steps
            goal = getattr(self, f"do_{name}", self.scalar)(insn, ops)
            goal = self.pc + 1 if goal is None else goal
            while self.loops and self.loops[-1][1] == goal:
                start, _, count = self.loops.pop()
                if count > 1:
                    self.loops.append((start, goal, count - 1))
                    goal = start
                    break
            self.pc = goal

    def scalar(self, insn: Insn, ops: dict[str, int]) -> int | None:
        name, a, b = insn.instruction.mnemonic, ops.get("a", 0), ops.get("b", 0)
        sa, sb = signed(a), signed(b)
        if name in ("nop", "fence"):
            return None
        if name == "jump":
            return ops["target"]
        if name.startswith("b"):
            taken = {"beq": a == b, "bne": a != b, "blt": sa < sb, "bge": sa >= sb,
                     "bltu": a < b, "bgeu": a >= b}[name]
            return ops["target"] if taken else None
        results = {"mov": a, "add": a + b, "sub": a - b, "mul": a * b, "and": a & b, "or": a | b,
                   "xor": a ^ b, "shl": a << (b & 31), "shr": a >> (b & 31),
                   "sar": sa >> (b & 31), "slt": int(sa < sb), "sltu": int(a < b)}
        self.r[insn.fields["rd"]] = results[name] & WORD
        return None

    def do_loop(self, insn: Insn, ops: dict[str, int]) -> int | None:
        if ops["count"] == 0:
            return ops["end"]
        if ops["end"] != self.pc + 1:
            self.loops.append((self.pc + 1, ops["end"], ops["count"]))
            assert len(self.loops) <= 4
        return None

    def do_stride(self, insn: Insn, ops: dict[str, int]) -> None:
        self.x[insn.fields["x"]] = (ops["s0"] % 65536, ops["s1"] % 65536, ops["s2"] % 65536)

    def rows(self, base: int, x: int, counts: tuple[int, int, int]) -> list[int]:
        n0, n1, n2 = counts
        s0, s1, s2 = self.x[x] if x else (1, n0, n0 * n1)
        return [base + i0 * s0 + i1 * s1 + i2 * s2
                for i2 in range(n2) for i1 in range(n1) for i0 in range(n0)]

    def dma(self, insn: Insn, ops: dict[str, int]):
        """Yield on-chip row, lane and external bytes of each element, in order."""
        shape = unpack(insn.instruction.operands[2], ops["shape"])
        steps = unpack(insn.instruction.operands[4], ops["steps"])
        size = (1, 2, 4)[insn.fields["fmt"]]
        for m in range(shape["rows"]):
            for column in range(shape["cols"]):
                group, lane = divmod(column, self.dim)
                row = ops["row"] + m * steps["row_step"] + group * steps["group_step"]
                start = ops["addr"] - self.base + m * ops["pitch"] + column * size
                assert 0 <= start <= len(self.ext) - size
                yield row, lane, slice(start, start + size)

    def do_load(self, insn: Insn, ops: dict[str, int]) -> None:
        memory, fmt = (self.acc if insn.fields["mem"] else self.ub), insn.fields["fmt"]
        for row, lane, where in self.dma(insn, ops):
            if lane == 0:
                memory[row] = [0] * self.dim
            raw = int.from_bytes(self.ext[where], "little")
            if insn.fields["mem"]:
                memory[row][lane] = (signed(raw, 8) & WORD, raw << 16, raw)[fmt]
            else:
                low = signed(raw, 8) & (1 << self.lane) - 1
                memory[row][lane] = (low, raw, xf.to_bf16(raw) if fmt == 2 else 0)[fmt]

    def do_store(self, insn: Insn, ops: dict[str, int]) -> None:
        memory, fmt = (self.acc if insn.fields["mem"] else self.ub), insn.fields["fmt"]
        for row, lane, where in self.dma(insn, ops):
            raw = memory[row][lane]
            if insn.fields["mem"]:
                raw = (clip(signed(raw), -128, 127) & 255, xf.to_bf16(raw), raw)[fmt]
            else:
                raw = (raw & 255, raw, raw << 16)[fmt]
            self.ext[where] = raw.to_bytes((1, 2, 4)[fmt], "little")

    def do_matmul(self, insn: Insn, ops: dict[str, int]) -> None:
        f, dim = insn.fields, range(self.dim)
        counts = (ops["counts"] & 0xFFFF, ops["counts"] >> 16, ops["n2"])
        if f["wload"]:
            stored = [[0] * self.dim for _ in dim]
            for i, row in enumerate(self.rows(ops["w"], f["xw"], (ops["wrows"], 1, 1))):
                stored[i] = list(self.ub[row])
            self.tile = ([[stored[n][k] for n in dim] for k in dim] if f["transpose"] else stored)
        for acc, acts in zip(self.rows(ops["acc"], f["xacc"], counts),
                             self.rows(ops["acts"], f["xacts"], counts), strict=True):
            a, old = self.ub[acts], self.acc[acc]
            if f["fmt"] == 0:
                sums = [sum(signed(a[k], 8) * signed(self.tile[k][n], 8) for k in dim) & WORD
                        for n in dim]
                new = [s + o & WORD for s, o in zip(sums, old, strict=True)]
            else:
                sums = [self.chain(a, [self.tile[k][n] for k in dim]) for n in dim]
                new = [xf.add(o, s) for s, o in zip(sums, old, strict=True)]
            self.acc[acc] = new if f["accumulate"] else sums

    @staticmethod
    def chain(a: list[int], w: list[int]) -> int:
        total = 0
        for x, y in zip(a, w, strict=True):
            total = xf.add(total, xf.mul(x << 16, y << 16))
        return total

    def do_read(self, insn: Insn, ops: dict[str, int]) -> None:
        self.r[insn.fields["rd"]] = self.acc[ops["row"]][ops["lane"]]

    def do_vector(self, insn: Insn, ops: dict[str, int]) -> None:
        f, dim = insn.fields, self.dim
        n0, n1, n2 = ops["counts"] & 0xFFFF, ops["counts"] >> 16, f["n2"]
        walk, groups = (n0, n1, n2), (1, n1, n2)
        kinds = [Src(f[f"{name}_kind"]) for name in "abc"]
        streams = [self.rows(ops[name] & 0xFFFFFF if kind in LANE_SRCS else ops[name],
                             f[f"x{name}"], walk)
                   for name, kind in zip("abc", kinds, strict=True)]
        places = [0] * (n0 * n1 * n2)
        if f["op"] in (Op.GATHER, Op.SCATTER):
            places = [self.acc[row][i0] for row in self.rows(ops["b"], f["xb"], groups)
                      for i0 in range(n0)]
            assert max(places) < ops["param"]
            kinds[1] = Src.NONE
        if f["op"] == Op.GATHER:
            streams[0] = [ops["a"] + place for place in places]
        if f["op"] == Op.ROTATE:
            kinds[1] = Src.NONE
        operands = [[self.source(kind, ops[name], i, streams[k][i])
                     for k, (name, kind) in enumerate(zip("abc", kinds, strict=True)) if kind]
                    for i in range(n0 * n1 * n2)]
        if f["op"] == Op.TRANSPOSE:
            for begin in range(0, len(operands), dim):
                tile = [row for (row,) in operands[begin:begin + dim]]
                operands[begin:begin + dim] = [[list(column)] for column in zip(*tile, strict=True)]
        elif f["op"] == Op.ROTATE:
            by = ops["b"] % dim
            operands = [[row[by:] + row[:by]] for (row,) in operands]
        numerators = 1 if f["post"] == Post.DIV else 0
        results = [[self.both(f, list(lanes[:len(lanes) - numerators]), ops["param"],
                              *lanes[len(lanes) - numerators:])
                    for lanes in zip(*rows, strict=True)] for rows in operands]
        results = self.reduced(f["reduce"], JOINS[f["reduce_op"]], results, n0)
        if f["op"] == Op.SCATTER:
            dsts = [ops["dst"] + place for place in places]
        else:
            dsts = self.rows(ops["dst"], f["xdst"], groups if f["reduce"] in (1, 3) else walk)
        for dst, result in zip(dsts, results, strict=True):
            if f["dst_kind"] == 0:
                self.acc[dst] = result
            elif f["dst_kind"] == 1:
                self.ub[dst] = [clip(signed(t), -128, 127) & (1 << self.lane) - 1 for t in result]
            else:
                self.ub[dst] = [xf.to_bf16(t) for t in result]

    @staticmethod
    def both(f: dict[str, int], lanes: list[int], param: int, *numerator: int) -> int:
        return second(f["post"], first(f["op"], lanes, param), param, *numerator)

    def source(self, kind: Src, word: int, i: int, row: int) -> list[int]:
        """Lanes of an operand for row i of the walk, which is the given row of a stream."""
        lanes, lane = range(self.dim), word >> 24
        if kind == Src.SCALAR:
            return [word] * self.dim
        if kind == Src.LANE_INDEX:
            return [word + lane & WORD for lane in lanes]
        if kind == Src.ROW_INDEX:
            return [word + i & WORD] * self.dim
        if kind in LANE_ROW_SRCS:
            row = word & 0xFFFFFF
        elif kind in ROW_SRCS:
            row = word
        memory = self.acc if kind.name.startswith("ACC") else self.ub
        values = list(memory[row])
        if kind.name.startswith("UB_I8"):
            values = [signed(v, 8) & WORD for v in values]
        elif kind.name.startswith("UB_BF16"):
            values = [v << 16 for v in values]
        return [values[lane]] * self.dim if kind in LANE_SRCS | LANE_ROW_SRCS else values

    def reduced(self, reduce: int, join: Callable[[int, int], int], rows: list[list[int]],
                n0: int) -> list[list[int]]:
        if reduce == 0:
            return rows
        groups = [rows[i:i + n0] for i in range(0, len(rows), n0)]
        if reduce == 1:
            return [[functools.reduce(join, column) for column in zip(*group, strict=True)]
                    for group in groups]
        if reduce == 2:
            return [[tree(join, row)] * self.dim for row in rows]
        return [[tree(join, row) for row in group] + [0] * (self.dim - n0) for group in groups]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
@pytest.mark.parametrize("seeds", [range(0, 20), range(20, 40)], ids=["first", "second"])
@pytest.mark.parametrize("kind", [PlainMachine, Machine])
def test_random_program(config, seeds, kind):
    for seed in seeds:
        program = random_program(config, seed)
        machine = kind(config)
        result = program.run(machine)
        assert result.cause == 0, seed
        oracle = Oracle(config, program.image, program.data_addr)
        steps = oracle.run(program.insns)
        assert (result.pc, result.instructions) == (oracle.pc, steps), seed
        np.testing.assert_array_equal(machine.ub, oracle.ub, err_msg=f"seed {seed}")
        np.testing.assert_array_equal(machine.acc, oracle.acc, err_msg=f"seed {seed}")
        image = machine.memory.read(program.data_addr, len(program.image)).tobytes()
        assert image == bytes(oracle.ext), seed


def test_the_same_seed_gives_the_same_program():
    config = CONFIGS[3]
    assert random_program(config, 7) == random_program(config, 7)
    assert random_program(config, 7).code != random_program(config, 8).code
