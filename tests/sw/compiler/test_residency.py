"""Which tensors stay on chip, where, and what that leaves to the work."""

import pytest
from copying import VALUE, made, part, tensor, whole

from celosia.arch.config import PRESETS
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import (
    Access,
    Case,
    Cluster,
    Dot,
    External,
    Move,
    OnChip,
    Read,
    ReadWord,
    Tensor,
    While,
    Write,
)
from celosia.compiler.memory import Life
from celosia.compiler.residency import plan_on_chip, regions
from celosia.compiler.views import View
from celosia.graph import DType

CORE = PRESETS["core"]
ACC, UB = CORE.acc_rows, CORE.ub_rows


def cluster(dst, *reads, shape, extent=Extent.FULL, product=None, kept=None):
    """Return a cluster over some space that writes all of a tensor."""
    return Cluster(shape, len(shape) - 1 if kept is None else kept, product, None, (),
                   tuple(Read(VALUE, Extent.FULL, access) for access in reads),
                   (Write(VALUE, extent, dst),))


def chain(count, shape=(4, 6)):
    """Return tensors, each made of the one before."""
    tensors = [tensor(f"t{i}", shape) for i in range(count)]
    return tensors, [cluster(whole(b), whole(a), shape=shape)
                     for a, b in zip(tensors, tensors[1:], strict=False)]


def homes(tensors):
    return [each.home for each in tensors]


def test_tensors_lie_at_the_end_of_the_accumulators_those_that_live_together_apart():
    tensors, works = chain(6)
    placed = plan_on_chip(CORE, works, [tensors[0], tensors[5]])
    first, second = OnChip(Mem.ACC, ACC - 4), OnChip(Mem.ACC, ACC - 8)
    assert homes(tensors) == [None, first, second, first, second, None]
    assert placed == {each: Life(i, i + 1) for i, each in enumerate(tensors[1:5], 1)}


def test_what_lives_with_two_others_lies_below_both():
    a, b, x = tensor("a"), tensor("b"), tensor("x")
    c, end = tensor("c", (8, 6)), tensor("end", (8, 6))
    works = [made(whole(a), whole(x)), made(whole(b), whole(x)), made(whole(x), whole(b)),
             cluster(whole(c), shape=(8, 6)), cluster(whole(end), whole(c), shape=(8, 6)),
             made(whole(x), whole(a))]
    plan_on_chip(CORE, works, [x, end])
    # b is gone when c is made, but between them there is too little room.
    assert homes([a, b, c]) == [OnChip(Mem.ACC, ACC - at) for at in (4, 8, 12)]


