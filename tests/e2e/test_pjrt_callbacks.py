"""Functions of the host that programs of JAX call, in processes of their own."""

import pytest

from e2e.pjrt_process import run

pytestmark = pytest.mark.extra(name="jax", default=True)


def test_calls_in_loops_and_branches():
    """Without the CPU of JAX, and without any fallback to the host."""
    ended = run("""
        from jax.experimental import io_callback

        def program(x):
            def turn(i, v):
                jax.debug.print("i {} {}", i, v[0, 0], ordered=True)
                v = jax.lax.fori_loop(0, 2, lambda j, w: (
                    jax.debug.print(" j {} {}", j, w[0, 0], ordered=True), w + 1)[1], v)
                return jax.lax.cond(i == 9, lambda v: (
                    jax.debug.print("  last {}", i), v @ v)[1], lambda v: v, v)
            return jax.lax.fori_loop(0, 10, turn, x)

        print(jax.jit(program)(jnp.eye(2))[0])
        jax.effects_barrier()

        @jax.jit
        def several(x):
            y = jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x * 2) + 1
            z = io_callback(lambda a: a * np.complex64(1j), jax.ShapeDtypeStruct((), np.complex64),
                            jnp.complex64(2))
            return y, z

        y, z = several(jnp.arange(3.))
        np.testing.assert_allclose(y, np.sin([0, 2, 4]) + 1, rtol=1e-6)
        assert z == 2j

        with jax.enable_x64(True):
            wide = np.array([2**40, -3])
            @jax.jit
            def longer(x):
                jax.debug.print("wide {}", x, ordered=True)
                return jax.pure_callback(lambda x: np.asarray(x) * 5,
                                         jax.ShapeDtypeStruct((2,), np.int64), x - 1)
            np.testing.assert_array_equal(longer(wide), (wide - 1) * 5)
            jax.effects_barrier()

        count = jax.lax.while_loop(lambda c: (jax.debug.print("test {}", c), c < 2)[1],
                                   lambda c: c + 1, 0)
        assert count == 2
        jax.debug.print("eager {}", jnp.ones(2))
    """, STRICT="1")
    lines = []
    for i in range(10):
        first = 2 * i + 1
        lines += [f"i {i} {first}.0", f" j 0 {first}.0", f" j 1 {first + 1}.0",
                  *(["  last 9"] if i == 9 else [])]
    assert ended.stdout.splitlines() == [
        *lines, f"[{21 * 21 + 20 * 20}. {2 * 21 * 20}.]",
        "wide [1099511627776            -3]", "test 0", "test 1", "test 2",
        "eager [1. 1.]"]
    assert ended.stderr == ""


def test_order_errors_and_transformations():
    run("""
        from jax.experimental import io_callback
        log = []

        def sums(x):
            def turn(c, a):
                jax.debug.callback(lambda c, a: log.append((float(c), float(a))), c, a,
                                   ordered=True)
                return c + a, c
            return jax.lax.scan(turn, 0., x)

        jax.jit(sums)(jnp.arange(3.))
        jax.effects_barrier()
        assert log == [(0, 0), (0, 1), (1, 2)], log
        log.clear()

        # more than one program, and a loop whose count is not known
        grows = jax.jit(lambda x: jax.lax.while_loop(
            lambda c: c[1] < 10, lambda c: (io_callback(lambda i: log.append(int(i)), None, c[0],
                                            ordered=True), (c[0] + 1, c[1] * 2))[1], (0, x)))
        assert [int(each) for each in (*grows(1.), *grows(4.))] == [4, 16, 2, 16]
        jax.effects_barrier()
        assert log == [0, 1, 2, 3, 0, 1], log
        log.clear()

        def square(x):
            jax.debug.callback(lambda x: log.append(float(x)), x)
            return x ** 2

        assert jax.jit(jax.grad(square))(3.) == 6
        jax.jit(jax.vmap(square))(jnp.arange(3.)).block_until_ready()
        jax.effects_barrier()
        assert log == [3, 0, 1, 2], log

        # A function may compute: on the host.
        scalar = jax.ShapeDtypeStruct((), np.float32)
        sine = lambda x: jax.pure_callback(jnp.sin, scalar, x, vmap_method="sequential")
        np.testing.assert_allclose(jax.vmap(sine)(jnp.arange(3.)), np.sin(np.arange(3)), rtol=1e-6)

        def error(run):
            try:
                run()
                jax.effects_barrier()
            except Exception as error:
                return str(error)
            raise AssertionError("an error must come")

        def fail(x):
            raise KeyError("mine")

        for call in (lambda: float(jax.jit(lambda x: jax.pure_callback(fail, scalar, x))(1.)),
                     lambda: jax.jit(lambda x: jax.debug.callback(fail, x))(1.)):
            text = error(call)
            assert "a function of the host that the program calls raised KeyError: 'mine'" in text
            assert "in fail" in text, text
        two = lambda x: jax.pure_callback(lambda x: np.ones(2, np.float32), scalar, x)
        assert "must be f32[], not f32[2]" in error(lambda: float(jax.jit(two)(1.)))
        assert float(jax.jit(lambda x: x + 1)(1.)) == 2
    """, platforms="celosia,cpu")


def test_devices():
    run("""
        from jax.experimental import io_callback
        from jax.sharding import NamedSharding, PartitionSpec as P
        log = []
        mesh = jax.make_mesh((2,), ("x",))
        x = jax.device_put(jnp.arange(4.), NamedSharding(mesh, P("x")))

        def whole(x):
            jax.debug.callback(lambda x: log.append(list(x)), x)
            y = io_callback(lambda x: x * 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x + 1)
            return y.sum() + x

        assert list(jax.jit(whole)(x)) == [20, 21, 22, 23]
        jax.effects_barrier()
        assert log == [[0, 1, 2, 3]], log
        log.clear()

        def part(x):
            jax.debug.callback(lambda x: log.append(list(x)), x)
            return x * 2

        mapped = jax.jit(jax.shard_map(part, mesh=mesh, in_specs=P("x"), out_specs=P("x")))
        assert list(mapped(x)) == [0, 2, 4, 6]
        jax.effects_barrier()
        assert sorted(log) == [[0, 1], [2, 3]], log
    """, DEVICES="2")


def test_computing_on_the_chip_that_waits_is_an_error():
    run("""
        scalar = jax.ShapeDtypeStruct((), np.float32)
        try:
            jax.jit(lambda x: jax.pure_callback(jnp.sin, scalar, x))(1.).block_until_ready()
        except Exception as error:
            assert "which waits for it: with JAX_PLATFORMS=celosia,cpu" in str(error), error
        else:
            raise AssertionError("an error must come")
    """)
