"""Each rule of work on tensors, broken once."""

import sys
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
from celosia.compiler.lowering import lower
from celosia.compiler.pipeline import prepared
from celosia.compiler.verify.works import check_works
from celosia.compiler.views import View
from celosia.graph import DType, Graph, GraphError, TensorType, Value, op, parameter

CORE = PRESETS["core"]
F32, I32, BF16, BOOL = DType.F32, DType.I32, DType.BF16, DType.BOOL
FORMATS = {F32: DmaFormat.W32, I32: DmaFormat.W32, BF16: DmaFormat.BF16, BOOL: DmaFormat.I8}


def tensor(name: str, *shape: int, dtype: DType = F32) -> Tensor:
    return Tensor(name, shape, dtype, FORMATS[dtype])


def whole(of: Tensor, *shape: int) -> Access:
    return Access(of, View.contiguous(shape or of.shape))


X, Y = tensor("x", 4, 8), tensor("y", 4, 8)
ROW, ONE, INDEX = tensor("row", 8), tensor("one", 1, dtype=I32), tensor("i", 4, dtype=I32)
INPUTS = (X, ROW, ONE, INDEX)
VALUE = parameter(TensorType(F32, (4, 8)))
BIAS = parameter(TensorType(F32, (8,)))
SUM = op("add", VALUE, op("broadcast", BIAS, shape=(4, 8), dims=(1,)))
WIDE = SUM.node.operands[1]
ADD = Cluster((4, 8), 1, None, None, (WIDE.node, SUM.node),
              (Read(VALUE, Extent.FULL, whole(X)), Read(BIAS, Extent.LANES, whole(ROW))),
              (Write(SUM, Extent.FULL, whole(Y)),), "add")


def refused(*works, inputs=INPUTS, outputs=()) -> str:
    """Return what the check says of work."""
    with pytest.raises(IllFormed) as error:
        check_works(CORE, works, inputs, outputs, "a pass")
    first, *lines = str(error.value).split("\n  ")
    assert first == "work after a pass is not well formed:"
    return "; ".join(lines)


def accepted(*works, inputs=INPUTS, outputs=()) -> None:
    check_works(CORE, works, inputs, outputs, "a pass")


def test_what_is_well_formed_is_accepted():
    accepted(ADD, Move(whole(Y), whole(X)), outputs=[Y])


def seen(of: Tensor, shape, strides, offset=0, base=None) -> Access:
    return Access(of, View(offset, shape, strides), base)


@pytest.mark.parametrize(("access", "said"), [
    (seen(X, (4, 8), (8, 1), 1),
     "a view of x must be within its 32 elements, not reach from 1 to 32"),
    (seen(X, (4, 8), (-8, 1), 8),
     "a view of x must be within its 32 elements, not reach from -16 to 15"),
    (seen(X, (4, 8), (8,)), ("a view of x must have as many strides as sizes, not "
     "View(offset=0, shape=(4, 8), strides=(8,))")),
    (whole(Tensor("x", (4, 8), F32, DmaFormat.BF16)),
     "x of f32 must be stored as W32, not BF16"),
])
def test_accesses(access, said):
    assert f"Fill of unknown source: {said}" in refused(Fill(access, 0))


@pytest.mark.parametrize(("work", "said"), [
    (Move(whole(X), whole(Y, 32)), "source and target must have one shape, not [4, 8] and [32]"),
    (Move(whole(X), whole(tensor("z", 4, 8, dtype=BF16))),
     "source and target must have one format, not W32 and BF16"),
    (Fill(whole(Y), -1), "the word must have 32 bits, not be -0x1"),
    (GatherRows(whole(X), whole(INDEX), whole(tensor("z", 3, 8))),
     "table, indices and rows must have the shapes [R,C], [K] and [K,C], not [4, 8], [4], [3, 8]"),
    (GatherRows(whole(X), whole(X, 32), whole(tensor("z", 32, 8))),
     "indices must be of i32 or u32, not f32"),
    (ScatterRows(whole(X), whole(INDEX), whole(tensor("z", 4, 8, dtype=I32))),
     "table and rows must have one type, not f32 and i32"),
    (ReadWord(Base("b"), whole(INDEX)), "the access must be of one element, not of [4]"),
    (While((), None, ()), "a loop must have a predicate or a number of turns"),
    (While((), whole(INDEX), ()), "the predicate must be of one element, not of [4]"),
    (While((), whole(ONE), (), counts=((Base("b"), 0, 1),)),
     "only a loop with a number of turns may count registers"),
    (While((), whole(ONE), (), 3), "a loop of 3 turns must have no condition"),
    (Case(whole(ONE), ()), "there must be a branch"),
    (Case(whole(INDEX), ((),)), "the index must be of one element, not of [4]"),
])
def test_work_without_nodes(work, said):
    assert f"{type(work).__name__} of unknown source: {said}" in refused(
        work, inputs=(*INPUTS, *(each.tensor for each in vars(work).values()
                                 if isinstance(each, Access))))


