"""Passes about loops, conversions and products: written out, hoisted, done earlier, swapped."""

import numpy as np
import pytest
from shared import agree, ops_of

from celosia.compiler.passes.invariants import invariants
from celosia.compiler.passes.loops import counter, loops, trips
from celosia.compiler.passes.rounding import rounding
from celosia.compiler.passes.swapped import swapped
from celosia.graph import DType, Graph, Node, TensorType, op, parameter, parse

F32, BF16 = DType.F32, DType.BF16

COUNT = """
graph count(%0: f32[4,4], %1: f32[4,4]) {{
  %2 = constant() value=i32[]{{{first}}} : i32[]
  %20, %21, %22 = while(%2, %0, %1) : i32[], f32[4,4], f32[4,4] {{
    cond(%3: i32[], %4: f32[4,4], %5: f32[4,4]) {{
      %6 = constant() value=i32[]{{{last}}} : i32[]
      %7 = compare(%3, %6) direction={direction} : bool[]
      return %7
    }}
    body(%8: i32[], %9: f32[4,4], %10: f32[4,4]) {{
      %11 = constant() value=i32[]{{{step}}} : i32[]
      %12 = add(%8, %11) : i32[]
      {work}
      return %12, %19, %10
    }}
  }}
  return %21
}}
"""
PRODUCT = """%13 = convert(%9) dtype=bf16 : bf16[4,4]
      %14 = transpose(%10) permutation=[1,0] : f32[4,4]
      %15 = convert(%14) dtype=bf16 : bf16[4,4]
      %19 = dot(%13, %15) dtype=f32 contract=[[1,0]] : f32[4,4]"""
SUM = "%19 = add(%9, %10) : f32[4,4]"


def counting(first=0, last=5, direction="lt", step=1, work=SUM) -> Graph:
    return parse(COUNT.format(first=first, last=last, direction=direction, step=step, work=work))


def loop_of(graph: Graph):
    (found,) = (node for node in graph.nodes if node.op == "while")
    return found


def inputs():
    rng = np.random.default_rng(3)
    return [rng.standard_normal((4, 4)).astype(np.float32) for _ in range(2)]


@pytest.mark.parametrize(("changes", "wanted"), [
    ({}, 5), ({"first": 2}, 3), ({"first": 9}, 0), ({"last": 100}, 100),
    ({"direction": "ne"}, None), ({"step": 2}, None),
])
def test_turns_are_counted(changes, wanted):
    assert trips(loop_of(counting(**changes))) == wanted


@pytest.mark.parametrize("turns", [0, 1, 5, 8])
def test_a_short_loop_is_written_out(turns):
    graph = counting(last=turns)
    found = loops(graph)
    assert ops_of(found).count("add") == turns
    agree(graph, found, inputs())


@pytest.mark.parametrize("changes", [{"last": 9}, {"direction": "ne"}, {"work": PRODUCT}])
def test_other_loops_stay(changes):
    graph = counting(**changes)
    assert loops(graph) is graph


def test_what_a_loop_keeps_is_rounded_before_it():
    graph = counting(work=PRODUCT)
    found = invariants(graph)
    body = loop_of(found).regions[1]
    assert ops_of(body).count("convert") == 1  # that of the state
    assert ops_of(found)[:3].count("convert") == 1
    assert len(loop_of(found).operands) == 4
    agree(graph, found, inputs())
    assert invariants(found) is found


def test_conversions_go_to_where_the_elements_are_made():
    x = parameter(TensorType(F32, (4, 6)))
    y = op("transpose", op("reshape", op("exp", x), shape=(4, 2, 3)), permutation=(1, 0, 2))
    graph = Graph("heads", [x], [op("convert", y, dtype=BF16)])
    found = rounding(graph)
    assert ops_of(found) == ["exp", "convert", "reshape", "transpose"]
    agree(graph, found, [np.ones((4, 6), np.float32)])


def test_conversions_of_parameters_stay():
    x = parameter(TensorType(F32, (4, 6)))
    y = op("transpose", x, permutation=(1, 0))
    graph = Graph("weights", [x], [op("convert", y, dtype=BF16)])
    assert rounding(graph) is graph


def padded(x, more=()):
    """A pad of a value that is rounded before; the rounded value is used by so many others."""
    rounded = op("convert", x, dtype=BF16)
    zero = op("constant", value=np.zeros((), BF16.numpy))
    pad = op("pad", rounded, zero, low=(1, 0), high=(0, 2), interior=(0, 0))
    return Graph("padded", [x] if x.node.op == "parameter" else list(x.node.operands),
                 [op("exp", op("convert", pad, dtype=F32)), *(each(rounded) for each in more)])


