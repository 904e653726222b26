"""Copies that fall away, and work that nobody needs: all results stay, and little is left."""

import random
from itertools import product

import pytest
from copying import VALUE, Memory, Program, flat, made, part, places, tensor, whole

from celosia.arch.isa import DmaFormat
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import (
    Access,
    Case,
    Cluster,
    Fill,
    Move,
    ReadWord,
    While,
    Write,
)
from celosia.compiler.lowering.coalesce import coalesce
from celosia.compiler.lowering.dead import without_dead
from celosia.compiler.lowering.forward import _composed, _disjoint, forward
from celosia.compiler.views import View

EACH = 9
#: Of so many programs each: copies at first, and after each pass alone; work that is not dead; and
#: copies and work after all of them.
LEFT = [
    (73, 53, 61, 46, 12, 34), (137, 106, 111, 65, 22, 48), (49, 37, 40, 49, 19, 38),
    (128, 92, 95, 89, 25, 59), (88, 61, 69, 65, 23, 47), (72, 57, 59, 53, 26, 39),
    (75, 58, 58, 57, 20, 39), (83, 66, 68, 49, 20, 39), (94, 67, 79, 66, 23, 51),
    (109, 77, 103, 71, 28, 54)]


def all_of_them(works, fixed):
    return without_dead(forward(coalesce(works, fixed), fixed), fixed)


def copies(works):
    return sum(isinstance(work, Move) for work in flat(works))


@pytest.mark.parametrize("group", range(len(LEFT)))
def test_programs_of_copies(group):
    left = [0] * 6
    for seed in range(group * EACH, group * EACH + EACH):
        program = Program(seed)
        wanted = [program.run(program.works, index) for index in range(3)]
        found = [step(program.works, program.fixed)
                 for step in (coalesce, forward, without_dead, all_of_them)]
        for works in found:
            assert [program.run(works, index) for index in range(3)] == wanted, seed
        numbers = (copies(program.works), copies(found[0]), copies(found[1]),
                   len([*flat(found[2])]), copies(found[3]), len([*flat(found[3])]))
        left = [a + b for a, b in zip(left, numbers, strict=True)]
    assert tuple(left) == LEFT[group]


@pytest.mark.parametrize("turns", [0, 1, 2])
@pytest.mark.parametrize("branch", [False, True])
def test_what_is_wanted_outside_is_not_made_one_with_another(turns, branch):
    x, s, t, u, one, two, index = (tensor(name) for name in ("x", "s", "t", "u", "one", "two", "i"))
    inside = (made(whole(t), whole(x)), Move(whole(t), whole(s)), made(whole(u), whole(s), seed=2))
    work = (Case(whole(index), (inside, (), ())) if branch else
            While((), None, inside, source=str(turns)))
    works = [Fill(whole(t), 1), Fill(whole(s), 2), work, Move(whole(t), whole(one)),
             Move(whole(s), whole(two))]
    fixed = [x, one, two, index]
    results = []
    for each in (works, coalesce(works, fixed), forward(works, fixed), all_of_them(works, fixed)):
        memory = Memory({x: range(24), index: [turns] * 24})
        memory.run(each)
        results.append([memory.words[of] for of in (one, two)])
    assert results == results[:1] * 4


def test_a_copy_between_formats_is_work():
    x, s, t = tensor("x"), tensor("s"), tensor("t")
    t.format = DmaFormat.BF16
    works = [made(whole(s), whole(x)), Move(whole(s), whole(t)), made(whole(x), whole(t))]
    assert copies(coalesce(works, [x])) == 1
    t.format = s.format
    assert copies(coalesce(works, [x])) == 0


def test_a_copy_of_itself_is_none():
    x, s = tensor("x"), tensor("s")
    assert coalesce([Move(whole(x), whole(x))], [x]) == []
    assert copies(coalesce([made(whole(s), whole(x)), Move(whole(s), whole(s)),
                            made(whole(x), whole(s))], [x, s])) == 0


def boxes(shape):
    """Return views of all boxes in a tensor."""
    ends = [[(a, b) for a in range(size) for b in range(a + 1, size + 1)] for size in shape]
    return [View.contiguous(shape).slice(*zip(*box, strict=True)) for box in product(*ends)]


@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 3)])
def test_boxes_that_lie_apart(shape):
    of, rng = tensor("t", shape), random.Random(1)
    views = boxes(shape)
    for _ in range(400):
        a, b = (Access(of, rng.choice(views)) for _ in range(2))
        assert _disjoint(a, b) == set(places(a)).isdisjoint(places(b))


