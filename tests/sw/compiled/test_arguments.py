"""Arguments as a graph has them and as buffers do, and what is said of wrong ones."""

import ml_dtypes
import numpy as np
import pytest

from celosia.compiled.arguments import check_count, decode, describe, encode, host_array
from celosia.compiled.parts import Argument
from celosia.graph import TensorType

B16 = ml_dtypes.bfloat16
#: Type in the graph, elements, those of the buffer, and what it holds.
HELD = [
    ("bool", [True, False], np.int8, [-1, 0]),
    ("bool", [True, False], np.int32, [-1, 0]),
    ("i8", [-128, 127], np.int8, [-128, 127]),
    ("i8", [-128, 127], np.int32, [-128, 127]),
    ("u8", [0, 255], np.int32, [0, 255]),
    ("i16", [-32768, 32767], np.int32, [-32768, 32767]),
    ("u16", [0, 65535], np.int32, [0, 65535]),
    ("i32", [-2**31, 2**31 - 1], np.int32, [-2**31, 2**31 - 1]),
    ("u32", [1, 2**32 - 1], np.int32, [1, -1]),
    ("f16", [1.5, -65504.0], np.float32, [1.5, -65504.0]),
    ("bf16", [1.5, -3.0], B16, [1.5, -3.0]),
    ("bf16", [1.5, -3.0], np.float32, [1.5, -3.0]),
    ("f32", [0.1, -2.0], np.float32, [np.float32(0.1), -2.0]),
    ("c64", [1 + 2j, 3 - 4j], np.float32, [1.0, 2.0, 3.0, -4.0]),
    ("i64", [-2, 2**32], np.int32, [-2, -1, 0, 1]),
    ("u64", [2**64 - 1, 5], np.int32, [-1, -1, 5, 0]),
]
#: Type of a scalar, numbers of Python that fit, and some that do not.
NUMBERS = [
    ("bool", [True, False], [0, 1, 1.0]),
    ("i8", [-128, 127, 0], [-129, 128, 1.0, True]),
    ("u8", [0, 255], [-1, 256, False]),
    ("i16", [-32768, 32767], [-32769, 32768]),
    ("i32", [-2**31, 2**31 - 1], [-2**31 - 1, 2**31, 0.0]),
    ("u32", [0, 2**32 - 1], [-1, 2**32]),
    ("f32", [3, 0.5, -(2**70)], [True, 1j]),
    ("bf16", [3, 0.5], [False]),
    ("c64", [3, 0.5], [True]),
]


def scalar(type: str) -> Argument:
    return Argument("in0", TensorType.parse(f"{type}[]"), "x")


@pytest.mark.parametrize(("type", "values", "dtype", "held"), HELD)
def test_what_a_buffer_holds(type, values, dtype, held):
    shape = TensorType.parse(f"{type}[1,2]")
    array = np.array([values], shape.dtype.numpy)
    wanted = np.array([held], dtype)
    found = encode(array, np.dtype(dtype), wanted.shape)
    np.testing.assert_array_equal(found, wanted, strict=True)
    np.testing.assert_array_equal(decode(found, shape), array, strict=True)


@pytest.mark.parametrize(("type", "values", "dtype", "held"), HELD)
def test_arrays_whose_elements_are_apart(type, values, dtype, held):
    shape = TensorType.parse(f"{type}[2]")
    array = np.repeat(np.array(values, shape.dtype.numpy), 2)[::2]
    found = encode(array, np.dtype(dtype), (len(held),))
    np.testing.assert_array_equal(found, np.array(held, dtype), strict=True)
    # What a buffer holds of an element lies together, whatever the step from one to the next.
    if len(held) == 2:
        apart = np.repeat(found, 2)[::2]
        np.testing.assert_array_equal(decode(apart, shape), array, strict=True)


