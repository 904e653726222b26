"""Compiled programs on a device: arguments, results, state, and what goes wrong."""

import ml_dtypes
import numpy as np
import pytest

import celosia
from celosia import ChipFault, OutOfDeviceMemory, StaleHandle
from celosia.arch.config import preset
from celosia.graph import parse

GRAPH = """graph pass(
  %0: f32[4,16] "x",
  %1: i32[3] "n"
) {
  return %1, %0
}
"""
TYPES = ["bool", "i8", "u8", "i16", "u16", "i32", "u32", "f32", "bf16"]


@pytest.fixture
def pair(copying):
    return celosia.compile(parse(GRAPH))


@pytest.fixture
def device():
    with celosia.open("model", "core", memory_bytes=1 << 20) as device:
        yield device


def one(type: str, shape="[3,16]", donated="") -> str:
    return f'graph one(\n  %0: {type}{shape} "x"{donated}\n) {{\n  return %0\n}}\n'


X = np.arange(64, dtype=np.float32).reshape(4, 16)
N = np.array([1, -2, 3], np.int32)


def check_pair(results):
    n, x = results
    np.testing.assert_array_equal(x, X, strict=True)
    np.testing.assert_array_equal(n, N, strict=True)


@pytest.mark.parametrize(("type", "config"), [
    (type, config) for type in TYPES for config in ("core", "edge", "v2")
    if (type, config) != ("bf16", "edge")])
def test_every_type_comes_back(copying, type, config):
    chip = preset(config)
    columns = min(chip.dim, 16)
    graph = parse(one(type, f"[3,{columns}]"))
    dtype = graph.params[0].dtype.numpy
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = np.linspace(info.min, info.max, 3 * columns).astype(np.int64)
        values = np.clip(values, info.min, info.max).astype(dtype)
    elif dtype.kind == "b":
        values = np.random.default_rng(1).random(3 * columns) < 0.5
    else:
        values = np.random.default_rng(1).standard_normal(3 * columns).astype(dtype)
    values = values.reshape(3, columns)
    (found,) = celosia.compile(graph, config)(values)
    np.testing.assert_array_equal(found, values, strict=True)
    found += found  # the caller's own


@pytest.mark.parametrize("config", ["core", "v2"])
def test_bools_lie_as_0_and_minus_1(copying, config):
    compiled = celosia.compile(parse(one("bool", "[4]")), config)
    with celosia.open("model", config) as device:
        executable = compiled.load(device)
        executable(np.array([True, False, True, True]))
        words = device.get(executable._steps[0][0].loaded.array("in0"))
        assert words.dtype == (np.int8 if config == "core" else np.int32)
        assert words.tolist() == [-1, 0, -1, -1]


def test_call_opens_a_model_once(pair):
    check_pair(pair(X, N))
    own = pair._own
    check_pair(pair(X, N))
    assert pair._own is own
    assert own.cycles > 0


def test_run_leaves_the_device_as_it_was(pair, device):
    before = device.free_bytes
    check_pair(pair.run(device, X, N))
    check_pair(pair(X, N, device=device))
    assert device.free_bytes == before


def test_executable_stays_loaded(pair, device):
    before = device.free_bytes
    with pair.load(device) as executable:
        for _ in range(3):
            check_pair(executable(X, N))
        assert executable.runs == 3
        assert executable.counters["cycles"] == executable.cycles
    assert device.free_bytes == before
    with pytest.raises(StaleHandle, match="it has been freed"):
        executable(X, N)


def test_arguments_may_be_what_numpy_takes(pair, copying):
    check_pair(pair(np.asfortranarray(X), np.repeat(N, 2)[::2]))
    readonly = X.copy()
    readonly.flags.writeable = False
    check_pair(pair(readonly, N))
    scalar = celosia.compile(parse(one("f32", "[]")))
    assert scalar(3)[0] == 3.0
    assert scalar(np.float32(2.5))[0].shape == ()
    assert celosia.compile(parse(one("i8", "[]")))(-128)[0] == -128
    assert celosia.compile(parse(one("bool", "[]")))(True)[0]