def test_what_memory_holds_is_padded_before_it_is_rounded():
    graph = padded(parameter(TensorType(F32, (4, 6))))
    found = rounding(graph)
    assert ops_of(found).index("pad") < max(
        i for i, each in enumerate(ops_of(found)) if each == "convert")
    assert [node.result.dtype for node in found.walk() if node.op == "pad"] == [F32]
    agree(graph, found, [np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)])
    assert rounding(found) is found


def test_what_is_made_is_rounded_before_it_is_padded():
    x = parameter(TensorType(F32, (4, 6)))
    made = padded(op("exp", x))
    assert rounding(made) is made
    # There is a copy anyway, where others use it.
    used = padded(x, [lambda rounded: op("transpose", rounded, permutation=(1, 0))])
    assert rounding(used) is used
    given = padded(x, [lambda rounded: rounded])
    assert rounding(given) is given


@pytest.mark.parametrize("contract", [(2, 1), (2, 2), (1, 1), (1, 2)])
def test_the_transpose_of_a_product_is_a_product(contract):
    left, right = contract
    x = parameter(TensorType(BF16, (1, 4, 3) if left == 2 else (1, 3, 4)))
    y = parameter(TensorType(BF16, (1, 3, 5) if right == 1 else (1, 5, 3)))
    dot = op("dot", x, y, dtype=F32, batch=[(0, 0)], contract=[contract])
    z = op("transpose", op("reshape", dot, shape=(4, 5)), permutation=(1, 0))
    graph = Graph("gradient", [x, y], [z])
    found = swapped(graph)
    assert ops_of(found) == ["dot", "reshape"]
    rng = np.random.default_rng(1)
    agree(graph, found, [rng.integers(-3, 3, v.shape).astype(BF16.numpy) for v in (x, y)])


def test_a_narrow_product_is_transposed_itself():
    """Its wide operand would have to be."""
    x, y = (parameter(TensorType(BF16, (1, 128, n))) for n in (4, 512))
    dot = op("dot", x, y, dtype=F32, batch=[(0, 0)], contract=[(1, 1)])
    z = op("transpose", op("reshape", dot, shape=(4, 512)), permutation=(1, 0))
    graph = Graph("gradient", [x, y], [z])
    assert swapped(graph) is graph


def test_a_product_that_others_need_stays():
    x = parameter(TensorType(BF16, (1, 4, 4)))
    dot = op("dot", x, x, dtype=F32, batch=[(0, 0)], contract=[(2, 1)])
    y = op("reshape", dot, shape=(4, 4))
    graph = Graph("both", [x], [op("add", y, op("transpose", y, permutation=(1, 0)))])
    assert swapped(graph) is graph


@pytest.mark.parametrize(("nodes", "written_out"), [(123, True), (124, False)])
def test_a_loop_of_few_nodes_is_written_out(nodes, written_out):
    """Of eight turns, whose nodes are five and those of the work."""
    names = [9, *range(100, 99 + nodes), 19]
    work = "\n".join(f"%{to} = add(%{of}, %10) : f32[4,4]"
                     for of, to in zip(names, names[1:], strict=False))
    graph = counting(last=8, work=work)
    assert len(loop_of(graph).regions[1].nodes) == 5 + nodes
    assert (ops_of(loops(graph)).count("while") == 0) == written_out


@pytest.mark.parametrize(("place", "turned", "first", "wanted"), [
    (0, False, 2, (0, 2, 5)), (1, False, 0, (1, 0, 7)), (1, True, 7, (1, 7, 0)),
    (1, True, 9, (1, 9, 0))])
def test_how_a_loop_counts(place, turned, first, wanted):
    types = [TensorType(F32)] * place + [TensorType(DType.I32)]
    cond, body = ([parameter(each) for each in types] for _ in range(2))
    number = [op("constant", value=np.int32(each)) for each in (first, 7, 1)]
    last = op("add", *(body[-1], number[2])[::-1 if turned else 1])
    regions = (Graph("cond", cond, [op("compare", cond[-1], number[1], direction="lt")]),
               Graph("body", body, [*body[:-1], last]))
    start = parameter(TensorType(F32))
    node = Node("while", (*[start] * place, number[0]), {}, regions)
    assert counter(node) == wanted
    assert trips(node) == wanted[2]
