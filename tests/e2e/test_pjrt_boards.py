"""Programs of JAX on RTL chips that are spread over boards; they need the simulator, too."""

from pathlib import Path

from e2e.pjrt_process import run

_BOARDS = """
    from jax.sharding import Mesh, PartitionSpec as P
    devices = jax.devices()
    total = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x + 1, "d"), in_specs=P("d"),
                                  out_specs=P(), mesh=Mesh(np.array(devices), ("d",))))
    """


def test_boards_are_processes_and_one_that_is_killed_is_replaced():
    ended = run(_BOARDS + """
    import os, pathlib, signal

    def boards():
        return {int(each) for task in pathlib.Path("/proc/self/task").iterdir()
                for each in (task / "children").read_text().split()}

    x = np.arange(12, dtype=np.int32).reshape(4, 3)
    before = np.asarray(total(x))
    assert len(devices) == 4
    first = boards()
    assert len(first) == 2
    os.kill(min(first), signal.SIGKILL)
    np.testing.assert_array_equal(np.asarray(total(x)), before)
    np.testing.assert_array_equal(before, (x + 1).sum(0, keepdims=True))
    assert len(boards()) == 2
    assert not boards() & {min(first)}
    print(*boards(), *first)
    """, DEVICES="4", TOPOLOGY="4", BACKEND="rtl", PRESET="nano", BOARDS="2", STRICT="1")
    assert ended.stderr.count("was ended by SIGKILL; all go on from where they were") == 1
    for process in ended.stdout.split():
        assert not Path("/proc", process).exists()
