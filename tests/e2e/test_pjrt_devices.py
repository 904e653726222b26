"""Programs of JAX that run on several chips together, and chips that cannot do what is wanted."""

import pytest

from e2e.pjrt_process import run

pytestmark = pytest.mark.extra(name="jax", default=True)

_MESH = """
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    devices = jax.devices()
    mesh = Mesh(np.array(devices), ("d",))
    X = np.arange(48, dtype=np.float32).reshape(16, 3)

    def sharded(function, entering, leaving):
        return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=entering, out_specs=leaving))

    total = sharded(lambda x: jax.lax.psum(x + 1, "d"), P("d"), P())
    """


@pytest.mark.parametrize("backend", [
    "model", pytest.param("rtl", marks=pytest.mark.slow)])
def test_links_leave_nothing_to_the_host(backend):
    run(_MESH + """
    from celosia.collectives import HostInterconnect

    def exchange(self, device, node, operands):
        raise AssertionError(f"the host must exchange nothing, not {node.op}")

    HostInterconnect.exchange = exchange
    assert len(devices) == 4
    np.testing.assert_array_equal(np.asarray(total(X)), (X + 1).reshape(4, 4, 3).sum(0))
    step = jax.jit(lambda w, x: w - jax.grad(lambda w: ((x @ w) ** 2).mean())(w))
    w = jax.device_put(np.ones((3, 2), np.float32), NamedSharding(mesh, P()))
    x = jax.device_put(X, NamedSharding(mesh, P("d")))
    found = np.asarray(step(w, x))
    np.testing.assert_allclose(found, 1 - X.T @ (X @ np.ones((3, 2))) / 16, 1e-2)
    # A chip alone, and what its links have no room for, runs as ever.
    np.testing.assert_array_equal(np.asarray(jax.device_put(X, devices[2]) * 2), 2 * X)
    """, DEVICES="4", TOPOLOGY="4", STRICT="1", BACKEND=backend, timeout=600)


def test_collectives():
    run(_MESH + """
    y = sharded(lambda x: jax.lax.psum(x.sum(0), "d"), P("d"), P())(X)
    np.testing.assert_array_equal(np.asarray(y), X.sum(0))
    assert y.sharding.is_fully_replicated
    y = sharded(lambda x: jax.lax.all_gather(x, "d", tiled=True) + jax.lax.axis_index("d"),
                P("d"), P("d"))(X)
    np.testing.assert_array_equal(np.asarray(y), np.concatenate([X + i for i in range(4)]))
    assert y.sharding.spec == P("d")
    y = sharded(lambda x: jax.lax.psum_scatter(x, "d", tiled=True), P(None), P("d"))(X)
    np.testing.assert_array_equal(np.asarray(y), X * 4)
    around = [(i, (i + 1) % 4) for i in range(4)]
    y = sharded(lambda x: jax.lax.ppermute(x, "d", around), P("d"), P("d"))(X)
    np.testing.assert_array_equal(np.asarray(y), np.roll(X, 4, 0))
    y = jax.pmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")(X.reshape(4, 4, 3))
    np.testing.assert_array_equal(np.asarray(y), [X.reshape(4, 4, 3).sum(0)] * 4)

    # Without shard_map, on arrays that are cut
    x = jax.device_put(X, NamedSharding(mesh, P("d")))
    y = jax.jit(lambda x: (x * 2, (x * 2).sum(0)))(x)
    np.testing.assert_array_equal(np.asarray(y[0]), X * 2)
    np.testing.assert_array_equal(np.asarray(y[1]), X.sum(0) * 2)
    assert (x + 1).sharding.spec == P("d")
    """, DEVICES="4", STRICT="1")


