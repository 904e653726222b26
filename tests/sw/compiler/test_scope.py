"""Where the values of a graph are: views of what has been computed, copies, constants."""

import numpy as np
import pytest
from copying import places

from celosia.arch.config import PRESETS
from celosia.compiler.errors import CompileError
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import Fill, Move, ReadWord
from celosia.compiler.lowering import lower
from celosia.compiler.lowering.scope import Scope
from celosia.compiler.lowering.tensors import Tensors, whole, word_of
from celosia.graph import DType, Graph, TensorType, constant, interpret, op, parameter, splat

CORE = PRESETS["core"]
F32, I32, U32 = DType.F32, DType.I32, DType.U32


def word(*shape, dtype=F32):
    return parameter(TensorType(dtype, shape))


def scope_of(*outputs, params=()):
    """Return the scope of a graph whose parameters have tensors."""
    graph = Graph("g", params, outputs)
    tensors = Tensors(CORE)
    given = {value: whole(tensors.new(value.type, f"p{i}")) for i, value in enumerate(params)}
    return Scope(tensors, graph, {}, given, {})


X = word(4, 1, 6)


@pytest.mark.parametrize(("value", "copies"), [
    (op("reshape", X, shape=(2, 12)), 0), (op("transpose", X, permutation=(2, 0, 1)), 0),
    (op("broadcast", X, shape=(4, 5, 6), dims=(0, 1, 2)), 0),
    (op("broadcast", X, shape=(3, 4, 1, 6), dims=(1, 2, 3)), 0),
    (op("slice", X, start=(1, 0, 0), limit=(4, 1, 5), stride=(2, 1, 3)), 0),
    (op("reverse", X, dims=(0, 2)), 0),
    (op("reverse", op("slice", X, start=(1, 0, 0), limit=(4, 1, 6), stride=(1, 1, 1)), dims=(2,)),
     0),
    (op("reshape", op("transpose", X, permutation=(2, 1, 0)), shape=(24,)), 1),
    (op("reshape", op("reverse", X, dims=(0,)), shape=(4, 6)), 0),
    (op("reshape", op("reverse", X, dims=(0,)), shape=(24,)), 1)])
def test_views_show_what_they_are_of(value, copies):
    scope = scope_of(value, params=[X])
    access = scope.get(value)
    assert scope.get(value) is access
    assert access.view.shape == value.shape
    elements = np.arange(24)
    assert [isinstance(work, Move) for work in scope.works] == [True] * copies
    for work in scope.works:
        elements = elements[places(work.src)]
    array = np.arange(24, dtype=np.float32).reshape(X.shape)
    np.testing.assert_array_equal(
        elements[places(access)], interpret(Graph("g", [X], [value]), [array])[0].reshape(-1))


def test_constants_lie_in_memory_once():
    same = np.arange(6, dtype=np.int32)
    a, b, c = constant(same), constant(same.copy()), constant(same.reshape(2, 3))
    ones, one = constant(np.full((4, 5), 7, np.int32)), constant(np.int32(7))
    line = op("iota", dtype=I32, shape=(2, 6, 3), dim=1)
    scope = scope_of(a, b, c, ones, one, line)
    assert scope.get(a).tensor is scope.get(b).tensor is scope.get(line).tensor
    assert scope.get(c).tensor is not scope.get(a).tensor
    # What is the same everywhere is one element.
    assert scope.get(ones).tensor is scope.get(one).tensor
    assert (scope.get(ones).view.shape, scope.get(ones).view.strides) == ((4, 5), (0, 0))
    assert (scope.get(line).view.shape, scope.get(line).view.strides) == ((2, 6, 3), (0, 1, 0))
    assert [tensor.name for tensor in scope.tensors.made] == ["constant", "constant.2",
                                                              "constant.3"]


