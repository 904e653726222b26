"""`celosia.jit` around functions that only pass arrays on."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celosia
import copy_build
from celosia import DeviceError
from celosia.compiler.jit import Jitted
from celosia.graph import fingerprint, parse

jax.config.update("jax_platforms", "cpu")
pytestmark = pytest.mark.extra(name="jax", default=True)
X = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture(autouse=True)
def copying(monkeypatch, tmp_path):
    """Programs that copy, in place of the compiler's own."""
    copy_build.use(monkeypatch, tmp_path / "cache")
    return copy_build


def test_pytrees(copying):
    @celosia.jit
    def f(params, *, extra):
        return {"b": extra, "all": [params["w"], (params["n"], None)]}

    n = np.array([1, 2], np.int32)
    assert isinstance(f, Jitted)
    assert f.__name__ == "f"
    with f:
        found = f({"w": X, "n": n}, extra=jnp.float32(3))
    assert jax.tree_util.tree_structure(found) == jax.tree_util.tree_structure(
        {"b": 0, "all": [0, (0, None)]})
    assert isinstance(found["b"], np.ndarray)
    assert found["b"] == 3
    np.testing.assert_array_equal(found["all"][0], X, strict=True)
    np.testing.assert_array_equal(found["all"][1][0], n, strict=True)


def test_one_program_for_each_kind_of_arguments(copying):
    with celosia.jit(lambda x: x) as f:
        for _ in range(3):
            f(X)
            f(X.T)
            f(X.astype(np.int32))
        assert len(f._entries) == len(copying.calls) == 3
        assert f.cycles == f.counters["cycles"] > 0


def test_wide_inputs_are_cut_as_jax_does():
    with celosia.jit(lambda x, n: (x, n)) as f:
        x, n = f(X.astype(np.float64), np.array([1, -2]))
        assert (x.dtype, n.dtype) == (np.float32, np.int32)
        np.testing.assert_array_equal(x, X)
        x, n = f(1.5, 3)
        assert (x.dtype, n.dtype, x.shape) == (np.float32, np.int32, ())
        assert (float(x), int(n)) == (1.5, 3)
        assert f(True, 2.0)[0].dtype == np.bool_
        x, n = f(2.5, 4)
        assert (float(x), int(n)) == (2.5, 4)
        with pytest.raises(OverflowError):
            f(1.5, 1 << 40)


def test_arguments_without_use_stay_arguments():
    with celosia.jit(lambda x, y, z: (z, x)) as f:
        z, x = f(X, X + 1, X + 2)
        np.testing.assert_array_equal(x, X)
        np.testing.assert_array_equal(z, X + 2)


def test_keys():
    with celosia.jit(lambda key, x: (x, key)) as f:
        key = jax.random.key(5)
        x, back = f(key, X)
        assert back.dtype == key.dtype
        np.testing.assert_array_equal(jax.random.key_data(back), jax.random.key_data(key))
        assert f(back, X)[1] == key


def test_static_arguments(copying):
    def pick(which, x, y, name="x"):
        return (x, y) if which == name else (y,)

    with celosia.jit(pick, static_argnums=(0,), static_argnames="name") as f:
        assert len(f("x", X, X + 1)) == 2
        assert len(f("y", X, X + 1)) == 1
        assert len(f("y", X, X + 1, name="y")) == 2
        assert len(f(which="x", x=X, y=X + 1)) == 2
        assert len(f("x", X, X + 1, "z")) == 1
        with pytest.raises(ValueError, match=r"static arguments of pick must be hashable"):
            f([], X, X)
    with celosia.jit(pick) as f, pytest.raises(
            ValueError, match="arguments must be arrays or numbers, or static, not 'x'"):
        f("x", X, X)


def test_static_arguments_of_other_types_are_others(copying):
    def pick(x, y, which):
        return x if isinstance(which, bool) else y

    with celosia.jit(pick, static_argnums=2) as f:
        for which in (1, True, 1.0, 1, True):
            wanted = jax.jit(pick, static_argnums=2)(X, X + 1, which)
            np.testing.assert_array_equal(f(X, X + 1, which), wanted)
        assert len(f._traced) == 3


def test_what_jax_traces_once_is_one_program():
    traced = []

    def f(x):
        traced.append(x.weak_type)
        return x

    with celosia.jit(f) as on_chip:
        for x in (1.5, 2.5, jnp.asarray(2.5), np.float32(1.5), jnp.float32(3)):
            assert on_chip(x) == x
        assert traced == [True, False]  # numbers and what is made of them; arrays
        assert len(on_chip._traced) == 2
        assert len(on_chip._entries) == 3


