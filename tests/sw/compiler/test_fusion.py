"""Which nodes run together."""

import pytest

from celosia.arch.config import PRESETS
from celosia.compiler.fusion import Fusion, fuse
from celosia.compiler.groups import Group, Roots, product_space
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.spaces import Space
from celosia.graph import DType, Graph, TensorType, Value, op, parameter, splat

F32, BF16 = DType.F32, DType.BF16


def tensor(*shape: int, dtype: DType = F32) -> Value:
    return parameter(TensorType(dtype, shape))


def fused(*outputs: Value, **options) -> Fusion:
    params: dict[Value, None] = {}

    def visit(value: Value) -> None:
        if value.node.op == "parameter":
            params.setdefault(value)
        for operand in value.node.operands:
            visit(operand)

    for output in outputs:
        visit(output)
    graph = Graph("test", params, outputs)
    return fuse(PRESETS["core"], graph, Roots(graph, {}), **options)


def names(*outputs: Value) -> list[list[str]]:
    """Return the operations of each group, in order."""
    return [[node.op for node in group.nodes] for group in fused(*outputs).groups]


def apart(*outputs: Value, **options) -> list[tuple[str, str, str]]:
    """Return what is not fused: producer, consumer and the reason."""
    return [(each.producer.op, each.consumer.op, each.reason)
            for each in fused(*outputs, **options).apart]


def dot(x: Value, y: Value) -> Value:
    return op("dot", x, y, dtype=F32, batch=[(0, 0)], contract=[(2, 1)])


def along_rows(x: Value, like: Value) -> Value:
    return op("broadcast", x, shape=like.shape, dims=tuple(range(len(like.shape) - 1)))


def total(x: Value, *dims: int) -> Value:
    return op("reduce", x, splat(0, TensorType(x.dtype)), dims=dims, reducer="add")


def test_a_product_and_what_follows_it_are_one():
    y = dot(tensor(1, 8, 4, dtype=BF16), tensor(1, 4, 6, dtype=BF16))
    bias = op("broadcast", tensor(6), shape=(1, 8, 6), dims=(2,))
    assert names(op("tanh", op("add", y, bias))) == [["dot", "add", "tanh"]]


def test_a_reshape_that_keeps_lanes_does_not_part_them():
    y = dot(tensor(1, 8, 4, dtype=BF16), tensor(1, 4, 6, dtype=BF16))
    y = op("negate", op("reshape", y, shape=(2, 4, 6)))
    assert names(y) == [["dot", "negate"]]


def test_a_reshape_of_lanes_and_a_transpose_do():
    x = op("exp", tensor(8, 6))
    assert names(op("negate", op("reshape", x, shape=(6, 8)))) == [["exp"], ["negate"]]
    assert names(op("negate", op("transpose", x, permutation=(1, 0)))) == [["exp"], ["negate"]]


def test_what_is_computed_for_each_row_joins_the_rows():
    x = op("exp", tensor(8, 6))
    scale = op("log", total(x, 1))
    assert names(op("multiply", x, along_rows(scale, x))) == [
        ["exp", "reduce", "log", "multiply"]]


def test_what_joins_rows_ends_a_group():
    x = op("exp", tensor(8, 6))
    column = op("broadcast", total(x, 0), shape=(8, 6), dims=(1,))
    assert names(op("multiply", x, column)) == [["exp", "reduce"], ["multiply"]]


def test_groups_do_not_wait_for_one_another_in_a_circle():
    x = op("exp", tensor(8, 8))
    turned = op("tanh", op("transpose", x, permutation=(1, 0)))
    y = op("add", x, op("transpose", turned, permutation=(1, 0)))
    assert names(y) == [["exp"], ["tanh"], ["add"]]


def test_a_group_has_one_product():
    x, w = tensor(1, 8, 4, dtype=BF16), tensor(1, 4, 6, dtype=BF16)
    assert names(op("add", dot(x, w), dot(tensor(1, 8, 4, dtype=BF16), w))) in (
        [["dot"], ["dot", "add"]], [["dot", "add"], ["dot"]])


