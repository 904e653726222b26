"""Each rule of operations in blocks, broken once."""

import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.vector import Dst, Reduce, ReduceOp, Src, VectorOp
from celosia.compiler.build import build
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.blocks import Block, BlockRun, Choose, Emitted, ReadScalar, Repeat
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.errors import IllFormed
from celosia.compiler.verify.blocks import check_items
from celosia.graph import DType, Graph, TensorType, op, parameter

CHIP = TpuConfig("small", dim=4, int8=False, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=16)
SIZE = 1024
BASE = Base("b")


def load(row=0, addr=0, rows=4, mem=Mem.ACC, **more):
    return nodes.load(mem, DmaFormat.W32, row, addr, rows, 4, 16, source="x", **more)


def store(row=0, addr=512, rows=4, **more):
    return nodes.store(Mem.ACC, DmaFormat.W32, row, addr, rows, 4, 16, source="y", **more)


def vector(dst, rows, *sources, op=VectorOp.MOV, **more):
    return nodes.vector(op, Dst.ACC, dst, rows, sources, source="v", **more)


def matmul(**more):
    return nodes.matmul(MatmulFormat.BF16, 8, 0, 16, 4, 4, source="p", **more)


def work(*ops, private=None):
    return Emitted(list(ops), private=private)


def refused(*items, given=((0, 512),)):
    """Return what the check says of items."""
    with pytest.raises(IllFormed) as error:
        check_items(CHIP, items, SIZE, given)
    first, *lines = str(error.value).split("\n  ")
    assert first == "code in blocks is not well formed:"
    return "; ".join(lines)


def accepted(*items):
    check_items(CHIP, items, SIZE, [(0, 512)])


def test_what_is_well_formed_is_accepted():
    block = Block([[load(4)], [vector(8, 4, (Src.ACC, 4))], [store(8)]])
    accepted(Emitted([load()], [BlockRun([block])], [store(0, 576)]))


@pytest.mark.parametrize(("operation", "said"), [
    (load(62), "load of x must stay within the 64 rows of ACC, not reach row 65"),
    (load(62, mem=Mem.UB), "load of x must stay within the 64 rows of UB, not reach row 65"),
    (load(0, 1000), "load of x must stay within the 1024 bytes of the arena, not begin at 1000"),
    (load(0, 2), "load of x must begin at a whole element, not at byte 2"),
    (load(0, 0, base=BASE, reach=(0, 2047)),
     "load of x must stay within the 1024 bytes of the arena, not 0..2047"),
    (load(0, 0, base=BASE, reach=(0, 63)), "load of x must come after base b is read"),
    (store(), "store of y must read what is written before, not ACC row 0"),
    (nodes.stride(1, 2),
     "stride of unknown source must not be there before operations have an order"),
    (vector(1, 4, (Src.ACC_LANE, 5 << 24)), "vector of v must use a lane below 4, not 5"),
    (vector(4, 3, (Src.ACC, 0), op=VectorOp.TRANSPOSE),
     "vector of v is refused: n0 of transpose must be a multiple of 4, not 3"),
    (matmul(), "matmul of p must read what is written before, not UB row 0"),
    (matmul(wload=False), "matmul of p must bring weights: none are in the array yet"),
], ids=str)
def test_operations(operation, said):
    assert said in refused(work(operation)).split("; ")


def test_vector_work_in_place():
    assert refused(work(load(), vector(1, 3, (Src.ACC, 0)))) == (
        "vector of v must not write rows that it has still to read")


def test_sums_are_there_before_products_are_added():
    operands = load(0, mem=Mem.UB), load(16, mem=Mem.UB)
    accepted(work(*operands, matmul()))
    assert refused(work(*operands, matmul(accumulate=True))) == (
        "matmul of p must read what is written before, not ACC row 8")


def test_rows_beyond_what_is_there_may_be_computed_but_not_stored():
    wide = vector(8, 8, (Src.ACC, 0))  # of eight rows, of which there are four
    accepted(work(load(), wide, store(8)))
    assert refused(work(load(), wide, store(8, rows=6))) == (
        "store of y must read what is written before, not ACC row 12")
    assert refused(work(load(), vector(8, 4, (Src.ACC, 4)))) == (
        "vector of v must read what is written before, not ACC row 4")