@pytest.mark.parametrize(("mode", "value"), [
    ("jax_numpy_dtype_promotion", "strict"), ("jax_numpy_rank_promotion", "raise"),
    ("jax_default_matmul_precision", "highest")])
def test_settings_of_jax_that_change_what_is_traced(mode, value):
    traced = []
    before = getattr(jax.config, mode)
    with celosia.jit(lambda x: traced.append(0) or x) as f:
        f(X)
        jax.config.update(mode, value)
        try:
            f(X)
            f(X)
        finally:
            jax.config.update(mode, before)
        f(X)
    assert len(traced) == 2


def test_what_is_closed_over_is_as_it_was_when_traced():
    box = [0]
    with celosia.jit(lambda x, y: (x, y)[box[0]]) as f:
        for box[0] in (0, 1):
            np.testing.assert_array_equal(f(X, X + 1), X)
        np.testing.assert_array_equal(f(X[0], X[1]), X[1])


def test_donated_arguments_stay_valid():
    with celosia.jit(lambda x, y: (x, y), donate_argnums=(0,), donate_argnames="y") as f:
        x = jnp.asarray(X)
        for _ in range(2):
            np.testing.assert_array_equal(f(x, X)[0], x)


def test_what_jax_has_lowered_stays_as_it_was(monkeypatch):
    def f(x):
        return jax.scipy.special.digamma(x)  # becomes other operations where it is imported

    def text():
        return jax.jit(f, keep_unused=True).trace(X).lower(lowering_platforms=("cpu",)).as_text()

    before = text()
    assert "chlo.digamma" in before
    graphs = []
    copied = celosia.compile(parse('graph f(\n  %0: f32[3,4] "x"\n) {\n  return %0\n}\n'))
    monkeypatch.setattr("celosia.compiler.api.compile", lambda graph, *args, **options: (
        graphs.append(graph) or copied))
    for _ in range(2):
        celosia.jit(f).lower(X)
    assert text() == before
    assert len({fingerprint(graph) for graph in graphs}) == 1


def test_lower_runs_nothing(copying):
    f = celosia.jit(lambda x: x)
    compiled = f.lower(jax.ShapeDtypeStruct((3, 4), np.float32))
    assert f._loaded.opened is None
    assert compiled.inputs[0].label == "x"
    assert "takes         x f32[3,4]" in compiled.report()
    with f:
        f(X)
        assert len(copying.calls) == 1


def test_device_stays_open_until_it_is_closed():
    f = celosia.jit(lambda x: x)
    f(X)
    device = f.device
    f(X)
    assert f.device is device
    assert not device.closed
    f.close()
    assert device.closed
    np.testing.assert_array_equal(f(X), X)  # on another one
    f.device.close()  # behind its back
    np.testing.assert_array_equal(f(X), X)
    f.close()
    f.close()


def test_device_of_the_caller():
    with celosia.open("model", "edge") as device:
        before = device.free_bytes
        with celosia.jit(lambda x: x, device=device) as f:
            assert f.config.name == "edge"
            np.testing.assert_array_equal(f(X), X)
            assert device.free_bytes < before
        assert not device.closed
        assert device.free_bytes == before
        with pytest.raises(ValueError, match="config must be that of the device, edge, not core"):
            celosia.jit(lambda x: x, "core", device=device)
        f = celosia.jit(lambda x: x, device=device)
        f(X)
    with pytest.raises(DeviceError, match="must be open, it is closed"):
        f(X)


def test_programs_make_room_for_each_other():
    with celosia.jit(lambda x: x, memory_bytes=1 << 16) as f:
        for rows in (4, 1500, 1501, 4):
            x = np.ones((rows, 4), np.float32)
            np.testing.assert_array_equal(f(x), x)
        assert len(f._loaded) == 2


def test_programs_are_loaded_again_after_a_reset():
    with celosia.jit(lambda x: x) as f:
        f(X)
        f.device.reset()
        np.testing.assert_array_equal(f(X), X)
        f.device.reset()


def test_not_inside_a_transformation():
    with celosia.jit(lambda x: x) as f, pytest.raises(
            ValueError, match="put jax.grad and the like inside it"):
        jax.jit(lambda x: f(x))(X)


def test_decorator_with_arguments():
    @celosia.jit(config="edge", strict=True, donate_argnums=0)
    def f(x):
        return x

    assert f.config.name == "edge"
    with f:
        np.testing.assert_array_equal(f(X), X)
    with pytest.raises(ValueError, match="function must be callable, not 3"):
        celosia.jit(3)
    with pytest.raises(ValueError, match="backend must be one of"):
        celosia.jit(lambda x: x, backend="gpu")(X)