def test_the_operand_of_a_product_is_made_before():
    x = op("convert", op("exp", tensor(1, 8, 8)), dtype=BF16)
    assert names(dot(x, tensor(1, 8, 8, dtype=BF16))) == [["exp", "convert"], ["dot"]]


def test_what_only_products_read_is_rounded_by_loads():
    x = op("convert", tensor(1, 8, 8), dtype=BF16)
    assert names(dot(x, x)) == [["dot"]]
    assert names(dot(x, x), x) == [["convert"], ["dot"]]


def test_wide_rows_that_are_joined_leave_their_product():
    x, w = tensor(1, 64, 64, dtype=BF16), tensor(1, 64, 1024, dtype=BF16)
    y = op("exp", dot(x, w))
    groups = names(op("multiply", y, along_rows(total(y, 2), y)))
    assert groups == [["dot", "exp"], ["reduce", "multiply"]]


def test_what_is_fused_in_the_end_is_not_kept_apart():
    x = op("exp", tensor(8, 6))
    assert apart(op("multiply", x, along_rows(op("log", total(x, 1)), x))) == []


def test_reasons():
    x = op("exp", tensor(8, 6))
    assert apart(op("negate", op("transpose", x, permutation=(1, 0)))) == [
        ("exp", "negate", "[8, 6] and [6, 8] are not the same rows and lanes")]
    assert apart(op("negate", op("reverse", x, dims=(0,)))) == [
        ("exp", "negate", "elements change rows or lanes between them (reverse)")]
    column = op("broadcast", total(x, 0), shape=(8, 6), dims=(1,))
    assert apart(op("multiply", x, column)) == [
        (before, "multiply", "what is joined over rows is ready at the end only")
        for before in ("exp", "reduce")]
    scan = op("tanh", op("reverse", x, dims=(0,)))
    assert ("exp", "add", "tanh has to run between them") in apart(op("add", x, scan))
    y = op("exp", tensor(4, 3, 6))
    assert apart(total(y, 0), total(y, 1)) == [("exp", "reduce", "they join different rows")]


def test_reasons_of_products():
    x, w = tensor(1, 8, 4, dtype=BF16), tensor(1, 4, 6, dtype=BF16)
    assert apart(op("add", dot(x, w), dot(tensor(1, 8, 4, dtype=BF16), w))) == [
        ("dot", "add", "a group has one product")]
    y = op("convert", op("exp", tensor(1, 8, 8)), dtype=BF16)
    assert apart(dot(y, tensor(1, 8, 8, dtype=BF16))) == [
        ("convert", "dot", "a product reads its operands from memory")]
    wide = op("exp", dot(tensor(1, 64, 64, dtype=BF16), tensor(1, 64, 1024, dtype=BF16)))
    assert apart(op("multiply", wide, along_rows(total(wide, 2), wide)))[0] == (
        "exp", "reduce", "whole rows of a product would take about 16384 of 2048 accumulator rows")


def test_halves_of_a_group_stay_apart():
    y = op("tanh", op("exp", tensor(8, 6)))
    parts = frozenset([y.node.operands[0].node]), frozenset([y.node])
    assert apart(y, halves=[parts]) == [
        ("exp", "tanh", "together they did not fit the memories on chip")]
    assert apart(y, late=[y.node]) == [("exp", "tanh", "it is computed again where it is used")]


@pytest.mark.parametrize(("a", "b", "wanted"), [
    ((12, 8), (2, 6, 8), (2, 6, 8)), ((4, 3, 8), (2, 6, 8), (2, 2, 3, 8)),
    ((3, 4, 8), (2, 6, 8), None), ((12, 8), (8, 12), None), ((1, 12, 1, 8), (12, 8), (12, 8)),
    ((), (1, 1), (1,)),
])
def test_spaces_are_refined(a, b, wanted):
    found = Space.of(a).refined(Space.of(b))
    assert (found and found.dims) == wanted


