"""What operations take and refuse: values on either side of each end, and every kind of operand."""

import re

import pytest

from celosia.graph import DType, GraphError, TensorType, op, ops, parameter

F32, BF16, I32, U32, I8, BOOL = DType.F32, DType.BF16, DType.I32, DType.U32, DType.I8, DType.BOOL


def value(dtype, *shape):
    return parameter(TensorType(dtype, shape))


def requantise(**attrs):
    return op("requantise", *(value(I32, 2) for _ in range(3)), **attrs)


def reduced(exponent=8, mantissa=23):
    return op("reduce_precision", value(F32, 2), exponent=exponent, mantissa=mantissa)


def top_k(k, *shape):
    return ops("top_k", value(F32, *shape), k=k)[0]


def sort(keys):
    return ops("sort", value(F32, 3), value(I32, 3), dim=0, keys=keys)[0]


def dynamic_slice(*sizes):
    return op("dynamic_slice", value(F32, 2, 3), value(I32), value(I32), sizes=sizes)


def update(*shape, dtype=F32):
    return op("dynamic_update_slice", value(F32, 2, 3), value(dtype, *shape), value(I32),
              value(I32))


def gather(sizes=(1, 3), *, offset=(1,), indices=(4, 1), index_dim=1, start_map=(0,),
           dtype=I32):
    return op("gather", value(F32, 5, 3), value(dtype, *indices), offset_dims=offset,
              collapsed=(0,), start_map=start_map, index_dim=index_dim, sizes=sizes)


def scatter(updates=(4, 3), *, window=(1,), dtype=F32, reducer="add", unique=False):
    return op("scatter", value(F32, 5, 3), value(I32, 4, 1), value(dtype, *updates),
              window_dims=window, inserted=(0,), start_map=(0,), index_dim=1, reducer=reducer,
              unique=unique)


def convolution(x=(2, 6, 4), w=(3, 4, 6), **attrs):
    return op("convolution", value(F32, *x), value(F32, *w), **{
        "dtype": F32, "layout": "b0f_0io->b0f", "stride": (1,), "padding": ((0, 0),),
        "x_dilation": (1,), "w_dilation": (1,), **attrs})


def collective(name, groups, **attrs):
    return op(name, value(F32, 4, 3), groups=groups, **attrs)


