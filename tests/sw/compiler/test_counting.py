"""Numbers that grow by the same step in every turn of a loop."""

import random

import numpy as np
import pytest

from celosia.compiler.counting import Counter, Line, line, takes_turns, written_over
from celosia.graph import DType, Graph, TensorType, constant, interpret, op, ops, parameter

I32 = DType.I32
I = parameter(TensorType(I32))  # noqa: E741
OTHER = parameter(TensorType(I32))
COUNTER = Counter(I, 3, 5)  # 3, 4, 5, 6, 7


def number(value):
    return constant(value, I32)


def compare(direction, a, b):
    return op("compare", a, b, direction=direction)


def select(condition, a, b):
    return op("select", condition, a, b)


@pytest.mark.parametrize(("value", "found"), [
    (I, (3, 1)), (number(7), (7, 0)), (OTHER, None),
    (constant(np.array([9], np.int32)), (9, 0)), (constant(np.array([9, 9], np.int32)), None),
    (constant(2, DType.F32), None), (op("convert", I, dtype=DType.U32), None),
    (op("reshape", I, shape=[1, 1]), (3, 1)),
    (op("add", I, number(2)), (5, 1)), (op("add", I, I), (6, 2)), (op("add", I, OTHER), None),
    (op("add", OTHER, I), None),
    (op("subtract", I, number(2)), (1, 1)), (op("subtract", number(9), I), (6, -1)),
    (op("multiply", I, number(4)), (12, 4)), (op("multiply", number(-2), I), (-6, -2)),
    (op("multiply", I, I), None), (op("negate", I), None),
    # All in 32 bits, in the last turn, too.
    (op("multiply", I, number(306783378)), (920350134, 306783378)),
    (op("multiply", I, number(306783379)), None),
    (op("multiply", I, number(-306783378)), (-920350134, -306783378)),
    (op("multiply", I, number(-306783379)), None),
    (op("subtract", number(-(1 << 31) + 7), I), (-(1 << 31) + 4, -1)),
    (op("subtract", number(-(1 << 31) + 6), I), None),
    # What is between their ends is not one of both.
    (op("minimum", I, number(7)), (3, 1)), (op("minimum", number(7), I), (3, 1)),
    (op("minimum", I, number(6)), None), (op("minimum", I, number(3)), (3, 0)),
    (op("minimum", number(3), I), (3, 0)), (op("minimum", I, number(4)), None),
    (op("maximum", I, number(3)), (3, 1)), (op("maximum", number(3), I), (3, 1)),
    (op("maximum", I, number(4)), None), (op("maximum", I, number(7)), (7, 0)),
    (op("maximum", number(7), I), (7, 0)), (op("maximum", number(6), I), None),
    (op("minimum", op("subtract", number(0), I), number(-3)), (-3, -1)),
    # Comparisons that hold always, or never.
    *((select(compare(direction, I, number(bound)), I, number(50)),
       {True: (3, 1), False: (50, 0), None: None}[held])
      for direction, bound, held in [
          ("lt", 8, True), ("lt", 7, None), ("lt", 4, None), ("lt", 3, False),
          ("le", 7, True), ("le", 6, None), ("le", 3, None), ("le", 2, False),
          ("gt", 2, True), ("gt", 3, None), ("gt", 6, None), ("gt", 7, False),
          ("ge", 3, True), ("ge", 4, None), ("ge", 7, None), ("ge", 8, False),
          ("eq", 99, None), ("ne", 99, None)]),
    (select(compare("lt", OTHER, number(8)), I, number(50)), None),
    (select(compare("lt", number(8), OTHER), I, number(50)), None),
    (select(parameter(TensorType(DType.BOOL)), I, I), None),
    (op("reshape", select(op("reshape", compare("lt", I, number(8)), shape=[]), I, OTHER),
        shape=[1]), (3, 1)),
])
def test_a_line(value, found):
    assert line(value, COUNTER) == (None if found is None else Line(*found))


def test_a_line_is_what_the_value_is_in_each_turn():
    known = 0
    for seed in range(300):
        rng = random.Random(seed)
        counter = Counter(I, rng.randrange(-9, 10), rng.randrange(1, 9))
        pool = [I, *(number(rng.randrange(-9, 10)) for _ in range(3))]
        for _ in range(rng.randrange(1, 7)):
            a, b, c = rng.choices(pool, k=3)
            name = rng.choice(("add", "subtract", "multiply", "minimum", "maximum", "select"))
            pool.append(op(name, a, b) if name != "select" else select(
                compare(rng.choice(("lt", "le", "gt", "ge")), a, b), a, c))
        found = line(pool[-1], counter)
        if found is None:
            continue
        known += found.step != 0
        graph = Graph("g", [I], [pool[-1]])
        assert [int(interpret(graph, [np.int32(counter.first + turn)])[0])
                for turn in range(counter.turns)] == [
            found.first + found.step * turn for turn in range(counter.turns)], seed
    assert known > 50


@pytest.mark.parametrize(("value", "size", "whole", "all_of_it"), [
    (op("subtract", I, number(3)), 1, 5, True), (op("subtract", I, number(3)), 1, 6, False),
    (op("subtract", I, number(3)), 1, 4, False), (I, 1, 5, False),
    (op("subtract", number(7), I), 1, 5, True), (op("subtract", number(6), I), 1, 5, False),
    (op("multiply", op("subtract", I, number(3)), number(2)), 2, 10, True),
    (op("multiply", op("subtract", I, number(3)), number(2)), 1, 5, False),
    (op("multiply", op("subtract", number(7), I), number(2)), 2, 10, True),
    (OTHER, 1, 5, False), (number(0), 5, 5, False)])
def test_parts_that_are_all_of_a_tensor(value, size, whole, all_of_it):
    assert takes_turns(value, size, whole, COUNTER) is all_of_it


def loop(shape, part, start, change=lambda i, x, made: [op("add", i, number(1)), made],
         update=None):
    """Return a loop of four turns that writes parts of what it carries."""
    types = [TensorType(I32), TensorType(DType.F32, shape)]
    cond = [parameter(type) for type in types]
    i, x = body = [parameter(type) for type in types]
    new = constant(np.ones(part, np.float32)) if update is None else update(x)
    made = op("dynamic_update_slice", x, new, *start(i))
    regions = (Graph("cond", cond, [compare("lt", cond[0], number(4))]),
               Graph("body", body, change(i, x, made)))
    node = ops("while", number(0), parameter(types[1]), regions=regions)[0].node
    return written_over(node, 1, Counter(i, 0, 4))


def rows(i):
    return [i, number(0)]


@pytest.mark.parametrize(("options", "over"), [
    ({}, True),
    ({"start": lambda i: [op("subtract", number(3), i), number(0)]}, True),
    ({"start": lambda i: [number(0), i], "shape": (3, 4), "part": (3, 1)}, True),
    ({"shape": (5, 3)}, False),  # a row is left
    ({"start": lambda i: [op("add", i, number(1)), number(0)]}, False),
    ({"part": (1, 2)}, False),  # two dimensions are cut
    ({"part": (4, 3), "start": lambda i: [number(0), number(0)]}, True),  # all of it, each turn
    ({"change": lambda i, x, made: [op("add", i, number(1)), op("negate", made)]}, False),
    ({"update": lambda x: op("slice", x, start=[0, 0], limit=[1, 3], stride=[1, 1])}, False),
])
def test_what_a_loop_writes_over(options, over):
    found = loop(**{"shape": (4, 3), "part": (1, 3), "start": rows, **options})
    assert found is over
