"""Movement and reductions of the vector unit, by hand."""

import numpy as np

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Insn, encode, insn
from celosia.arch.faults import Fault
from celosia.model import Machine
from celosia.program.asm import assemble

CONFIG = TpuConfig("both", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=8)


def run(text: str, acc: object = (), first: int = 0) -> Machine:
    """Run instructions with some rows of the accumulators set."""
    machine = Machine(CONFIG)
    rows = np.array(acc, np.int64).astype(np.uint32).reshape(-1, 4)
    machine.acc[first:first + len(rows)] = rows
    insns: list[Insn] = [*assemble(text, CONFIG).insns, insn("halt")]
    machine.memory.write(0, b"".join(map(encode, insns)))
    assert machine.run(0, len(insns)).cause == Fault.NONE
    return machine


def floats(*values: float) -> list[int]:
    return np.array(values, np.float32).view(np.uint32).tolist()


def test_transpose_of_two_tiles():
    machine = run("vector transpose, acc[8], acc[0], n0=4, n1=2", np.arange(32))
    tiles = np.arange(32).reshape(2, 4, 4).transpose(0, 2, 1)
    assert machine.acc[8:16].tolist() == tiles.reshape(8, 4).tolist()


def test_transpose_takes_rows_where_the_stride_finds_them():
    machine = run("stride x1, 2\nvector transpose, ub_i8[0], acc[0, x1], n0=4", np.arange(32))
    assert machine.ub[:4].tolist() == np.arange(32).reshape(8, 4)[::2].T.tolist()


def test_rotate():
    rows = [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert run("vector rotate, acc[8], acc[0], scalar[1], n0=2", rows).acc[8:10].tolist() == [
        [1, 2, 3, 0], [5, 6, 7, 4]]
    assert run("vector rotate, acc[0], acc[0], scalar[-1], n0=2", rows).acc[:2].tolist() == [
        [3, 0, 1, 2], [7, 4, 5, 6]]


def test_gather_and_scatter_by_index_rows():
    table = [[10 * i + j for j in range(4)] for i in range(6)]
    gathered = run("vector gather, acc[12], acc[0], acc[8], n0=3, n1=2, param=6",
                   [*table, [0] * 4, [0] * 4, [5, 0, 5, 99], [1, 2, 3, 99]]).acc[12:18]
    assert gathered.tolist() == [table[i] for i in (5, 0, 5, 1, 2, 3)]
    # Of the rows that go to place 1, the last one stays; lane 3 of the index rows is not used.
    machine = run("vector scatter, acc[16], acc[0], acc[8], n0=3, n1=2, param=6",
                  [*table, [0] * 4, [0] * 4, [1, 0, 1, 99], [5, 1, 3, 99]])
    assert machine.acc[16:22].tolist() == [table[1], table[4], [0] * 4, table[5], [0] * 4, table[3]]


def test_one_hot():
    machine = run("vector ieq, acc[8], lane_index[0], acc_lane[0, lane=2], n0=2",
                  [[9, 9, 3, 9], [9, 9, 0, 9]])
    assert (machine.acc[8:10] & 1).tolist() == [[0, 0, 0, 1], [1, 0, 0, 0]]


def test_indices_of_lanes_and_rows():
    machine = run("vector iadd, acc[0], lane_index[100], row_index[-1], n0=2, n1=2")
    assert machine.acc[:4, 0].tolist() == [99, 100, 101, 102]
    assert machine.acc[1].tolist() == [100, 101, 102, 103]


def test_rows_are_summed_in_order():
    """With 2**24 first the ones are lost one by one; with it last they are not."""
    big, one = floats(2.0**24, 1)
    rows = [[big] * 4, [one] * 4, [one] * 4, [one] * 4, [one] * 4, [big] * 4]
    machine = run("vector mov, acc[8], acc[0], n0=3, n1=2, reduce=rows, reduce_op=sum_f", rows)
    assert machine.acc[8].tolist() == floats(*[2.0**24] * 4)
    assert machine.acc[9].tolist() == floats(*[2.0**24 + 2] * 4)
    machine = run("vector mov, acc[8], acc[0], n0=1, reduce=rows, reduce_op=sum_f", [[1] * 4])
    assert machine.acc[8].tolist() == [1] * 4  # alone, a subnormal stays


def test_lanes_are_summed_as_a_tree():
    row = floats(2.0**24, 1, 1, 1)  # (2**24 + 1) + (1 + 1)
    machine = run("vector mov, acc[8], acc[0], n0=1, reduce=lanes, reduce_op=sum_f", [row])
    assert machine.acc[8].tolist() == floats(*[2.0**24 + 2] * 4)


def test_collect_puts_a_word_of_each_row_into_a_lane():
    machine = run("vector imul, ub_i8[8], acc[0], scalar[2], n0=3, n1=2, reduce=collect, "
                  "reduce_op=max_i", np.arange(24))
    assert machine.ub[8:10].tolist() == [[6, 14, 22, 0], [30, 38, 46, 0]]


def test_softmax_of_a_row():
    """Composed as a program would: largest, exp2 of the distance, sum, reciprocal, product."""
    x = np.array([0.5, -1.0, 2.0, 1.25], np.float32)
    machine = run("""
        vector mov, acc[1], acc[0], n0=1, reduce=lanes, reduce_op=max_f
        vector fsub, acc[2], acc[0], acc[1], n0=1
        vector fmul, acc[2], acc[2], scalar[1.4426950408889634], n0=1, post=exp2
        vector mov, acc[3], acc[2], n0=1, reduce=lanes, reduce_op=sum_f
        vector mov, acc[3], acc[3], n0=1, post=recip
        vector fmul, acc[4], acc[2], acc[3], n0=1""", x.view(np.uint32))
    wanted = np.exp(x) / np.exp(x).sum()
    np.testing.assert_allclose(machine.acc[4].view(np.float32), wanted, rtol=1e-6)