#: Operations that are right, each with the shape of its result.
RIGHT = [
    *((lambda name=name, end=end: requantise(**{name: end}), (2,))
      for name in ("zero_point", "low", "high") for end in (-128, 127)),
    *((lambda end=end: reduced(exponent=end), (2,)) for end in (1, 8)),
    *((lambda end=end: reduced(mantissa=end), (2,)) for end in (0, 23)),
    *((lambda end=end: top_k(end, 4, 5), (4, end)) for end in (0, 5)),
    *((lambda end=end: sort(end), (3,)) for end in (1, 2)),
    (lambda: dynamic_slice(0, 3), (0, 3)), (lambda: dynamic_slice(2, 0), (2, 0)),
    (lambda: update(2, 3), (2, 3)), (lambda: update(0, 1), (2, 3)),
    (gather, (4, 3)), (lambda: gather((0, 0)), (4, 0)),
    (lambda: gather(indices=(4,)), (4, 3)), (scatter, (5, 3)), (lambda: scatter((4, 1)), (5, 3)),
    (convolution, (2, 4, 6)), (lambda: convolution(w=(3, 2, 6), groups=2), (2, 4, 6)),
    (lambda: convolution(batch_groups=2), (1, 4, 6)),
    (lambda: collective("all_gather", ((0, 1), (2, 3)), dim=1), (4, 6)),
    (lambda: collective("reduce_scatter", ((0, 1), (3, 2)), dim=0, reducer="add"), (2, 3)),
    (lambda: collective("all_to_all", ((5, 1),), split=0, concat=1), (2, 6)),
    (lambda: op("collective_permute", value(F32, 2), pairs=((0, 1), (1, 0))), (2,)),
    (lambda: op("bitcast", value(F32, 3), dtype=I8), (3, 4)),
    (lambda: op("bitcast", value(I8, 3, 4), dtype=F32), (3,)),
    (lambda: op("bitcast", value(I32, 3), dtype=F32), (3,)),
    (lambda: op("clamp", value(I32), value(I32, 3), value(I32, 3)), (3,)),
    (lambda: op("select", value(BOOL), value(F32, 3), value(F32, 3)), (3,)),
]
#: And wrong ones, each with what the error says behind the name of the operation.
WRONG = [
    *((lambda name=name, end=end: requantise(**{name: end}),
       f"{name} must be -128 to 127, not {end}")
      for name in ("zero_point", "low", "high") for end in (-129, 128)),
    *((lambda end=end: reduced(exponent=end), f"exponent must be 1 to 8, not {end}")
      for end in (0, 9)),
    *((lambda end=end: reduced(mantissa=end), f"mantissa must be 0 to 23, not {end}")
      for end in (-1, 24)),
    *((lambda end=end: top_k(end, 4, 5),
       f"k must be at most the last extent of f32[4,5], not {end}")
      for end in (-1, 6)),
    (lambda: top_k(1), "k must be at most the last extent of f32[], not 1"),
    *((lambda end=end: sort(end), f"keys must be 1 to 2, not {end}") for end in (0, 3)),
    (lambda: dynamic_slice(-1, 3), "sizes must be within f32[2,3], not [-1, 3]"),
    (lambda: dynamic_slice(2, 4), "sizes must be within f32[2,3], not [2, 4]"),
    (lambda: update(2, 4), "update must be within f32[2,3], not f32[2,4]"),
    (lambda: update(2), "update must be within f32[2,3], not f32[2]"),
    (lambda: update(2, 3, dtype=BF16), "update must be within f32[2,3], not bf16[2,3]"),
    (lambda: gather((1, 4)), "sizes[1] must be at most 3, not 4"),
    (lambda: gather((2, 3)), "sizes[0] must be at most 1, not 2"),
    (lambda: gather((-1, 3)), "sizes[0] must be at most 1, not -1"),
    (lambda: gather(offset=()), "offset_dims must have 1 entries, not 0"),
    (lambda: gather(index_dim=3), "index_dim must be 0 to 2, not 3"),
    (lambda: gather(index_dim=-1), "index_dim must be 0 to 2, not -1"),
    (lambda: gather(start_map=(0, 1)), "start_map must have 1 entries, not 2"),
    (lambda: gather(dtype=F32), "indices must be integers, not f32[4,1]"),
    (lambda: scatter(dtype=BF16), "updates must be of f32, not bf16[4,3]"),
    (lambda: scatter(window=()), "window_dims must have 1 entries, not 0"),
    (lambda: scatter((4, 3, 1)), "updates must have rank 2, not f32[4,3,1]"),
    (lambda: scatter((3, 3)), "updates must have the batch [4] of indices, not f32[3,3]"),
    (lambda: scatter((4, 4)), "extent 1 of updates must be at most 3, not 4"),
    (lambda: scatter(reducer="and"), "operand of reducer and must not be a float"),
    (lambda: convolution((2, 6)), "x must have rank 3 for b0f_0io->b0f, not f32[2,6]"),
    *((lambda name=name: convolution(**{name: (0,)}), f"{name} must be positive, not [0]")
      for name in ("stride", "x_dilation", "w_dilation")),
    *((lambda a=a, b=b: convolution(groups=a, batch_groups=b),
       f"groups and batch_groups must be positive and one of them 1, not {a} and {b}")
      for a, b in ((0, 1), (1, 0), (2, 2))),
    (lambda: convolution((3, 6, 4), batch_groups=2), "batch of x must be a multiple of 2, not 3"),
    (lambda: convolution(w=(3, 1, 6), groups=4), "outputs of w must be a multiple of 4, not 6"),
    (lambda: convolution(w=(3, 4, 7), batch_groups=2),
     "outputs of w must be a multiple of 2, not 7"),
    (lambda: collective("all_gather", (), dim=0),
     "groups must be one or more, of one size, not []"),
    (lambda: collective("all_gather", ((0, 1), (2,)), dim=0),
     "groups must be one or more, of one size, not [[0, 1], [2]]"),
    (lambda: collective("all_gather", ((0, 1), (1, 2)), dim=0),
     "groups must have each device once, not [[0, 1], [1, 2]]"),
    (lambda: collective("all_gather", ((0, -1),), dim=0),
     "groups must have each device once, not [[0, -1]]"),
    (lambda: collective("reduce_scatter", ((0, 1),), dim=1, reducer="add"),
     "extent 1 of f32[4,3] must be a multiple of 2, not 3"),
    (lambda: collective("all_to_all", ((0, 1),), split=1, concat=0),
     "extent 1 of f32[4,3] must be a multiple of 2, not 3"),
    *((lambda pairs=pairs: op("collective_permute", value(F32, 2), pairs=pairs),
       f"pairs must have each {what} once, not {list(map(list, pairs))}")
      for pairs, what in ((((0, 1), (0, 2)), "source"), (((0, 1), (2, 1)), "target"),
                          (((-1, 1),), "source"), (((1, -1),), "target"))),
    (lambda: op("bitcast", value(I8, 3, 3), dtype=F32),
     "last extent of the operand must be 4 for f32, not i8[3,3]"),
    (lambda: op("bitcast", value(I8), dtype=F32),
     "last extent of the operand must be 4 for f32, not i8[]"),
    *((lambda dtypes=dtypes: op("bitcast", value(dtypes[0], 4), dtype=dtypes[1]),
       "bits must be of numbers, not of bool") for dtypes in ((BOOL, I8), (I8, BOOL))),
    (lambda: op("clamp", value(I32, 2), value(I32, 3), value(I32)),
     "low must be i32[3] or i32[], not i32[2]"),
    (lambda: op("clamp", value(I32), value(I32, 3), value(F32)),
     "high must be i32[3] or i32[], not f32[]"),
    (lambda: op("clamp", value(BOOL), value(BOOL), value(BOOL)), "x must be numbers, not bool[]"),
    (lambda: op("select", value(BOOL, 2), value(F32, 3), value(F32, 3)),
     "predicate must be bool[] or bool[3], not bool[2]"),
    (lambda: op("select", value(I32), value(F32, 3), value(F32, 3)),
     "predicate must be bool[] or bool[3], not i32[]"),
    (lambda: op("requantise", *(value(U32, 2) for _ in range(3))),
     "operands must be i32, not u32[2]"),
]