@pytest.mark.parametrize(("value", "dtype", "found"), [
    (1.5, F32, 0x3FC00000), (1.5, DType.BF16, 0x3FC00000), (-2.0, DType.F16, 0xC0000000),
    (True, DType.BOOL, 0xFFFFFFFF), (False, DType.BOOL, 0), (-1, I32, 0xFFFFFFFF),
    (-1, DType.I8, 0xFFFFFFFF), (2**32 - 1, U32, 0xFFFFFFFF), (7, DType.U8, 7)])
def test_words_of_numbers(value, dtype, found):
    assert word_of(value, dtype) == found


def test_what_has_not_been_computed_is_nowhere():
    value = op("exp", X)
    scope = scope_of(value, params=[X])
    with pytest.raises(CompileError, match="^unknown source: exp must have been computed before it "
                                           "is used$"):
        scope.get(value)


def line(shape, dim, dtype=I32):
    return op("iota", dtype=dtype, shape=shape, dim=dim)


@pytest.mark.parametrize(("value", "dims", "extent", "found"), [
    (line((16,), 0), (1, 16), Extent.FULL, True), (line((5, 16), 1), (5, 16), Extent.FULL, True),
    (line((5, 16), 1, U32), (5, 16), Extent.FULL, True),
    (line((5, 16), 1, F32), (5, 16), Extent.FULL, False),
    (line((5, 16), 0), (5, 16), Extent.FULL, False),
    (line((16, 1), 0), (1, 16), Extent.FULL, True),
    (line((2, 3, 16), 2), (6, 16), Extent.FULL, True),
    (op("broadcast", line((16,), 0), shape=(5, 16), dims=(1,)), (5, 16), Extent.FULL, True),
    (op("broadcast", line((16,), 0), shape=(16, 16), dims=(0,)), (16, 16), Extent.FULL, False),
    (op("reshape", line((96,), 0), shape=(6, 16)), (6, 16), Extent.FULL, False),
    (line((16,), 0), (16, 16), Extent.ROWS, False), (word(5, 16, dtype=I32), (5, 16), Extent.FULL,
                                                     False),
    (op("reverse", line((16,), 0), dims=(0,)), (1, 16), Extent.FULL, False)])
def test_what_counts_the_lanes(value, dims, extent, found):
    params = [value] if value.node.op == "parameter" else []
    assert scope_of(value, params=params).is_lane_index(value, dims, extent) == found


def test_a_constant_is_filled_in_and_all_else_copied():
    ones, x = splat(3, TensorType(I32, (2, 3))), word(2, 3, dtype=I32)
    nothing = splat(1, TensorType(I32, (0, 3)))
    other = constant(np.arange(6, dtype=np.int32).reshape(2, 3))
    scope = scope_of(ones, x, nothing, other, params=[x])
    dst = whole(scope.tensors.new(x.type, "dst"))
    filled = scope.fill_or_move(ones, dst, ones.node)
    assert (type(filled), filled.dst, filled.word) == (Fill, dst, 3)
    for value in (x, nothing, other):
        moved = scope.fill_or_move(value, dst, x.node)
        assert (type(moved), moved.src, moved.dst) == (Move, scope.get(value), dst)


def slices(count, *, same=False):
    """Return the work of reading rows from addresses that are known when it runs."""
    x, zero = word(40, 6), constant(np.int32(0))
    starts = [word(dtype=I32) for _ in range(count)]
    parts = [op("dynamic_slice", x, starts[0 if same else i], zero, sizes=(1, 6))
             for i in range(count)]
    total = parts[0]
    for part in parts[1:]:
        total = op("add", total, op("exp", part))
    return lower(CORE, Graph("g", [x, *starts], [op("negate", total)])).works


def test_addresses_of_eight_slices_are_kept_in_registers():
    for count, copies in ((1, 0), (8, 0), (9, 1), (11, 3)):
        works = slices(count)
        assert sum(isinstance(work, ReadWord) for work in works) == count
        assert sum(isinstance(work, Move) for work in works) == copies
    assert sum(isinstance(work, ReadWord) for work in slices(11, same=True)) == 1
