"""Each rule of operations and loops in their order, broken once."""

from dataclasses import replace

import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.vector import Dst, Reduce, ReduceOp, Src, VectorOp
from celosia.compiler.codegen import generate, nodes
from celosia.compiler.codegen.blocks import Block, BlockRun, Emitted
from celosia.compiler.codegen.nodes import Base, Loop
from celosia.compiler.codegen.roll import roll
from celosia.compiler.errors import IllFormed
from celosia.compiler.verify.nodes import check_nodes

CHIP = TpuConfig("small", dim=4, int8=False, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=16)


def load(row, addr=0, rows=4, mem=Mem.ACC, source="x", **more):
    return nodes.load(mem, DmaFormat.W32, row, addr, rows, 4, 16, source=source, **more)


def store(row, addr=512, rows=4, **more):
    return nodes.store(Mem.ACC, DmaFormat.W32, row, addr, rows, 4, 16, source="y", **more)


def vector(dst, src, rows=4, op=VectorOp.MOV, **more):
    return nodes.vector(op, Dst.ACC, dst, rows, ((Src.ACC, src),), source="v", **more)


def check(before, after, depth=4, held=(), private=None):
    check_nodes(CHIP, [Emitted(list(before), private=private)], after, depth, dict(held))


def refused(*args, **more):
    """Return what the check says."""
    with pytest.raises(IllFormed) as error:
        check(*args, **more)
    first, *lines = str(error.value).split("\n  ")
    assert first == "code with loops is not well formed:"
    return "; ".join(lines)


A, B = load(0), load(4, 64, source="z")
PAIR = [A, B, vector(8, 0), vector(12, 4), store(8), store(12, 576)]
TURNS = [each for i in range(7) for each in (load(8 * i, 64 * i), vector(8 * i + 4, 8 * i))]
STALE = "byte 512 of the arena: store of y must read what it reads in blocks"


def test_what_does_not_conflict_may_change_places():
    check(PAIR, [B, A, PAIR[3], PAIR[2], PAIR[5], PAIR[4]])
    check(TURNS, roll(TURNS))
    assert any(isinstance(node, Loop) for node in roll(TURNS))


@pytest.mark.parametrize(("after", "said"), [
    ([A, B, *PAIR[3:]], f"ACC row 8 must hold what vector of v makes, not nobody; {STALE}"),
    ([A, B, PAIR[2], PAIR[4], PAIR[5], PAIR[3]],
     "byte 576 of the arena: store of y must read what it reads in blocks"),
    ([B, PAIR[2], A, *PAIR[3:]],
     f"ACC row 8: vector of v must read what it reads in blocks; {STALE}"),
    ([*PAIR, load(8, source="w")], "ACC row 8 must hold what vector of v makes, not load of w"),
    ([*PAIR[:4], store(8, 576), store(12, 512)], STALE),
    ([*PAIR, vector(60, 0, 8)],
     "vector of v must stay where operations of the blocks are, not touch (60, 0, 0, 0)"),
    ([*PAIR, store(0, 2048)],
     "store of y must stay where operations of the blocks are, not touch (0, 2048)"),
], ids=str)
def test_orders(after, said):
    assert said == refused(PAIR, after)


def test_rows_of_their_own_may_move():
    moved = [load(20), vector(28, 20), store(28)]
    check([load(0), vector(8, 0), store(8)], moved, private=(range(0), range(40)))
    assert refused([load(0), vector(8, 0), store(8)], moved) == (
        "ACC row 0 must hold what load of x makes, not nobody")


def test_products():
    def product(acc, acts, w, **more):
        return nodes.matmul(MatmulFormat.BF16, acc, acts, w, 4, 4, source="p", **more)

    operands = [load(4 * i, 64 * i, mem=Mem.UB) for i in range(4)]
    works = [*operands, product(0, 0, 8), product(4, 4, 0, wload=False), product(8, 0, 12)]
    check(works, works)
    other = [*operands, product(8, 0, 12), product(4, 4, 0, wload=False), product(0, 0, 8)]
    assert refused(works, other) == "ACC row 4: matmul of p must read what it reads in blocks"
    sums = [*operands, product(0, 0, 8), product(0, 4, 12, accumulate=True)]
    assert "ACC row 0" in refused(sums, [*operands, sums[5], sums[4]])


