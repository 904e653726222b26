"""What random programs cover, by bins that follow from the instruction set.

``python -m celosia_sim.lockstep --coverage`` prints how often each bin is hit; tests want every bin
to be hit that a chip can reach. Most take programs and golden model alone; what units wait for, and
which ports, is what a chip has counted.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from celosia.arch import isa
from celosia.arch.commands import EXTERNAL, Command, Dma, Load, Matmul, Vector
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Imm, Insn, decode
from celosia.arch.faults import Fault
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem, Opcode, Unit
from celosia.arch.registers import PORTS, UNIT_NAMES, Activity
from celosia.arch.streams import Stream
from celosia.arch.vector import (
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    INDEXED_OPS,
    Post,
    Reduce,
    ReduceOp,
    VectorOp,
)
from celosia.arch.words import WORD_MASK
from celosia.model import Machine
from celosia_sim.randprog import (
    RandomProgram,
    random_bus_errors,
    random_faulting_program,
    random_program,
)

__all__ = ["Bin", "Coverage", "bins", "chip_bins", "cover", "unreachable"]

#: Group and name.
Bin = tuple[str, str]
_MEMORY_BYTES = 1 << 32
#: Bits of flags and of numbers of stride registers, all of whose values are bins.
_SMALL = (1, 3)
_MEMS = ("ub", "acc", "memory")
_HAZARDS = {"RAW": ("writes", "reads"), "WAR": ("reads", "writes"), "WAW": ("writes", "writes")}

#: What a unit reads and writes.
_ACCESS = {
    Unit.LOAD: {"reads": {"memory"}, "writes": {"ub", "acc"}},
    Unit.STORE: {"reads": {"ub", "acc"}, "writes": {"memory"}},
    Unit.MXU: {"reads": {"ub", "acc"}, "writes": {"acc"}},
    Unit.VPU: {"reads": {"ub", "acc"}, "writes": {"ub", "acc"}},
}

Test = Callable[[int, int], bool]
#: Classes of a number: of the number and D, whether it is in the class.
_COUNTS: dict[str, Test] = {
    "1": lambda n, _: n == 1, "2..D-1": lambda n, d: 1 < n < d, "D": lambda n, d: n == d,
    "D+1..2D": lambda n, d: d < n <= 2 * d, "above 2D": lambda n, d: n > 2 * d,
}
_FEW: dict[str, Test] = {
    "1": lambda n, _: n == 1, "2": lambda n, _: n == 2, "3": lambda n, _: n == 3,
    "above 3": lambda n, _: n > 3,
}
#: Groups of classes of numbers that instructions run with.
_NUMBERS: dict[str, dict[str, Test]] = {
    **{f"{name} {count}": classes for name in ("matmul", "vector")
       for count, classes in (("n0", _COUNTS), ("n1", _FEW), ("n2", _FEW))},
    "n0 of transpose": {"D": lambda n, d: n == d, "2D": lambda n, d: n == 2 * d,
                        "above 2D": lambda n, d: n > 2 * d},
    "rows of a table": {"1": lambda n, _: n == 1, "2..D": lambda n, d: 1 < n <= d,
                        "above D": lambda n, d: n > d},
    "weight rows": {"below D": lambda n, d: n < d, "D": lambda n, d: n == d},
    "step to a next row": {
        "0": lambda n, _: n == 0, "1": lambda n, _: n == 1, "above 1": lambda n, _: 1 < n < 1 << 15,
        "backwards": lambda n, _: n >= 1 << 15},
    "step to no other row": {"below 2**15": lambda n, _: n < 1 << 15,
                             "above": lambda n, _: n >= 1 << 15},
    "transfer rows": {"1": lambda n, _: n == 1, "2..8": lambda n, _: 1 < n <= 8,
                      "above 8": lambda n, _: n > 8},
    "transfer columns": {
        "below D": lambda n, d: n < d, "D": lambda n, d: n == d,
        "D+1..3D": lambda n, d: d < n <= 3 * d, "above 3D": lambda n, d: n > 3 * d,
        "above D, in part": lambda n, d: n > d and n % d > 0},
    "pitch to no other row": {"below 2**31": lambda n, _: n < 1 << 31,
                              "above": lambda n, _: n >= 1 << 31},
    "pitch to a next row": {"0": lambda n, _: n == 0, "1..224": lambda n, _: 0 < n <= 224,
                            "above 224": lambda n, _: 224 < n < 1 << 31,
                            "above 2**31": lambda n, _: n >= 1 << 31},
    "pitch less bytes of a row": {"below 0": lambda n, _: n < 0, "0": lambda n, _: n == 0,
                                  "above 0": lambda n, _: n > 0},
    "pages of 4 KiB of a row": {"1": lambda n, _: n == 1, "2": lambda n, _: n == 2},
    "last byte": {"low": lambda n, _: n < 1 << 31, "2**32 - 1": lambda n, _: n == (1 << 32) - 1},
    "loop turns": {"0": lambda n, _: n == 0, "1": lambda n, _: n == 1,
                   "2..4": lambda n, _: 2 <= n <= 4, "above 4": lambda n, _: n > 4},
}
#: Classes of fp32 words that a load brings into the accumulators: of upper and lower 16 bits.
_EXPONENT, _FRACTION = 0x7F80, 0x007F
_WORDS: dict[str, Callable[[int, int], bool]] = {
    "zero": lambda h, low: not h & 0x7FFF and not low,
    "subnormal, a bf16": lambda h, low: not h & _EXPONENT and h & _FRACTION > 0 and not low,
    "subnormal, lower half alone": lambda h, low: not h & 0x7FFF and low > 0,
    "subnormal, both halves": lambda h, low: not h & _EXPONENT and h & _FRACTION > 0 and low > 0,
    "infinite": lambda h, low: h & 0x7FFF == _EXPONENT and not low,
    "NaN, a bf16": lambda h, low: h & _EXPONENT == _EXPONENT and h & _FRACTION > 0 and not low,
    "NaN, lower half alone": lambda h, low: h & 0x7FFF == _EXPONENT and low > 0,
    "NaN, both halves": lambda h, low: h & _EXPONENT == _EXPONENT and h & _FRACTION > 0 and low > 0,
    "normal, a bf16": lambda h, low: 0 < h & _EXPONENT < _EXPONENT and not low,
    "normal, both halves": lambda h, low: 0 < h & _EXPONENT < _EXPONENT and low > 0,
}
#: Classes of faults beside their cause and instruction.
_FAULTS = (
    "ILLEGAL_COUNT: 0", "ILLEGAL_COUNT: a table of 0", "ILLEGAL_COUNT: a table above 65535",
    "ILLEGAL_COUNT: transpose, n0 % D odd", "ILLEGAL_COUNT: transpose, n0 % D even",
    *(f"INDEX_RANGE: {op.name.lower()}" for op in sorted(INDEXED_OPS)),
    "WINDOW: below 2**32", "WINDOW: ends mod 2**32 in a window",
    *(f"{name}: last row {where}" for name in ("UB_RANGE", "ACC_RANGE")
      for where in ("below 2**15", "as of a step backwards", "near 2**32")),
)
#: Faults that name no instruction of one kind.
_ALONE = (Fault.PC_RANGE, Fault.ILLEGAL_OPCODE, Fault.BUS_READ, Fault.BUS_WRITE, Fault.BUS_FETCH)
#: States in which a unit never is, and ports that never lose a cycle, each with the reason.
_NEVER = {
    ("activity", "mxu: wait_memory"): "while it waits for weights, no other port comes before them",
    ("activity", "mxu: wait_bus"): "it uses no external memory",
    ("activity", "vpu: wait_bus"): "it uses no external memory",
    ("activity", "scalar: idle"): "a run begins and ends with its work",
    ("activity", "scalar: wait_memory"): "when it reads a row, all units have finished",
    ("lost cycles", "ub_read_mxu_acts"): "the first port of its memory",
    ("lost cycles", "ub_write_vpu"): "the first port of its memory",
}


def bins() -> Iterator[Bin]:
    """Every bin, on whatever chip."""
    for item in isa.INSTRUCTIONS:
        yield "instruction", item.mnemonic
        for operand, kind in product(item.operands, ("immediate", "register")):
            yield "operand", f"{item.mnemonic} {operand.name}: {kind}"
        for part in item.fields:
            if part.enum is not None:
                for value in part.enum:
                    yield "field", f"{item.mnemonic} {part.name}: {value.name.lower()}"
            elif part.width in _SMALL:
                for value in range(part.name == "x", 1 << part.width):
                    yield "field", f"{item.mnemonic} {part.name}: {value}"
        for name in item.faults:
            if Fault[name] not in _ALONE:
                yield "fault", f"{name}: {item.mnemonic}"
    for reduce, join in product(Reduce, ReduceOp):
        if reduce != Reduce.NONE:
            yield "reduction", f"{reduce.name.lower()}, {join.name.lower()}"
    for mem, fmt, name in product(Mem, DmaFormat, ("load", "store")):
        yield "transfer", f"{name} {mem.name.lower()} {fmt.name.lower()}"
    for group, classes in _NUMBERS.items():
        yield from ((group, name) for name in classes)
    yield from (("fp32 words", name) for name in _WORDS)
    for old, new, kind, mem in product(_ACCESS, _ACCESS, _HAZARDS, _MEMS):
        yield "hazard", f"{old.name} then {new.name}: {kind} of {mem}"
    for mem, side, what in product(_MEMS, ("above", "below"), ("one in common", "none between")):
        yield "edge", f"{mem}, {side}: {what}"
    yield from (("fault", fault.name) for fault in _ALONE)
    yield from (("fault", name) for name in _FAULTS)


def chip_bins() -> Iterator[Bin]:
    """Every bin that takes a chip: the states of its units, in cycles, and what a timer ends."""
    for unit, state in product(UNIT_NAMES, Activity):
        yield "activity", f"{unit}: {state.name.lower()}"
    yield from (("lost cycles", port) for port in PORTS)
    yield "fault", Fault.WATCHDOG.name


def unreachable(config: TpuConfig) -> dict[Bin, str]:
    """Bins that no program on a chip can hit, each with the reason."""
    found: dict[Bin, str] = dict(_NEVER)
    enums = {(item.mnemonic, part.name): part.enum for item in isa.INSTRUCTIONS
             for part in item.fields if part.enum is not None}
    for (mnemonic, name), enum in enums.items():
        for value in enum:
            if reason := _lacks(config, value):
                found["field", f"{mnemonic} {name}: {value.name.lower()}"] = reason
    found["field", "vector a_kind: none"] = "every operation has a first source"
    for reduce, join in product(Reduce, ReduceOp):
        if reduce != Reduce.NONE and (reason := _lacks(config, join)):
            found["reduction", f"{reduce.name.lower()}, {join.name.lower()}"] = reason
    for mem, fmt, name in product(Mem, DmaFormat, ("load", "store")):
        reason = _lacks(config, fmt)
        if mem == Mem.UB and fmt == DmaFormat.W32 and not config.bf16:
            reason = "the chip has no bf16"
        if reason:
            found["transfer", f"{name} {mem.name.lower()} {fmt.name.lower()}"] = reason
    if config.dim == 2:
        found |= {(f"{name} n0", "2..D-1"): "D is 2" for name in ("matmul", "vector")}
        found["fault", "ILLEGAL_COUNT: transpose, n0 % D even"] = "D is 2"
    if not config.int8:
        found |= {("edge", f"memory, {side}: one in common"): "no element has one byte"
                  for side in ("above", "below")}
    found["step to a next row", "backwards"] = "strides are unsigned: a fault"
    found["pitch to a next row", "above 2**31"] = "there are 64 KiB of data: a fault"
    for old, new, (kind, does), mem in product(_ACCESS, _ACCESS, _HAZARDS.items(), _MEMS):
        for unit, what in zip((old, new), does, strict=True):
            if mem not in _ACCESS[unit][what]:
                found["hazard", f"{old.name} then {new.name}: {kind} of {mem}"] = (
                    f"{unit.name} never {what} {mem}")
    return found


def _lacks(config: TpuConfig, value: object) -> str:
    """Why a chip lacks a value of an enumeration; empty where it has it."""
    name = getattr(value, "name", "")
    floating = value in FLOAT_OPS if isinstance(value, VectorOp) else (
        value in FLOAT_POSTS if isinstance(value, Post) else
        isinstance(value, ReduceOp) and value in FLOAT_REDUCES)
    if not config.bf16 and (floating or "BF16" in name):
        return "the chip has no bf16"
    if not config.int8 and ("UB_I8" in name or value is DmaFormat.I8
                            or value is MatmulFormat.INT8):
        return "the chip has no int8"
    return ""


@dataclass(frozen=True)
class _Touched:
    """First and last row or byte that an instruction reads or writes, by memory."""

    unit: Unit
    reads: list[tuple[str, int, int]]
    writes: list[tuple[str, int, int]]


@dataclass
class Coverage:
    """How often programs on a chip have hit each bin.

    Parameters
    ----------
    config
        The chip.
    simulated
        Whether bins that take a chip are among those that are to be hit.
    """

    config: TpuConfig
    simulated: bool = False
    hits: Counter[Bin] = field(default_factory=Counter)

    @property
    def bins(self) -> list[Bin]:
        """Every bin."""
        return [*bins(), *(chip_bins() if self.simulated else ())]

    def chip(self, counters: Mapping[str, int], cause: Fault) -> None:
        """Count what a chip's performance counters hold after a run, and how it ended."""
        for unit, state in product(UNIT_NAMES, Activity):
            name = state.name.lower()
            self.hits["activity", f"{unit}: {name}"] += counters[f"{unit}_{name}"]
        for port in PORTS:
            self.hits["lost cycles", port] += counters[f"conflicts_{port}"]
        self._hit("fault", cause.name)

    def legal(self, program: RandomProgram, machine: Machine) -> None:
        """Run a program on a model, and count what it runs."""
        self._texts(program.insns)
        older: deque[_Touched] = deque(maxlen=self.config.window - 1)

        def observe(_pc: int, command: Command) -> None:
            self._numbers(command)
            if isinstance(command, Dma):
                self._transfer(command, machine)
            touched = _touched(self.config, command)
            for other in older:
                self._hazards(other, touched)
            older.append(touched)

        machine.observer = observe
        try:
            result = program.run(machine)
        finally:
            machine.observer = None
        if result.cause != Fault.NONE:
            raise ValueError(f"seed {program.seed} must be a legal program, not end as "
                             f"{result.cause.name} at instruction {result.pc}")

    def faulty(self, program: RandomProgram) -> None:
        """Count how a program ends that is at fault."""
        result = program.expected
        assert result is not None
        cause, addr = result.cause, result.addr
        if cause == Fault.NONE:
            return
        if cause in _ALONE:
            self._hit("fault", cause.name)
            return
        code = program.code[result.pc * isa.INSTRUCTION_BYTES:][:isa.INSTRUCTION_BYTES]
        name = isa.BY_OPCODE[Opcode(code[0] & (1 << isa.OPCODE_BITS) - 1)].mnemonic
        self._hit("fault", f"{cause.name}: {name}")
        if cause in (Fault.UB_RANGE, Fault.ACC_RANGE):
            self._hit("fault", f"{cause.name}: last row " + (
                "below 2**15" if addr < 1 << 15 else "near 2**32" if addr >= 0xFFFF_F000
                else "as of a step backwards"))
        elif cause == Fault.INDEX_RANGE and name == "vector":
            op = VectorOp(decode(code).fields["op"])
            if op in INDEXED_OPS:  # these have no operand with a lane
                self._hit("fault", f"{cause.name}: {op.name.lower()}")
        elif cause == Fault.ILLEGAL_COUNT:
            self._count_fault(decode(code))
        elif cause == Fault.WINDOW:
            self._window_fault(decode(code), program.windows)

    def missing(self) -> list[Bin]:
        """Bins that a program could hit and none did."""
        never = unreachable(self.config)
        return [item for item in self.bins if item not in never and not self.hits[item]]

    def report(self) -> str:
        """Every bin with its hits; 0 with a reason where it cannot be hit."""
        never, lines, group = unreachable(self.config), [], ""
        for item in self.bins:
            if item[0] != group:
                group = item[0]
                lines.append(group)
            count = self.hits[item]
            note = f"  ({never[item]})" if item in never else "" if count else "  MISSING"
            lines.append(f"  {item[1]:<44} {count:>8,}{note}")
        total = sum(1 for item in self.bins if item not in never)
        lines.append(f"{self.config.name}: {total - len(self.missing())} of {total} bins hit; "
                     f"{len(self.bins) - total} cannot be")
        return "\n".join(lines)

    def _hit(self, group: str, name: str) -> None:
        self.hits[group, name] += 1

    def _number(self, group: str, value: int) -> None:
        for name, test in _NUMBERS[group].items():
            if test(value, self.config.dim):
                self._hit(group, name)

    def _texts(self, insns: Iterable[Insn]) -> None:
        """Count what stands in the instructions."""
        for item in insns:
            name = item.instruction.mnemonic
            self._hit("instruction", name)
            for operand, word in zip(item.instruction.operands, item.operands, strict=True):
                kind = "immediate" if isinstance(word, Imm) else "register"
                self._hit("operand", f"{name} {operand.name}: {kind}")
            for part in item.instruction.fields:
                if part.enum is None and part.width not in _SMALL:
                    continue
                value = item.fields[part.name]
                text = value if part.enum is None else part.enum(value).name.lower()
                self._hit("field", f"{name} {part.name}: {text}")
            if item.instruction.opcode == Opcode.LOOP and isinstance(item.operands[0], Imm):
                self._number("loop turns", item.operands[0].value)

    def _numbers(self, command: Command) -> None:
        """Count the numbers that an instruction runs with."""
        if isinstance(command, Matmul):
            self._counts("matmul", command.acts.counts)
            streams = [command.acc, command.acts]
            if command.weights is not None:
                self._number("weight rows", command.weights.counts[0])
        elif isinstance(command, Vector):
            self._counts("vector", command.counts)
            if command.op == VectorOp.TRANSPOSE:
                self._number("n0 of transpose", command.counts[0])
            if command.op in INDEXED_OPS:
                self._number("rows of a table", command.param)
            if command.reduce != Reduce.NONE:
                self._hit("reduction", f"{command.reduce.name.lower()}, "
                                       f"{command.reduce_op.name.lower()}")
            streams = [command.dst, *(source.stream for source in command.sources)]
        else:
            streams = [command.chip(self.config.dim)]
        for stream in streams:
            if isinstance(stream, Stream):
                for count, step in zip(stream.counts, stream.strides, strict=True):
                    self._number(f"step to {'a next' if count > 1 else 'no other'} row", step)

    def _counts(self, name: str, counts: Iterable[int]) -> None:
        for dimension, count in zip(("n0", "n1", "n2"), counts, strict=True):
            self._number(f"{name} {dimension}", count)

    def _transfer(self, dma: Dma, machine: Machine) -> None:
        self._hit("transfer", f"{dma.opcode.name.lower()} {dma.mem.name.lower()} "
                              f"{dma.fmt.name.lower()}")
        self._number("transfer rows", dma.rows)
        self._number("transfer columns", dma.cols)
        self._number("last byte", dma.end - 1)
        self._number("pages of 4 KiB of a row",
                     (dma.addr + dma.row_bytes - 1 >> 12) - (dma.addr >> 12) + 1)
        self._number(f"pitch to {'a next' if dma.rows > 1 else 'no other'} row", dma.pitch)
        if dma.rows > 1:
            self._number("pitch less bytes of a row", dma.pitch - dma.row_bytes)
        if isinstance(dma, Load) and dma.mem == Mem.ACC and dma.fmt == DmaFormat.W32:
            data = machine.memory.read_rows(dma.addr, dma.rows, dma.row_bytes, dma.pitch)
            for word in np.unique(data.view("<u4")).tolist():
                for name, test in _WORDS.items():
                    if test(word >> 16, word & 0xFFFF):
                        self._hit("fp32 words", name)

    def _hazards(self, old: _Touched, new: _Touched) -> None:
        """Count what an instruction has in common with an older one in the window."""
        for kind, does in _HAZARDS.items():
            for (mem, low, high), (other, first, last) in product(
                    getattr(old, does[0]), getattr(new, does[1])):
                if mem != other:
                    continue
                if low <= last and first <= high:
                    self._hit("hazard", f"{old.unit.name} then {new.unit.name}: {kind} of {mem}")
                if old.unit != new.unit:
                    for side, gap in (("above", first - high), ("below", low - last)):
                        if gap in (0, 1):
                            self._hit("edge", f"{mem}, {side}: " + (
                                "none between" if gap else "one in common"))

    def _count_fault(self, item: Insn) -> None:
        name, dim = item.instruction.mnemonic, self.config.dim
        words = {operand.name: word.value
                 for operand, word in zip(item.instruction.operands, item.operands, strict=True)
                 if isinstance(word, Imm)}
        packed = words.get("shape" if name in ("load", "store") else "counts")
        if packed is not None and 0 in (packed & 0xFFFF, packed >> 16):
            self._hit("fault", "ILLEGAL_COUNT: 0")
        elif name == "vector" and packed is not None:
            op, param = item.fields["op"], words.get("param", 1)
            if op == VectorOp.TRANSPOSE and packed % dim:
                self._hit("fault", "ILLEGAL_COUNT: transpose, n0 % D "
                                   + ("odd" if packed & 1 else "even"))
            elif op in INDEXED_OPS and packed & 0xFFFF <= dim:
                self._hit("fault", "ILLEGAL_COUNT: a table "
                                   + ("above 65535" if param else "of 0"))

    def _window_fault(self, item: Insn, windows: Iterable[tuple[int, int]]) -> None:
        values = [word.value for word in item.operands if isinstance(word, Imm)]
        if len(values) < len(item.operands):
            return
        _, addr, shape, pitch, _ = values
        end = addr + ((shape & 0xFFFF) - 1) * pitch + (shape >> 16) * DmaFormat(
            item.fields["fmt"]).nbytes - 1
        if end < 1 << 32:
            self._hit("fault", "WINDOW: below 2**32")
        elif any(base <= addr and end & WORD_MASK <= last for base, last in windows):
            self._hit("fault", "WINDOW: ends mod 2**32 in a window")


def _touched(config: TpuConfig, command: Command) -> _Touched:
    reads, writes = [], []
    for _, space, first, last, written in command.touches(config):
        name = "memory" if space == EXTERNAL else Mem(space).name.lower()
        (writes if written else reads).append((name, first, last))
    if isinstance(command, Matmul) and command.accumulate:
        reads += writes
    return _Touched(command.unit, reads, writes)


def cover(config: TpuConfig, legal: range, faulty: range) -> Coverage:
    """Return what the programs of these seeds cover; a tenth of the faulty ones meet bus errors."""
    coverage, machine = Coverage(config), Machine(config)
    for seed in legal:
        coverage.legal(random_program(config, seed, memory=_MEMORY_BYTES), machine)
    for seed in faulty:
        make = random_faulting_program if seed % 10 else random_bus_errors
        coverage.faulty(make(config, seed, memory=_MEMORY_BYTES))
    return coverage
