"""The networks of the courses, small and for a few steps, as scripts/train trains them."""

import importlib
import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from celosia.cli.idx import FILES

COURSES = Path(__file__).parents[2] / "examples" / "courses"
#: Seconds after which a training that does not end has hung.
TIMEOUT = 500
NAMES = ("cnn", "fashion", "lstm", "gpt")
JAX = pytest.mark.extra(name="jax")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with IDX files of 16 and 8 images, and a text."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    for i, name in enumerate(FILES):
        shape = (16 if i < 2 else 8, *((28, 28) if "images" in name else ()))
        array = rng.integers(0, 256 if len(shape) > 1 else 10, shape, np.uint8)
        head = bytes((0, 0, 8, len(shape))) + struct.pack(f">{len(shape)}I", *shape)
        (folder / name).write_bytes(head + array.tobytes())
    (folder / "text").write_text("To be, or not to be, that is the question:\n" * 12)
    return folder


def arguments(name, data):
    """Return what makes a network small."""
    if name in NAMES[:2]:
        return [name, "--data", data, "--width", "4", "--batch", "4", "--steps", "3"]
    return [name, "--text", data / "text", "--width", "8", "--batch", "2", "--length", "8",
            "--steps", "3"]


def run(program, *words, backend="model", platform="celosia"):
    """Return the process of a program, at its end."""
    environment = dict(os.environ, JAX_PLATFORMS=platform, CELOSIA_BACKEND=backend,
                       CELOSIA_STRICT="1")
    return subprocess.run([sys.executable, COURSES / program, *map(str, words)], env=environment,
                          capture_output=True, text=True, timeout=TIMEOUT)


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    """Return what scripts/train says of a network, and its folder; each is trained once."""
    found = {}

    def train(name):
        if name not in found:
            folder = tmp_path_factory.mktemp(name)
            done = run("train.py", *arguments(name, data), "--folder", folder, "--rtl-steps", "0")
            assert done.returncode == 0, done.stderr[-3000:]
            found[name] = done.stdout, folder
        return found[name]

    return train


def arrays(path):
    with np.load(path) as found:
        return {name: found[name].tobytes() for name in found.files if name != "seconds"}


@JAX
@pytest.mark.parametrize("name", NAMES)
def test_a_network_trains_as_it_does_on_the_host(name, trained):
    text, folder = trained(name)
    with np.load(folder / "chip.npz") as chip, np.load(folder / "host.npz") as host:
        assert len(chip["losses"]) == len(host["losses"]) == 3
        # So few images and such large steps soon lead apart what is rounded otherwise.
        np.testing.assert_allclose(chip["losses"][:2], host["losses"][:2], rtol=0.02)
    assert re.search(r"^the chip at 100 MHz: [\d,]+ (images|characters) a second$", text,
                     re.MULTILINE)
    assert re.search(r"^\| chip, 100 MHz \| [\d.]+ \| .+ \|\n\| this host's CPU, JAX \| [\d.]+ "
                     r"\| .+ \|\n\| host / chip \| [\d.]+ \| \|$", text, re.MULTILINE)
    assert ("written on the chip:" in text) == (name in NAMES[2:])
    lines = [each for each in ElementTree.parse(folder / "losses.svg").iter()
             if each.tag.endswith("polyline")]
    assert [len(each.attrib["points"].split()) for each in lines] == [3, 3]


@JAX
@pytest.mark.parametrize("name", ["fashion", "lstm"])  # they carry something from step to step
def test_what_was_stopped_ends_with_the_same_digits(name, trained, data, tmp_path):
    file = tmp_path / "chip.npz"
    for until in (1, 3):
        done = run("part.py", *arguments(name, data), "--file", file, "--until", until)
        assert done.returncode == 0, done.stderr[-3000:]
    assert "step 1/3" not in done.stdout  # it went on
    assert arrays(file) == arrays(trained(name)[1] / "chip.npz")


@JAX
def test_another_training_is_not_gone_on_with(trained, data):
    folder = trained("cnn")[1]
    done = run("part.py", *arguments("cnn", data)[:-1], "4", "--file", folder / "chip.npz")
    assert done.returncode == 1
    assert done.stderr == (
        f"scripts/train: {folder / 'chip.npz'} must be of this training, not of another with "
        f"other data, sizes or steps; --folder names another folder\n")


@JAX
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_first_steps_are_those_of_the_rtl(name, data, tmp_path):
    done = run("train.py", *arguments(name, data), "--folder", tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "RTL and golden model are equal, bit for bit, after 2 steps: losses and" in done.stdout


@JAX
@pytest.mark.parametrize(("words", "message"), [
    (["cnn"], "cnn must be given --data, see --help"),
    (["gpt", "--data", "x"], "gpt must be given --text, see --help"),
    (["lstm", "--text", "x", "--rtl-steps", "-1"], "--rtl-steps must be at least 0, not -1"),
    (["lstm", "--text", "nowhere"], "--text must be a file of text, there is none at nowhere"),
    (["cnn", "--data", "{data}", "--batch", "17"],
     "{data} must have 17 images or more, a batch of them, not 16"),
    (["cnn", "--data", "{data}", "--length", "8"],
     "--length must be left out, images have none, not 8"),
    (["gpt", "--text", "{data}/text", "--batch", "64"],
     "{data}/text must have 9104 characters or more, not 516"),
])
def test_wrong_words_are_said(words, message, data, monkeypatch, capsys):
    monkeypatch.syspath_prepend(COURSES)
    train, part = (importlib.import_module(name) for name in ("train", "part"))
    with pytest.raises((ValueError, SystemExit)) as raised:
        part.load(train.parsed([word.format(data=data) for word in words]))
    said = capsys.readouterr().err or f"scripts/train: {raised.value}\n"
    assert said.endswith(f": {message.format(data=data)}\n")