@pytest.mark.parametrize(("type", "values", "dtype", "held"), HELD)
def test_what_a_buffer_holds_of_a_scalar(type, values, dtype, held):
    shape = TensorType.parse(f"{type}[]")
    first = np.array(held[:len(held) // 2], dtype).reshape(len(held) // 2 if len(held) > 2 else ())
    found = decode(first, shape)
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, np.array(values[0], shape.dtype.numpy), strict=True)
    again = encode(found, np.dtype(dtype), first.shape)
    np.testing.assert_array_equal(again, first, strict=True)


def test_any_word_but_0_is_true():
    held = np.array([0, 1, -1, 256, -2**31], np.int32)
    assert decode(held, TensorType.parse("bool[5]")).tolist() == [False, True, True, True, True]


@pytest.mark.parametrize(("type", "dtype"), [
    ("i8", np.int8), ("i32", np.int32), ("f32", np.float32), ("bf16", B16), ("u32", np.int32)])
def test_what_stays_as_it_is_is_not_copied(type, dtype):
    shape = TensorType.parse(f"{type}[2,3]")
    array = np.zeros((2, 3), shape.dtype.numpy)
    held = encode(array, np.dtype(dtype), (6,))
    assert np.shares_memory(held, array)
    assert np.shares_memory(decode(held, shape), array)


@pytest.mark.parametrize(("type", "good", "bad"), NUMBERS)
def test_numbers_for_scalars(type, good, bad):
    argument = scalar(type)
    dtype = argument.type.dtype.numpy
    for value in good:
        np.testing.assert_array_equal(host_array("net", 0, argument, value),
                                      np.array(value, dtype), strict=True)
    for value in bad:
        with pytest.raises(ValueError, match=r"^argument 4 of net, x, must be .*\[\], not .*\[\]$"):
            host_array("net", 4, argument, value)


def test_a_number_is_none_for_an_array():
    argument = Argument("in3", TensorType.parse("f32[1]"))
    with pytest.raises(ValueError, match=r"^argument 3 of net, in3, must be float32\[1\], "
                                         r"not float64\[\]$"):
        host_array("net", 3, argument, 1.0)


@pytest.mark.parametrize(("label", "called"), [("", "in0"), ("weights", "weights")])
@pytest.mark.parametrize(("value", "message"), [
    (np.zeros((2, 3), np.float32), None),
    (np.zeros((3, 2), np.float32), "float32[3, 2]"),
    (np.zeros((2, 3), np.int32), "int32[2, 3]"),
    (np.zeros(6, np.float64), "float64[6]"),
])
def test_arrays_have_the_type_of_the_parameter(label, called, value, message):
    argument = Argument("in0", TensorType.parse("f32[2,3]"), label)
    if message is None:
        assert host_array("net", 7, argument, value) is value
        return
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the whole message is compared
        host_array("net", 7, argument, value)
    assert str(caught.value) == (
        f"argument 7 of net, {called}, must be float32[2, 3], not {message}")


@pytest.mark.parametrize(("label", "called"), [("", "in0"), ("weights", "weights")])
def test_what_numpy_makes_no_array_of(label, called):
    class Odd:
        def __array__(self, dtype=None, copy=None):
            raise TypeError("not today")

        def __repr__(self):
            return "odd"

    argument = Argument("in0", TensorType.parse("i32[2,3]"), label)
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the whole message is compared
        host_array("net", 2, argument, Odd())
    assert str(caught.value) == (
        f"argument 2 of net, {called}, must be int32[2, 3], not odd (not today)")


@pytest.mark.parametrize(("labels", "given", "message"), [
    ((), 0, None), (("a",), 1, None), (("a", "b"), 2, None),
    ((), 1, "net must be called with 0 arguments, not 1"),
    (("a",), 0, "net must be called with 1 argument (a), not 0"),
    (("a",), 2, "net must be called with 1 argument (a), not 2"),
    (("a", ""), 1, "net must be called with 2 arguments (a, in1), not 1"),
])
def test_how_many_arguments_there_are(labels, given, message):
    inputs = [Argument(f"in{i}", TensorType.parse("i8[]"), label) for i, label in enumerate(labels)]
    if message is None:
        check_count("net", inputs, given)
        return
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the whole message is compared
        check_count("net", inputs, given)
    assert str(caught.value) == message


def test_a_type_as_messages_have_it():
    assert describe(np.dtype(np.float32), (2, 3)) == "float32[2, 3]"
    assert describe(np.dtype(np.int8), ()) == "int8[]"