def test_work_in_loops_is_checked():
    assert "Fill of unknown source: the word must" in refused(
        While((), None, (Case(whole(ONE), ((Fill(whole(X), -1),),)),), 2))


def read(extent, access, value: Value = VALUE):
    return (Read(value, extent, access), *ADD.reads[1:])


@pytest.mark.parametrize(("changes", "said"), [
    ({"kept": 2}, "kept must be a number of row dimensions of [4, 8], not 2"),
    ({"reads": read(Extent.FULL, whole(X, 8, 4))},
     "x, read FULL, must have the shape [4, 8], not [8, 4]"),
    ({"reads": read(Extent.ROWS, whole(X, 8))}, "x, read ROWS, must have the shape [4], not "),
    ({"reads": read(Extent.LANES, whole(X, 4))}, "x, read LANES, must have the shape [8], not [4]"),
    ({"reads": read(Extent.SCALAR, whole(X, 1))}, "x, read SCALAR, must have the shape [], not "),
    ({"reads": read(Extent.FULL, seen(X, (4, 8), (1, 4)))},
     "x, read FULL, must have the last stride 1, not 4"),
    ({"reads": read(Extent.LANES, seen(X, (8,), (2,)))},
     "x, read LANES, must have the last stride 1, not 2"),
    ({"reads": (*ADD.reads, ADD.reads[0])}, "values must be read once each"),
    ({"reads": ADD.reads[1:]},
     "add must come after what it needs, and parameter is neither read nor made before it"),
    ({"nodes": ADD.nodes[::-1]},
     "add must come after what it needs, and broadcast is neither read nor made before it"),
    ({"nodes": ()}, "what is written must be read or made, and add is not"),
    ({"writes": ()}, "everything must have a use, and add has none"),
    ({"writes": (Write(VALUE, Extent.FULL, whole(Y)),)}, "everything must have a use, and add "),
    ({"reads": (*ADD.reads, Read(parameter(VALUE.type), Extent.SCALAR, whole(ONE, 1)))},
     "everything must have a use, and one has none"),
    ({"writes": (*ADD.writes, *ADD.writes)}, "places must be written once each"),
    ({"writes": (Write(SUM, Extent.LANES, whole(Y, 8)),)},
     "y must be written with rows, FULL or ROWS, not LANES"),
    ({"writes": (Write(SUM, Extent.FULL, whole(Y, 8)),)},
     "y, written FULL, must have the shape [4, 8], not [8]"),
    ({"writes": (Write(SUM, Extent.FULL, whole(Y, 16)),), "kept": 0},
     "y, written FULL, must have the shape [4, 8] or [8], not [16]"),
    ({"result": VALUE}, "a product must have a result, and nothing else"),
])
def test_clusters(changes, said):
    assert f"Cluster of add: {said}" in refused(replace(ADD, **changes))


A, B, TALL = (tensor(name, *shape, dtype=BF16) for name, shape in (
    ("a", (1, 4, 6)), ("b", (1, 6, 8)), ("t", (6, 4))))
IMAGE, TAPS = tensor("image", 2, 5, 5, 3, dtype=BF16), tensor("taps", 3, 3, 3, 4, dtype=BF16)
MADE = parameter(TensorType(F32, (1, 4, 8)))
PRODUCT = Cluster((1, 4, 8), 2, Dot(MatmulFormat.BF16, whole(A), whole(B)), MADE, (), (),
                  (Write(MADE, Extent.FULL, whole(Y, 1, 4, 8)),), "dot")
CONVOLVED = Cluster((2, 3, 3, 4), 3,
                    Convolution(MatmulFormat.BF16, whole(IMAGE), whole(TAPS), (1, 1), (1, 1)),
                    MADE, (), (), (Write(MADE, Extent.FULL, whole(tensor("c", 2, 3, 3, 4))),),
                    "convolution")
OPERANDS = (A, B, IMAGE, TAPS)


def test_products_that_are_well_formed_are_accepted():
    accepted(PRODUCT, CONVOLVED, inputs=OPERANDS)