def test_under_a_mesh_with_explicit_axes():
    run("""
    mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Explicit,))
    with jax.set_mesh(mesh):
        # Programs whose names are no identifiers, and bodies with shardings.
        y = jnp.repeat(np.eye(3), np.array((2, 2, 2)) - 1, axis=0)
        np.testing.assert_array_equal(np.asarray(y), np.eye(3))
        y = jnp.zeros(3).at[jnp.array([0, 2, 2])].add(1)
        np.testing.assert_array_equal(np.asarray(y), [1, 0, 2])
        assert y.sharding.is_fully_replicated
        assert jnp.argmax(jnp.array([1., 3., 2.])) == 1
        assert jax.jit(lambda x: None)(y) is None
    """, DEVICES="4", STRICT="1")


def test_data_parallel_training_is_that_of_one_chip():
    run(_MESH + """
    rng = np.random.default_rng(0)
    x = rng.normal(size=(32, 8)).astype(np.float32)
    t = np.tanh(x[:, :1])
    first = [rng.normal(size=shape).astype(np.float32) * 0.3 for shape in ((8, 16), (16, 1))]

    def loss(w, x, t):
        return jnp.mean((jnp.tanh(x @ w[0]) @ w[1] - t) ** 2)

    def step(w, x, t, mean):
        value, slope = mean(jax.value_and_grad(loss)(w, x, t))
        return jax.tree.map(lambda w, g: w - 0.3 * g, w, slope), value

    alone = jax.jit(lambda w, x, t: step(w, x, t, lambda each: each), donate_argnums=0)
    among = jax.jit(jax.shard_map(
        lambda w, x, t: step(w, x, t, lambda each: jax.lax.pmean(each, "d")), mesh=mesh,
        in_specs=(P(), P("d"), P("d")), out_specs=(P(), P()), check_vma=False), donate_argnums=0)
    w, v = first, jax.device_put(first, NamedSharding(mesh, P()))
    for i in range(8):
        w, a = alone(w, x, t)
        v, b = among(v, x, t)
        np.testing.assert_allclose(float(a), float(b), rtol=1e-5)
        if i == 0:
            begin = float(a)
    assert float(b) < 0.7 * begin, (begin, float(b))
    for one, other in zip(w, v):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-4, atol=1e-5)
    """, DEVICES="4", STRICT="1")


def test_threads_that_run_on_all_chips_at_once():
    run(_MESH + """
    import threading
    alone, wrong = jax.jit(lambda x: x * 2), []

    def work(k):
        whole = np.full((4, 2), k, np.float32)
        x = jax.device_put(whole[0], devices[k % 4])
        for n in range(30):
            y, z = total(whole), alone(x)
            if n % 5 == 0 and not ((np.asarray(y) == 4 * k + 4).all()
                                   and (np.asarray(z) == 2 * k).all()):
                wrong.append((k, n))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong
    """, DEVICES="4")


@pytest.mark.slow
def test_ten_thousand_calls_of_threads():
    run("""
        import threading
        functions = [jax.jit(lambda x, i=i: x * 2 + i) for i in range(4)]
        devices, wrong = jax.devices(), []

        def work(k):
            x = jax.device_put(np.full(8, k, np.float32), devices[k % 4])
            for n in range(1250):
                y = functions[(n + k) % 4](x)
                if n % 5 == 0 and not (np.asarray(y) == k * 2 + (n + k) % 4).all():
                    wrong.append((k, n, y))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong, wrong
        """, DEVICES="4")


def test_one_chip_that_fails_ends_the_run_of_all():
    run(_MESH + """
    from celosia.driver import Device
    ran, count = Device.run, 0

    def broken(*args, **kwargs):
        global count
        count += 1
        if count == 2:
            raise RuntimeError("the second chip broke")
        return ran(*args, **kwargs)

    X = np.ones((4, 2), np.float32)
    Device.run = broken
    y = total(X)
    try:
        np.asarray(y)
    except jax.errors.JaxRuntimeError as error:
        assert "the second chip broke" in str(error), error
    else:
        raise AssertionError("there must be an error")
    Device.run = ran
    assert (np.asarray(total(X)) == 8).all()

    # Nor do they wait for one whose argument is an error.
    parts = [jax.device_put(np.ones((1, 2), np.float32), device) for device in devices]
    Device.run, count = broken, 1
    parts[2] = jax.jit(lambda x: x * 2)(parts[2])
    broken_one = jax.make_array_from_single_device_arrays(
        (4, 2), NamedSharding(mesh, P("d")), parts)
    y = total(broken_one)
    try:
        np.asarray(y)
    except jax.errors.JaxRuntimeError as error:
        assert "the second chip broke" in str(error), error
    else:
        raise AssertionError("there must be an error")
    Device.run = ran
    assert (np.asarray(total(X)) == 8).all()
    """, DEVICES="4")


