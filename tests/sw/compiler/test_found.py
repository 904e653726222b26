"""Graphs that random tests found to go wrong once, as small as they were then."""

import numpy as np
import pytest

import celosia
from celosia.graph import DType, interpret, parse
from sw.compiler.exact_graphs import OPTIONS, check_results

#: What was wrong, and the graph.
FOUND = {
    "rows of a pad that are no box": """
        graph g(%0: i32[33,5,2]) {
          %1 = xor(%0, %0) : i32[33,5,2]
          %2 = constant() value=i32[]{1} : i32[]
          %3 = pad(%0, %2) low=[3,1,-1] high=[2,-2,0] interior=[1,0,1] : i32[70,4,2]
          %5 = divide(%3, %3) : i32[70,4,2]
          %6 = barrier(%3) : i32[70,4,2]
          %7 = transpose(%6) permutation=[2,0,1] : i32[2,70,4]
          return %1, %5, %7, %6, %5
        }""",
    "products without sums beside products of a scalar, on the RTL": """
        graph g(%0: f32[] donated, %1: f32[5,40], %2: f32[5,40]) {
          %3 = dot(%1, %2) dtype=f32 batch=[[0,0],[1,1]] contract=[] : f32[5,40]
          %4 = dot(%0, %1) dtype=f32 contract=[] : f32[5,40]
          %5 = floor(%4) : f32[5,40]
          %6 = add(%1, %1) : f32[5,40]
          return %3, %5, %6
        }""",
}


def inputs_of(graph):
    rng = np.random.default_rng(1)

    def make(type):
        if type.dtype.is_float:
            return np.asarray(rng.integers(-32, 33, type.shape) / 4).astype(type.dtype.numpy)
        if type.dtype is DType.BOOL:
            return rng.random(type.shape) < 0.5
        return rng.integers(-5, 9, type.shape).astype(type.dtype.numpy)

    return [make(value.type) for value in graph.params]


@pytest.mark.parametrize("name", FOUND)
def test_found(name):
    graph = parse(FOUND[name])
    inputs = inputs_of(graph)
    wanted = interpret(graph, inputs)
    for options in OPTIONS:
        compiled = celosia.compile(graph, "core", strict=True, cache=False, options=options)
        check_results(compiled(*inputs), wanted, [0.0] * len(wanted))
