"""Programs of JAX that run in several processes together, each with chips of its own."""

import json
import re
import time
from collections import Counter

import pytest

from e2e.pjrt_process import run, run_together

JAX, ALWAYS = pytest.mark.extra(name="jax"), pytest.mark.extra(name="jax", default=True)

_MESH = """
    import hashlib, json, os, sys, time
    from jax.experimental import multihost_utils
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    mesh = Mesh(np.array(jax.devices()), ("d",))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(16, 33)).astype(np.float32)

    def cut(x, spec=P("d")):
        return jax.make_array_from_callback(x.shape, NamedSharding(mesh, spec), lambda i: x[i])

    def sharded(function, entering, leaving):
        return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=entering, out_specs=leaving))

    def bits(x):
        return {str(each.device.id): hashlib.sha256(np.asarray(each.data).tobytes()).hexdigest()
                for each in x.addressable_shards}
    """

#: What prints the bits of results on each device, in one process or in several.
_COLLECTIVES = _MESH + """
    x = cut(X)
    around = [(i, (i + 1) % 4) for i in range(4)]
    found = [bits(y) for y in (
        sharded(lambda x: jax.lax.psum(x, "d"), P("d"), P())(x),
        sharded(lambda x: jax.lax.all_gather(x, "d", tiled=True) + jax.lax.axis_index("d"),
                P("d"), P("d"))(x),
        sharded(lambda x: jax.lax.psum_scatter(x, "d", tiled=True), P("d"), P("d"))(x),
        sharded(lambda x: jax.lax.all_to_all(x, "d", 0, 0, tiled=True), P("d"), P("d"))(x),
        sharded(lambda x: jax.lax.ppermute(x, "d", around), P("d"), P("d"))(x),
        jax.jit(lambda x: (x * 2).sum(0))(x), x + 1)]
    step = jax.jit(lambda w, x: w - 0.1 * jax.grad(lambda w: ((x @ w) ** 2).mean())(w))
    w = cut(rng.normal(size=(33, 4)).astype(np.float32), P())
    for _ in range(3):
        w = step(w, x)
    print(json.dumps([*found, bits(w)]))
    """


def well(processes):
    """Return what processes printed that have ended well, in lines."""
    for each in processes:
        assert each.returncode == 0, f"{each.returncode}:\n{each.stdout}{each.stderr}"
    return [each.stdout.splitlines() for each in processes]


@ALWAYS
def test_results_have_the_bits_of_one_process_with_four_chips():
    [whole] = json.loads(f"[{run(_COLLECTIVES, DEVICES='4', STRICT='1').stdout}]")
    parts = [json.loads(lines[-1]) for lines in well(
        run_together(_COLLECTIVES, DEVICES="2", STRICT="1"))]
    assert [sorted(each) for each in parts[1]] == [["2", "3"]] * len(whole)
    assert [a | b for a, b in zip(*parts, strict=True)] == whole


#: What has the host exchange nothing, and says the cycles of each run of chips that talk.
_LINKS = """
    import sys
    from celosia.collectives import HostInterconnect
    from celosia.compiled import Executable

    def exchange(self, device, node, operands):
        raise AssertionError(f"the host must exchange nothing, not {node.op}")

    def counted(self, *arguments, run=Executable.run, **options):
        found = run(self, *arguments, **options)
        if self.device.transport.meets:
            sys.stderr.write(f"cycles {self.cycles}\\n")
        return found

    HostInterconnect.exchange, Executable.run = exchange, counted
    """


def cycles(*processes):
    """Return how often a run of a chip took so many cycles, by the cycles."""
    return Counter(int(each) for process in processes
                   for each in re.findall(r"^cycles (\d+)$", process.stderr, re.MULTILINE))


@ALWAYS
@pytest.mark.slow
def test_links_between_rtl_chips_of_two_processes_are_as_those_in_one():
    settings = {"STRICT": "1", "BACKEND": "rtl", "TOPOLOGY": "2x2"}
    one = run(_LINKS + _COLLECTIVES, DEVICES="4", timeout=600, **settings)
    two = run_together(_LINKS + _COLLECTIVES, DEVICES="2", timeout=600, **settings)
    parts = [json.loads(lines[-1]) for lines in well(two)]
    assert [a | b for a, b in zip(*parts, strict=True)] == json.loads(one.stdout)
    assert cycles(*two) == cycles(one)
    assert cycles(one).total() == 36  # of 10 programs one has nothing to exchange


