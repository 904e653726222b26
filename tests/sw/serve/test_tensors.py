"""Elements of tensors in JSON."""

import math

import ml_dtypes
import numpy as np
import pytest

from celosia.graph import DType
from celosia.serve.errors import Refusal
from celosia.serve.tensors import accepted, datatype, decode, encode


def refused(data, dtype, shape):
    with pytest.raises(Refusal) as caught:
        decode(data, dtype, shape, "data")
    assert caught.value.status == 400
    return caught.value.message


@pytest.mark.parametrize("dtype", [each for each in DType if not each.is_wide])
def test_extremes_go_in_and_out(dtype):
    kind = dtype.numpy
    if dtype is DType.BOOL:
        array = np.array([[False, True, True]])
    elif dtype.is_float:
        limits = ml_dtypes.finfo(kind)
        array = np.array([[limits.min, limits.max, 0.1]], kind)
    else:
        limits = np.iinfo(kind)
        array = np.array([[limits.min, limits.max, 7]], kind)
    for data in (encode(array), [encode(array)]):
        came = decode(data, dtype, (1, 3), "data")
        assert came.dtype == kind
        assert came.tobytes() == array.tobytes()


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16, DType.F32])
def test_elements_are_numbers_that_json_can_write(dtype):
    assert {type(each) for each in encode(np.array([0.5, 2], dtype.numpy))} == {float}


def test_a_tensor_may_be_called_what_it_is_or_what_it_travels_as():
    names = {dtype: accepted(dtype) for dtype in DType if not dtype.is_wide}
    assert names[DType.F16] == ("FP32", "FP16")
    assert names[DType.BF16] == ("FP32", "BF16")
    assert all(own == (datatype(dtype),) for dtype, own in names.items()
               if dtype not in (DType.F16, DType.BF16))


def test_a_tensor_may_be_empty():
    for dtype in (DType.BOOL, DType.I8, DType.F32):
        assert decode([], dtype, (0,), "data").shape == (0,)
        assert decode([], dtype, (2, 0), "data").shape == (2, 0)


def test_bfloat16_is_rounded_to_the_nearest_even():
    came = decode([1.00390625, 1.01171875, 1.0], DType.BF16, (3,), "data")
    assert came.tolist() == [1.0, 1.015625, 1.0]


def test_what_json_lacks_is_a_string():
    array = np.array([math.nan, math.inf, -math.inf, 1.5], np.float32)
    assert encode(array) == ["NaN", "Infinity", "-Infinity", 1.5]
    assert decode(encode(array), DType.F32, (4,), "data").tobytes() == array.tobytes()


def test_nested_data_must_be_of_the_shape():
    assert decode([[[1, 2]], [[3, 4]]], DType.I8, (2, 1, 2), "data").tolist() == [
        [[1, 2]], [[3, 4]]]
    assert refused([[[1, 2]], [[3]]], DType.I8, (2, 1, 2)) == (
        "data[1][0] must be an array of 2, as shape [2, 1, 2] says, not an array of 1")
    assert refused([[1, 2], 3], DType.I8, (2, 2)) == (
        "data[1] must be an array of 2, as shape [2, 2] says, not 3")
    assert refused([[1, 2]], DType.I8, (2, 2)) == (
        "data must be an array of 2, as shape [2, 2] says, not an array of 1")
    assert refused([[1, [2]], [1, 1]], DType.I8, (2, 2)) == (
        "data must hold an integer in every element, not an array of 1, as in element 1")


@pytest.mark.parametrize(("data", "dtype", "message"), [
    ([1, 2, 3], DType.F32, "data must hold 2 elements, as many as shape [2] has, not 3"),
    ([], DType.F32, "data must hold 2 elements, as many as shape [2] has, not 0"),
    ("AAAA", DType.F32, "data must be an array, not 'AAAA'"),
    ([1, True], DType.F32, ("data must hold a number, \"NaN\", \"Infinity\" or \"-Infinity\" in "
                            "every element, not true, as in element 1")),
    ([1, "1"], DType.F32, ("data must hold a number, \"NaN\", \"Infinity\" or \"-Infinity\" in "
                           "every element, not '1', as in element 1")),
    ([None, 1], DType.I32, "data must hold an integer in every element, not null, as in element 0"),
    ([1.0, 1], DType.I32, "data must hold an integer in every element, not 1.0, as in element 0"),
    ([0, 1], DType.BOOL, "data must hold true or false in every element, not 0, as in element 0"),
    ([1, 128], DType.I8, ("data must hold numbers from -128 to 127 (INT8), not 128, as in "
                          "element 1")),
    ([-1, 1], DType.U32, ("data must hold numbers from 0 to 4294967295 (UINT32), not -1, as in "
                          "element 0")),
    ([10 ** 60, 1], DType.I32, (f"data must hold numbers from -2147483648 to 2147483647 (INT32), "
                                f"not {'1' + '0' * 36}..., as in element 0")),
    ([1, 1e39], DType.F32, "data must hold numbers that FP32 can, not 1e+39, as in element 1"),
    ([10 ** 400, 1], DType.F32, (f"data must hold numbers that FP32 can, not {'1' + '0' * 36}..., "
                                 f"as in element 0")),
    ([1, 1e999], DType.F32, "data must hold numbers that FP32 can, not inf, as in element 1"),
    # Not the first element, nor one that is a limit: the one that is wrong.
    ([127, 128], DType.I8, ("data must hold numbers from -128 to 127 (INT8), not 128, as in "
                            "element 1")),
    ([-128, -129], DType.I8, ("data must hold numbers from -128 to 127 (INT8), not -129, as in "
                              "element 1")),
    (["NaN", "x"], DType.F32, ("data must hold a number, \"NaN\", \"Infinity\" or \"-Infinity\" "
                               "in every element, not 'x', as in element 1")),
    (["NaN", [2]], DType.F32, ("data must hold a number, \"NaN\", \"Infinity\" or \"-Infinity\" "
                               "in every element, not an array of 1, as in element 1")),
    (["NaN", 1], DType.I32, ("data must hold an integer in every element, not 'NaN', as in "
                             "element 0")),
    (["NaN", 10 ** 400], DType.F32, (f"data must hold numbers that FP32 can, not {'1' + '0' * 36}"
                                     f"..., as in element 1")),
    ([[1], [2]], DType.I32, ("data must hold an integer in every element, not an array of 1, as in "
                             "element 0")),
    # Values are named in at most 40 characters.
    ([1, {"a": 1}], DType.I32, ("data must hold an integer in every element, not an object, as in "
                                "element 1")),
    ([1, False], DType.I32, ("data must hold an integer in every element, not false, as in "
                             "element 1")),
    (["x" * 38, 1], DType.I32, (f"data must hold an integer in every element, not '{'x' * 38}', as "
                                f"in element 0")),
    (["x" * 39, 1], DType.I32, (f"data must hold an integer in every element, not '{'x' * 36}..., "
                                f"as in element 0")),
])
def test_wrong_elements(data, dtype, message):
    assert refused(data, dtype, (2,)) == message


def test_the_first_number_that_is_too_large_is_named():
    assert refused([2 ** 128 - 2 ** 104, 2 ** 128, 10 ** 400], DType.F32, (3,)) == (
        f"data must hold numbers that FP32 can, not {2 ** 128}, as in element 1")
