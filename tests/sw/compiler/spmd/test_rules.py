"""Every sharding rule: devices give what one does, with no more exchanges than are expected."""

import numpy as np
import pytest

from celosia.collectives import interpret_spmd
from celosia.compiler.spmd import partition
from celosia.graph import (
    DType,
    Graph,
    TensorType,
    Trait,
    constant,
    having,
    interpret,
    op,
    ops,
    parameter,
)
from celosia.graph.sharding import Sharding

F32 = DType.F32
#: Of a mesh of 2 x 2 devices: along its first axis, its second, both, or not cut.
AXES = {"a": (0, 0, 1, 1), "b": (0, 1, 0, 1), "ab": (0, 1, 2, 3), "-": (0, 0, 0, 0)}


def cut(*axes):
    """Return the sharding of an array whose dimensions are cut along axes."""
    return Sharding.joint([(Sharding((max(AXES[each]) + 1,), AXES[each]), 0) for each in axes])


def zero(number=0.0):
    return constant(np.float32(number))


def conv(x, w, **attrs):
    return op("convolution", x, w, dtype=F32, layout="b01f_01io->b01f", stride=(1, 1),
              padding=((1, 1), (1, 1)), x_dilation=(1, 1), w_dilation=(1, 1),
              precision="highest", **attrs)


def dot(a, b, **attrs):
    return op("dot", a, b, dtype=F32, precision="highest", **attrs)


def window(x, *sizes):
    rank = len(sizes)
    return op("reduce_window", x, zero(), reducer="add", window=sizes, stride=(1,) * rank,
              padding=((0, 0),) * rank, x_dilation=(1,) * rank, window_dilation=(1,) * rank)


def scattered(x, y):
    return op("select_and_scatter", x, y, zero(), select="ge", window=(1, 2), stride=(1, 2),
              padding=((0, 0), (0, 0)))


def barrier(x, y):
    return op("add", *ops("barrier", x, y))


def sort_by(x, dim):
    """Return x sorted downwards."""
    a, b = (parameter(TensorType(F32)) for _ in range(2))
    less = Graph("less", [a, b], [op("compare", b, a, direction="lt")])
    return ops("sort_by", x, dim=dim, regions=[less])[0]


def bits_of(x, dtype):
    """Return the bits that two elements are together."""
    return op("bitcast", op("convert", x, dtype=dtype), dtype=DType.U32)


