"""Measure the vector unit: rows a cycle of every operation, second stage and reduction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.encoding import Insn, insn
from celosia.arch.isa import Mem
from celosia.arch.registers import Activity
from celosia.arch.vector import (
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    INDEXED_OPS,
    PARAM_POSTS,
    VECTOR_OPERANDS,
    Dst,
    Post,
    Reduce,
    ReduceOp,
    Src,
    VectorOp,
    operand_names,
)
from celosia.driver import Device
from celosia.driver import open as open_device
from celosia.driver.agree import same_state
from celosia.program import Buffer, Program

__all__ = ["VectorMeasurement", "lines", "vector_unit"]

#: States of the unit in which it has an instruction.
_OCCUPIED = ("busy", "wait_memory", "wait_unit", "wait_bus")


@dataclass(frozen=True)
class VectorMeasurement:
    """What one instruction took.

    Attributes
    ----------
    name
        Operation, second stage or reduction.
    rows
        Rows of the walk.
    cycles
        In which the unit had the instruction: from its first to its last, latency included.
    rows_per_cycle
        rows / cycles.
    bit_exact
        Whether the on-chip memories equal the golden model's; None where the backend hides them.
    """

    name: str
    preset: str
    backend: str
    rows: int
    cycles: int
    rows_per_cycle: float
    bit_exact: bool | None


@dataclass(frozen=True)
class _Places:
    """Accumulator rows: two operands of n0 rows, which the walk repeats, and one of each other."""

    n0: int

    @property
    def constant(self) -> int:
        return 2 * self.n0

    @property
    def indexes(self) -> int:
        return self.constant + 1

    @property
    def target(self) -> int:
        return self.constant + 4  # of another bank than the operands' first rows

    @property
    def loaded(self) -> int:
        return self.constant + 1


def _cases(config: TpuConfig) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield a name and the fields of each instruction that the chip has."""
    for op in VectorOp:
        if config.bf16 or op not in FLOAT_OPS:
            yield op.name.lower(), {"op": op}
    for post in Post:
        if post != Post.NONE and (config.bf16 or post not in FLOAT_POSTS):
            yield f"mov, {post.name.lower()}", {"op": VectorOp.MOV, "post": post}
    for reduce in Reduce:
        for join in ReduceOp:
            if reduce != Reduce.NONE and (config.bf16 or join not in FLOAT_REDUCES):
                yield (f"mov, {reduce.name.lower()} {join.name.lower()}",
                       {"op": VectorOp.MOV, "reduce": reduce, "reduce_op": join})


def _instruction(config: TpuConfig, places: _Places, fields: dict[str, int], rows: int) -> Insn:
    """Return the instruction over ``rows`` rows; its strides are x1: n0 rows again and again."""
    op = VectorOp(fields["op"])
    n0 = config.dim if op in INDEXED_OPS or fields.get("reduce") == Reduce.COLLECT else places.n0
    values: dict[str, int] = {
        **fields, "dst_kind": Dst.ACC, "dst": places.target, "xdst": 1, "a_kind": Src.ACC,
        "a": 0, "xa": 1, "n0": n0, "n1": rows // n0}
    taken = VECTOR_OPERANDS[op]
    if op == VectorOp.ROTATE:
        values |= {"b_kind": Src.SCALAR, "b": 3}
    elif op in INDEXED_OPS:
        values |= {"b_kind": Src.ACC, "b": places.indexes, "xb": 1, "param": config.dim}
        values["xa" if op == VectorOp.GATHER else "xdst"] = 0
    elif taken > 1:
        values |= {"b_kind": Src.ACC, "b": places.n0, "xb": 1}
    if "c" in operand_names(op, Post(fields.get("post", Post.NONE))):
        values |= {"c_kind": Src.ACC_ROW, "c": places.constant}
    if op == VectorOp.REQUANT:  # its factors are the same for every row
        values |= {"b_kind": Src.ACC_ROW, "b": places.constant, "xb": 0, "param": 0x7F8000}
    elif fields.get("post", Post.NONE) in PARAM_POSTS:
        values["param"] = 0x40000000  # 0 to 2 as bf16, to 16384 as int16
    return insn("vector", **values)


def _program(config: TpuConfig, places: _Places, tested: Insn | None, name: str) -> Program:
    """Load the operands, make a row of indexes, wait; then run the instruction, if any."""
    rows, cols = places.loaded, config.dim
    shape = rows | cols << 16
    insns = [
        insn("load", mem=Mem.ACC, fmt="w32", row=0, addr=0, shape=shape, pitch=4 * cols),
        insn("vector", op="mov", dst_kind="acc", dst=places.indexes, a_kind="lane_index", n0=1),
        insn("stride", x=1, s0=1),
        insn("fence"), *([] if tested is None else [tested]), insn("halt")]
    x = Buffer("x", 0, (rows, cols), "float32", "input")
    return Program(config.fingerprint, tuple(insns), name, ("",) * len(insns), x.nbytes, (x,), {},
                   ((0, 1),))


def _occupied(device: Device, program: Program, x: NDArray[np.float32]) -> int:
    counters = device.run(program, {"x": x}).counters
    return sum(counters[f"vpu_{state}"] for state in _OCCUPIED)


def vector_unit(config: TpuConfig, backend: str, rows: int = 1024,
                seed: int = 0) -> Iterator[VectorMeasurement]:
    """Measure each instruction on one chip, alone in the unit, operands in the accumulators.

    Raises
    ------
    ValueError
        If ``rows`` is not a multiple of the rows that the walk repeats, or too large for a walk.
    celosia.driver.DeviceError
        If the backend cannot be opened, or a run fails.
    """
    assert {state.name.lower() for state in Activity} >= set(_OCCUPIED)
    places = _Places(max(32, config.dim))
    most = config.dim * COUNT_MAX
    if rows % places.n0 or not 0 < rows <= most:
        raise ValueError(f"--rows must be a multiple of {places.n0} of at most {most} on "
                         f"{config.name}, not {rows}")
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((places.loaded, config.dim)).astype(np.float32)
    with open_device(backend, config=config) as device, \
            open_device("model", config=config) as model:
        idle = _occupied(device, _program(config, places, None, "nothing"), x)
        for name, fields in _cases(config):
            tested = _instruction(config, places, fields, rows)
            program = _program(config, places, tested, name)
            cycles = _occupied(device, program, x) - idle
            model.run(program, {"x": x})
            yield VectorMeasurement(name, config.name, backend, rows, cycles, rows / cycles,
                                    same_state(device, model))


def lines(measured: Iterator[VectorMeasurement]) -> Iterator[str]:
    """Yield the lines of a table, as they are measured."""
    yield f"{'instruction':24}{'rows':>7}{'cycles':>8}{'rows a cycle':>14}  bit for bit"
    for m in measured:
        exact = {True: "yes", False: "NO", None: "not checked"}[m.bit_exact]
        yield f"{m.name:24}{m.rows:7,}{m.cycles:8,}{m.rows_per_cycle:14.3f}  {exact}"
