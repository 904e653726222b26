"""On either side of each rule of work on tensors: what is just right, and all that is said of what
is just wrong.
"""

from dataclasses import replace

import pytest

from celosia.arch.config import PRESETS
from celosia.arch.isa import DmaFormat, MatmulFormat
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.errors import IllFormed
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import (
    Access,
    Case,
    Cluster,
    Convolution,
    Dot,
    Fill,
    GatherRows,
    Move,
    Read,
    ReadWord,
    ScatterRows,
    Tensor,
    While,
    Write,
)
from celosia.compiler.verify.works import check_works, reach
from celosia.compiler.views import View
from celosia.graph import DType, TensorType, op, parameter

CORE = PRESETS["core"]
F32, I32, U32, BF16, I8 = DType.F32, DType.I32, DType.U32, DType.BF16, DType.I8
FORMATS = {F32: DmaFormat.W32, I32: DmaFormat.W32, U32: DmaFormat.W32, BF16: DmaFormat.BF16,
           I8: DmaFormat.I8}


def tensor(name, *shape, dtype=F32):
    return Tensor(name, shape, dtype, FORMATS[dtype])


def seen(of, shape, strides=None, offset=0, base=None):
    view = View.contiguous(shape)
    return Access(of, View(offset, shape, strides or view.strides), base)


X, Y, Z = tensor("x", 8, 8), tensor("y", 8, 8), tensor("z", 8, 8)
ONE, FOUR = tensor("one", 1, dtype=I32), tensor("four", 4, dtype=I32)
WHERE = tensor("where", 64, dtype=U32)
MATRIX, LEFT = tensor("m", 4096, dtype=BF16), tensor("l", 4096, dtype=BF16)
INPUTS = (X, ONE, FOUR, WHERE, MATRIX, LEFT)
ROWS, ROWS8 = seen(X, (4, 8)), seen(Y, (3, 8))
THREE = seen(WHERE, (3,))


def said(*works, inputs=INPUTS, outputs=()):
    """Return the lines that a check has to say of work."""
    try:
        check_works(CORE, works, inputs, outputs, "a pass")
    except IllFormed as error:
        return str(error).split("\n  ")[1:]
    return []


def cluster(space, kept, reads, writes, nodes=(), product=None, result=None):
    return Cluster(space, kept, product, result, tuple(nodes), tuple(reads), tuple(writes), "c")


def mapped(space, kept=None, *, read=None, write=None, extent=Extent.FULL):
    """Return a cluster that negates a value of a space."""
    value = parameter(TensorType(F32, space))
    made = op("negate", value)
    return cluster(space, max(len(space) - 1, 0) if kept is None else kept,
                   [Read(value, extent, read or seen(X, space))],
                   [Write(made, Extent.FULL, write or seen(Y, space))], [made.node])


BEYOND = "a view of x must be within its 64 elements, not reach from"
SHAPES = "table, indices and rows must have the shapes [R,C], [K] and [K,C], not "