@pytest.mark.parametrize(("make", "shape"), RIGHT)
def test_what_is_right(make, shape):
    assert make().shape == shape


@pytest.mark.parametrize(("make", "message"), WRONG)
def test_what_is_wrong(make, message):
    with pytest.raises(GraphError, match=rf"^unknown source: \w+: {re.escape(message)}$"):
        make()


#: Operations on a matrix with attributes of an entry a dimension, and attributes that are right.
BY_DIMENSION = {
    "transpose": (1, {"permutation": (1, 0)}),
    "slice": (1, {"start": (0, 0), "limit": (2, 2), "stride": (1, 1)}),
    "pad": (2, {"low": (0, 0), "high": (0, 0), "interior": (0, 0)}),
    "reduce_window": (2, {"window": (1, 1), "stride": (1, 1), "padding": ((0, 0),) * 2,
                          "x_dilation": (1, 1), "window_dilation": (1, 1), "reducer": "add"}),
    "select_and_scatter": (3, {"window": (1, 1), "stride": (1, 1), "padding": ((0, 0),) * 2,
                               "select": "ge"}),
}


@pytest.mark.parametrize(("name", "attribute"), [
    (name, attribute) for name, (_, attributes) in BY_DIMENSION.items()
    for attribute, entries in attributes.items() if isinstance(entries, tuple)])
def test_attributes_have_an_entry_a_dimension(name, attribute):
    count, attributes = BY_DIMENSION[name]
    matrix, number = value(F32, 4, 3), value(F32)
    operands = {1: [matrix], 2: [matrix, number], 3: [matrix, matrix, number]}[count]
    op(name, *operands, **attributes)
    for entries in (attributes[attribute][:1], attributes[attribute] * 2):
        with pytest.raises(GraphError, match=f"{attribute} must have 2 entries, "
                                             f"not {len(entries)}$"):
            op(name, *operands, **{**attributes, attribute: entries})
