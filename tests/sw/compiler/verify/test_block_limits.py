"""Operations in blocks: what is just right beside what is wrong, and all that is said."""

import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.vector import Dst, Reduce, ReduceOp, Src, VectorOp
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.blocks import Block, BlockRun, Choose, Emitted, ReadScalar, Repeat
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.errors import IllFormed
from celosia.compiler.verify.blocks import check_items

CHIP = TpuConfig("small", dim=4, int8=False, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=16)
BASE = Base("b")


def load(row=0, addr=0, rows=4, mem=Mem.ACC, fmt=DmaFormat.W32, pitch=16, **more):
    return nodes.load(mem, fmt, row, addr, rows, 4, pitch, source="x", **more)


def store(row=0, addr=512, rows=4, pitch=16, **more):
    return nodes.store(Mem.ACC, DmaFormat.W32, row, addr, rows, 4, pitch, source="y", **more)


def vector(dst, rows, *sources, op=VectorOp.MOV, **more):
    return nodes.vector(op, Dst.ACC, dst, rows, sources, source="v", **more)


def operand(row, addr, rows=4):
    """Return a load of rows of eight bytes, for a product."""
    return load(row, addr, rows, Mem.UB, DmaFormat.BF16, 8)


def matmul(acc=8, acts=0, w=4, rows=4, **more):
    return nodes.matmul(MatmulFormat.BF16, acc, acts, w, rows, 4, source="p", **more)


def work(*ops, private=None):
    return Emitted(list(ops), private=private)


def said(*items, given=((0, 512),), results=None, size=1024):
    """Return the lines that a check has to say of items."""
    try:
        check_items(CHIP, items, size, given, results)
    except IllFormed as error:
        return str(error).split("\n  ")[1:]
    return []


def missing(what, place):
    return f"{what} must read what is written before, not {place}"


PRODUCT = work(operand(0, 0), operand(4, 32), matmul(), store(8))


@pytest.mark.parametrize(("given", "lines"), [
    ([(0, 64)], []), ([(0, 32), (32, 64)], []), ([(0, 512)], []),
    ([(0, 63)], [missing("matmul of p", "UB row 7")]),
    ([(1, 64)], [missing("matmul of p", "UB row 0")]),
    ([(0, 31), (32, 64)], [missing("matmul of p", "UB row 3")]),
    ([(0, 32), (33, 64)], [missing("matmul of p", "UB row 4")]),
    ([(0, 40)], [missing("matmul of p", "UB row 5")]),
    ([], [missing("matmul of p", "UB row 0")])])
def test_what_is_given(given, lines):
    """What was missing is said once: what comes of it counts as written."""
    assert said(PRODUCT, given=given) == lines


@pytest.mark.parametrize(("addr", "rows", "pitch", "size", "good"), [
    (0, 4, 16, 64, True), (0, 4, 16, 63, False), (4, 4, 16, 64, False), (0, 4, 4, 28, True),
    (0, 4, 4, 27, False), (48, 1, 0, 64, True), (52, 1, 0, 64, False)])
def test_what_is_in_the_arena(addr, rows, pitch, size, good):
    found = said(work(load(0, addr, rows, pitch=pitch)), given=[(0, size)], size=size)
    assert (found == []) is good
    assert all("must stay within the" in line for line in found)


@pytest.mark.parametrize(("reach", "good"), [
    ((0, 63), True), ((0, 1023), True), ((960, 1023), True), ((0, 1024), False),
    ((-1, 63), False)])
def test_what_addresses_reach(reach, good):
    lines = [] if good else [
        f"load of x must stay within the 1024 bytes of the arena, not {reach[0]}..{reach[1]}"]
    assert said(work(load(1)), ReadScalar(BASE, 1), work(load(0, base=BASE, reach=reach))) == lines


@pytest.mark.parametrize(("row", "good"), [(0, True), (60, True), (61, False)])
def test_what_is_in_the_memories(row, good):
    lines = [] if good else ["load of x must stay within the 64 rows of ACC, not reach row 64"]
    assert said(work(load(row))) == lines


@pytest.mark.parametrize(("private", "row", "good"), [
    (range(8), 0, False), (range(8), 4, False), (range(8), 8, True), (range(4, 8), 0, True),
    (range(4, 8), 8, True), (range(4, 8), 5, False), (range(7), 7, True), (range(1, 7), 0, True),
    (range(0), 0, True)])
def test_rows_of_their_own(private, row, good):
    """Neither what was there before nor what is left there is anybody else's."""
    lines = [] if good else [missing("store of y", f"ACC row {row}")]
    filled = work(load(0), load(4), load(8))
    assert said(filled, work(private=(range(0), private)), work(store(row, rows=1))) == lines
    assert said(filled, work(store(row, rows=1), private=(range(0), private))) == lines
    own = work(load(0), load(4), load(8), store(row, rows=1), private=(range(0), private))
    assert said(own) == []
    assert said(own, work(store(row, rows=1))) == lines


def test_rows_of_their_own_in_the_unified_buffer():
    fill, use = work(operand(0, 0), operand(4, 32)), work(matmul())
    assert said(fill, use) == []
    assert said(fill, work(private=(range(3, 4), range(0))), use) == [
        missing("matmul of p", "UB row 3")]


def test_tiles_stay_for_the_products_of_one_work():
    operands = operand(0, 0), operand(4, 32)
    again = matmul(12, 0, 0, wload=False)
    assert said(work(*operands, matmul(), again, again)) == []
    no_tile = "matmul of p must bring weights: none are in the array yet"
    assert said(work(*operands, again, matmul())) == [no_tile]
    assert said(work(*operands, matmul()), work(again)) == [no_tile]


def word(what, row=1, source="unknown source"):
    return f"{source}: {what} must be written to ACC row {row} before it is read"