@pytest.mark.parametrize(("work", "lines"), [
    (Fill(seen(X, (8, 8)), 0), []),
    (Fill(seen(X, (8, 8), (-8, -1), 63), 0), []),
    (Fill(seen(X, (1,), (1,), 63), 0), []),
    (Fill(seen(X, (1,), (1,), 64), 0), [f"{BEYOND} 64 to 64"]),
    (Fill(seen(X, (1,), (1,), -1), 0), [f"{BEYOND} -1 to -1"]),
    (Fill(seen(X, (2, 8), (-8, 1), 7), 0), [f"{BEYOND} -1 to 14"]),
    (Fill(seen(X, (0, 8), (8, 1), 90), 0), []),
    (Fill(seen(X, (8,)), 0xFFFF_FFFF), []),
    (Fill(seen(X, (8,)), 1 << 32), ["the word must have 32 bits, not be 0x100000000"]),
    (Fill(seen(X, (8,)), -1), ["the word must have 32 bits, not be -0x1"]),
    (Move(seen(X, (4, 2)), seen(X, (4, 2))), []),
    (Move(seen(X, (4, 2)), seen(X, (2, 4))),
     ["source and target must have one shape, not [4, 2] and [2, 4]"]),
    (Move(seen(X, (4,)), seen(MATRIX, (4,))),
     ["source and target must have one format, not W32 and BF16"]),
    (GatherRows(ROWS, THREE, ROWS8), []),
    (ScatterRows(ROWS, THREE, ROWS8), [
        "y must be written before it is read"]),
    (GatherRows(ROWS, seen(FOUR, (3,)), ROWS8), []),
    (GatherRows(ROWS, seen(FOUR, (3,)), seen(Y, (3, 4))), [SHAPES + "[4, 8], [3], [3, 4]"]),
    (GatherRows(ROWS, seen(FOUR, (3,)), seen(Y, (4, 8))), [SHAPES + "[4, 8], [3], [4, 8]"]),
    (GatherRows(seen(X, (4, 8, 1)), THREE, ROWS8), [SHAPES + "[4, 8, 1], [3], [3, 8]"]),
    (GatherRows(ROWS, seen(WHERE, (3, 1)), ROWS8), [SHAPES + "[4, 8], [3, 1], [3, 8]"]),
    (GatherRows(ROWS, THREE, seen(Y, (3, 8, 1))), [SHAPES + "[4, 8], [3], [3, 8, 1]"]),
    (GatherRows(ROWS, seen(X, (3,)), ROWS8), ["indices must be of i32 or u32, not f32"]),
    (GatherRows(ROWS, THREE, seen(FOUR, (3, 8), (0, 0))),
     ["table and rows must have one type, not f32 and i32"]),
    (ReadWord(Base("b"), seen(FOUR, (1,), (1,), 3)), []),
    (ReadWord(Base("b"), seen(FOUR, ())), []),
    (ReadWord(Base("b"), seen(FOUR, (2,))), ["the access must be of one element, not of [2]"]),
    (ReadWord(Base("b"), seen(FOUR, (0,))), ["the access must be of one element, not of [0]"]),
    (While((), None, (), 0), []),
    (While((), None, (), 5), []),
    (While((), None, (), -1), ["a loop of -1 turns must have no condition"]),
    (While((Fill(seen(Y, (1,)), 0),), None, (), 2), ["a loop of 2 turns must have no condition"]),
    (While((), seen(ONE, (1,)), (), 2), ["a loop of 2 turns must have no condition"]),
    (While((), seen(ONE, (1,)), ()), []),
    (While((), None, ()), ["a loop must have a predicate or a number of turns"]),
    (While((), seen(FOUR, (2,)), ()), ["the predicate must be of one element, not of [2]"]),
    (Case(seen(ONE, (1,)), ((),)), []),
    (Case(seen(FOUR, (2,)), ((), ())), ["the index must be of one element, not of [2]"]),
    (Case(seen(ONE, (1,)), ()), ["there must be a branch"]),
], ids=str)
def test_work_without_nodes(work, lines):
    name = type(work).__name__
    assert said(work) == [f"{name} of unknown source: {line}" for line in lines]


def test_what_is_in_a_loop_is_named_once():
    bad = Fill(seen(X, (1,), (1,), 64), 0, "here")
    line = f"Fill of here: {BEYOND} 64 to 64"
    assert said(While((), None, (bad,), 2)) == [line]
    assert said(While((bad,), seen(ONE, (1,)), ())) == [line]
    assert said(Case(seen(ONE, (1,)), ((), (bad,)))) == [line]


@pytest.mark.parametrize(("shape", "strides", "offset", "ends"), [
    ((), (), 7, (7, 7)), ((4, 8), (8, 1), 0, (0, 31)), ((4, 8), (-8, 1), 30, (6, 37)),
    ((4, 8), (8, -1), 7, (0, 31)), ((2, 3, 4), (-100, 0, 5), 100, (0, 115))])
def test_reach(shape, strides, offset, ends):
    assert reach(seen(X, shape, strides, offset)) == ends


