"""Examples for several chips: what their links carry, and that the host carries nothing."""

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from e2e.pjrt_process import environment, free_port, run, run_together

EXAMPLES = Path(__file__).parents[2] / "examples"

JAX, KERAS = pytest.mark.extra(name="jax"), pytest.mark.extra(name="keras")

#: Runs an example as users do. The host must not be asked; printed are, at the end, what links
#: bring, the cycles of each line of the program with the most instructions, and of the optimiser,
#: if there is one, as a program of its own on all weights.
_WATCHED = """
    import json, runpy, sys
    from dataclasses import dataclass
    from celosia.collectives import HostInterconnect
    from celosia.collectives.schedule.emit import Exchange
    from celosia.compiled import executable
    from celosia.driver import Device
    from celosia.model.timing.predict import predict

    def exchange(self, device, node, operands):
        raise AssertionError(f"the host must exchange nothing, not {{node.op}}")

    HostInterconnect.exchange = exchange
    timed, names, programs = Exchange.timed, set(), []

    def noted(self, *rest, **more):
        names.add(self.name)
        return timed(self, *rest, **more)

    Exchange.timed = noted
    load = Device.load

    def loaded(self, program, *rest):
        programs.append((program, self.config))
        return load(self, program, *rest)

    Device.load = loaded
    sys.path.insert(0, {folder!r})
    sys.argv = {argv!r}
    of = runpy.run_path({path!r}, run_name="__main__")
    program, config = max(programs, key=lambda each: len(each[0].insns))
    cycles, whole = predict(program, config).by_source, 0
    if "adam" in of:
        programs.clear()
        zeros = [np.zeros(of["TOTAL"], np.float32) for _ in range(4)]
        jax.block_until_ready(jax.jit(of["adam"], donate_argnums=(0, 1, 2))(*zeros, np.float32(1)))
        [(program, config)] = programs
        whole = predict(program, config).cycles
    print(json.dumps({{"names": sorted(names), "cycles": cycles, "whole": whole}}))
    """


def watched(name, *arguments, **settings):
    """Return what an example prints, and what is known of it as `_WATCHED` says."""
    path = str(EXAMPLES / f"{name}.py")
    text = run(_WATCHED.format(folder=str(EXAMPLES), path=path, argv=[path, *arguments]),
               timeout=900, STRICT="1", **settings).stdout
    *printed, last = text.splitlines()
    found = json.loads(last)
    return "\n".join(printed), found


def on_cpu(name, *arguments):
    """Return what an example prints on four devices of JAX's CPU."""
    environment = dict(os.environ, JAX_PLATFORMS="cpu",
                       XLA_FLAGS="--xla_force_host_platform_device_count=4")
    return subprocess.run([sys.executable, str(EXAMPLES / f"{name}.py"), *arguments], check=True,
                          env=environment, capture_output=True, text=True, timeout=300).stdout


def losses(text):
    return [float(each) for each in re.findall(r"loss (\d+\.\d+)", text)]


@JAX
@pytest.mark.parametrize("backend", ["model", pytest.param("rtl", marks=pytest.mark.slow)])
def test_tensor_parallel_steps_gather_no_weight_and_are_those_of_the_cpu(backend, tmp_path):
    files = [str(tmp_path / f"{name}.npz") for name in ("here", "there", "before")]
    steps = "--steps", "2", "--save"
    here, found = watched("tensor_parallel", *steps, files[0], BACKEND=backend, DEVICES="4",
                          TOPOLOGY="2x2")
    assert found["names"] == ["all_reduce"]
    there = on_cpu("tensor_parallel", *steps, files[1])
    on_cpu("tensor_parallel", "--steps", "0", "--save", files[2])
    assert len(losses(here)) == 2
    np.testing.assert_allclose(losses(here), losses(there), rtol=1e-2)
    weights, wanted, before = map(np.load, files)
    for name in wanted:
        change = wanted[name] - before[name]
        np.testing.assert_allclose(weights[name], wanted[name], rtol=1e-2, atol=1e-3, err_msg=name)
        # What two steps change is right, not only what they leave as it was.
        assert np.linalg.norm(weights[name] - wanted[name]) < 2e-2 * np.linalg.norm(change), name


@JAX
@pytest.mark.slow
def test_a_zero_step_scatters_and_gathers_and_each_chip_does_its_share_of_the_optimiser():
    arguments = "--epochs", "1", "--limit", "16", "--batch", "16", "--hidden", "4096"
    text, found = watched("zero", *arguments, DEVICES="4", TOPOLOGY="2x2")
    assert found["names"] == ["all_gather", "reduce_scatter"]
    assert len(losses(text)) == 1
    np.testing.assert_allclose(losses(text), losses(on_cpu("zero", *arguments)), rtol=2e-2)
    assert optimiser(found["cycles"]) == pytest.approx(found["whole"] / 4, rel=0.15)


