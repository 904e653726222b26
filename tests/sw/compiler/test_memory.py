"""Places in external memory: tensors that live together have bytes of their own, others share."""

import pytest
from copying import Memory, Program, made, part, tensor, whole

from celosia.compiler.errors import CompileError
from celosia.compiler.lowered import Case, External, Fill, Move, While
from celosia.compiler.memory import Life, lives, numbered, plan_arena
from celosia.program.buffer import ALIGNMENT

EACH, ROOM = 12, 1 << 30


class Arena(Memory):
    """Memory in which tensors lie where they have been placed."""

    def __init__(self, given):
        super().__init__({})
        self.bytes = {}
        for of, words in given.items():
            for place, word in enumerate(words):
                self._set(whole(of), place, word)

    def _get(self, access, place):
        return self.bytes[access.tensor.home.offset + 4 * place]

    def _set(self, access, place, word):
        self.bytes[access.tensor.home.offset + 4 * place] = word


#: Bytes of the arenas of so many programs together.
SIZES = [16320, 14912, 17280, 13184, 12864, 14272]


@pytest.mark.parametrize("group", range(len(SIZES)))
def test_nothing_is_overwritten_that_is_wanted(group):
    total = 0
    for seed in range(group * EACH, group * EACH + EACH):
        program = Program(seed)
        total += plan_arena(program.works, program.fixed, ROOM)
        for index in range(2):
            wanted, tests = program.run(program.works, index)
            arena = Arena({program.x: range(100, 124), program.index: [index]})
            arena.run(program.works)
            assert arena.seen == tests
            assert [[(place, arena.bytes[of.home.offset + 4 * place]) for place, _ in words]
                    for of, words in zip(program.results, wanted, strict=True)] == wanted, seed
    assert total == SIZES[group]


def chain(count):
    """Return tensors, each made of the one before it."""
    tensors = [tensor(f"t{i}") for i in range(count)]
    return tensors, [made(whole(b), whole(a)) for a, b in zip(tensors, tensors[1:], strict=False)]


def test_lives_begin_where_work_begins_and_end_where_it_ends():
    (a, b, c, d), works = chain(4)
    assert lives(works) == {a: Life(1, 1), b: Life(1, 2), c: Life(2, 3), d: Life(3, 3)}
    assert [(begin, end) for begin, end, _ in numbered(works, 7)] == [(7, 7), (8, 8), (9, 9)]


def test_what_a_loop_finds_lives_through_all_of_it():
    (a, b, c, d), [one, two, three] = chain(4)
    # Work: 1; in the loop, which begins at 2: 3 and 4; it ends at 5; behind it 6.
    loop = While((), None, (two, three), source="1")
    assert lives([one, loop, made(whole(d), whole(a))]) == {
        a: Life(1, 6), b: Life(1, 5), c: Life(3, 4), d: Life(4, 6)}
    # What a turn leaves for the next one is there from before the loop to its end.
    carried = While((), None, (made(whole(c), whole(b)), made(whole(b), whole(c))), source="1")
    assert lives([one, carried]) == {a: Life(1, 1), b: Life(1, 5), c: Life(3, 4)}
    kept = While((), None, (made(part(c, (0, 0), (2, 6)), whole(b)), Move(whole(c), whole(d))),
                 source="1")
    assert lives([one, kept])[c] == Life(2, 5)
    # Also where the first turn finds nothing there.
    for body in ((made(whole(d), whole(c)), made(whole(c), whole(a))),
                 (made(part(c, (0, 0), (2, 6)), whole(a)), made(whole(c), whole(a)))):
        assert lives([While((), None, body, source="1")])[c] == Life(1, 4)
    tested = While((one,), part(b, (0, 0), (1, 1)), (two,), source="1")
    assert lives([tested]) == {a: Life(1, 4), b: Life(2, 3), c: Life(3, 3)}


def test_what_a_branch_makes_lives_until_all_of_them_end():
    (a, b, c, _), [one, two, _] = chain(4)
    case = Case(whole(a), ((one,), (two,)))
    assert lives([case]) == {a: Life(2, 4), b: Life(2, 4), c: Life(3, 4)}


def offsets(tensors):
    return [each.home.offset for each in tensors]


def test_what_is_fixed_comes_first_in_order_and_shares_with_none():
    tensors, works = chain(5)
    size = -(-96 // ALIGNMENT) * ALIGNMENT
    assert plan_arena(works, [tensors[4], tensors[0], tensors[4]], ROOM) == 4 * size
    # t1 and t2 live together, t2 and t3, but not t1 and t3.
    assert offsets(tensors) == [size, 2 * size, 3 * size, 2 * size, 0]


def test_large_tensors_choose_first():
    (a, b, c), works = chain(3)
    small, large = tensor("small", (1,)), tensor("large", (8, 6))
    works = [Fill(whole(small), 1), Fill(whole(large), 2), *works, Move(whole(small), whole(small)),
             Move(whole(large), whole(large))]
    end = plan_arena(works, [a, c], ROOM)
    at = offsets([large, b, small])
    assert at == sorted(at)
    assert end == at[2] + ALIGNMENT


def test_an_arena_begins_where_it_is_told_and_has_homes_that_are_given():
    tensors, works = chain(3)
    tensors[1].home = External(5 * ALIGNMENT)
    size = -(-96 // ALIGNMENT) * ALIGNMENT
    assert plan_arena(works, [tensors[0], tensors[2]], ROOM, begin=ALIGNMENT + 1) == (
        2 * ALIGNMENT + 2 * size)
    assert offsets(tensors) == [2 * ALIGNMENT, 5 * ALIGNMENT, 2 * ALIGNMENT + size]
    assert plan_arena([], [], ROOM) == 0
    nothing = tensor("nothing", (0, 3))
    assert plan_arena([], [nothing], ROOM) == ALIGNMENT
    assert plan_arena([Fill(whole(tensor("none", (0,))), 0)], [], ROOM) == ALIGNMENT


def test_an_arena_may_be_as_large_as_the_limit():
    size = -(-96 // ALIGNMENT) * ALIGNMENT
    tensors, works = chain(4)
    assert plan_arena(works, tensors[:1], 3 * size) == 3 * size
    tensors, works = chain(4)
    with pytest.raises(CompileError) as caught:
        plan_arena(works, tensors[:1], 3 * size - 1)
    demand = caught.value.demand
    assert (demand.limit, demand.needed, demand.fixed) == (3 * size - 1, 3 * size, size)
    # The second piece of work is the first with two tensors beside what is given.
    assert [each.name for each in demand.held] == ["t0", "t1", "t2"]
    assert {(each.type, each.nbytes) for each in demand.held} == {("i32[4, 6]", 96)}
    assert [nbytes for _, nbytes in demand.history] == [size + 96, size + 2 * 96, size + 2 * 96]