@pytest.mark.parametrize(("work", "lines"), [
    (mapped((4, 8)), []),
    (mapped((), 0, read=seen(X, ()), write=seen(Y, ())), []),
    (mapped((4, 8), -1), ["kept must be a number of row dimensions of [4, 8], not -1"]),
    (mapped((4, 8), 2), ["kept must be a number of row dimensions of [4, 8], not 2"]),
    (mapped((), 1), ["kept must be a number of row dimensions of [], not 1"]),
    (mapped((4, 8), 0), []),
    (mapped((4, 8), 0, write=seen(Y, (8,))), []),
    (mapped((4, 8), 1, write=seen(Y, (8,))),
     ["y, written FULL, must have the shape [4, 8], not [8]"]),
    (mapped((2, 3, 4), 1, write=seen(Y, (2, 4))), []),
    (mapped((2, 3, 4), 1, write=seen(Y, (3, 4))),
     ["y, written FULL, must have the shape [2, 3, 4] or [2, 4], not [3, 4]"]),
    (mapped((4, 1), read=seen(X, (4, 1), (8, 5))), []),
    (mapped((4, 8), read=seen(X, (4, 8), (1, 2))),
     ["x, read FULL, must have the last stride 1, not 2"]),
    (mapped((4, 8), read=seen(X, (4,), (2,)), extent=Extent.ROWS), []),
    (mapped((4, 8), read=seen(X, (8,), (2,)), extent=Extent.LANES),
     ["x, read LANES, must have the last stride 1, not 2"]),
    (mapped((4, 1), read=seen(X, (1,), (2,)), extent=Extent.LANES), []),
    (mapped((4, 8), read=seen(X, ()), extent=Extent.SCALAR), []),
], ids=str)
def test_clusters(work, lines):
    assert said(work) == [f"Cluster of c: {line}" for line in lines]


def test_what_a_reduction_starts_from_is_no_concern_of_a_cluster():
    value, start = parameter(TensorType(F32, (4, 8))), parameter(TensorType(F32, ()))
    total = op("reduce", value, start, dims=(1,), reducer="add")
    write = Write(total, Extent.ROWS, seen(Y, (4,)))
    good = cluster((4, 8), 1, [Read(value, Extent.FULL, seen(X, (4, 8)))], [write], [total.node])
    assert said(good) == []
    assert said(replace(good, reads=())) == [
        ("Cluster of c: reduce must come after what it needs, and parameter is neither read nor "
         "made before it")]
    more = Read(start, Extent.SCALAR, seen(X, ()))
    assert said(replace(good, reads=(*good.reads, more))) == [
        "Cluster of c: everything must have a use, and x has none"]


MADE = parameter(TensorType(F32, (1,)))


def dot(space, lhs, rhs, left=None, right=None, turned=None):
    out = tensor("out", 4096)
    product = Dot(MatmulFormat.BF16, seen(LEFT, lhs, left), seen(MATRIX, rhs, right), turned)
    return cluster(space, len(space) - 1, [], [Write(MADE, Extent.FULL, seen(out, space))],
                   product=product, result=MADE)


OVER = "must have the shapes [B,M,K] and [B,K,N], not"
STREAMED = "operand must have the stride 1 along one of its last two dimensions, not"
TURNED = "an operand that is transposed must be one matrix of a multiple of 16 rows, not"