@pytest.mark.parametrize(("args", "message"), [
    ((X,), "pass must be called with 2 arguments (x, n), not 1"),
    ((X, N, N), "pass must be called with 2 arguments (x, n), not 3"),
    ((X[:3], N), "argument 0 of pass, x, must be float32[4, 16], not float32[3, 16]"),
    ((X, N.astype(np.int64)), "argument 1 of pass, n, must be int32[3], not int64[3]"),
    ((X.astype(ml_dtypes.bfloat16), N), ("argument 0 of pass, x, must be float32[4, 16], "
                                        "not bfloat16[4, 16]")),
    ((X, "abc"), "argument 1 of pass, n, must be int32[3], not <U3[]"),
    ((X, None), "argument 1 of pass, n, must be int32[3], not object[]"),
    ((X, 3), "argument 1 of pass, n, must be int32[3], not int64[]"),
])
def test_wrong_arguments(pair, device, args, message):
    executable = pair.load(device)
    check_pair(executable(X, N))
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the whole message is compared
        executable(*args)
    assert str(caught.value) == message
    assert executable.runs == 1
    check_pair(executable(X, N))


def test_argument_that_is_ragged(pair):
    with pytest.raises(ValueError, match=r"argument 1 of pass, n, must be int32\[3\], not \[1, \["):
        pair(X, [1, [2, 3]])


@pytest.mark.parametrize(("type", "value"), [
    ("i8", 128), ("u8", -1), ("i32", 1.0), ("bool", 1), ("i32", True), ("f32", True), ("f32", 1j)])
def test_numbers_that_do_not_fit(copying, type, value):
    with pytest.raises(ValueError, match="argument 0 of one, x, must be"):
        celosia.compile(parse(one(type, "[]")))(value)


def test_another_chip(pair):
    with celosia.open("model", "edge") as device:
        before = device.free_bytes
        with pytest.raises(ValueError) as caught:  # noqa: PT011  the whole message is compared
            pair.load(device)
        assert str(caught.value) == (
            "pass must run on the chip that it was compiled for, core, not on edge: dim 16 (here "
            "8), bf16 True (here False), ub_rows 16384 (here 8192), acc_rows 2048 (here 1024), "
            "bus_bytes 32 (here 8), window 16 (here 8), ibuf 128 (here 64)")
        assert device.free_bytes == before


def test_too_little_memory_names_the_largest_tensors(copying):
    compiled = celosia.compile(parse(GRAPH.replace("f32[4,16]", "f32[4096,16]")))
    with celosia.open("model", "core", memory_bytes=1 << 18) as device:
        before = device.free_bytes
        with pytest.raises(OutOfDeviceMemory) as caught:
            compiled.load(device)
        assert str(caught.value) == (
            "device memory must have 524416 bytes in one piece, not 262144 (262144 of 262144 "
            "bytes are free in all)\n  pass wants 524,416 bytes; its largest tensors are in0 "
            "f32[4096,16] (262,144 bytes), out1 f32[4096,16] (262,144 bytes), in1 i32[3] "
            "(12 bytes)")
        assert device.free_bytes == before


def test_fault_leaves_the_device_usable(copying, device):
    good = celosia.compile(parse(GRAPH)).load(device)
    bad = celosia.compile(parse(GRAPH), options={
        "more": ("load acc[0], 0xf0000000, fmt=w32, rows=1, cols=16",)}).load(device)
    check_pair(good(X, N))
    with pytest.raises(ChipFault, match="fault WINDOW"):
        bad(X, N)
    check_pair(good(X, N))
    with pytest.raises(ChipFault, match="fault WINDOW"):
        bad(X, N)


