"""What a run does, counted, and its energy by published tables: an estimate, which says of which.

Counts are exact: each instruction that was executed, times its rows. The energies are those of
operations in somebody's process; this chip's were never measured, and no power is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Insn
from celosia.arch.isa import MatmulFormat, Opcode
from celosia.arch.vector import VectorOp
from celosia.profile.record import Record

__all__ = ["TABLES", "EnergyTable", "counts", "energy"]

#: The first operation on floats.
_FLOATS = VectorOp.FADD
_PRODUCTS = frozenset({VectorOp.IMUL, VectorOp.REQUANT, VectorOp.FMUL, VectorOp.FFMA,
                       VectorOp.FMULC})


@dataclass(frozen=True)
class EnergyTable:
    """Published energies, in pJ.

    Attributes
    ----------
    name
        Who published them, of which process.
    products
        A product and its addition to the sum, by what `counts` calls them.
    operations
        An operation of a lane of the vector unit.
    sram
        Bytes of a memory, and an access of 64 bits to it, ascending.
    dram
        64 bits to or from external memory.
    """

    name: str
    products: Mapping[str, float]
    operations: Mapping[str, float]
    sram: Sequence[tuple[int, float]]
    dram: float

    def access(self, nbytes: int) -> float:
        """Return what 64 bits of a memory take: of the smallest one that is as large."""
        return next((each for size, each in self.sram if nbytes <= size), self.sram[-1][1])


#: Horowitz has no bf16: a product of his 16-bit floats. Of Jouppi's HBM2, 250 to 450, the middle.
TABLES = (
    EnergyTable("Horowitz, ISSCC 2014, 45 nm", {"int8": 0.2 + 0.1, "bf16": 1.1 + 0.9},
                {"int_add": 0.1, "int_mul": 3.1, "float_add": 0.9, "float_mul": 3.7},
                ((8 << 10, 10), (32 << 10, 20), (1 << 20, 100)), 1300),
    EnergyTable("Jouppi et al., ISCA 2021, 7 nm", {"int8": 0.07 + 0.03, "bf16": 0.21 + 0.38},
                {"int_add": 0.03, "int_mul": 1.48, "float_add": 0.38, "float_mul": 1.31},
                ((8 << 10, 7.5), (32 << 10, 8.5), (1 << 20, 14)), 350),
)


def counts(record: Record) -> Counter[str]:
    """Return what a run did.

    ``products_int8`` and ``products_bf16``: of the array, each cycle of a row all that it has;
    ``int_add``, ``int_mul``, ``float_add``, ``float_mul``: of lanes of the vector unit, what only
    moves or compares is an ``int_add``; ``ub_rows`` and ``acc_rows``: rows that were read or
    written; ``dram_bytes``: to and from external memory, those of instructions, too.
    """
    found: Counter[str] = Counter()
    program, config = record.program, record.config
    rows = np.bincount(record.pc, record.amount, len(program.insns)).astype(np.int64)
    for insn, count in zip(program.insns, rows.tolist(), strict=True):
        if (kind := _kind(insn)) and count:
            found[kind] += count * (config.pes if kind.startswith("products") else config.dim)
    found["ub_rows"], found["acc_rows"] = int(record.ub_rows.sum()), int(record.acc_rows.sum())
    found["dram_bytes"] = record.prediction.bytes_read + record.prediction.bytes_written
    return found


def _kind(insn: Insn) -> str:
    """Return what an instruction's rows count as; "" if they are none of a unit that computes."""
    fields = insn.fields
    if insn.instruction.opcode == Opcode.MATMUL:
        return "products_int8" if fields["fmt"] == MatmulFormat.INT8 else "products_bf16"
    if insn.instruction.opcode != Opcode.VECTOR:
        return ""
    op = VectorOp(fields["op"])
    return f"{'float' if op >= _FLOATS else 'int'}_{'mul' if op in _PRODUCTS else 'add'}"


def energy(found: Mapping[str, int], config: TpuConfig) -> list[dict[str, Any]]:
    """Return what `counts` are by each of `TABLES`, in J: all, and the parts of it."""
    words = config.dim * (2 if config.bf16 else 1) / 8, config.dim * 4 / 8
    known = []
    for table in TABLES:
        ub, acc = (rows * words[i] * table.access(int(size * 8 * words[i])) for i, (rows, size) in
                   enumerate(((found["ub_rows"], config.ub_rows),
                              (found["acc_rows"], config.acc_rows))))
        parts = {
            "array": sum(found[f"products_{name}"] * each
                         for name, each in table.products.items()),
            "vector unit": sum(found[name] * each for name, each in table.operations.items()),
            "unified buffer": ub, "accumulators": acc,
            "external memory": found["dram_bytes"] / 8 * table.dram}
        known.append({"table": table.name, "joules": sum(parts.values()) * 1e-12,
                      "parts": {name: each * 1e-12 for name, each in parts.items()}})
    return known
