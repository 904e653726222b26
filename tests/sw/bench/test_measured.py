"""Figures of the bench's speed, with little work and a clock that is set."""

import json
import subprocess
import sys

import numpy as np
import pytest

from celosia.bench import measured
from celosia.frontend import import_stablehlo
from celosia.graph import DType, TensorType


class Buffer:
    def __init__(self, dtype, shape):
        self.type = TensorType(dtype, shape)


@pytest.fixture
def took(monkeypatch):
    """Each call of what is measured takes as long as the next of these says."""
    times, done = [], []

    def seconds(work):
        done.append(work)
        return times[len(done) - 1]

    monkeypatch.setattr(measured, "_seconds", seconds)
    return times, done


def test_seconds_are_those_of_the_work(monkeypatch):
    times = iter([5.0, 7.5])
    monkeypatch.setattr(measured.time, "perf_counter", lambda: next(times))
    assert measured._seconds(lambda: None) == 2.5


def test_of_an_import_the_least_counts_beyond_that_of_nothing(took):
    took[0][:] = [5, 3, 4, 1, 2, 0.5]
    assert measured._import() == {"seconds": 2.5}
    assert len(took[1]) == 6


@pytest.mark.parametrize("count", [1, 3])
def test_layers(count):
    graph = import_stablehlo(measured._layers_text(count))
    assert [each.type.shape for each in graph.params] == [(32, 64), *[(64, 64)] * count]
    assert [node.op for node in graph.nodes if node.op in ("dot", "maximum")] == [
        "dot", "maximum"] * count
    assert [each.shape for each in graph.outputs] == [(32, 64)]


def test_the_worst_doubling_counts(took):
    # Twice what is loaded once; then of each size the least of three.
    took[0][:] = [9, 9, 9, 4, 3, 5, 7, 6, 8, 20, 21, 22, 30, 40, 50]
    assert measured._layers() == {"doubling": 20 / 6}


def test_arguments_are_zeros_and_positive():
    made = measured._arguments([Buffer(DType.I32, (3,)), Buffer(DType.F32, (40, 50)),
                                Buffer(DType.BF16, ())])
    assert [(each.dtype, each.shape) for each in made] == [
        (np.int32, (3,)), (np.float32, (40, 50)), (DType.BF16.numpy, ())]
    assert not made[0].any()
    assert 0 <= made[1].min() < 0.001
    assert 0.062 < made[1].max() < 1 / 16


def test_a_model_runs_first_and_again(took, tmp_path):
    took[0][:] = [9, 4, 3, 5]
    path = tmp_path / "layers.mlir"
    path.write_text(measured._layers_text(1))
    assert measured._model(str(path)) == {"first": 9, "again": 3}
    assert len(took[1]) == 4


def test_a_figure_of_a_program_is_printed(tmp_path):
    path = tmp_path / "layers.mlir"
    path.write_text(measured._layers_text(1))
    said = subprocess.run([sys.executable, measured.__file__, "compile", str(path)], check=True,
                          capture_output=True, text=True).stdout
    assert 0 < json.loads(said)["seconds"] < 60


def test_waiting_is_a_share_of_computing(monkeypatch):
    """The fastest of three runs counts, of each; the clock is set."""
    seen = []
    times = iter([0, 8, 10, 14, 20, 28, 100, 110, 200, 205, 300, 320])

    class Device:
        def __init__(self, options):
            self.options = options

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def run(self, program, inputs):
            seen.append((self.options.read_latency, len(program.insns),
                         {name: each.shape for name, each in inputs.items()}))
            return self

        cycles = 1000

    class Product:
        insns = ("product",)

    def matmul(config, *sizes):
        assert (config.name, *sizes) == ("core", 256, 256, 256, "int8")
        return Product

    def opened(backend, chip, options):
        assert (backend, chip) == ("rtl", "core")
        return Device(options)

    monkeypatch.setattr("celosia.ops.matmul", matmul)
    monkeypatch.setattr("celosia.open", opened)
    monkeypatch.setattr(measured.time, "perf_counter", lambda: next(times))
    # 1000 cycles in 4 seconds, and in 5.
    assert measured._waits() == {"share": pytest.approx(5 / 4)}
    assert seen[:3] == [(1000, 402, {"a": (1, 16)})] * 3
    assert seen[3:] == [(64, 1, {"a": (256, 256), "b": (256, 256)})] * 3