@pytest.mark.parametrize(("columns", "fits"), [(204 * 16, True), (204 * 16 + 1, False)])
def test_whole_rows_have_room_on_chip(columns, fits):
    """Five values, of two blocks of rows: what is read and made, what is joined, and two more."""
    x = op("exp", tensor(4, columns))
    found = apart(total(x, 1), x)
    assert found == ([] if fits else [
        ("exp", "reduce", "whole rows would take about 2050 of 2048 accumulator rows")])
    # Nothing is whole where rows are joined, or nothing is.
    assert apart(total(x, 0), x) == []
    assert apart(op("tanh", x)) == []


@pytest.mark.parametrize(("columns", "fits"), [(128, True), (129, False)])
def test_whole_rows_of_products_have_room_on_chip(columns, fits):
    """Eight values, of two blocks of as many rows as weights take to load."""
    y = op("exp", dot(tensor(1, 64, 64, dtype=BF16), tensor(1, 64, columns, dtype=BF16)))
    found = apart(total(y, 2), y)
    assert found == ([] if fits else [
        ("exp", "reduce",
         "whole rows of a product would take about 2304 of 2048 accumulator rows")])
    assert apart(total(y, 1), y) == []


@pytest.mark.parametrize(("shape", "dim", "fits"), [
    ((2, 4, 6), 1, True), ((2, 4, 6), 0, False), ((2, 2, 2, 6), 1, False), ((8, 6), 0, True)])
def test_the_innermost_rows_of_a_product_are_joined_on_the_way(shape, dim, fits):
    y = dot(tensor(1, 8, 4, dtype=BF16), tensor(1, 4, 6, dtype=BF16))
    found = apart(total(op("reshape", y, shape=shape), dim))
    assert found == ([] if fits else [
        ("dot", "reduce", "only the innermost rows of a product can be joined on the way")])


@pytest.mark.parametrize(("shape", "fits"), [
    ((2, 4, 6, 8), True), ((8, 6, 8), True), ((2, 4, 1, 6, 8), True), ((2, 4, 3, 2, 8), False),
    ((2, 2, 2, 6, 8), False)])
def test_what_follows_a_convolution_has_its_rows(shape, fits):
    x, w = tensor(2, 5, 7, 3, dtype=BF16), tensor(2, 2, 3, 8, dtype=BF16)
    y = op("convolution", x, w, dtype=F32, layout="b01f_01io->b01f", stride=(1, 1),
           padding=((0, 0), (0, 0)), x_dilation=(1, 1), w_dilation=(1, 1))
    found = apart(op("negate", op("reshape", y, shape=shape)))
    assert found == ([] if fits else [
        ("convolution", "negate", "a convolution's rows are cut in another way")])


@pytest.mark.parametrize(("shape", "dims", "lanes", "rows"), [
    ((4, 5, 6), (2,), True, set()), ((4, 5, 6), (1,), False, {(1, 5)}),
    ((4, 5, 6), (0,), False, {(5, 20)}), ((4, 5, 6), (0, 1), False, {(1, 20)}),
    ((4, 5, 6), (0, 1, 2), True, {(1, 20)}), ((4, 5, 6), (0, 2), True, {(5, 20)}),
    ((4, 1, 5, 6), (0, 2), False, {(1, 20)}),
    ((2, 3, 4, 5, 6), (0, 2), False, {(5, 20), (60, 120)}),
    ((4, 5, 1), (1,), True, set()), ((4, 5, 1), (0,), False, {(1, 4)}),
    ((1, 6), (0,), False, set()), ((1, 1), (0,), False, set())])
def test_which_rows_a_reduction_joins(shape, dims, lanes, rows):
    node = total(tensor(*shape), *dims).node
    group = Group.of(node)
    assert (group.lanes, group.joined or set()) == (lanes, rows)
    assert (group.joins == {node}) == bool(rows)
    assert group.result_extent(node) is (
        None if rows else Extent.ROWS if lanes else Extent.FULL)


@pytest.mark.parametrize(("shape", "cuts", "lanes"), [
    ((1, 8, 6), {8}, 6), ((2, 8, 1), {8, 16}, 1), ((1, 1, 1), set(), 1), ((1, 1, 5), set(), 5)])
def test_lanes_of_a_product_are_its_last_dimension(shape, cuts, lanes):
    space = product_space(shape)
    assert (space.cuts, space.lanes) == (cuts, lanes)
