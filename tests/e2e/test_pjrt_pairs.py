"""Elements that are pairs in programs, complex numbers and integers of 64 bits, through JAX."""

import pytest

from e2e.pjrt_process import run

pytestmark = pytest.mark.extra(name="jax", default=True)


def test_integers_of_64_bits():
    run("""
        jax.config.update("jax_enable_x64", True)
        rng = np.random.default_rng(2)

        def numbers(*shape):
            return rng.integers(-2**63, 2**63, shape) >> rng.integers(0, 63, shape)

        a, b, i = numbers(4, 9), numbers(9, 3), np.array([3, 0, 3])
        def f(a, b, i):
            turns = jax.lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 3 + s[0]),
                                       (jnp.int64(0), a))
            return (a @ b, jnp.sort(a, 1), jnp.argmax(a, 1), a.sum(), a.prod(0), turns[1],
                    a[i], a.at[i].add(2**40), a.at[i].max(5), jnp.cumsum(a, 1),
                    jax.lax.cummax(a, 1), a // 7, a % (b.T[:1] | 1), a > 2**40, a.astype("float32"),
                    jax.lax.population_count(a), jax.lax.clz(a), a.view("uint64") >> 9,
                    jax.random.bits(jax.random.key(3), (5,), "uint64"))
        with np.errstate(all="ignore"):
            low = a.astype("float32")
            turns = a
            for k in range(5):
                turns = turns * 3 + k
            added, most = a.copy(), a.copy()
            np.add.at(added, i, 2**40)
            np.maximum.at(most, i, 5)
            ones = np.array([[bin(int(x) % 2**64).count("1") for x in row] for row in a])
            zeros = np.array([[64 - (int(x) % 2**64).bit_length() for x in row] for row in a])
            wanted = (a @ b, np.sort(a, 1), a.argmax(1), a.sum(), a.prod(0), turns, a[i], added,
                      most, a.cumsum(1), np.maximum.accumulate(a, 1), a // 7, a % (b.T[:1] | 1),
                      a > 2**40, low, ones, zeros, a.view("uint64") >> np.uint64(9))
        found = jax.jit(f)(a, b, i)
        assert found[-1].dtype == np.uint64 and len(set(np.asarray(found[-1]) >> 32)) == 5
        for x, y in zip(found, wanted):
            assert x.dtype == y.dtype, (x.dtype, y.dtype)
            np.testing.assert_array_equal(np.asarray(x), y)
        """, STRICT="1")


def test_integers_of_64_bits_from_device_to_device():
    run("""
        from jax.sharding import NamedSharding, PartitionSpec as P
        jax.config.update("jax_enable_x64", True)
        mesh = jax.make_mesh((2, 2), ("x", "y"))
        a = np.arange(32).reshape(8, 4) * 2**40 - 2**41
        x = jax.device_put(a, NamedSharding(mesh, P("x", "y")))
        y, total = jax.jit(lambda x: (x * 3, x.sum()))(x)
        assert y.sharding.spec == P("x", "y"), y.sharding
        np.testing.assert_array_equal(np.asarray(y), a * 3)
        assert int(total) == a.sum()
        def each(x):
            return (jax.lax.psum(x, "x"), jax.lax.pmax(x, "x"),
                    jax.lax.ppermute(x, "x", [(0, 1), (1, 0)]))
        total, most, turned = jax.jit(jax.shard_map(
            each, mesh=mesh, in_specs=P("x", "y"), out_specs=(P(None, "y"), P(None, "y"),
                                                              P("x", "y"))))(x)
        np.testing.assert_array_equal(np.asarray(total), a[:4] + a[4:])
        np.testing.assert_array_equal(np.asarray(most), np.maximum(a[:4], a[4:]))
        np.testing.assert_array_equal(np.asarray(turned), np.roll(a, 4, 0))
        """, DEVICES="4", STRICT="1")


def test_complex_arrays_on_several_devices():
    run("""
        from jax.sharding import NamedSharding, PartitionSpec as P
        mesh = jax.make_mesh((2, 2), ("x", "y"))
        cut = NamedSharding(mesh, P("x", "y"))
        a = (np.arange(16).reshape(4, 4) * (1 + 2j)).astype(np.complex64)
        x = jax.device_put(a, cut)
        y = jax.jit(lambda x: jnp.matmul(x, x, precision="highest", out_sharding=cut) + x)(x)
        assert y.sharding.spec == P("x", "y"), y.sharding
        np.testing.assert_allclose(np.asarray(y), a @ a + a)
        def each(x, y, z):
            return jax.lax.psum(x * y, "x") + z, x
        total, same = jax.jit(jax.shard_map(
            each, mesh=mesh, in_specs=(P("x", "y"), P("x", "y"), P()),
            out_specs=(P(None, "y"), P("x", "y"))))(x, x.real, np.complex64(2j))
        np.testing.assert_allclose(np.asarray(total), (a * a.real)[:2] + (a * a.real)[2:] + 2j)
        np.testing.assert_array_equal(np.asarray(same), a)
        """, DEVICES="4", STRICT="1")