#: Shape and axes of each operand, the operation, exchanges, axes of the result.
CASES = {
    "elementwise": ([((8, 4), "a-"), ((8, 4), "--")], lambda x, y: op("add", x, y), [], "a-"),
    "elementwise, along different dimensions": (
        [((8, 4), "a-"), ((8, 4), "-b")], lambda x, y: op("add", x, y), [], "ab"),
    "elementwise, along one in different ways": (
        [((8, 4), "a-"), ((8, 4), "b-")], lambda x, y: op("add", x, y), ["all_gather"] * 2, "--"),
    "elementwise, twice along one axis": (
        [((8, 4), "a-"), ((8, 4), "-a")], lambda x, y: op("add", x, y), ["all_gather"] * 2, "--"),
    "bitcast": ([((8, 4), "a-")], lambda x: op("bitcast", x, dtype=DType.I32), [], "a-"),
    "bitcast to more elements": (
        [((8, 4), "a-")], lambda x: op("bitcast", x, dtype=DType.U8), [], "a--"),
    "bitcast to fewer elements": ([((8, 2), "a-")], lambda x: bits_of(x, DType.U16), [], "a"),
    "bitcast of parts of elements": ([((8, 2), "-a")], lambda x: bits_of(x, DType.U16),
                                     ["all_gather"], "-"),
    "reshape by a dimension of one": (
        [((8, 4), "ab")], lambda x: op("reshape", x, shape=(8, 1, 4, 1)), [], "a-b-"),
    "concatenate": ([((8, 4), "a-"), ((8, 2), "a-")],
                    lambda x, y: op("concatenate", x, y, dim=1), [], "a-"),
    "concatenate of tiles": ([((8, 4), "a-"), ((8, 4), "--")],
                             lambda x, y: op("concatenate", x, y, dim=0), ["all_gather"], "--"),
    "barrier": ([((8, 4), "a-"), ((8, 4), "a-")], barrier, [], "a-"),
    "broadcast": ([((8,), "a")], lambda x: op("broadcast", x, shape=(3, 8), dims=(1,)), [], "-a"),
    "transpose": ([((8, 4), "ab")], lambda x: op("transpose", x, permutation=(1, 0)), [], "ba"),
    "reshape": ([((8, 4), "a-")], lambda x: op("reshape", x, shape=(8, 2, 2)), [], "a--"),
    "reshape, of all rows": ([((2, 8, 4), "-a-")], lambda x: op("reshape", x, shape=(2, 32)), [],
                             "-a"),
    "reshape that cuts otherwise": (
        [((4, 6), "-a")], lambda x: op("reshape", x, shape=(24,)), ["all_gather"], "-"),
    "reverse": ([((8, 4), "a-")], lambda x: op("reverse", x, dims=(1,)), [], "a-"),
    "reverse of tiles": ([((8, 4), "a-")], lambda x: op("reverse", x, dims=(0,)),
                         ["all_gather"], "--"),
    "reduce": ([((8, 4), "ab")], lambda x: op("reduce", x, zero(), dims=(1,), reducer="add"),
               ["all_reduce"], "a"),
    "reduce of others": ([((8, 4), "a-")],
                         lambda x: op("reduce", x, zero(3), dims=(1,), reducer="add"), [], "a"),
    "reduce from a number": ([((8, 4), "a-")],
                             lambda x: op("reduce", x, zero(3), dims=(0,), reducer="add"),
                             ["all_gather"], "-"),
    "reduce from the least": ([((8, 4), "a-")],
                              lambda x: op("reduce", x, zero(3), dims=(0,), reducer="maximum"),
                              ["all_reduce"], "-"),
    "dot": ([((8, 4), "a-"), ((4, 6), "-b")], lambda a, b: dot(a, b, contract=((1, 0),)), [],
            "ab"),
    "dot of parts": ([((8, 4), "ab"), ((4, 6), "b-")],
                     lambda a, b: dot(a, b, contract=((1, 0),)), ["all_reduce"], "a-"),
    "dot of parts and a whole": ([((8, 4), "-b"), ((4, 6), "--")],
                                 lambda a, b: dot(a, b, contract=((1, 0),)), ["all_reduce"], "--"),
    "dot of batches": ([((4, 2, 6), "a--"), ((4, 6, 2), "a-b")],
                       lambda a, b: dot(a, b, batch=((0, 0),), contract=((2, 1),)), [], "a-b"),
    "dot, twice along one axis": ([((8, 4), "a-"), ((4, 6), "-a")],
                                  lambda a, b: dot(a, b, contract=((1, 0),)),
                                  ["all_gather"] * 2, "--"),
    "convolution": ([((4, 5, 5, 2), "a---"), ((3, 3, 2, 4), "---b")], conv, [], "a--b"),
    "convolution of parts": ([((4, 5, 5, 2), "a--b"), ((3, 3, 2, 4), "----")], conv,
                             ["all_reduce"], "a---"),
    "convolution of tiles of images": ([((4, 4, 4, 2), "-a--"), ((3, 3, 2, 4), "----")], conv,
                                       ["all_gather"], "----"),
    "convolution in groups": ([((4, 4, 4, 2), "a---"), ((3, 3, 1, 4), "----")],
                              lambda x, w: conv(x, w, groups=2), ["all_gather"], "----"),
    "pad": ([((8, 4), "a-")], lambda x: op("pad", x, zero(2), low=(0, 1), high=(0, 2),
                                           interior=(0, 1)), [], "a-"),
    "pad of tiles": ([((8, 4), "a-")], lambda x: op("pad", x, zero(), low=(1, 0), high=(0, 0),
                                                    interior=(0, 0)), ["all_gather"], "--"),
    "slice": ([((8, 4), "a-")], lambda x: op("slice", x, start=(0, 1), limit=(8, 4),
                                             stride=(1, 2)), [], "a-"),
    "slice of tiles": ([((8, 4), "a-")], lambda x: op("slice", x, start=(2, 0), limit=(8, 4),
                                                      stride=(1, 1)), ["all_gather"], "--"),
    "windows": ([((8, 4), "a-")], lambda x: window(x, 1, 2), [], "a-"),
    "windows over tiles": ([((8, 4), "a-")], lambda x: window(x, 2, 1), ["all_gather"], "--"),
    "scattered windows": ([((8, 4), "a-"), ((8, 2), "--")], scattered, [], "a-"),
    "what has no rule": ([((8, 4), "a-")], lambda x: op("sort", x, dim=1), ["all_gather"], "--"),
    "a comparator": ([((8, 4), "a-")], lambda x: sort_by(x, 1), ["all_gather"], "--"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_rule(name):
    operands, make, exchanges, result = CASES[name]
    params = [parameter(TensorType(F32, shape), sharding=cut(*axes)) for shape, axes in operands]
    graph = Graph("f", params, [make(*params)], partitions=4)
    spmd = partition(graph)
    assert [node.op for node in spmd.graph.nodes
            if node.op in having(Trait.COLLECTIVE) - {"device_id"}] == exchanges
    assert [AXES[each] for each in result] == [
        spmd.results[0].select([dim]).tiles for dim in range(len(result))]
    rng = np.random.default_rng(0)
    # Sums of few small integers are exact in any order.
    arrays = [rng.integers(-4, 5, shape).astype(np.float32) for shape, _ in operands]
    tiles = [each.cut(array) for each, array in zip(spmd.arguments, arrays, strict=True)]
    found = interpret_spmd(spmd.graph, list(zip(*tiles, strict=True)), timeout=20)
    np.testing.assert_array_equal(spmd.results[0].join([each for [each] in found]),
                                  interpret(graph, arrays)[0])
