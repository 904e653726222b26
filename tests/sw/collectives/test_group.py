"""Each collective operation is what NumPy says."""

import ml_dtypes
import numpy as np
import pytest

from celosia.collectives import ReplicaGroup, Topology
from celosia.graph import DType, GraphError, TensorType, parameter, parse, to_text
from celosia.graph.build import op

RNG = np.random.default_rng(1)
GROUP = ReplicaGroup((0, 1, 2, 3))
FLOATS = [RNG.standard_normal((4, 48)).astype(np.float32) for _ in range(4)]
WORDS = [RNG.integers(-2**31, 2**31, (4, 48), np.int64).astype(np.int32) for _ in range(4)]
X = parameter(TensorType(DType.F32, (4, 6)), "x")


def equal(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize(("reducer", "arrays"), [
    ("add", FLOATS), ("add", WORDS), ("multiply", WORDS), ("maximum", FLOATS),
    ("minimum", WORDS), ("and", WORDS), ("or", WORDS), ("xor", WORDS),
    ("and", [each > 0 for each in WORDS]), ("or", [each > 0 for each in WORDS])])
def test_all_reduce(reducer, arrays):
    ufunc = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}.get(
        reducer) or getattr(np, reducer)
    a, b, c, d = (each.ravel() for each in arrays)
    wanted = ufunc(ufunc(ufunc(a, b), c), d).reshape(4, 48)
    equal(ReplicaGroup(GROUP.devices, order="group").all_reduce(arrays, reducer), [wanted] * 4)
    parts = []
    for owner in range(4):
        # Three blocks of each owner: one goes up, two go down, or of each other owner the reverse.
        cut = 48 * owner + 16 * (1 + owner % 2)
        for sign, part in ((1, slice(48 * owner, cut)), (-1, slice(cut, 48 * owner + 48))):
            first, *others = (arrays[(owner + sign * step) % 4].ravel()[part]
                              for step in (1, 2, 3, 4))
            for other in others:
                first = ufunc(first, other)
            parts.append(first)
    equal(GROUP.all_reduce(arrays, reducer), [np.concatenate(parts).reshape(4, 48)] * 4)


def test_sums_are_in_the_order_of_the_ring_or_of_the_group():
    big = [np.full(8 * 16, x, np.float32) for x in (1e8, 1, -1e8, 1)]
    # Owner 0: up ((1 - 1e8) + 1) + 1e8, down the same; owner 1: up ((-1e8 + 1) + 1e8) + 1.
    np.testing.assert_array_equal(GROUP.all_reduce(big, "add")[3],
                                  np.repeat([0, 0, 1, 1, 0, 0, 1, 1], 16))
    in_order = ReplicaGroup((0, 1, 2, 3), order="group")
    np.testing.assert_array_equal(in_order.all_reduce(big, "add")[3], [1] * 128)
    swapped = [big[i] for i in (0, 2, 1, 3)]
    np.testing.assert_array_equal(in_order.all_reduce(swapped, "add")[3], [2] * 128)


def test_a_torus_sums_along_one_dimension_then_the_next():
    big = [np.full(16 * 16, x, np.float32) for x in (1e8, 1, -1e8, 1)]
    [found, *_] = ReplicaGroup((0, 1, 2, 3), Topology((2, 2))).all_reduce(big, "add")
    # 0 1 above 2 3. Down first: (1e8 - 1e8) + (1 + 1); along first: (1e8 + 1) + (-1e8 + 1).
    np.testing.assert_array_equal(found, np.repeat([2, 2, 0, 0] * 4, 16))


def test_groups_that_cannot_be():
    with pytest.raises(ValueError, match=r"^topology must be of 4 devices, not 2x3$"):
        ReplicaGroup((0, 1, 2, 3), Topology((2, 3)))
    with pytest.raises(ValueError, match=r"^order must be ring or group, not 'tree'$"):
        ReplicaGroup((0, 1), order="tree")


def test_sum_of_bf16_is_rounded_once():
    small = np.array([1 / 256], ml_dtypes.bfloat16)
    one = np.array([1], ml_dtypes.bfloat16)
    [found, *_] = GROUP.all_reduce([one, small, small, small], "add")
    assert found.dtype == ml_dtypes.bfloat16
    assert found == np.array([1 + 3 / 256]).astype(ml_dtypes.bfloat16) != one


