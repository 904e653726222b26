"""The whole way: functions of JAX, compiled by the compiler itself, on the golden model."""

import math
import sys
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celosia
from celosia import CompileError, OutOfDeviceMemory
from celosia.compiler import cache
from celosia.driver.model import ModelTransport
from celosia.graph import interpret, parse

RNG = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    cache.clear()
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def loss(params, x, labels):
    hidden = jax.nn.relu(x @ params["w1"] + params["b1"])
    scores = jax.nn.log_softmax(hidden @ params["w2"])
    return -jnp.mean(jnp.sum(scores * jax.nn.one_hot(labels, 10), axis=-1))


def step(params, x, labels):
    value, gradients = jax.value_and_grad(loss)(params, x, labels)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, gradients), value


PARAMS = {"w1": normal(20, 24) * 0.2, "b1": np.zeros(24, np.float32), "w2": normal(24, 10) * 0.2}
BATCH = normal(16, 20), RNG.integers(0, 10, 16).astype(np.int32)


def test_training_follows_jax():
    params = wanted = PARAMS
    with celosia.jit(step, strict=True) as on_chip:
        for _ in range(4):
            params, value = on_chip(params, *BATCH)
            wanted, right = jax.jit(step)(wanted, *BATCH)
            assert float(value) == pytest.approx(float(right), rel=0.02)
        assert len(on_chip._entries) == 1
    assert float(value) < 0.8 * float(loss(PARAMS, *BATCH))
    for name, found in params.items():
        np.testing.assert_allclose(found, wanted[name], atol=0.05)


def test_saved_program_does_the_same(tmp_path):
    f = celosia.jit(step)
    compiled = f.lower(PARAMS, *BATCH)
    compiled.save(tmp_path / "step.celosia")
    back = celosia.compiled.load(tmp_path / "step.celosia")
    args = (*jax.tree.leaves(PARAMS), *BATCH)
    for found, wanted in zip(back(*args), compiled(*args), strict=True):
        np.testing.assert_array_equal(found, wanted, strict=True)
    assert back.report() == compiled.report()
    with celosia.open("model", "edge") as device, pytest.raises(
            ValueError, match="step must run on the chip that it was compiled for, core, not on"):
        back.load(device)


def test_report_is_what_happens():
    with celosia.jit(step) as f:
        report = f.lower(PARAMS, *BATCH).report(json=True)
        f(PARAMS, *BATCH)
        assert report["cycles"] == f.cycles
    macs = 16 * 20 * 24 * 2 + 16 * 24 * 10 * 3  # no gradient of x
    assert report["macs"] == macs
    assert report["utilisation"] == pytest.approx(macs / 256 / f.cycles)
    assert all(work["where"] == "chip" and work["reason"] for work in report["works"])
    assert sum(work["cycles"] for work in report["works"]) > 0.9 * f.cycles
    assert {each["name"] for each in report["memory"]} > {"x", "labels"}


MIXED = """graph mixed(
  %0: i32[5,20] "i",
  %1: u32[5,20] "u",
  %2: bool[5,20] "p",
  %3: u8[5,20] "b",
  %4: i16[5,20] "s"
) {
  %5 = compare(%0, %0) direction=lt : bool[5,20]
  %6 = xor(%5, %2) : bool[5,20]
  %7 = multiply(%1, %1) : u32[5,20]
  %8 = convert(%3) dtype=i32 : i32[5,20]
  %9 = add(%8, %0) : i32[5,20]
  %10 = convert(%9) dtype=u8 : u8[5,20]
  %11 = select(%2, %4, %4) : i16[5,20]
  return %6, %7, %10, %11, %2
}
"""


@pytest.mark.parametrize("config", ["nano", "edge", "core", "v2"])
def test_integers_of_every_width(config):
    graph = parse(MIXED)
    args = []
    for value in graph.params:
        dtype = value.dtype.numpy
        args.append(RNG.integers(0, 2, value.shape) > 0 if dtype.kind == "b" else RNG.integers(
            np.iinfo(dtype).min, np.iinfo(dtype).max, value.shape, dtype, endpoint=True))
    for found, wanted in zip(celosia.compile(graph, config)(*args), interpret(graph, args),
                             strict=True):
        np.testing.assert_array_equal(found, wanted, strict=True)


def test_state_stays_on_the_device():
    text = """graph add(
  %0: f32[8,32] "state" donated,
  %1: f32[8,32] "x"
) {
  %2 = add(%0, %1) : f32[8,32]
  return %2
}
"""
    with celosia.open("model", "core") as device:
        executable = celosia.compile(parse(text)).load(device)
        x = normal(8, 32)
        state = wanted = normal(8, 32)
        for _ in range(3):
            (state,) = executable.run(state, x)
            wanted = wanted + x
        np.testing.assert_array_equal(state.numpy(), wanted)


def test_too_little_memory():
    f = celosia.jit(lambda x, w: x @ w, memory_bytes=1 << 16)
    with f, pytest.raises(OutOfDeviceMemory, match=r"its largest tensors are w f32\[128,128\] \("
                                                   r"65,536 bytes\)"):
        f(normal(8, 128), normal(128, 128))
    np.testing.assert_allclose(f(normal(2, 3), np.zeros((3, 3), np.float32)), 0)
    f.close()
    text = f.lower(normal(8, 128), normal(128, 128))
    assert text.program.arena_bytes > 1 << 16
    graph = parse("""graph big(%0: f32[64,64] "x") {
  %1 = add(%0, %0) : f32[64,64]
  return %1
}
""")
    with pytest.raises(CompileError, match="must fit 20000 bytes of external memory, not "
                                           "need 32768"):
        celosia.compile(graph, options={"memory": 20000})


def test_a_chip_without_bf16_says_so():
    with celosia.jit(lambda x: x * 2.0, "nano") as f:
        with pytest.raises(CompileError, match=r"needs formats that nano does not have \(it has "
                                               r"int8\):\n  .*test_whole.py:\d+:\d+ .*multiply"):
            f(normal(4))
        assert f._loaded.opened is None
        with pytest.raises(CompileError, match="needs formats"):
            f(normal(4))


def test_host_operations_are_listed():
    with celosia.jit(lambda x: jnp.sort(x), strict=True) as f, pytest.raises(
            CompileError, match=r"strict=True allows no operation on the host, there would be:\n"
                                r"  .*test_whole.py:\d+:\d+ .*sort: more than 4,096 elem"):
        f(normal(5000))


def test_dispatch_takes_little(monkeypatch):
    """Counted in calls of functions, which no machine and no neighbour changes."""
    found = Counter[bool]()
    inside = [False]
    finish = ModelTransport._finish

    def work(self, *arguments):
        inside[0] = True
        finish(self, *arguments)
        inside[0] = False

    monkeypatch.setattr(ModelTransport, "_finish", work)
    monkeypatch.setattr("celosia.driver.status._PACE", math.inf)  # it goes by the clock
    before = sys.getprofile()
    with celosia.jit(step) as f:
        f(PARAMS, *BATCH)
        sys.setprofile(lambda frame, event, argument: found.update(
            [inside[0]] if event in ("call", "c_call") and frame.f_code is not work.__code__
            else ()))
        try:
            f(PARAMS, *BATCH)
        finally:
            sys.setprofile(before)
    assert found[True] > 0
    assert found[False] < 1000
