"""Rows a cycle of every vector instruction on the RTL."""

from celosia.arch.config import preset
from celosia.arch.vector import Post, Reduce, ReduceOp, VectorOp
from celosia.bench.vector import vector_unit


def test_every_instruction_takes_about_a_row_a_cycle():
    measured = {m.name: m for m in vector_unit(preset("core"), "rtl")}
    # Each operation, each second stage but none, each join of each reduction but none.
    assert len(measured) == len(VectorOp) + len(Post) - 1 + (len(Reduce) - 1) * len(ReduceOp)
    assert all(m.bit_exact for m in measured.values())
    # Some more cycles pass before the first row of those that move rows or join lanes.
    later = {name for name in measured
             if name in ("transpose", "gather") or name.startswith(("mov, lanes", "mov, collect"))}
    assert min(measured[name].rows_per_cycle for name in later) >= 0.95
    assert min(m.rows_per_cycle for name, m in measured.items() if name not in later) >= 0.98