def test_a_transpose_needs_the_first_row_of_each_tile():
    accepted(work(load(rows=1), vector(8, 4, (Src.ACC, 0), op=VectorOp.TRANSPOSE), store(8)))
    two = vector(8, 8, (Src.ACC, 0), op=VectorOp.TRANSPOSE)
    assert refused(work(load(rows=1), two, store(8, rows=8))) == (
        "store of y must read what is written before, not ACC row 12")


def test_groups_of_rows_are_joined_of_rows_that_are_there():
    def joined(rows):
        return work(load(rows=rows), vector(8, 3, (Src.ACC, 0), n1=2, reduce=Reduce.ROWS,
                                            reduce_op=ReduceOp.OR), store(8, rows=2))
    accepted(joined(6))
    assert "not ACC row 9" in refused(joined(5))


def test_bytes_that_nobody_wrote_may_be_copied_but_not_used():
    copied = load(0, 512, 4), store(0, 576)
    accepted(work(*copied))
    accepted(work(*copied, vector(4, 4, (Src.ACC, 0))))
    assert refused(work(*copied), ReadScalar(BASE, 0, "c")) == (
        "c: base b must be written to ACC row 0 before it is read")
    assert refused(work(load(0, 496, mem=Mem.UB), load(16, mem=Mem.UB), matmul())) == (
        "matmul of p must read what is written before, not UB row 1")
    for addr, first in (512, 0), (448, 64), (496, 16):
        with pytest.raises(IllFormed, match=f"result y must be written, and its byte {first} is"):
            check_items(CHIP, [work(load(0, addr), store(0, 576))], SIZE, [(0, 512)],
                        {"y": (576, 704)})
    somewhere = store(0, 0, base=BASE, reach=(576, 703))
    check_items(CHIP, [work(load()), ReadScalar(BASE, 0), work(load(), somewhere)], SIZE,
                [(0, 512)], {"y": (576, 704)})


def test_private_rows_hold_nothing_before_and_after():
    private = range(0), range(8)
    assert refused(work(load()), work(store(), private=private)) == (
        "store of y must read what is written before, not ACC row 0")
    assert "not ACC row 0" in refused(work(load(), private=private), work(store()))
    accepted(work(load(), store(), private=private))


def test_control():
    def word(what):
        return f"c: {what} must be written to ACC row 1 before it is read"

    assert refused(ReadScalar(BASE, 1, "c")) == word("base b")
    assert refused(ReadScalar(BASE, 64, "c")) == (
        "c: base b must be in the 64 rows of ACC, not in row 64")
    assert refused(Repeat([], [], 1, source="c")) == word("the condition")
    assert refused(Choose(1, [[], []], "c")) == word("the index")
    assert refused(Choose(1, [], "c")) == "c: there must be a branch"
    accepted(work(load()), ReadScalar(BASE, 1), Repeat([], [], 1), Choose(1, [[], []]),
             work(load(0, base=BASE, reach=(0, 63))))


def test_what_may_not_run_has_written_nothing():
    accepted(Repeat([work(load())], count=2), work(store()))
    missing = "store of y must read what is written before, not ACC row 0"
    assert refused(Repeat([work(load())], count=0), work(store())) == missing
    assert refused(work(load(1)), Repeat([work(load())], [], 1), work(store())) == missing
    both = Choose(5, [[work(load())], [work(load(0, 64))]])
    accepted(work(load(5)), both, work(store()))
    assert refused(work(load(5)), Choose(5, [[work(load())], []]), work(store())) == missing
    counted = Repeat([work(load(0, base=BASE, reach=(0, 63)))], count=2, counts=((BASE, 0, 4),))
    accepted(counted)


def test_the_first_problems_are_listed():
    assert len(refused(work(*(store(i, 0, 1) for i in range(60)))).split("; ")) == 20


def test_what_is_emitted_is_checked(monkeypatch):
    x = parameter(TensorType(DType.F32, (4, 8)))
    graph = Graph("g", [x], [op("negate", x)])
    monkeypatch.setattr("celosia.compiler.emit.emitter.emit_map", lambda *_: work(store(addr=128)))
    with pytest.raises(IllFormed, match="store of y must read what is written before"):
        build(graph, CHIP)
    monkeypatch.setenv("CELOSIA_CHECK", "0")
    build(graph, CHIP)