def test_ctrl_c_ends_a_run_of_all():
    run(_MESH + """
    import os, signal, threading
    def long(x):
        x = jax.lax.fori_loop(0, 10_000_000, lambda i, x: x * 1.0001 + 0.5, x)
        return jax.lax.psum(x, "d")
    y = sharded(long, P("d"), P())(X)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        y.block_until_ready()
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("there must be an interrupt")
    np.testing.assert_array_equal(np.asarray(total(X)), (X + 1).reshape(4, 4, 3).sum(0))
    """, DEVICES="4")


def test_programs_make_room_for_each_other_and_what_does_not_fit_says_so():
    run("""
        import functools
        from celosia.pjrt import chips
        chips.open = functools.partial(chips.open, memory_bytes=1 << 16)
        functions = [jax.jit(lambda x, i=i: x + i) for i in range(8)]
        x = jnp.zeros(2000)
        results = [f(x) for f in functions]
        results += [f(x) for f in functions]
        for i, y in enumerate(results):
            assert (np.asarray(y) == i % 8).all()
        try:
            np.asarray(jnp.zeros(20_000) + 1)
        except jax.errors.JaxRuntimeError as error:
            assert "RESOURCE_EXHAUSTED: device memory must have" in str(error), error
            assert "its largest tensors are" in str(error), error
        else:
            raise AssertionError("there must be an error")
        assert (np.asarray(functions[3](x)) == 3).all()
        """)


def test_a_format_that_the_chip_does_not_have():
    run("""
        x = np.ones((4, 4), np.int8)
        y = jax.jit(lambda x: jax.lax.dot(x, x, preferred_element_type=jnp.int32))(x)
        assert (np.asarray(y) == 4).all()
        try:
            jnp.ones(3) + 1
        except jax.errors.JaxRuntimeError as error:
            assert "jit_add needs formats that edge does not have (it has int8)" in str(error)
        else:
            raise AssertionError("there must be an error")
        """, PRESET="edge")


def test_releases_of_jax_that_it_was_not_tried_with():
    run("""
        from celosia.pjrt import register
        register.OLDEST = (99, 0)
        assert jax.devices()[0].platform == "cpu"
        try:
            jax.devices("celosia")
        except RuntimeError as error:
            assert f"must be at least 99.0 and before 0.13 for celosia, not {jax.__version__}: " \
                   "pip install 'celosia[jax]'" in str(error), error
        else:
            raise AssertionError("there must be an error")
        """, platforms="")


@pytest.mark.slow
def test_rtl():
    run("""
        import os, signal, threading
        assert jax.devices()[0].device_kind == "celosia core (rtl)"
        x = np.arange(16, dtype=np.float32).reshape(4, 4)
        f = jax.jit(lambda x: x @ x + 1, donate_argnums=0)
        np.testing.assert_array_equal(np.asarray(f(x)), x @ x + 1)
        long = jax.jit(lambda x: jax.lax.fori_loop(0, 10_000_000, lambda i, x: x * 1.01 + 1, x))
        y = long(x)
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            y.block_until_ready()
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("there must be an interrupt")
        np.testing.assert_array_equal(np.asarray(f(x)), x @ x + 1)
        """, BACKEND="rtl", PRESET="core", timeout=600)
