"""The examples as a user starts them: whole programs on the chip and, beside it, on JAX's CPU.

Each belongs to the extra that it needs: ``scripts/test extras torch`` has those of PyTorch.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
#: Seconds after which a program that does not end has hung.
TIMEOUT = 500
MODEL_AND_SLOW_RTL = ("model", pytest.param("rtl", marks=pytest.mark.slow))


@dataclass(frozen=True)
class Example:
    """A program, the extra that it needs, and arguments that make it short."""

    name: str
    extra: pytest.MarkDecorator
    short: tuple[str, ...] = ("--epochs", "1", "--limit", "64")
    #: What is printed may be so far from what the CPU computes in fp32, relatively; the shares
    #: of test images are not compared.
    near: float = 0.02


JAX, KERAS, FLAX, TORCH, TENSORFLOW = (pytest.mark.extra(name=name) for name in (
    "jax", "keras", "flax", "torch", "tensorflow"))
ALL = {each.name: each for each in (
    Example("keras_mlp", KERAS),
    Example("keras_cnn", KERAS),
    Example("keras_lstm", KERAS),
    Example("mixed_bf16", KERAS),
    Example("keras_int8", KERAS),
    Example("reload", FLAX),
    Example("flax_mlp", FLAX),
    Example("jax_transformer", JAX, ("--steps", "2", "--letters", "2")),
    Example("data_parallel", JAX),
    Example("torch_module", TORCH),
)}


def of(*rows):
    """Return rows, names or tuples that begin with one, marked with the extra of the example."""
    tuples = [(row,) if isinstance(row, str) else row for row in rows]
    return [pytest.param(*row, marks=ALL[row[0]].extra) for row in tuples]


def run(name, *arguments, platform="celosia", backend="model", devices=1):
    """Return what a program prints."""
    environment = dict(os.environ, JAX_PLATFORMS=platform, CELOSIA_STRICT="1",
                       CELOSIA_BACKEND=backend, CELOSIA_DEVICES=str(devices),
                       XLA_FLAGS="", TF_CPP_MIN_LOG_LEVEL="3")
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True,
                          timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def losses(text):
    return [float(value) for value in re.findall(r"loss:? (\d+\.\d+)", text)]


def accuracy(text):
    return [float(value) for value in re.findall(r"test accuracy (\d+\.\d+)%", text)]


def same_losses(example, backend, arguments):
    here = losses(run(example.name, *arguments, backend=backend))
    there = losses(run(example.name, *arguments, platform="cpu"))
    assert here
    np.testing.assert_allclose(here, there, rtol=example.near)


@pytest.mark.parametrize("backend", MODEL_AND_SLOW_RTL)
@pytest.mark.parametrize("name", of(*ALL))
def test_an_example_trains_as_it_does_on_the_cpu(name, backend):
    same_losses(ALL[name], backend, ALL[name].short)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "backend", "least"), of(
    ("keras_mlp", "rtl", 80), ("keras_mlp", "model", 80), ("keras_cnn", "model", 70),
    ("keras_lstm", "model", 60), ("mixed_bf16", "model", 70), ("flax_mlp", "model", 75),
    ("torch_module", "model", 70), ("data_parallel", "model", 50)))
def test_an_epoch_of_digits_is_learned(name, backend, least):
    (found,) = accuracy(run(name, "--epochs", "1", backend=backend))
    assert found >= least


@KERAS
@pytest.mark.slow
def test_int8_answers_as_well_as_fp32():
    exact, quantised = accuracy(run("keras_int8", "--epochs", "2"))
    assert exact >= 85
    assert abs(exact - quantised) <= 2


@FLAX
@pytest.mark.parametrize("backend", MODEL_AND_SLOW_RTL)
def test_saved_models_give_the_same_answers(backend, tmp_path):
    text = run("reload", *ALL["reload"].short, "--out", str(tmp_path), backend=backend)
    assert "model.keras: the same answers\n" in text
    assert "orbax: the same answers\n" in text
    assert (tmp_path / "model.keras").is_file()


@pytest.mark.extra(name="jax", default=True)
@pytest.mark.parametrize("backend", MODEL_AND_SLOW_RTL)
def test_four_chips_train_as_one_with_the_whole_batch(backend):
    arguments = ("--epochs", "1", "--limit", "256")
    four = run("data_parallel", *arguments, backend=backend, devices=4)
    one = run("data_parallel", *arguments, backend=backend)
    assert four.startswith("4 devices, 16 images each\n")
    assert one.startswith("1 devices, 64 images each\n")
    np.testing.assert_allclose(losses(four), losses(one), rtol=1e-5)


@TENSORFLOW
@pytest.mark.parametrize("backend", MODEL_AND_SLOW_RTL)
def test_a_step_of_tensorflow_learns(backend):
    arguments = ("--epochs", "2") if backend == "model" else ("--epochs", "1", "--limit", "256")
    text = run("tf_function", *arguments, "--backend", backend)
    first, *_, last = (2.4, *losses(text))
    assert last < first
    assert backend == "rtl" or accuracy(text)[0] > 70


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_an_ordinary_page(path):
    lines = path.read_text().splitlines()
    assert len(lines) <= 120
    code = [line for line in lines if "celosia" in line and "python examples/" not in line]
    if path.stem == "ray_train":  # Ray must be told how its workers find their chips
        assert code == ["from celosia.pjrt.ray_train import JaxConfig"]
    elif path.stem != "tf_function":  # it hands its StableHLO over itself
        assert code == []
