"""Memory of a caller as an array, and the elements that programs have in place of small ones."""

import ml_dtypes
import numpy as np
import pytest

from celosia.collectives.processes import ProcessError
from celosia.frontend import FrontendError
from celosia.pjrt.buffers import _carried, _meant
from celosia.pjrt.calls_buffers import _DTYPES, _dense, _strided
from celosia.pjrt.errors import ErrorCode, PjrtError, as_error


@pytest.mark.parametrize(("shape", "size", "strides"), [
    ((), 4, ()), ((5,), 4, (4,)), ((2, 3), 1, (3, 1)), ((2, 3, 5), 8, (120, 40, 8)),
    ((7, 1), 2, (2, 2)), ((3, 0, 2), 4, (0, 8, 4))])
def test_strides_of_rows_one_after_another(shape, size, strides):
    assert _dense(shape, size) == strides


@pytest.mark.parametrize("view", [
    lambda x: x, lambda x: x[::-1], lambda x: x[:, ::-2], lambda x: x.T, lambda x: x[1:, 2],
    lambda x: x[2, 1], lambda x: x[::2, ::-1].T, lambda x: np.broadcast_to(x[1], (4, 5)),
    lambda x: x[:0]], ids=range(9))
def test_memory_of_a_caller_is_seen_as_it_steps_through_it(view):
    array = view(np.arange(20, dtype=np.int16).reshape(4, 5))
    found = _strided(array.__array_interface__["data"][0], array.shape, array.dtype,
                     array.strides)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(found, array)


def test_a_step_of_rows_that_are_not_there_reaches_no_memory():
    assert _strided(0, (3, 0), np.dtype(np.int8), (1, 1)).shape == (3, 0)


def test_numbers_of_types_are_those_of_the_interface():
    assert {number: dtype.name for number, dtype in _DTYPES.items()} == {
        1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16",
        8: "uint32", 9: "uint64", 10: "float16", 11: "float32", 12: "float64", 13: "bfloat16",
        14: "complex64", 15: "complex128", 16: "float8_e5m2", 17: "float8_e4m3fn",
        18: "float8_e4m3b11fnuz", 19: "float8_e5m2fnuz", 20: "float8_e4m3fnuz", 21: "int4",
        22: "uint4", 24: "int2", 25: "uint2", 26: "float8_e4m3", 27: "float8_e3m4",
        28: "float8_e8m0fnu", 29: "float4_e2m1fn"}


@pytest.mark.parametrize(("name", "values", "dtype", "carried"), [
    ("int4", [-8, 7], "int8", [-8, 7]), ("int2", [-2, 1], "int8", [-2, 1]),
    ("uint4", [0, 15], "uint8", [0, 15]), ("uint2", [0, 3], "uint8", [0, 3]),
    ("float8_e4m3fn", [1, -2], "uint8", [0x38, 0xC0]),
    ("float8_e5m2", [1, -2], "uint8", [0x3C, 0xC0]),
    ("float4_e2m1fn", [1, -2], "uint8", [0x2, 0xC]),
    ("bfloat16", [1, -2], "bfloat16", [1, -2]), ("int32", [1, -2], "int32", [1, -2])])
def test_small_elements_are_carried_in_bytes(name, values, dtype, carried):
    meant = np.dtype(getattr(ml_dtypes, name, name))
    array = np.array(values).astype(meant)
    found = _carried(array)
    assert found.dtype.name == dtype
    assert found.astype(np.float32).tolist() == carried
    back = _meant(found, meant)
    assert back.dtype == meant
    assert back.astype(np.float32).tolist() == values
    assert _meant(array, meant) is array


@pytest.mark.parametrize(("error", "code", "message"), [
    (KeyboardInterrupt("now"), ErrorCode.CANCELLED, "interrupted"),
    (FrontendError("f", ["no"]), ErrorCode.UNIMPLEMENTED, None),
    (ProcessError("it is gone"), ErrorCode.INTERNAL, "it is gone"),
    (ValueError(), ErrorCode.INVALID_ARGUMENT, "ValueError"),
    (KeyError("x"), ErrorCode.INTERNAL, "KeyError: 'x'"),
    (ZeroDivisionError(), ErrorCode.INTERNAL, "ZeroDivisionError: ZeroDivisionError")])
def test_any_error_has_a_code(error, code, message):
    found = as_error(error)
    assert (found.code, found.message, str(found)) == (
        code, str(error) if message is None else message, found.message)


def test_an_error_that_has_a_code_stays():
    error = PjrtError(ErrorCode.NOT_FOUND, "no such")
    assert as_error(error) is error
    assert (str(error), error.code) == ("no such", 5)
    assert [code.value for code in ErrorCode] == [1, 3, 5, 8, 9, 12, 13]