@pytest.mark.parametrize(("work", "lines"), [
    (dot((2, 3, 5), (2, 3, 4), (2, 4, 5)), []),
    (dot((2, 3, 7, 5), (2, 21, 4), (2, 4, 5)), []),
    (dot((2, 5), (2, 1, 4), (2, 4, 5)), []),
    (dot((5,), (5, 1, 4), (5, 4, 5)), [f"operands {OVER} [5, 1, 4] and [5, 4, 5]"]),
    (dot((2, 3, 5), (3, 4), (2, 4, 5)), [f"operands {OVER} [3, 4] and [2, 4, 5]"]),
    (dot((2, 3, 5), (2, 3, 4), (4, 5)), [f"operands {OVER} [2, 3, 4] and [4, 5]"]),
    (dot((2, 3, 5), (1, 3, 4), (2, 4, 5)),
     [f"operands over [2, 3, 5] {OVER} [1, 3, 4] and [2, 4, 5]"]),
    (dot((2, 3, 5), (2, 4, 4), (2, 4, 5)),
     [f"operands over [2, 3, 5] {OVER} [2, 4, 4] and [2, 4, 5]"]),
    (dot((2, 3, 5), (2, 3, 4), (1, 4, 5)),
     [f"operands over [2, 3, 5] {OVER} [2, 3, 4] and [1, 4, 5]"]),
    (dot((2, 3, 5), (2, 3, 4), (2, 3, 5)),
     [f"operands over [2, 3, 5] {OVER} [2, 3, 4] and [2, 3, 5]"]),
    (dot((2, 3, 5), (2, 3, 4), (2, 4, 6)),
     [f"operands over [2, 3, 5] {OVER} [2, 3, 4] and [2, 4, 6]"]),
    (dot((2, 3, 5), (2, 3, 4), (2, 4, 5), (50, 1, 9), (50, 1, 9)), []),
    (dot((2, 3, 5), (2, 3, 4), (2, 4, 5), (1, 9, 9), (50, 9, 1)),
     [f"the left {STREAMED} [1, 9, 9]"]),
    (dot((2, 3, 5), (2, 3, 4), (2, 4, 5), (50, 9, 1), (1, 0, 2)),
     [f"the right {STREAMED} [1, 0, 2]"]),
    (dot((2, 1, 5), (2, 1, 4), (2, 4, 5), (50, 9, 9)), []),
    (dot((2, 3, 1), (2, 3, 4), (2, 4, 1), None, (50, 9, 9)), []),
    (dot((1, 32, 5), (1, 32, 4), (1, 4, 5), turned=seen(X, (4, 4))), []),
    (dot((1, 33, 5), (1, 33, 4), (1, 4, 5), turned=seen(X, (4, 4))), [f"{TURNED} [1, 33, 4]"]),
    (dot((2, 32, 5), (2, 32, 4), (2, 4, 5), turned=seen(X, (4, 4))), [f"{TURNED} [2, 32, 4]"]),
], ids=str)
def test_dots(work, lines):
    assert said(work) == [f"Cluster of c: {line}" for line in lines]


def convolution(space, x=(2, 9, 8, 3), w=(3, 2, 3, 4), stride=(1, 1), dilation=(1, 1), xs=None,
                ws=None):
    out = tensor("out", 4096)
    product = Convolution(MatmulFormat.BF16, seen(LEFT, x, xs), seen(MATRIX, w, ws), stride,
                          dilation)
    return cluster(space, 3, [], [Write(MADE, Extent.FULL, seen(out, space))], product=product,
                   result=MADE)


@pytest.mark.parametrize(("work", "lines"), [
    (convolution((2, 7, 7, 4)), []),
    (convolution((2, 4, 7, 4), stride=(2, 1)), []),
    (convolution((2, 7, 3, 4), stride=(1, 3)), []),
    (convolution((2, 5, 6, 4), dilation=(2, 2)), []),
    (convolution((2, 9, 8, 4), w=(1, 1, 3, 4)), []),
    (convolution((2, 7, 7, 4), xs=(216, 24, 3, 2)), ["x must have the last stride 1, not 2"]),
    (convolution((2, 7, 7, 4), ws=(24, 12, 4, 2)), ["w must have the last stride 1, not 2"]),
    (convolution((2, 7, 7, 4), x=(2, 9, 8, 1), w=(3, 2, 1, 4), xs=(72, 8, 1, 9)), []),
    (convolution((2, 7, 7, 1), w=(3, 2, 3, 1), ws=(6, 3, 1, 9)), []),
    *((convolution(space, x, w), [
        f"a convolution of {list(x)} by {list(w)} must be over [2, 7, 7, 4], not {list(space)}"])
      for space, x, w in (((2, 7, 6, 4), (2, 9, 8, 3), (3, 2, 3, 4)),
                          ((1, 7, 7, 4), (2, 9, 8, 3), (3, 2, 3, 4)),
                          ((2, 7, 7, 3), (2, 9, 8, 3), (3, 2, 3, 4)),
                          ((2, 7, 7, 4), (2, 9, 8, 2), (3, 2, 3, 4)))),
    (convolution((2, 7, 7, 4), x=(9, 8, 3)),
     ["operands must have four dimensions, not [9, 8, 3] and [3, 2, 3, 4]"]),
    (convolution((2, 7, 7, 4), w=(2, 3, 4)),
     ["operands must have four dimensions, not [2, 9, 8, 3] and [2, 3, 4]"]),
], ids=str)
def test_convolutions(work, lines):
    assert said(work) == [f"Cluster of c: {line}" for line in lines]