def test_what_is_said_to_lie_apart_does():
    of, rng, apart = tensor("t", (60,)), random.Random(2), 0
    for _ in range(2000):
        a, b = (Access(of, View(rng.randint(0, 20), (3, 4),
                                tuple(rng.choices((0, 1, 2, 3, 5, 6, 9), k=2))))
                for _ in range(2))
        if _disjoint(a, b):
            apart += 1
            assert set(places(a)).isdisjoint(places(b)), (a, b)
    assert apart == 443


def test_nothing_is_known_of_what_goes_backwards_or_begins_elsewhere():
    of = tensor("t", (40,))
    a, b = View(0, (5,), (1,)), View(20, (5,), (1,))
    one, other = Base("one"), Base("other")
    assert _disjoint(Access(of, a), Access(of, b))
    assert _disjoint(Access(of, a, one), Access(of, b, one))
    assert not _disjoint(Access(of, a, one), Access(of, b, other))
    assert not _disjoint(Access(of, a, one), Access(of, b))
    assert not _disjoint(Access(of, a), Access(of, View(24, (5,), (-1,))))


@pytest.mark.parametrize("shape", [(6,), (2, 6), (3, 4), (2, 3, 2)])
@pytest.mark.parametrize("dst", [
    View.contiguous((12,)), View(5, (3, 4), (10, 1)), View(1, (2, 3, 2), (40, 10, 2)),
    View(2, (12,), (3,)), View(0, (2, 6), (6, 1)), View(0, (1, 12), (7, 1))])