@pytest.mark.parametrize("operation", [
    nodes.vector(VectorOp.GATHER, Dst.ACC, 8, 4, ((Src.ACC, 0), (Src.ACC, 4)), param=4),
    nodes.vector(VectorOp.SCATTER, Dst.ACC, 8, 4, ((Src.ACC, 0), (Src.ACC, 4)), param=4),
    vector(8, 4, 2, n1=2, reduce=Reduce.ROWS, reduce_op=ReduceOp.OR),
    vector(8, 4, op=VectorOp.TRANSPOSE), store(4, base=Base("b"), reach=(512, 1023)),
], ids=str)
def test_operations_depend_on_what_they_read(operation):
    check([A, B, operation], [B, A, operation])
    assert "must read what it reads in blocks" in refused([A, B, operation], [A, operation, B])


def test_a_store_anywhere_leaves_some_bytes_as_they_are():
    somewhere = store(0, base=Base("b"), reach=(512, 1023))
    works = [A, B, store(4), somewhere]
    assert "byte 512 of the arena" in refused(works, [A, B, somewhere, store(4)])


def over(rows, **more):
    """Return a store that covers the first bytes of another one."""
    return nodes.store(Mem.ACC, DmaFormat.W32, 4, 512, rows, 4, 16, source="w", **more)


@pytest.mark.parametrize(("pitch", "covered", "byte"), [
    (16, 1, 528), (16, 2, 544), (16, 3, 560), (32, 1, 544), (32, 4, 576),
    # Rows lie across one another: behind the first bytes of the last one is what it alone has.
    (8, 1, 528), (8, 2, 544), (4, 1, 528)])
def test_who_stores_a_byte_is_found_in_any_row(pitch, covered, byte):
    stored = nodes.store(Mem.ACC, DmaFormat.W32, 8, 512, 4, 4, pitch, source="y")
    works = [A, B, vector(8, 0), stored, over(covered)]
    other = [A, B, vector(8, 4), *works[3:]]
    assert refused(works, other) == (
        f"ACC row 8: vector of v must read what it reads in blocks; byte {byte} of the arena: "
        "store of y must read what it reads in blocks")


def test_loops():
    body = (load(0), vector(8, 0))
    loop = Loop(2, body, (4, 64, 4, 4, 0, 0))
    works = [load(0), vector(8, 0), load(4, 64), vector(12, 4)]
    check(works, [loop])
    assert refused(works, [loop], depth=0) == (
        "a loop of load of x must not nest deeper than the chip's loops do")
    assert refused(works, [Loop(1, (loop,), (0,) * 6)], depth=1) == (
        "a loop of load of x must not nest deeper than the chip's loops do")
    assert refused(works, [replace(loop, count=0)]) == (
        "a loop of load of x must have a turn, not 0")
    assert refused(works, [replace(loop, steps=(4, 64))]) == (
        "a loop of load of x must have a step for each of its 6 words, not 2")
    assert refused(works, [replace(loop, steps=(4, 64, 4, 0, 0, 0))]) == (
        "ACC row 12: vector of v must read what it reads in blocks")


def test_stride_registers():
    wide = vector(8, 0, 2, xa=(2, 0, 0))
    given = wide._replace(registers=(0, 3))
    works = [load(0), wide]
    check(works, [load(0), nodes.stride(3, 2), given])
    check(works, [load(0), given], held={3: (2, 0, 0)})
    wanted = "vector of v must find the strides (2, 0, 0) of xa in x3, not "
    assert refused(works, [load(0), given]) == wanted + "None"
    assert refused(works, [load(0), nodes.stride(3, 4), given]) == wanted + "(4, 0, 0)"
    assert refused(works, works) == (
        "vector of v must find the strides (2, 0, 0) of xa in x0, not None")
    again = Loop(2, (given, nodes.stride(3, 5)), (0,) * 4)
    assert refused([load(0), wide, wide], [load(0), nodes.stride(3, 2), again]) == (
        wanted + "(5, 0, 0)")


def test_what_the_pipeline_makes_is_checked(monkeypatch):
    works = [Emitted(runs=[BlockRun([Block([[A], [vector(8, 0)], [store(8)]])])])]
    generate.generate(CHIP, works)
    monkeypatch.setattr(generate, "pipeline", lambda config, works, depth: [A, store(8)])
    with pytest.raises(IllFormed, match="ACC row 8 must hold what vector of v makes, not nobody"):
        generate.generate(CHIP, works)
    monkeypatch.setenv("CELOSIA_CHECK", "0")
    generate.generate(CHIP, works)