LOADED, OTHER = work(load(1)), work(load(8))


@pytest.mark.parametrize(("items", "lines"), [
    ([LOADED, ReadScalar(BASE, 1)], []),
    ([ReadScalar(BASE, 1)], [word("base b")]),
    ([ReadScalar(BASE, 0, "c")], [word("base b", 0, "c")]),
    ([ReadScalar(BASE, 63)], [word("base b", 63)]),
    ([ReadScalar(BASE, 64)],
     ["unknown source: base b must be in the 64 rows of ACC, not in row 64"]),
    ([ReadScalar(BASE, -1)],
     ["unknown source: base b must be in the 64 rows of ACC, not in row -1"]),
    # Where there is one branch nobody asks which.
    ([Choose(1, [[]])], []), ([Choose(1, [[], []])], [word("the index")]),
    ([Choose(1, [])], ["unknown source: there must be a branch"]),
    ([Choose(1, [[OTHER]]), work(store(8))], []),
    ([LOADED, Choose(1, [[OTHER], [OTHER]]), work(store(8))], []),
    ([LOADED, Choose(1, [[OTHER], []]), work(store(8))], [missing("store of y", "ACC row 8")]),
    ([LOADED, Choose(1, [[], [OTHER]]), work(store(8))], [missing("store of y", "ACC row 8")]),
    ([LOADED, Choose(1, [[OTHER], [work(store(8))]])], [missing("store of y", "ACC row 8")]),
    ([LOADED, OTHER, Choose(1, [[], []]), work(store(8))], []),
    ([Repeat([OTHER], count=2), work(store(8))], []),
    ([Repeat([OTHER], count=0), work(store(8))], [missing("store of y", "ACC row 8")]),
    ([Repeat([OTHER], [LOADED], 1), work(store(8))], [missing("store of y", "ACC row 8")]),
    ([Repeat([], [LOADED, OTHER], 1), work(store(8))], []),
    ([Repeat([OTHER, work(store(8))], [LOADED], 1)], []),
    ([Repeat([], [], 1)], [word("the condition")]),
    ([Repeat([LOADED], [], 1)], [word("the condition")]),
    ([Repeat([], [], 1, count=3)], []),
    ([work(load(0, base=BASE, reach=(0, 63)))], ["load of x must come after base b is read"]),
    ([Repeat([work(load(0, base=BASE, reach=(0, 63)))], count=2, counts=((BASE, 0, 4),))], []),
], ids=range(25))
def test_control(items, lines):
    assert said(*items) == lines


@pytest.mark.parametrize(("results", "lines"), [
    ({"y": (512, 576)}, []), ({"y": (512, 512)}, []), ({"x": (0, 512), "y": (512, 576)}, []),
    ({"y": (512, 577)}, ["result y must be written, and its byte 64 is not"]),
    ({"y": (511, 576), "z": (508, 576)}, []),
    ({"y": (576, 577), "z": (512, 600)}, ["result y must be written, and its byte 0 is not",
                                          "result z must be written, and its byte 64 is not"])])
def test_results(results, lines):
    assert said(work(load(), store()), results=results) == lines


@pytest.mark.parametrize(("pitch", "hole"), [(16, None), (20, 16), (32, 16)])
def test_bytes_between_rows_are_not_written(pitch, hole):
    lines = [] if hole is None else [f"result y must be written, and its byte {hole} is not"]
    assert said(work(load(), store(pitch=pitch)), results={"y": (512, 512 + 3 * pitch + 16)}
                ) == lines


@pytest.mark.parametrize(("held", "lines"), [(4, []), (3, [missing("store of y", "ACC row 11")]),
                                             (1, [missing("store of y", "ACC row 9")])])
def test_rows_are_there_where_those_of_the_operand_are(held, lines):
    copied = vector(8, 4, (Src.ACC, 0))
    assert said(work(load(0, rows=held), copied, store(8))) == lines
    added = vector(8, 4, (Src.ACC, 0), (Src.ACC, 16), op=VectorOp.IADD)
    assert said(work(load(0, rows=held), load(16), added, store(8))) == lines
    assert said(work(load(0), load(16, rows=held), added, store(8))) == lines


@pytest.mark.parametrize(("rows", "lines"), [
    (6, []), (5, [missing("store of y", "ACC row 9")]), (3, [missing("store of y", "ACC row 9")])])
def test_joined_rows_are_there_where_all_of_a_group_are(rows, lines):
    joined = vector(8, 3, (Src.ACC, 0), n1=2, reduce=Reduce.ROWS, reduce_op=ReduceOp.OR)
    assert said(work(load(rows=rows), joined, store(8, rows=2))) == lines


def test_operations_in_blocks_and_behind_them():
    block = Block([[load(4)], [vector(8, 4, (Src.ACC, 4))], [store(8)]])
    assert said(Emitted([load()], [BlockRun([block])], [store(0, 576)])) == []
    assert said(Emitted([], [BlockRun([block])], [store(0, 576)])) == [
        missing("store of y", "ACC row 0")]
    late = Block([[vector(8, 4, (Src.ACC, 4))], [load(4)]])
    assert said(Emitted([], [BlockRun([late])])) == [missing("vector of v", "ACC row 4")]


def test_operations_of_no_source():
    bare = nodes.store(Mem.ACC, DmaFormat.W32, 0, 512, 1, 4, 16)
    assert said(work(bare)) == [missing("store of unknown source", "ACC row 0")]
    assert said(work(nodes.stride(1, 2))) == [
        "stride of unknown source must not be there before operations have an order"]


@pytest.mark.parametrize("number", [19, 20, 21])
def test_twenty_are_listed(number):
    assert len(said(*(work(store(i, 512, 1)) for i in range(number)))) == min(number, 20)