def test_a_nan_goes_everywhere():
    arrays = [np.float32([x]) for x in (1, np.nan, 3, 4)]
    for reducer in ("add", "maximum", "minimum"):
        assert all(np.isnan(each) for each in GROUP.all_reduce(arrays, reducer))


@pytest.mark.parametrize("dim", [0, 1])
def test_all_gather_and_reduce_scatter(dim):
    equal(GROUP.all_gather(FLOATS, dim), [np.concatenate(FLOATS, dim)] * 4)
    arrays = [np.concatenate([each, each + 1], 1) for each in FLOATS]
    parts = [np.split(each, 4, dim) for each in arrays]
    for group in (GROUP, ReplicaGroup(GROUP.devices, order="group")):
        wanted = group.all_reduce([np.stack(each) for each in parts], "add")[0]
        equal(group.reduce_scatter(arrays, "add", dim), list(wanted))
    halves = [each.astype(ml_dtypes.bfloat16) for each in arrays]
    assert {each.dtype for each in GROUP.reduce_scatter(halves, "add", dim)} == {halves[0].dtype}


def test_all_to_all():
    arrays = [10 * i + np.arange(8).reshape(4, 2) for i in range(4)]
    found = GROUP.all_to_all(arrays, 0, 1)
    for i, each in enumerate(found):
        equal([each], [np.concatenate([array[i:i + 1] for array in arrays], 1)])


def test_permute():
    group = ReplicaGroup((1, 3, 4))
    a, b, c = FLOATS[:3]
    equal(group.permute([a, b, c], [(1, 4), (4, 3)]), [np.zeros_like(a), c, a])


@pytest.mark.parametrize(("name", "attrs", "message"), [
    ("all_reduce", {"groups": [], "reducer": "add"},
     "groups must be one or more, of one size, not []"),
    ("all_reduce", {"groups": [[0], [1, 2]], "reducer": "add"},
     "groups must be one or more, of one size, not [[0], [1, 2]]"),
    ("all_reduce", {"groups": [[0, 1], [1, 2]], "reducer": "add"},
     "groups must have each device once, not [[0, 1], [1, 2]]"),
    ("all_reduce", {"groups": [[0, 1]], "reducer": "and"},
     "operand of reducer and must not be a float"),
    ("all_gather", {"groups": [[0, 1]], "dim": 2},
     "dim must be different numbers from 0 to 1, not [2]"),
    ("reduce_scatter", {"groups": [[0, 1, 2]], "reducer": "add", "dim": 0},
     "extent 0 of f32[4,6] must be a multiple of 3, not 4"),
    ("all_to_all", {"groups": [[0, 1, 2, 3]], "split": 1, "concat": 0},
     "extent 1 of f32[4,6] must be a multiple of 4, not 6"),
    ("collective_permute", {"pairs": [[0, 1], [2, 1]]},
     "pairs must have each target once, not [[0, 1], [2, 1]]"),
    ("all_gather", {"groups": [["a"]], "dim": 0},
     "attribute groups must be a list of lists of integers, not [['a']]"),
])
def test_operations_that_are_not_well_formed(name, attrs, message):
    with pytest.raises(GraphError) as caught:
        op(name, X, **attrs)
    assert str(caught.value) == f"unknown source: {name}: {message}"


def test_text_of_collectives_reads_back():
    text = """graph f(
  %0: f32[4,6]
) {
  %1 = device_id() : u32[]
  %2 = all_gather(%0) groups=[[0,2,1],[3,5,4]] dim=1 : f32[4,18]
  %3 = all_reduce(%2) groups=[[0,1]] reducer=maximum : f32[4,18]
  %4 = reduce_scatter(%3) groups=[[0,1]] reducer=add dim=0 : f32[2,18]
  %5 = all_to_all(%4) groups=[[0,1]] split=0 concat=1 : f32[1,36]
  %6 = collective_permute(%5) pairs=[[0,1],[1,0]] : f32[1,36]
  return %1, %6
}
"""
    assert to_text(parse(text)) == text
