"""Played operations end when the cycle model says, where nothing is fetched and no banks meet."""

import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.vector import Dst, Src, VectorOp
from celosia.compiler.codegen import nodes, play
from celosia.compiler.codegen.play import Play
from celosia.compiler.codegen.spans import Costs
from celosia.compiler.codegen.waits import followers
from celosia.model.timing import Estimator, Timing

CHIP = TpuConfig("small", dim=4, int8=False, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=16)
FIRST = 3  # cycles from the doorbell to the first instruction

LOAD = nodes.load(Mem.UB, DmaFormat.BF16, 16, 64, 8, 4, 8)
WEIGHTS = nodes.load(Mem.UB, DmaFormat.BF16, 32, 512, 4, 4, 8)
MATMUL = nodes.matmul(MatmulFormat.BF16, 0, 16, 32, 8, 4)
AGAIN = nodes.matmul(MatmulFormat.BF16, 8, 16, 33, 2, 3)
KEPT = nodes.matmul(MatmulFormat.BF16, 8, 16, 0, 8, 0, wload=False)
ADD = nodes.vector(VectorOp.FADD, Dst.ACC, 16, 8, ((Src.ACC, 0), (Src.ACC, 9)))
TURN = nodes.vector(VectorOp.TRANSPOSE, Dst.ACC, 32, 8, ((Src.ACC, 16),))
TURNED = nodes.vector(VectorOp.TRANSPOSE, Dst.ACC, 48, 8, ((Src.ACC, 40),))
STORE = nodes.store(Mem.ACC, DmaFormat.W32, 16, 1024, 8, 4, 16)


@pytest.mark.parametrize("ops", [
    [LOAD], [MATMUL], [KEPT], [ADD], [TURN], [STORE], [LOAD, STORE], [LOAD, MATMUL],
    [WEIGHTS, MATMUL], [MATMUL, AGAIN, KEPT], [MATMUL, ADD], [ADD, STORE], [ADD, TURN],
    [TURN, TURNED], [TURNED, ADD, TURN], [LOAD, WEIGHTS, MATMUL, ADD, STORE],
], ids=lambda ops: "-".join(op.command.opcode.name.lower() for op in ops))
def test_ends_are_those_of_the_cycle_model(ops):
    costs = [*map(Costs(CHIP), ops)]
    waiting = followers(costs, [cost.of(op) for cost, op in zip(costs, ops, strict=True)])
    clock = Estimator(CHIP, Timing())
    for op in ops:
        clock.tensor(op.command.at(op.varying))
    ends = Play(CHIP, ops, costs, waiting).ends(range(len(ops)), CHIP.window)
    assert FIRST + max(ends) == clock.last


@pytest.mark.parametrize("many", [False, True])
def test_of_many_operations_those_are_urgent_that_the_first_product_waits_for(monkeypatch, many):
    monkeypatch.setattr(play, "_MANY", 0 if many else 100)
    late = nodes.load(Mem.UB, DmaFormat.BF16, 40, 0, 8, 4, 8)
    # Between the first product and the one that reads what is loaded first are others.
    ops = [late, LOAD, MATMUL, *[nodes.matmul(MatmulFormat.BF16, 8, 0, 32, 8, 4)] * 4,
           nodes.matmul(MatmulFormat.BF16, 16, 40, 32, 8, 4)]
    costs = [*map(Costs(CHIP), ops)]
    waiting = followers(costs, [cost.of(op) for cost, op in zip(costs, ops, strict=True)])
    starts = Play(CHIP, ops, costs, waiting).starts(len(ops))
    assert (starts[1] < starts[0]) == many
