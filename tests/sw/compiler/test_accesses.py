"""What each kind of work reads and writes, and what is inside of it."""

import pytest

from celosia.arch.isa import DmaFormat, MatmulFormat
from celosia.compiler.accesses import accesses, inner, own
from celosia.compiler.codegen.nodes import Base
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
from celosia.compiler.views import View
from celosia.graph import DType, TensorType, parameter

VALUE = parameter(TensorType(DType.I32, (2, 3)))


def access(name):
    return Access(Tensor(name, (2, 3), DType.I32, DmaFormat.W32), View.contiguous((2, 3)))


A, B, C, D, E = map(access, "abcde")


def cluster(product=None):
    return Cluster((2, 3), 1, product, None, (), (Read(VALUE, Extent.FULL, A),
                                                  Read(VALUE, Extent.FULL, B)),
                   (Write(VALUE, Extent.FULL, C), Write(VALUE, Extent.FULL, A)))


BF16 = MatmulFormat.BF16
FILL, MOVE = Fill(A, 1), Move(B, C)


@pytest.mark.parametrize(("work", "reads", "writes", "parts"), [
    (cluster(), [A, B], [C, A], []),
    (cluster(Dot(BF16, D, E)), [A, B, D, E], [C, A], []),
    (cluster(Dot(BF16, D, D, E)), [A, B, D, D], [C, A, E], []),
    (cluster(Convolution(BF16, E, D, (1, 1), (1, 1))), [A, B, E, D], [C, A], []),
    (MOVE, [B], [C], []), (FILL, [], [A], []),
    (GatherRows(A, B, C), [A, B], [C], []), (ScatterRows(A, B, C), [B, C], [A], []),
    (ReadWord(Base("r"), D), [D], [], []),
    (While((FILL,), D, (MOVE, FILL)), [D], [], [(FILL,), (MOVE, FILL)]),
    (While((), None, (MOVE,), 3), [], [], [(), (MOVE,)]),
    (Case(E, ((MOVE,), (), (FILL, MOVE))), [E], [], [(MOVE,), (), (FILL, MOVE)])])
def test_what_work_reads_and_writes(work, reads, writes, parts):
    assert own(work) == (reads, writes)
    assert inner(work) == parts
    found = [(each, False) for each in reads] + [(each, True) for each in writes]
    for part in parts:
        for each in part:
            found += [(B, False), (C, True)] if each is MOVE else [(A, True)]
    assert [*accesses(work)] == found


def test_what_is_deep_inside_is_accessed_too():
    work = Case(E, ((While((), D, (Case(A, ((FILL,),)), MOVE)),),))
    assert [*accesses(work)] == [
        (E, False), (D, False), (A, False), (A, True), (B, False), (C, True)]