@pytest.mark.parametrize(("work", "changes", "said"), [
    (PRODUCT, {"lhs": whole(A, 4, 6)}, ("operands must have the shapes [B,M,K] and [B,K,N], not "
     "[4, 6] and [1, 6, 8]")),
    (PRODUCT, {"lhs": whole(A, 1, 6, 4)}, ("operands over [1, 4, 8] must have the shapes [B,M,K] "
     "and [B,K,N], not [1, 6, 4] and [1, 6, 8]")),
    (PRODUCT, {"lhs": seen(A, (1, 4, 3), (24, 6, 2))}, ("the left operand must have the stride 1 "
     "along one of its last two dimensions, not [24, 6, 2]")),
    (PRODUCT, {"rhs": seen(B, (1, 6, 8), (0, 2, 2))}, ("the right operand must have the stride 1 "
     "along one of its last two dimensions, not [0, 2, 2]")),
    (PRODUCT, {"turned": whole(TALL)}, ("an operand that is transposed must be one matrix of a "
     "multiple of 16 rows, not [1, 4, 6]")),
    (CONVOLVED, {"x": whole(IMAGE, 10, 5, 3)}, ("operands must have four dimensions, not "
     "[10, 5, 3] and [3, 3, 3, 4]")),
    (CONVOLVED, {"stride": (2, 2)}, ("a convolution of [2, 5, 5, 3] by [3, 3, 3, 4] must be over "
     "[2, 2, 2, 4], not [2, 3, 3, 4]")),
    (CONVOLVED, {"x": seen(IMAGE, (2, 5, 5, 3), (5, 1, 1, 2))},
     "x must have the last stride 1, not 2"),
])
def test_products(work, changes, said):
    broken = replace(work, product=replace(work.product, **changes))
    assert f"Cluster of {work.source}: {said}" in refused(broken, inputs=OPERANDS)


Z = tensor("z", 4, 8)
MAKE, USE = Fill(whole(Y), 0), Move(whole(Y), whole(Z))
LATE = replace(ADD, reads=(Read(VALUE, Extent.FULL, whole(Y)), ADD.reads[1]),
               writes=(Write(SUM, Extent.FULL, whole(Z)),))


def test_tensors_are_written_before_they_are_read():
    said = "Cluster of add: y must be written before it is read"
    accepted(MAKE, LATE)
    assert refused(LATE, MAKE) == said
    # What nobody has written may be copied, but then the copy holds nothing.
    assert refused(Move(whole(Z), whole(Y)), LATE) == said
    assert refused(MAKE, outputs=[Y, Z]) == "result z must be written"


@pytest.mark.parametrize(("trips", "holds"), [(None, False), (0, False), (1, True)])
def test_what_a_loop_writes_is_there_if_it_turns(trips, holds):
    loop = While((), None if trips is not None else whole(ONE), (MAKE,), trips)
    if holds:
        accepted(loop, LATE)
    else:
        assert "y must be written before it is read" in refused(loop, LATE)


def test_what_every_branch_writes_is_there():
    accepted(Case(whole(ONE), ((MAKE,), (MAKE,))), LATE)
    assert "y must be written before it is read" in refused(
        Case(whole(ONE), ((MAKE,), ())), LATE)


def test_addresses_are_read_before_they_are_used():
    base = Base("b")
    use = Fill(Access(X, View(0, (8,), (1,)), base), 0)
    accepted(ReadWord(base, whole(ONE)), use)
    accepted(While((), None, (use,), 2, counts=((base, 0, 4),)))
    assert refused(use, ReadWord(base, whole(ONE))) == (
        "Fill of unknown source: the address of x must be read before it is used")


def test_the_graph_is_checked_between_the_last_passes(monkeypatch):
    x = parameter(TensorType(F32, (1, 4, 8)))
    graph = Graph("g", [x], [op("negate", x)])

    def wrong(graph):
        return Graph("g", [x], [op("dot", x, x, dtype=F32, contract=[(2, 2)])])

    def right(graph):
        return Graph("g", [x], [op("negate", x)])

    monkeypatch.setattr("celosia.compiler.pipeline.LAST", (wrong, right))
    with pytest.raises(GraphError, match="graph g is not canonical: "):
        prepared(graph, CORE)
    monkeypatch.setenv("CELOSIA_CHECK", "0")
    prepared(graph, CORE)


def test_every_pass_over_work_is_checked(monkeypatch):
    x = parameter(TensorType(F32, (4, 8)))
    graph = Graph("g", [x], [op("negate", x)])
    module = sys.modules["celosia.compiler.lowering.lower"]  # the package has its function
    monkeypatch.setattr(module, "forward", lambda works, fixed: [])
    with pytest.raises(IllFormed, match="work after forward is not well formed:\n  result negate"):
        lower(CORE, graph)
    monkeypatch.setenv("CELOSIA_CHECK", "0")
    assert lower(CORE, graph).works == []