def optimiser(cycles):
    """Return the cycles of the lines of `adam`."""
    lines = (EXAMPLES / "zero.py").read_text().splitlines()
    first = next(i for i, line in enumerate(lines, 1) if line.startswith("def adam"))
    last = next(i for i, line in enumerate(lines, 1) if i > first and "return w - rate" in line)
    found = [count for source, count in cycles.items()
             for number in re.findall(r"zero\.py:(\d+)", source) if first <= int(number) <= last]
    assert found, sorted(cycles)
    return sum(found)


_KERAS = """
    import os
    os.environ["KERAS_BACKEND"] = "jax"
    import keras
    from celosia.collectives import HostInterconnect

    def exchange(self, device, node, operands):
        raise AssertionError(f"the host must exchange nothing, not {node.op}")

    HostInterconnect.exchange = exchange
    keras.utils.set_random_seed(0)
    devices = keras.distribution.list_devices()
    if len(devices) > 1:
        keras.distribution.set_distribution(
            keras.distribution.DataParallel(devices=devices, auto_shard_dataset=False))
    model = keras.Sequential([keras.layers.Input((16,)), keras.layers.Dense(32, "relu"),
                              keras.layers.Dense(4)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 16)).astype(np.float32)
    past = model.fit(x, x[:, :4].argmax(1), batch_size=32, epochs=2, shuffle=False, verbose=0)
    for value in past.history["loss"]:
        print(f"loss {value:.8f}")
    """


@KERAS
def test_data_parallel_of_keras_is_by_links_and_one_chips_training():
    four = losses(run(_KERAS, DEVICES="4", TOPOLOGY="2x2", STRICT="1").stdout)
    one = losses(run(_KERAS, DEVICES="1", STRICT="1").stdout)
    assert len(four) == 2
    np.testing.assert_allclose(four, one, rtol=1e-5)


#: What several processes train, each with its part of every batch; all have the losses of all.
_KERAS_TOGETHER = """
    import os
    os.environ["KERAS_BACKEND"] = "jax"
    import keras
    keras.utils.set_random_seed(0)
    keras.distribution.set_distribution(keras.distribution.DataParallel(auto_shard_dataset=False))
    model = keras.Sequential([keras.layers.Input((16,)), keras.layers.Dense(32, "relu"),
                              keras.layers.Dense(4)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x = np.random.default_rng(0).normal(size=(64, 16)).astype(np.float32)
    parts = x.reshape(2, jax.process_count(), -1, 16)  # of two batches
    x = parts[:, jax.process_index()].reshape(-1, 16)
    past = model.fit(x, x[:, :4].argmax(1), batch_size=len(x) // 2, epochs=2, shuffle=False,
                     verbose=0)
    print("loss", past.history["loss"])
    for weight in model.weights:
        print(np.asarray(weight.value.addressable_data(0)).tobytes().hex())
    """


@KERAS
def test_data_parallel_of_keras_in_two_processes_has_the_bits_of_one():
    whole = run(_KERAS_TOGETHER, DEVICES="4", STRICT="1").stdout
    parts = run_together(_KERAS_TOGETHER, DEVICES="2", STRICT="1")
    assert [each.returncode for each in parts] == [0, 0], parts[0].stderr + parts[1].stderr
    assert whole.startswith("loss [")
    assert [each.stdout for each in parts] == [whole] * 2


def _pod_train(arguments, until=None, **settings):
    """Train in two processes; return what the first prints, and what the two say on stderr.

    ``until``: the second is killed when a line begins so.
    """
    port, started = free_port(), []
    try:
        for process in range(2):
            started.append(subprocess.Popen(
                [sys.executable, "-u", EXAMPLES / "pod_train.py", "--processes", "2", "--process",
                 str(process), "--coordinator", f"127.0.0.1:{port}", *arguments], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=environment("celosia", {"DEVICES": "2", **settings})))
        late = threading.Timer(240, started[0].kill)
        late.daemon = True
        late.start()
        lines = []
        assert started[0].stdout is not None
        for line in started[0].stdout:
            lines.append(line)
            if until is not None and line.startswith(until):
                started[1].kill()
        late.cancel()
        said = [each.communicate(timeout=120)[1] for each in started]
    finally:
        for each in started:
            each.kill()
            each.wait()
    return "".join(lines), said


@JAX
def test_training_that_was_killed_goes_on_with_the_same_numbers(tmp_path):
    arguments = "--steps", "8", "--every", "2"
    whole = subprocess.run([sys.executable, EXAMPLES / "pod_train.py", *arguments], check=True,
                           env=environment("celosia", {"DEVICES": "4", "STRICT": "1"}),
                           capture_output=True, text=True, timeout=120).stdout
    kept = *arguments, "--keep", str(tmp_path)
    text, said = _pod_train((*kept[:1], "1000", *kept[2:]), until="step 5")
    assert re.search(r"process 1 \(pid \d+ on .*\) must go on, but it is gone", said[0])
    again, said = _pod_train(kept)
    first, *lines = again.splitlines()
    found = re.fullmatch(r"2 processes, 4 devices, after (\d+) steps", first)
    assert found, first
    done = int(found[1])
    assert done >= 4
    assert done % 2 == 0
    assert whole.splitlines()[1:][-len(lines):] == lines
    assert len(losses(again)) == 8 - done
    assert losses(text)[:5] == losses(whole)[:5]
