"""Convolutions of every kind: one dense form, dots, or products and sums."""

import random
from contextlib import suppress

import numpy as np
import pytest
from shared import agree, ops_of

from celosia.compiler import CANONICAL, canonical
from celosia.compiler.passes.convolutions import convolutions
from celosia.graph import DType, Graph, GraphError, TensorType, check, op, parameter


def at_random(rng):
    """Return a convolution, or raise `GraphError` if it is none."""
    spatial = "".join(map(str, range(rng.choice([0, 1, 1, 2, 2, 2, 3]))))

    def order(letters):
        return "".join(rng.sample(letters + spatial, len(letters) + len(spatial)))

    x_order, w_order = order("bf"), order("io")
    inputs, outputs, batch = (rng.randint(1, 3) for _ in range(3))
    groups = batch_groups = 1
    match rng.choice(["dense", "dense", "groups", "depthwise", "batch", "depthwise batch"]):
        case "groups":
            groups = rng.randint(2, 3)
            outputs *= groups
        case "depthwise":
            groups, inputs = rng.randint(2, 3), 1
            outputs *= groups
        case "batch":
            batch_groups, outputs, batch = 2, outputs * 2, batch * 2
        case "depthwise batch":
            batch_groups = batch = outputs = rng.randint(2, 4)
    sizes = {"b": batch, "f": inputs * groups, "i": inputs, "o": outputs}
    image = sizes | {letter: rng.randint(1, 7) for letter in spatial}
    kernel = sizes | {letter: rng.randint(1, rng.choice([4, 7])) for letter in spatial}
    dtype = rng.choice([DType.F32, DType.BF16, DType.I8])
    x, w = (parameter(TensorType(dtype, tuple(extents[letter] for letter in letters)))
            for extents, letters in ((image, x_order), (kernel, w_order)))

    def numbers(low, high):
        return [rng.randint(low, high) for _ in spatial]

    found = op("convolution", x, w, dtype=DType.F32 if dtype.is_float else DType.I32,
               layout=f"{x_order}_{w_order}->{order('bf')}", stride=numbers(1, 2),
               padding=list(zip(numbers(-1, 3), numbers(-1, 3), strict=True)),
               x_dilation=numbers(1, 2), w_dilation=numbers(1, 2), groups=groups,
               batch_groups=batch_groups, precision=rng.choice(["default", "highest"]))
    return Graph("g", [x, w], [found])


@pytest.mark.parametrize("seed", range(100))
def test_any_convolution(seed):
    rng = random.Random(seed)
    graph = None
    while graph is None:
        with suppress(GraphError):
            graph = at_random(rng)
    draw = np.random.default_rng(seed)
    inputs = [(draw.standard_normal(each.shape) * 4).astype(each.dtype.numpy)
              for each in graph.params]
    after = convolutions(graph)
    assert convolutions(after) is after
    if graph.outputs[0].type.size:
        agree(graph, after, inputs, 1e-4, 1e-3)
    whole = canonical(graph)
    check(whole, CANONICAL)
    agree(after, whole, inputs, 1e-4, 1e-3)


def convolved(x, w, layout="b01f_01io->b01f", **attrs):
    values = [parameter(TensorType(DType.BF16, each)) for each in (x, w)]
    attrs = {"stride": (1, 1), "padding": [(0, 0)] * 2, "x_dilation": (1, 1),
             "w_dilation": (1, 1)} | attrs
    found = op("convolution", *values, dtype=DType.F32, layout=layout, **attrs)
    return ops_of(canonical(Graph("g", values, [found])))


def test_forms():
    forward = convolved((2, 9, 9, 4), (3, 3, 4, 6), stride=(2, 2), padding=[(1, 1)] * 2)
    assert forward == ["constant", "pad", "convolution"]
    assert "dot" in convolved((2, 9, 9, 4), (1, 1, 4, 6), stride=(2, 2))
    gradient = convolved((2, 9, 9, 4), (2, 7, 7, 6), "f01b_i01o->01bf")
    assert gradient.count("dot") == 9
    assert not {"convolution", "transpose"} & set(gradient)
    depthwise = convolved((2, 9, 9, 4), (3, 3, 1, 4), groups=4)
    assert depthwise.count("multiply") == 9
    assert not {"convolution", "dot"} & set(depthwise)
    assert convolved((2, 9, 9, 4), (3, 3, 2, 4), groups=2).count("convolution") == 2
