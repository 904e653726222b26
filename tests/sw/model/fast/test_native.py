"""The library of the golden model: how it is built, and where it is not used."""

import ctypes
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from celosia.arch.commands import Vector, VectorOperand
from celosia.arch.config import PRESETS
from celosia.arch.streams import Stream
from celosia.arch.vector import Dst, Post, Src, VectorOp
from celosia.model import Machine
from celosia.model.fast import native
from celosia.model.fast.native import FLAGS, SOURCE
from celosia.model.fast.steps import NativeSteps, Steps, steps
from celosia.storage import compiler
from celosia.storage.libraries import compile_library, key, library

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64",
    reason="the library is C for x86-64; on others the model is NumPy, which test_steps.py tests")
CHIP = PRESETS["nano"]
#: Random commands, on a library that stops at undefined behaviour.
CHECKED = """
import ctypes, sys
sys.path[:0] = [sys.argv[1]]
import test_steps
from celosia.model.fast import native
found = ctypes.CDLL(sys.argv[2])
found.run.restype, found.run.argtypes = native.load().run.restype, native.load().run.argtypes
native.load = lambda: found
for op in test_steps.OPS:
    test_steps.test_vectors(test_steps.in_c, op, 126, 0.1)
for fmts in ([0], [1], [0, 1]):
    fmts = [test_steps.MatmulFormat(fmt) for fmt in fmts]
    test_steps.test_commands_of_all_kinds(test_steps.in_c, fmts, 126, 0.1)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache folder with nothing in it."""
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))
    for variable in ("CELOSIA_CC", "CELOSIA_CXX"):
        monkeypatch.delenv(variable, raising=False)
    for cached in (compiler, native.load):
        cached.cache_clear()
    yield tmp_path / "cache"
    for cached in (compiler, native.load):
        cached.cache_clear()


@pytest.mark.parametrize("path", sorted(p for p in SOURCE.parent.iterdir()
                                        if p.suffix in {".c", ".h"}), ids=lambda path: path.name)
def test_it_is_small_enough_to_check(path):
    assert len(path.read_text().splitlines()) <= 300


def test_it_is_built_once(folder, monkeypatch):
    path = library("model", SOURCE, FLAGS, tuned=True)
    assert path.is_relative_to(folder / "model")
    assert sorted(each.name for each in path.parent.iterdir()) == ["manifest.json", "native.so"]
    monkeypatch.setattr("celosia.storage.libraries.run_tool", lambda *_, **__: pytest.fail("it is"))
    assert library("model", SOURCE, FLAGS, tuned=True) == path
    assert isinstance(steps(Machine(CHIP)), NativeSteps)


def test_what_a_build_depends_on(folder, monkeypatch, tmp_path):
    keys = {key(SOURCE, FLAGS, tuned=tuned) for tuned in (False, True)}
    keys.add(key(SOURCE, (*FLAGS, "-g"), tuned=True))
    for path in SOURCE.parent.glob("*.[ch]"):
        (tmp_path / path.name).write_text(path.read_text())
    copied = tmp_path / SOURCE.name
    assert key(copied, FLAGS, tuned=True) in keys
    (tmp_path / "lanes.h").write_text("// changed")
    keys.add(key(copied, FLAGS, tuned=True))
    monkeypatch.setattr("celosia.storage.libraries.cpu_identity", lambda: "another")
    keys.add(key(copied, FLAGS, tuned=True))
    assert len(keys) == 5


def test_without_a_compiler(folder, monkeypatch):
    monkeypatch.setattr("celosia.storage.compilers.package_folder", lambda name: None)
    monkeypatch.setenv("PATH", str(folder))
    assert native.load() is None
    assert isinstance(steps(Machine(CHIP)), Steps)


def test_a_folder_that_cannot_be_used(folder):
    folder.write_text("a file")
    assert native.load() is None


@pytest.mark.parametrize(("what", "name"), [("machine", "aarch64"), ("platform", "win32")])
def test_another_system(folder, monkeypatch, what, name):
    if what == "machine":
        monkeypatch.setattr(platform, what, lambda: name)
    else:
        monkeypatch.setattr(sys, what, name)
    assert native.load() is None


def test_a_processor_that_has_no_multiply_add(folder, tmp_path):
    found = ctypes.CDLL(str(compile_library(SOURCE, FLAGS, tmp_path)))
    assert ctypes.c_int32.in_dll(found, "exact").value == 0


def test_subnormals_are_what_they_were_behind_a_call():
    machine = Machine(CHIP)
    made = steps(machine)
    one = VectorOperand(Src.SCALAR, 0x00000001, None)
    made.add(Vector(VectorOp.IADD, Post.NONE, Dst.ACC, Stream.linear(0, (1, 1, 1)), (one, one), 0,
                    (1, 1, 1)))
    made.close()
    made.made[0]()
    assert machine.acc[0].tolist() == [2] * CHIP.dim
    tiny = np.full(4, 1, np.uint32).view(np.float32)
    assert (tiny + tiny).view(np.uint32).tolist() == [2] * 4


def test_undefined_behaviour(tmp_path):
    path = compile_library(SOURCE, (*FLAGS, "-fsanitize=undefined",
                                    "-fsanitize-trap=undefined"), tmp_path, tuned=True)
    ended = subprocess.run([sys.executable, "-c", CHECKED, Path(__file__).parent, path],
                           capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