def test_where_elements_lie_once_they_are_copied(shape, dst):
    """What a view has of a tensor that is copied as a whole."""
    if len(shape) == 1:
        dst = dst.slice([0] * len(dst.shape), [*dst.shape[:-1], dst.shape[-1] // 2])
    shown = dst.reshape(shape)
    to = shown and places(Access(tensor("to"), shown))
    for view in boxes(shape):
        for order in ({tuple(range(len(shape))), tuple(range(len(shape)))[::-1]}):
            turned = view.transpose(order)
            found = _composed(turned, shape, dst)
            assert (found is None) == (shown is None)
            if found is not None:
                assert found.shape == turned.shape
                assert places(Access(tensor("to"), found)) == [
                    to[at] for at in places(Access(tensor("from"), turned))]


def test_steps_of_a_copy_that_are_none_of_its_target():
    dst = View(0, (4, 6), (10, 1))
    assert _composed(View(0, (2, 3), (12, 2)), (4, 6), dst) == View(0, (2, 3), (20, 2))
    assert _composed(View(3, (2, 3), (12, 1)), (4, 6), dst) == View(3, (2, 3), (20, 1))
    assert _composed(View(0, (5,), (0,)), (4, 6), dst) == View(0, (5,), (0,))
    assert _composed(View(6, (1, 3), (6, 2)), (4, 6), dst) == View(10, (1, 3), (0, 2))
    assert _composed(View(7, (2, 1), (6, 1)), (4, 6), dst) == View(11, (2, 1), (10, 0))
    assert _composed(View(0, (7,), (1,)), (4, 6), dst) is None  # from one row into the next
    assert _composed(View(3, (4,), (1,)), (4, 6), dst) is None
    assert _composed(View(0, (2,), (9,)), (4, 6), dst) is None
    assert _composed(View(5, (2,), (-1,)), (4, 6), dst) is None
    assert _composed(View(0, (2,), (1,)), (4, 6), View(9, (4, 6), (-10, 1))) is None
    assert _composed(View(0, (2,), (1,)), (4, 6), View(0, (3, 8), (10, 1))) is None


def test_a_fill_of_the_target_comes_first():
    x, s, t = tensor("x"), tensor("s"), tensor("t", (8, 6))
    cluster, fill = made(whole(s), whole(x)), Fill(whole(t), 3)
    works = [cluster, fill, Move(whole(s), part(t, (2, 0)))]
    first, second = forward(works, [x, t])
    assert first is fill
    assert [write.access for write in second.writes] == [part(t, (2, 0))]
    # Not where what is filled is read, or has been written before.
    for before, between in (([], [Move(whole(t), whole(tensor("u", (8, 6))))]),
                            ([Fill(whole(t), 1)], [])):
        works = [*before, cluster, fill, *between, Move(whole(s), part(t, (2, 0)))]
        assert forward(works, [x, t]) == works


def test_an_address_is_read_before_what_is_written_there():
    x, s, t, at = tensor("x"), tensor("s"), tensor("t", (8, 6)), tensor("at", (1,))
    base = Base("row")
    target = part(t, (0, 0))
    target = Access(t, target.view, base)
    cluster, read = made(whole(s), whole(x)), ReadWord(base, whole(at))
    move = Move(whole(s), target)
    first, second = forward([cluster, read, move], [x, t, at])
    assert first is read
    assert [write.access for write in second.writes] == [target]
    for works in ([cluster, Fill(whole(at), 3), read, move],
                  [cluster, Move(whole(x), part(t, (4, 0))), read, move]):
        assert forward(works, [x, t, at]) == works


def test_what_is_wanted_besides_is_written_twice():
    x, s, t, u = tensor("x"), tensor("s"), tensor("t", (8, 6)), tensor("u")
    cluster, move = made(whole(s), whole(x)), Move(whole(s), part(t, (2, 0)))
    both = [part(t, (2, 0)), whole(s)]
    for works, fixed, outside, targets in (
            ([cluster, move], [t], [], both[:1]), ([cluster, move], [s, t], [], both),
            ([cluster, move], [t], [s], both),
            ([cluster, move, made(whole(u), whole(s))], [t, u], [], both)):
        first, *rest = forward(works, fixed, outside)
        assert [write.access for write in first.writes] == targets
        assert rest == works[2:]


@pytest.mark.parametrize(("space", "at"), [((4, 6), (4,)), ((2, 4, 6), (2, 4)), ((6,), ())])
def test_columns_are_written_in_place_too(space, at):
    column, to = tensor("column", at), tensor("to", (3, *at))
    write = Write(VALUE, Extent.ROWS, whole(column))
    cluster = Cluster(space, len(space) - 1, None, None, (), (), (write,))
    target = Access(to, View(8, at, View.contiguous(at).strides))
    [found] = forward([cluster, Move(whole(column), target)], [to])
    assert [(each.extent, each.access) for each in found.writes] == [(Extent.ROWS, target)]


def test_what_is_joined_over_rows_is_copied():
    joined, to = tensor("joined", (6,)), tensor("to", (3, 6))
    write = Write(VALUE, Extent.FULL, whole(joined))
    cluster = Cluster((4, 6), 0, None, None, (), (), (write,))
    works = [cluster, Move(whole(joined), Access(to, View(6, (6,), (1,))))]
    assert forward(works, [to]) == works


@pytest.mark.parametrize("view", [View(47, (4, 6), (-6, -1)), View(0, (4, 6), (12, 2)),
                                  View(0, (4, 6), (1, 8))])
def test_rows_are_written_forwards_and_without_gaps(view):
    x, s, t = tensor("x"), tensor("s"), tensor("t", (8, 6))
    works = [made(whole(s), whole(x)), Move(whole(s), Access(t, view))]
    assert forward(works, [x, t]) == works


def test_dead_work_falls_away():
    x, s, t, u = (tensor(name) for name in "xstu")
    one, two, three = (made(whole(to), whole(of), seed=seed)
                       for to, of, seed in ((s, x, 1), (t, s, 2), (u, x, 3)))
    assert [work.source for work in without_dead([one, two, three], [x, t])] == ["1", "2"]
    [kept] = without_dead([made(whole(s), whole(x), also=[whole(t)])], [x, t])
    assert [write.access.tensor for write in kept.writes] == [t]
    loop = While((one,), whole(s), (three,), source="1")
    [kept] = without_dead([loop], [x])
    assert (len(kept.cond), kept.body) == (1, ())
    [kept] = without_dead([Case(whole(s), ((two,), (three,)))], [x, u])
    assert [len(branch) for branch in kept.branches] == [0, 1]
    read = ReadWord(Base("at"), whole(t))
    assert len(without_dead([one, two, three, read], [x])) == 3


def test_memory_is_what_work_makes_of_it():
    x, s, t = tensor("x"), tensor("s"), tensor("t", (8, 6))
    memory = Memory({x: range(24)})
    memory.run([Fill(whole(t), 5), Move(whole(x), part(t, (3, 0))), Move(whole(x), whole(s))])
    assert [memory.words[t][i] for i in (17, 18, 41, 42)] == [5, 0, 23, 5]
    assert memory.words[s] == memory.words[x]
