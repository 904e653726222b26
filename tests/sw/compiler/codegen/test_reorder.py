"""Any order that `reorder` gives does what the given order does."""

import numpy as np
import pytest
from works import legal

from celosia import driver
from celosia.arch.config import TpuConfig, preset
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.vector import Dst, Reduce, ReduceOp, Src, VectorOp
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.assemble import assemble
from celosia.compiler.codegen.play import Play
from celosia.compiler.codegen.reorder import reorder
from celosia.compiler.codegen.spans import Costs
from celosia.compiler.codegen.strides import StrideRegisters
from celosia.compiler.codegen.waits import followers
from celosia.program import Buffer, Program

CHIP = TpuConfig("small", dim=4, int8=False, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=16)
WORDS = 512


def random_ops(rng, count):
    """Operations on few rows, so that most of them conflict."""
    ops = []
    for _ in range(count):
        rows = int(rng.integers(1, 9))
        a, b, c = (int(row) for row in rng.choice(7, 3, replace=False) * 8)
        kind = rng.integers(6)
        addr = 16 * int(rng.integers(WORDS // 4 - 8))
        if kind == 0:
            ops.append(nodes.load(Mem.ACC, DmaFormat.W32, a, addr, rows, 4, 16))
        elif kind == 1:
            ops.append(nodes.load(Mem.UB, DmaFormat.W32, a, addr, rows, 4, 16))
        elif kind == 2:
            ops.append(nodes.store(Mem.ACC, DmaFormat.W32, a, addr, rows, 4, 16))
        elif kind == 3:
            ops.append(nodes.matmul(MatmulFormat.BF16, a, b, c, 4, 4, bool(rng.integers(2)),
                                    n1=2, xacts=(1, 8, 0) if b < 48 else None))
        elif kind == 4:
            ops.append(nodes.vector(VectorOp.FADD, Dst.ACC, a, rows,
                                    ((Src.ACC, b), (Src.ACC_LANE_ROW, c | 2 << 24)),
                                    reduce=Reduce(int(rng.integers(3))), reduce_op=ReduceOp.SUM_F))
        else:
            ops.append(nodes.vector(VectorOp.FMUL, Dst.UB_BF16, a, rows,
                                    ((Src.ACC, b), (Src.UB_BF16, c))))
    return ops


def outcome(ops):
    """Return memories and cycles after a run from a given state."""
    code = assemble(StrideRegisters().give(ops))
    program = Program(CHIP.fingerprint, tuple(code.insns), arena_bytes=4 * WORDS,
                      buffers=(Buffer("data", 0, (WORDS,), "float32", "input"),),
                      relocations=tuple(code.relocations))
    with driver.open("model", config=CHIP) as device:
        machine = device.transport.machine
        rng = np.random.default_rng(0)
        machine.acc[...] = rng.standard_normal(machine.acc.shape).astype(np.float32).view(np.uint32)
        machine.ub[...] = rng.integers(0x3F80, 0x4000, machine.ub.shape)
        data = rng.standard_normal(WORDS).astype(np.float32)
        result = device.run(program, {"data": data}, outputs=["data"])
        state = machine.acc.tobytes(), machine.ub.tobytes(), result["data"].tobytes()
        return state, result.cycles


@pytest.mark.parametrize("seed", range(12))
def test_random_operations_do_the_same_in_their_new_order(seed):
    ops = random_ops(np.random.default_rng(seed), 60)
    ordered = reorder(CHIP, ops)
    assert sorted(map(repr, ordered)) == sorted(map(repr, ops))
    assert outcome(ordered)[0] == outcome(ops)[0]


def test_independent_chains_run_side_by_side():
    chains = []
    for first in (0, 16, 32, 48):  # each step waits for the one before
        chains += [nodes.vector(VectorOp.FMUL, Dst.ACC, first, 16, ((Src.ACC, first),
                                                                    (Src.SCALAR, 0x3F800000)))
                   for _ in range(10)]
    before, after = outcome(chains)[1], outcome(reorder(CHIP, chains))[1]
    assert after < 0.7 * before


def test_gathers_and_scatters_wait_for_the_whole_table():
    """The rows of a table are as many as `param` says, those of indexes one for each group."""
    table = [nodes.load(Mem.ACC, DmaFormat.W32, 0, 16 * i, 4, 4, 16) for i in range(4)]
    gather = nodes.vector(VectorOp.GATHER, Dst.ACC, 32, 4, ((Src.ACC, 0), (Src.ACC, 63)), param=3,
                          n1=1)
    scatter = nodes.vector(VectorOp.SCATTER, Dst.ACC, 0, 4, ((Src.ACC, 16), (Src.ACC, 63)),
                           param=3)
    last = nodes.store(Mem.ACC, DmaFormat.W32, 2, 1024, 1, 4, 16)
    free = nodes.store(Mem.ACC, DmaFormat.W32, 40, 1040, 1, 4, 16)
    ops = [*table, gather, scatter, last, free]
    assert reorder(CHIP, ops) == [table[0], free, *table[1:], gather, scatter, last]


def test_a_tile_that_is_kept_stays_with_its_load():
    other = nodes.matmul(MatmulFormat.BF16, 0, 0, 32, 4, 4)
    wait = nodes.load(Mem.UB, DmaFormat.W32, 8, 0, 8, 4, 16)
    first = nodes.matmul(MatmulFormat.BF16, 8, 8, 40, 4, 4)
    kept = nodes.matmul(MatmulFormat.BF16, 16, 16, 0, 4, 0, wload=False)
    ops = [wait, first, kept, other]
    assert reorder(CHIP, ops) == ops


def test_streams_reach_as_far_as_their_strides():
    write = nodes.vector(VectorOp.MOV, Dst.ACC, 0, 4, ((Src.SCALAR, 1),), n1=2, xdst=(3, 10, 0))
    joined = nodes.vector(VectorOp.MOV, Dst.ACC, 32, 4, ((Src.ACC, 40),), n1=2, n2=2,
                          reduce=Reduce.ROWS, xdst=(9, 2, 5))
    for row, waits in ((19, True), (20, False), (32, True), (39, True)):
        reads = nodes.store(Mem.ACC, DmaFormat.W32, row, 0, 1, 4, 16)
        assert legal(CHIP, [write, joined, reads], [reads, joined, write]) != waits, row


def test_order_is_kept_where_everything_waits():
    chain = [nodes.vector(VectorOp.FADD, Dst.ACC, 0, 4, ((Src.ACC, 0), (Src.SCALAR, i)))
             for i in range(10)]
    assert reorder(CHIP, chain) == chain


def test_legal_orders_have_the_same_operations():
    ops = random_ops(np.random.default_rng(0), 10)
    assert legal(CHIP, ops, reorder(CHIP, ops))
    assert not legal(CHIP, ops, ops[:-1])
    assert not legal(CHIP, ops, [*ops[:-1], ops[-1].with_varying((9,))])


def test_an_order_ends_later_where_the_scoreboard_is_full():
    """Loads in front of a matmul hold it up as soon as they fill the window."""
    loads = [nodes.load(Mem.UB, DmaFormat.W32, 0, 1024, 8, 4, 16) for _ in range(6)]
    ops = [nodes.matmul(MatmulFormat.BF16, 0, 16, 32, 8, 4), *loads]
    costs = [*map(Costs(CHIP), ops)]
    waiting = followers(costs, [cost.of(op) for cost, op in zip(costs, ops, strict=True)])
    play = Play(CHIP, ops, costs, waiting)
    first, last = [*range(7)], [*range(1, 7), 0]
    assert play.ends(last, 16)[0] < 110
    assert play.ends(last, 4)[0] > 110
    assert play.ends(first, 4)[0] < 50


@pytest.mark.parametrize("rows", [1, 52, 300])
def test_a_matmul_stands_behind_the_load_that_it_follows(rows):
    """Its tile takes the array longer than the load takes: it begins to be told of it before."""
    wide = preset("v1")
    weights, acts = (nodes.load(Mem.UB, DmaFormat.I8, row, 65536 * row, count, 256, 256)
                     for row, count in ((0, 256), (256, rows)))
    product = nodes.matmul(MatmulFormat.INT8, 0, 256, 0, rows, 256, False)
    order = reorder(wide, [weights, acts, product])
    assert order.index(product) == 2