@JAX
def test_processes_see_all_devices_and_what_is_theirs():
    lines = well(run_together(_MESH + """
    assert [d.id for d in jax.devices()] == [0, 1, 2, 3]
    assert [d.process_index for d in jax.devices()] == [0, 0, 1, 1]
    assert [d.id for d in jax.local_devices()] == [2 * me, 2 * me + 1]
    assert [d.local_hardware_id for d in jax.local_devices()] == [0, 1]
    assert (jax.process_count(), jax.process_index()) == (2, me)
    assert (jax.device_count(), jax.local_device_count()) == (4, 2)
    assert len({d.device_kind for d in jax.devices()}) == 1

    x = jax.make_array_from_process_local_data(NamedSharding(mesh, P("d")), X[8 * me:8 * me + 8])
    assert x.shape == X.shape
    assert not x.is_fully_addressable
    multihost_utils.sync_global_devices("here")
    np.testing.assert_array_equal(multihost_utils.process_allgather(x, tiled=True), X)
    np.testing.assert_array_equal(multihost_utils.process_allgather(np.int32(me)), [0, 1])
    np.testing.assert_array_equal(multihost_utils.broadcast_one_to_all(X + me), X)
    np.testing.assert_array_equal(jax.jit(lambda x: x * 2)(X), X * 2)  # alone
    np.testing.assert_array_equal(
        multihost_utils.process_allgather(jax.device_put(X, NamedSharding(mesh, P("d"))),
                                          tiled=True), X)
    try:
        multihost_utils.assert_equal(np.int32(me), "they differ")
    except AssertionError as error:
        print(str(error).partition(".")[0])
    """, DEVICES="2"))
    assert [each[-1] for each in lines] == ["they differ"] * 2


#: One process is killed, or ends, after some steps; the other prints why it cannot go on, and when.
_ENDING = _MESH + """
    WHO, HOW = int(os.environ["CELOSIA_TEST_WHO"]), os.environ["CELOSIA_TEST_HOW"]
    total = sharded(lambda x: jax.lax.psum(x, "d"), P("d"), P())
    for i in range(100000):
        jax.block_until_ready(total(cut(X)))
        if i == 3 and me == WHO:
            print(time.time(), flush=True)
            exec(HOW)
    """


def _names(processes, who):
    return re.search(rf"process {who} \(pid \d+ on [^)]+\)[^\n]*", processes[1 - who].stderr)


@pytest.mark.parametrize("who", [pytest.param(0, marks=JAX), pytest.param(1, marks=ALWAYS)])
def test_one_that_is_killed_ends_the_other_which_names_it(who):
    ended = run_together(_ENDING, DEVICES="2", TEST_WHO=str(who),
                         TEST_HOW="os.kill(os.getpid(), 9)")
    seconds = time.time() - float(ended[who].stdout)
    assert [each.returncode for each in ended][who] == -9
    assert ended[1 - who].returncode not in (0, None)
    found = _names(ended, who)
    assert found, ended[1 - who].stderr
    assert found[0].endswith("must go on, but it is gone")
    assert seconds < 15


@JAX
def test_one_that_fails_ends_the_other():
    ended = run_together(_ENDING, DEVICES="2", TEST_WHO="1",
                         TEST_HOW="raise ValueError('of its own')")
    assert time.time() - float(ended[1].stdout) < 15
    assert [each.returncode for each in ended] == [1, 1]
    assert "ValueError: of its own" in ended[1].stderr
    found = _names(ended, 1)
    assert found, ended[0].stderr
    assert found[0].endswith(" ended without it")


@JAX
def test_other_programs_are_said():
    ended = run_together(_MESH + """
    def step(x):
        return jax.lax.psum(x + me, "d")

    jax.block_until_ready(sharded(step, P("d"), P())(cut(X)))
    """, DEVICES="2")
    for i, each in enumerate(ended):
        assert each.returncode == 1
        assert re.search(
            rf"process {i} \(.*\) and process {1 - i} \(.*\) must run the same program as number 1 "
            rf"of their programs together: jit_step on devices 0, 1, 2, 3, not another program of "
            rf"that name in process {1 - i} ", each.stderr), each.stderr


@JAX
def test_other_settings_are_said():
    ended = run_together("jax.devices()", only={1: {"PRESET": "nano"}})
    for each in ended:
        assert each.returncode == 1
        assert re.search(r"CELOSIA_PRESET of process 1 \(.*\) must be 'core', as of process 0 "
                         r"\(.*\), not 'nano'", each.stderr), each.stderr
