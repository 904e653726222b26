"""Where parts of a program compute what later ones want."""

import random

import numpy as np
import pytest

from celosia.compiler import canonical
from celosia.compiler.builder import Builder
from celosia.compiler.pipeline import count
from celosia.compiler.split import host_nodes, on_chip, place_whole, split
from celosia.graph import DType, Graph, Source, TensorType, interpret, parameter


def test_what_grows_is_made_by_the_part_that_wants_it():
    make = Builder(Source())
    x = parameter(TensorType(DType.F32, (64, 64)), "x")
    scalar = parameter(TensorType(DType.F32, ()), "scalar")
    kept = make("multiply", scalar, scalar)
    met = make("all_reduce", make("add", x, x), groups=((0, 1),), reducer="add")
    wide = make("multiply", met, make.like(make("sqrt", kept), x.type))
    parts, _ = split(canonical(Graph("grows", (x, scalar), (kept, wide))))
    assert [part.where for part in parts] == ["chip", "link", "chip"]
    assert {value.shape for value in parts[0].graph.outputs} == {(), (64, 64)}
    assert "broadcast" in [node.op for node in parts[2].graph.nodes]


def at_random(seed):
    """Return a graph of which the host runs parts: remainders of floats."""
    rng, make = random.Random(seed), Builder(Source())
    shapes = [(6, 5), (6, 5), (5,), ()]
    params = [parameter(TensorType(DType.F32, rng.choice(shapes)), f"p{i}",
                        donated=rng.random() < 0.6) for i in range(4)]
    pool = [*params, make.constant(1.5, DType.F32)]
    for _ in range(rng.randint(4, 12)):
        x = rng.choice(pool[-6:])
        like = [each for each in pool if each.type == x.type]
        match rng.randrange(6):
            case 0 | 1:
                pool.append(make("remainder", x, rng.choice(like)))
            case 2:
                pool.append(make("exp", make("negate", make("abs", x))))
            case 3 | 4:
                pool.append(make(rng.choice(["add", "multiply", "maximum"]), x, rng.choice(like)))
            case _:
                if x.shape in ((), (5,)):
                    pool.append(make.broadcast(x, (6, 5), range(2 - x.type.rank, 2)))
    outputs = rng.sample(pool[4:], min(len(pool) - 4, rng.randint(1, 4)))
    return Graph("g", params, [*outputs, *rng.sample(params, rng.randint(0, 1))])


#: Of ten graphs each: parts, their nodes, and values that they take and give.
SIZES = [
    (18, 45, 31, 32), (24, 69, 39, 35), (20, 60, 29, 33), (17, 56, 29, 31),
    (22, 52, 24, 33), (22, 57, 35, 33), (19, 50, 37, 33), (18, 49, 28, 26)]


@pytest.mark.parametrize("group", range(len(SIZES)))
def test_parts_one_after_another_give_what_the_whole_does(group):
    sizes = [0] * 4
    for seed in range(10 * group, 10 * group + 10):
        graph = at_random(seed)
        draw = np.random.default_rng(seed)
        inputs = [draw.uniform(1, 4, each.shape).astype(np.float32) for each in graph.params]
        parts, gives = split(graph)
        values = [*inputs]
        for i, part in enumerate(parts):
            assert {place_whole(node).where for node in part.graph.nodes
                    if node.op not in ("parameter", "constant", "broadcast")} <= {part.where}
            assert i == 0 or part.where != parts[i - 1].where
            kept = [p.node.attrs["donated"] for p in part.graph.params]
            over = sum(kept)
            # What is written over comes first, and is of one type with what is written.
            assert kept == [True] * over + [False] * (len(kept) - over)
            for p, result in zip(part.graph.params[:over], part.graph.outputs, strict=False):
                assert p.type == result.type
            for number in part.takes[:over]:
                assert graph.params[number].node.attrs["donated"]
                assert number not in gives
                assert not any(number in later.takes for later in parts[i + 1:])
            values += interpret(part.graph, [values[number] for number in part.takes])
            sizes = [a + b for a, b in zip(sizes, (
                1, count(part.graph), len(part.takes), len(part.graph.outputs)), strict=True)]
        for number, wanted in zip(gives, interpret(graph, inputs), strict=True):
            np.testing.assert_array_equal(values[number], wanted)
    assert tuple(sizes) == SIZES[group]


def test_where_nodes_run_and_why():
    make = Builder(Source())
    x = parameter(TensorType(DType.F32, (8,)), "x")
    i = parameter(TensorType(DType.I32, ()), "i")

    def branch(*names):
        y = parameter(x.type)
        value = y
        for name in names:
            value = (make(name, value, groups=((0, 1),), reducer="add") if name == "all_reduce"
                     else make(name, value, *[value] * (name == "remainder")))
        return Graph("branch", [y], [value])

    def case(*names):
        return make.all("case", i, x, regions=(branch(*names), branch("negate")))[0].node

    why = "a remainder of fp32 needs a division of up to 277 bits"
    links = "devices exchange it by way of the host"
    chip = "branches and loops of the scalar unit"
    for names, where, inner in (
            (["exp"], ("chip", chip), []),
            (["remainder"], ("host", f"remainder in it: {why}"), [("remainder", why)]),
            (["all_reduce"], ("host", f"all_reduce in it: {links}"), [(
                "all_reduce", ("devices meet in a loop that is too long to be written out, or in "
                               "a branch, which the host runs therefore"))])):
        node = case(*names)
        assert tuple(place_whole(node)) == where
        graph = Graph("g", [i, x], [node.result])
        assert on_chip(graph) == (where[0] == "chip")
        assert [(each.op, reason) for each, reason in host_nodes(graph)] == inner
    plain = Graph("g", [x], [make("remainder", x, x), make("exp", x)])
    assert [(each.op, reason) for each, reason in host_nodes(plain)] == [("remainder", why)]
    met = Graph("g", [x], [make("all_reduce", x, groups=((0, 1),), reducer="add")])
    assert not on_chip(met)
    assert [*host_nodes(met)] == []
