"""How a reduction joins two words: combinational, one entry for each :class:`ReduceOp`.

Rows (in the lanes) and lanes (in the tree) are joined by the same logic. The word of the earlier
row or of the lower lane is the left operand.
"""

from collections.abc import Callable

from amaranth.hdl import Const, Module, Mux, Signal, Value

from celosia.arch.config import TpuConfig
from celosia.arch.vector import FLOAT_REDUCES, ReduceOp
from celosia_hw.fp.add import f32_add
from celosia_hw.fp.compare import f32_max, f32_min
from celosia_hw.fp.wire import choose

__all__ = ["JOINS", "join"]

#: Join of a left and a right word, 32 bits each.
JOINS: dict[ReduceOp, Callable[[Module, Value, Value], Value]] = {
    ReduceOp.SUM_I: lambda m, a, b: (a + b)[:32],
    ReduceOp.MAX_I: lambda m, a, b: Mux(a.as_signed() >= b.as_signed(), a, b),
    ReduceOp.MIN_I: lambda m, a, b: Mux(a.as_signed() <= b.as_signed(), a, b),
    ReduceOp.AND: lambda m, a, b: a & b,
    ReduceOp.OR: lambda m, a, b: a | b,
    ReduceOp.SUM_F: lambda m, a, b: f32_add(m, a, b, name="join_sum"),
    ReduceOp.MAX_F: lambda m, a, b: f32_max(m, a, b, "join_max"),
    ReduceOp.MIN_F: lambda m, a, b: f32_min(m, a, b, "join_min"),
}


def join(m: Module, config: TpuConfig, op: Value, a: Value, b: Value) -> Signal:
    """Join of ``a`` and ``b`` by the reduction ``op``, 32 bits.

    A chip without bf16 has no logic for the floating-point ones, whose result is then 0.
    """
    results = {item: function(m, a, b) for item, function in JOINS.items()
               if config.bf16 or item not in FLOAT_REDUCES}
    return choose(m, op, results, Const(0), name="joined")