@pytest.mark.parametrize(("rows", "home"), [
    (ACC // 4, OnChip(Mem.ACC, ACC - ACC // 4)), (ACC // 4 + 1, None)])
def test_a_quarter_of_the_accumulators_may_be_taken(rows, home):
    tensors, works = chain(3, (rows, 6))
    plan_on_chip(CORE, works, [tensors[0], tensors[2]])
    assert tensors[1].home == home


def test_small_tensors_choose_first():
    big, small, x = tensor("big", (ACC // 4, 6)), tensor("small"), tensor("x")
    end = tensor("end", big.shape)
    works = [cluster(whole(big), shape=big.shape), made(whole(small), whole(x)),
             made(whole(x), whole(small)), cluster(whole(end), whole(big), shape=big.shape)]
    assert [*plan_on_chip(CORE, works, [x, end])] == [small]


def read_by(access, extent=Extent.FULL):
    """Return work in which a tensor is made, and read by an access."""
    return [made(whole(access.tensor)), Cluster(
        (4, 6), 1, None, None, (), (Read(VALUE, extent, access),),
        (Write(VALUE, Extent.FULL, whole(tensor("end"))),))]


def shown(view, base=None):
    return Access(tensor("t"), view, base)


@pytest.mark.parametrize(("access", "extent", "there"), [
    (shown(View(0, (4, 6), (6, 1))), Extent.FULL, True),
    (shown(View(0, (2, 6), (12, 1))), Extent.FULL, True),
    (shown(View(18, (4, 6), (-6, 1))), Extent.FULL, False),
    (shown(View(0, (4, 6), (0, 1))), Extent.FULL, False),
    (shown(View(0, (1, 6), (0, 1))), Extent.FULL, True),
    (shown(View(0, (1, 6), (-6, 1))), Extent.FULL, True),
    (shown(View(0, (2, 2, 6), (6, 6, 1))), Extent.FULL, False),
    (shown(View(0, (6, 4), (1, 6))), Extent.FULL, False),
    (shown(View(1, (4, 5), (6, 1))), Extent.FULL, False),
    (shown(View(0, (4, 6), (6, 1)), Base("b")), Extent.FULL, False),
    (shown(View(6, (6,), (1,))), Extent.LANES, True),
    (shown(View(2, (4,), (6,))), Extent.ROWS, True),
    (shown(View(2, (4,), (1,))), Extent.ROWS, False)])
def test_accumulators_are_read_in_whole_rows_that_ascend(access, extent, there):
    works = read_by(access, extent)
    fixed = [works[1].writes[0].access.tensor]
    assert (access.tensor in plan_on_chip(CORE, works, fixed)) == there


def test_what_else_touches_a_tensor_decides():
    end = tensor("end")

    def there(of, *works):
        return of in plan_on_chip(CORE, [*works], [end])

    t = tensor("t")
    assert there(t, made(whole(t)), made(whole(end), whole(t)))
    for work in (Move(whole(t), whole(end)), Move(whole(end), whole(t))):
        t.home = None
        assert not there(t, made(whole(t)), work)
    assert not there(t, made(part(t, (0, 0), (2, 6))), made(whole(end), whole(t)))
    assert not there(t, cluster(whole(t), shape=(3, 4, 6), kept=1), made(whole(end), whole(t)))
    elsewhere = tensor("elsewhere")
    elsewhere.home = External(0)
    assert not there(elsewhere, made(whole(elsewhere)), made(whole(end), whole(elsewhere)))
    nothing = tensor("nothing", (0, 6))
    assert not there(nothing, cluster(whole(nothing), shape=(0, 6)))


@pytest.mark.parametrize("shape", [(1,), (1, 1), (), (2,), (1, 2)])
def test_words_that_steer_are_read_of_single_elements(shape):
    for steer in (lambda at: ReadWord(Base("r"), at), lambda at: While((), at, ()),
                  lambda at: Case(at, ((),))):
        t = tensor("t", shape)
        one = Access(t, View(0, (), ()))
        rows = shape or (1,)
        works = [cluster(Access(t, View.contiguous(rows)), shape=rows), steer(one)]
        assert (t in plan_on_chip(CORE, works, [])) == (shape not in ((2,), (1, 2)))


def half(name, shape, dtype=DType.BF16):
    return Tensor(name, shape, dtype, DmaFormat.BF16)


def product(lhs, rhs, end):
    dot = Dot(MatmulFormat.BF16, lhs, rhs)
    return cluster(whole(end), shape=(1, *end.shape), product=dot)


def fed(dtype=DType.BF16, shape=(32, 16), view=None, right=False):
    """Whether an operand of a product stays in the unified buffer."""
    t, other, end = half("t", shape, dtype), half("o", (16, 16)), tensor("end", (32, 16))
    at = Access(t, view or View(0, (1, *shape), (0, shape[1], 1)))
    them = Access(other, View(0, (1, 16, 16), (0, 16, 1)))
    works = [cluster(whole(t), shape=shape),
             product(*((them, at) if right else (at, them)), end)]
    plan_on_chip(CORE, works, [other, end])
    assert t.home in (None, OnChip(Mem.UB, UB - t.shape[0] * -(-t.shape[1] // 16)))
    return t.home is not None


@pytest.mark.parametrize("right", [False, True])
def test_operands_stay_in_the_unified_buffer(right):
    assert fed(right=right)
    assert fed(shape=(32, 48), right=right)
    assert fed(dtype=DType.I8, right=right)
    assert not fed(dtype=DType.F32, right=right)
    assert not fed(shape=(32, 24), right=right)  # the last lanes would not be 0
    for view in (View(0, (1, 16, 32), (0, 1, 16)), View(16, (1, 16, 16), (0, 16, 1)),
                 View(0, (1, 16, 16), (0, 32, 1)), View(0, (2, 16, 16), (0, 16, 1))):
        assert not fed(view=view, right=right)
    assert fed(view=View(0, (2, 16, 16), (256, 16, 1)), right=right)
    assert fed(view=View(0, (1, 16, 16), (0, 16, 1)), right=right)


def test_half_of_the_unified_buffer_may_be_taken():
    assert fed(shape=(UB // 2, 16))
    assert not fed(shape=(UB // 2 + 1, 16))


def test_work_has_what_lies_below_the_tensors_that_live_then():
    (a, b, c, d), works = chain(4)
    placed = plan_on_chip(CORE, works, [a])
    assert homes([b, c, d]) == [OnChip(Mem.ACC, ACC - 4), OnChip(Mem.ACC, ACC - 8),
                                OnChip(Mem.ACC, ACC - 4)]
    found = regions(CORE, works, placed, 3)
    assert [found[work].acc for work in works] == [
        range(3, ACC - 4), range(3, ACC - 8), range(3, ACC - 8)]
    assert [found[work].ub for work in works] == [range(UB)] * 3
    other = tensor("other")
    other.home = OnChip(Mem.UB, 40)
    found = regions(CORE, works, {other: Life(2, 2)}, 0)
    assert [found[work].ub for work in works] == [range(UB), range(40), range(UB)]
    assert [found[work].acc for work in works] == [range(ACC)] * 3
