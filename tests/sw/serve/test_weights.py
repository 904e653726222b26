"""Which argument is which weight."""

import re

import ml_dtypes
import numpy as np
import pytest

import celosia
from celosia.graph import parse
from celosia.serve.weights import bind, find, read

GRAPH = """graph net(
  %0: f32[2,3] "params['w']",
  %1: bf16[3] "state['w']",
  %2: i8[3] "params['scale']",
  %3: f32[4,2] "x"
) {
  return %0, %1, %2, %3
}"""


@pytest.fixture(scope="module")
def net():
    return celosia.compile(parse(GRAPH), "core", cache=False)


@pytest.mark.parametrize(("key", "number"), [
    ("params['w']", 0), ("state['w']", 1), ("scale", 2), ("x", 3), ("2", 2), ("arr_1", 1), (3, 3)])
def test_keys(net, key, number):
    assert find(net.inputs, key, "it") == number


@pytest.mark.parametrize(("key", "message"), [
    ("w", "it must mean one argument, not params['w'] and state['w'], as 'w' does"),
    ("4", "it must be an argument from 0 to 3, not '4'"),
    (-1, "it must be an argument from 0 to 3, not -1"),
    (True, "it must be a name or a number, not True"),
    ("params['v']", ("it must be an argument of the program (params['w'], state['w'], "
                     "params['scale'], x), not \"params['v']\"; do you mean \"params['w']\"?")),
])
def test_keys_that_mean_nothing(net, key, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        find(net.inputs, key, "it")


def test_arrays_become_those_of_the_program(net):
    bound = bind(net, {0: np.ones((2, 3)), "state['w']": np.array([1, 2, 3], np.float16),
                       "scale": np.array([1, 2, -3], np.int64)})
    assert {number: array.dtype for number, array in bound.items()} == {
        0: np.float32, 1: ml_dtypes.bfloat16, 2: np.int8}
    assert bound[2].tolist() == [1, 2, -3]


def test_a_file_keeps_bfloat16(net, tmp_path):
    array = np.array([1, 2.5, -3], ml_dtypes.bfloat16)
    np.savez(tmp_path / "w.npz", arr_1=array)
    assert bind(net, read(tmp_path / "w.npz"))[1].tobytes() == array.tobytes()


@pytest.mark.parametrize(("weights", "message"), [
    ({0: np.ones((3, 2), np.float32)},
     "weight params['w'] of net must be float32[2, 3], not float32[3, 2]"),
    ({"scale": np.array([1, 2, 300])}, ("weight params['scale'] of net must be int8[3], "
                                        "not int64[3]")),
    ({"scale": np.ones(3)}, "weight params['scale'] of net must be int8[3], not float64[3]"),
    ({0: np.ones((2, 3), int)}, "weight params['w'] of net must be float32[2, 3], not int64[2, 3]"),
    ({2: np.ones(3, np.int8), "scale": np.ones(3, np.int8)},
     "weights of net must be given once: there are two for params['scale']"),
])
def test_arrays_that_do_not_fit(net, weights, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        bind(net, weights)