def test_results_stay_on_the_device(pair, device):
    executable = pair.load(device)
    n, x = executable.run(X, N)
    assert (n.shape, n.dtype, x.shape, x.dtype) == ((3,), np.int32, (4, 16), np.float32)
    np.testing.assert_array_equal(np.asarray(x), X)
    kept = x.keep()
    again = executable.run(x, n)  # results as arguments
    check_pair(np.asarray(each) for each in again)
    with pytest.raises(StaleHandle) as caught:
        x.numpy()
    assert str(caught.value) == ("out1 of pass must be used before the next run, or kept: it has "
                                 "been overwritten")
    check_pair(executable(kept, N))
    kept.free()
    with pytest.raises(StaleHandle, match="it has been freed"):
        executable(kept, N)
    with pytest.raises(ValueError, match=r"argument 1 of pass, n, must be int32\[3\], not float"):
        executable.run(*executable.run(X, N)[1:] * 2)


def test_results_of_another_device(pair, device):
    results = pair.load(device).run(X, N)
    with celosia.open("model", "core") as other:
        check_pair(pair.load(other)(results[1], results[0]))


class Counting:
    """A transport that counts bytes."""

    def __init__(self, transport):
        self.transport, self.bytes = transport, 0

    def __getattr__(self, name):
        return getattr(self.transport, name)

    def write_memory(self, address, data):
        self.bytes += len(data)
        self.transport.write_memory(address, data)

    def read_memory(self, address, size):
        self.bytes += size
        return self.transport.read_memory(address, size)


def test_state_in_its_place_is_not_moved(copying, device):
    executable = celosia.compile(parse(one("f32", "[4,16]", " donated"))).load(device)
    (state,) = executable.run(X)
    device.transport = executable.device.transport = counting = Counting(device.transport)
    device._chip._transport = counting
    for _ in range(3):
        (state,) = executable.run(state)
    assert counting.bytes == 0
    np.testing.assert_array_equal(state.numpy(), X)
    assert counting.bytes == X.nbytes


def test_state_goes_from_one_program_to_another_within_the_device(copying, device):
    compiled = celosia.compile(parse(one("f32", "[4,16]", " donated")))
    first, second = compiled.load(device), compiled.load(device)
    (state,) = first.run(X)
    device.transport = counting = Counting(device.transport)
    device._chip._transport = counting
    (state,) = second.run(state)
    (state,) = first.run(state)
    assert counting.bytes < 2 * X.nbytes  # instructions
    np.testing.assert_array_equal(state.numpy(), X)
    copied = first.counters
    first.run(state)  # it is there
    own = first.counters
    assert copied["bytes_read"] - own["bytes_read"] == X.nbytes
    assert copied["bytes_written"] - own["bytes_written"] == X.nbytes
    assert copied["cycles"] > own["cycles"]


def test_state_goes_by_the_host_where_the_device_is_full(copying, device):
    compiled = celosia.compile(parse(one("f32", "[4,16]", " donated")))
    first, second = compiled.load(device), compiled.load(device)
    (state,) = first.run(X)
    device.alloc(device.free_bytes, np.int8)
    (state,) = second.run(state)
    np.testing.assert_array_equal(state.numpy(), X)


def test_state_that_changes_places(copying):
    text = """graph swap(
  %0: f32[4,16] "a" donated,
  %1: f32[4,16] "b" donated
) {
  return %1, %0
}
"""
    swap = celosia.compile(parse(text))
    with celosia.open("model", "core") as device:
        executable = swap.load(device)
        results = executable.run(X, -X)
        for i in range(1, 4):
            a, b = (each.numpy() for each in results)
            np.testing.assert_array_equal(a, -X if i % 2 else X)
            np.testing.assert_array_equal(b, X if i % 2 else -X)
            results = executable.run(*results)


def test_repr(pair, device):
    executable = pair.load(device)
    assert repr(pair) == ("<pass for core: (f32[4,16], i32[3]) -> (i32[3], f32[4,16]), 5 "
                          "instructions>")
    assert repr(executable) == "<pass on core>"
    assert repr(executable.run(X, N)[0]) == "<out0 int32[3] on the device>"
