"""What else JAX asks a plugin for: addresses, DLPack, serialised programs, facts of programs."""

import pytest

from e2e.pjrt_process import run

pytestmark = pytest.mark.extra(name="jax", default=True)


def test_arrays_for_other_libraries():
    run("""
        import ctypes
        x = jnp.arange(4, dtype=jnp.float32) * 2
        at = x.unsafe_buffer_pointer()
        assert at == x.unsafe_buffer_pointer()
        assert list((ctypes.c_float * 4).from_address(at)) == [0, 2, 4, 6]
        # No two arrays have one place, whatever a program does with them.
        y = jax.jit(lambda x: x)(x)
        z, w = jax.jit(lambda x: (x, x))(x)
        assert len({each.unsafe_buffer_pointer() for each in (x, y, z, w)}) == 4
        found = np.from_dlpack(x)
        assert found.tolist() == [0, 2, 4, 6]
        found = np.from_dlpack(jnp.arange(6).reshape(2, 3)[:, 1])
        assert found.tolist() == [1, 4]
        x.delete()
        try:
            x.unsafe_buffer_pointer()
            raise AssertionError
        except RuntimeError as error:
            assert "deleted" in str(error), error
        """)


def test_arrays_of_other_libraries():
    run("""
        y = jnp.from_dlpack(np.arange(4, dtype=np.float32))
        assert y.devices() == set(jax.devices("cpu"))
        z = jax.device_put(y, jax.devices("celosia")[0])
        assert (np.asarray(jax.dlpack.from_dlpack(z * 2)) == [0, 2, 4, 6]).all()
        """, platforms="celosia,cpu")


def test_programs_are_serialised():
    run("""
        from jax.experimental import serialize_executable
        compiled = jax.jit(lambda x: x * 2 + 1).lower(jnp.ones(3)).compile()
        loaded = serialize_executable.deserialize_and_load(
            *serialize_executable.serialize(compiled), execution_devices=jax.devices()[:1])
        assert np.asarray(loaded(jnp.arange(3.))).tolist() == [1, 3, 5]
        mesh = jax.make_mesh((2,), ("x",))
        cut = jax.sharding.NamedSharding(mesh, jax.P("x"))
        x = jax.device_put(jnp.arange(4.), cut)
        compiled = jax.jit(lambda x: x + x.sum()).lower(x).compile()
        loaded = serialize_executable.deserialize_and_load(
            *serialize_executable.serialize(compiled))
        assert np.asarray(loaded(x)).tolist() == [6, 7, 8, 9]
        """, DEVICES="2")


def test_facts_of_programs_and_options():
    run("""
        lowered = jax.jit(lambda x: x @ x, donate_argnums=0).lower(jnp.ones((8, 8)))
        compiled = lowered.compile()
        assert compiled.as_text().startswith("HloModule jit__lambda")
        assert compiled.cost_analysis()["flops"] == 1024
        assert compiled.memory_analysis().argument_size_in_bytes == 256
        assert lowered.compile(compiler_options={"xla_embed_ir_in_executable": True})
        try:
            lowered.compile(compiler_options={"invalid_key": "value"})
            raise AssertionError
        except jax.errors.JaxRuntimeError as error:
            assert "No such compile option: 'invalid_key'" in str(error), error
        x = jnp.ones((8, 8))
        before = len(jax.live_arrays())
        y = compiled(x)
        assert x.is_deleted() and len(jax.live_arrays()) == before
        """)


def test_sums_that_are_not_formed_yet():
    run("""
        from jax.sharding import AxisType, NamedSharding
        mesh = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Explicit,))
        with jax.set_mesh(mesh):
            a = jax.device_put(jnp.arange(8.).reshape(2, 4), NamedSharding(mesh, jax.P(None, "x")))
            b = jax.device_put(jnp.arange(12.).reshape(4, 3), NamedSharding(mesh, jax.P("x", None)))

            @jax.jit
            def f(a, b):
                part = jnp.einsum("ij,jk->ik", a, b, out_sharding=jax.P(unreduced={"x"}))
                assert part.aval.sharding.spec.unreduced == {"x"}
                return jax.reshard(part + part, jax.P())

            found = np.asarray(f(a, b))
        wanted = 2 * np.arange(8.).reshape(2, 4) @ np.arange(12.).reshape(4, 3)
        np.testing.assert_allclose(found, wanted, rtol=1e-2)
        """, DEVICES="2")


def test_sums_of_what_each_device_does():
    run("""
        from functools import partial
        from jax.sharding import AxisType
        mesh = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Explicit,))
        with jax.set_mesh(mesh):
            @jax.jit
            @partial(jax.shard_map, in_specs=jax.P("x"), out_specs=jax.P(unreduced={"x"}))
            def part(x):
                return jnp.sum(x, keepdims=True) * jnp.ones((3,))

            @jax.jit
            @partial(jax.shard_map, in_specs=jax.P(unreduced={"x"}), out_specs=jax.P())
            def total(x):
                return jax.lax.psum(x, "x")

            x = jax.device_put(jnp.arange(4.), jax.P("x"))
            y = part(x)
            assert y.sharding.spec.unreduced == {"x"}, y.sharding
            assert np.asarray(total(y)).tolist() == [6, 6, 6]
            parts = [np.asarray(each.data) for each in y.addressable_shards]
            assert sum(parts).tolist() == [6, 6, 6]
            doubled = jax.jit(lambda x: jax.reshard(x + x, jax.P()))(y)
            assert np.asarray(doubled).tolist() == [12, 12, 12]
        """, DEVICES="2")