def test_a_convolution_has_four_dimensions():
    work = replace(convolution((2, 7, 4)), kept=2)
    assert said(work) == [
        "Cluster of c: operands must have four dimensions, not [2, 9, 8, 3] and [3, 2, 3, 4]"]


FILL, READ = Fill(seen(Y, (8, 8)), 0), mapped((4, 8), read=seen(Y, (4, 8)), write=seen(Z, (4, 8)))
UNWRITTEN = "Cluster of c: y must be written before it is read"
CHOICE = seen(ONE, (1,))


@pytest.mark.parametrize(("works", "lines"), [
    ([FILL, READ], []),
    ([READ], [UNWRITTEN]),
    ([Case(CHOICE, ((FILL,), (FILL,))), READ], []),
    ([Case(CHOICE, ((FILL,), ())), READ], [UNWRITTEN]),
    ([Case(CHOICE, ((), (FILL,))), READ], [UNWRITTEN]),
    ([FILL, Case(CHOICE, ((), ())), READ], []),
    ([Case(CHOICE, ((FILL,), (READ,)))], [UNWRITTEN]),
    ([Case(seen(Y, (1,)), ((), ()))],
     ["Case of unknown source: y must be written before it is read"]),
    ([While((), None, (FILL,), 1), READ], []),
    ([While((), None, (FILL,), 0), READ], [UNWRITTEN]),
    ([While((FILL,), CHOICE, ()), READ], []),
    ([While((), CHOICE, (FILL,)), READ], [UNWRITTEN]),
    ([While((FILL,), CHOICE, (READ,))], []),
    ([While((), CHOICE, (FILL, READ))], []),
    ([While((), seen(Y, (1,)), ())],
     ["While of unknown source: y must be written before it is read"]),
    ([While((FILL,), seen(Y, (1,)), ())], []),
    ([Move(seen(Y, (4,)), seen(Z, (4,)))], []),
    ([mapped((0, 8), read=seen(Y, (0, 8)), write=seen(Z, (0, 8)))], []),
], ids=range(18))
def test_what_holds_something(works, lines):
    assert said(*works) == lines


def test_results_are_written():
    empty = tensor("empty", 0, 8)
    assert said(FILL, outputs=[Y, empty]) == []
    assert said(outputs=[Y, empty, X]) == ["result y must be written"]


B, OTHER = Base("b"), Base("b")
ADDRESSED = Fill(seen(X, (8,), base=B), 0)


@pytest.mark.parametrize(("works", "good"), [
    ([ReadWord(B, CHOICE), ADDRESSED], True), ([ADDRESSED], False),
    ([ReadWord(OTHER, CHOICE), ADDRESSED], False),
    ([While((), None, (ADDRESSED,), 2, counts=((B, 0, 4),))], True),
    ([While((), None, (ADDRESSED,), 2, counts=((OTHER, 0, 4),))], False)], ids=range(5))
def test_addresses_that_are_known(works, good):
    assert said(*works) == ([] if good else [
        "Fill of unknown source: the address of x must be read before it is used"])
