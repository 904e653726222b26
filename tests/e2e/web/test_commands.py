"""Every command of README, docs/ and the tutorials is run by a test, or commands.toml says why not.

The cheap ones run in ``scripts/test extras docs``, the dear ones by ``scripts/test slow extras
docs``; both in a folder with the files that they name.
"""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from website.commands import commands, tables
from website.contents import pages

from node import ROOT

pytestmark = pytest.mark.extra(name="docs")
_LISTED = tomllib.loads((Path(__file__).parent / "commands.toml").read_text())
_NETWORK = """module @{name} {{
  func.func public @main(%x: tensor<{rows}x{width}xf32> loc("x"),
                         %w: tensor<{width}x16xf32> loc("w")) -> (tensor<{rows}x16xf32>) {{
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] :
      (tensor<{rows}x{width}xf32>, tensor<{width}x16xf32>) -> tensor<{rows}x16xf32>
      loc("net.py":7:3)
    %1 = stablehlo.{function} %0 : tensor<{rows}x16xf32> loc("net.py":8:3)
    return %1 : tensor<{rows}x16xf32>
  }}
}}
"""
_INT8 = """module @layer {
  func.func public @main(%x: tensor<16x8xi8>, %w: tensor<8x4xi8>) -> tensor<16x4xi32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] :
      (tensor<16x8xi8>, tensor<8x4xi8>) -> tensor<16x4xi32> loc("train.py":3:8)
    return %0 : tensor<16x4xi32>
  }
}
"""
_BAD = """        .chip   nano
        mov     r2, 0
        loop    30, done
        add     r2, r2, 100
done:   vector  mov, acc[r2], acc[0], n0=4
        halt
"""
_TRAIN = """import jax
import jax.numpy as jnp

step = jax.jit(lambda w, x: w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w))
print(step(jnp.ones((16, 8)), jnp.ones((32, 16))).sum())
"""


def _entry(command):
    """Return the table of a command, the line that is for it, and what the line says."""
    found = [(table, key, value) for table, lines in _LISTED.items()
             for key, value in lines.items() if command == key or re.fullmatch(key, command)]
    exact = [each for each in found if each[1] == command]
    return (exact or found or [("", "", None)])[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the commands of pages name."""
    made = tmp_path_factory.mktemp("commands")
    (made / "examples").symlink_to(ROOT / "examples")
    for name in ("scripts", "tests", "docs"):
        (made / name).symlink_to(ROOT / name)
    for name in ("f", "two"):
        (made / f"{name}.mlir").write_text(
            _NETWORK.format(name=name, rows=32, width=32, function="tanh"))
    (made / "loss.mlir").write_text(
        _NETWORK.format(name="loss", rows=32, width=32, function="log"))
    (made / "step.mlir").write_text(
        _NETWORK.format(name="step", rows=65536, width=64, function="tanh"))
    (made / "layer.mlir").write_text(_INT8)
    (made / "bad.s").write_text(_BAD)
    (made / "train.py").write_text(_TRAIN)
    (made / "f.s").write_text((ROOT / "examples" / "product.s").read_text())
    for what in ("asm f.s -o f.bin", "profile two.mlir -o before.prof",
                 "profile f.mlir -o after.prof"):
        assert _run(f"celosia {what}", made).returncode == 0, what
    return made


def _run(command, folder, seconds=600):
    words = shlex.split(command)
    env = dict(os.environ)
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    env["COLUMNS"] = "100"
    while re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        name, _, value = words.pop(0).partition("=")
        env[name] = value
    python = [sys.executable]
    words = {"celosia": [*python, "-m", "celosia"], "python": python,
             ".venv/bin/python": python}.get(words[0], [words[0]]) + words[1:]
    return subprocess.run(words, cwd=folder, env=env, input="quit\n", capture_output=True,
                          text=True, timeout=seconds)


def _listed(table):
    for command in sorted({command for _, command in commands()}):
        where, _, value = _entry(command)
        if where == table:
            yield command, value.get("run", command), value.get("code", 0)


def _once(cases):
    """Each thing that is run, once."""
    return list({run: (command, run, code) for command, run, code in cases}.values())


def test_every_command_is_run_or_has_a_reason():
    unknown = sorted({(page, command) for page, command in commands() if not _entry(command)[0]})
    assert not unknown, "these must be in tests/e2e/web/commands.toml"
    used = {_entry(command)[:2] for _, command in commands()}
    assert used == {(table, key) for table, lines in _LISTED.items() for key in lines}


def test_tests_that_run_commands_are_ones_that_there_are():
    assert all((ROOT / path).is_file() for path in _LISTED["tests"].values())


@pytest.mark.parametrize("command", sorted(
    {command for _, command in commands() if command.startswith("scripts/test ")}))
def test_tiers_and_paths_of_tests_are_ones_that_there_are(command):
    for word in command.split():
        if "/" in word:
            assert (ROOT / word).exists(), command
    tiers = {"smoke", "lint", "sw", "hw", "rtl", "e2e", "slow", "extras"}
    first = command.split()[1]
    assert first in tiers or first.startswith("tests/"), command


@pytest.mark.parametrize(("command", "run", "code"), _once(_listed("cheap")),
                         ids=lambda value: value if isinstance(value, str) else "")
def test_cheap_commands_run(folder, command, run, code):
    done = _run(run, folder)
    assert done.returncode == code, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


@pytest.mark.slow
@pytest.mark.parametrize(("command", "run", "code"), _once(_listed("dear")),
                         ids=lambda value: value if isinstance(value, str) else "")
def test_dear_commands_run_and_say_what_their_rows_say(folder, command, run, code):
    done = _run(run, folder, 3000)
    assert done.returncode == code, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    for row in (ROOT / "docs" / "performance.md").read_text().splitlines():
        if f"| `{command}` |" in row and row.count("|") > 9:
            cycles = row.split("|")[4].strip()
            assert cycles in done.stdout, f"{command} must say {cycles} cycles:\n{done.stdout}"


def test_tables_of_numbers_name_what_made_them():
    bare = [f"{page}: {heading}: {first}" for page, path in pages().items()
            if page != "changelog" and path.exists()
            for heading, first, named in tables(path.read_text()) if not named]
    assert not bare, "a command, a script or a file must stand beside these tables"


def test_a_table_without_a_command_is_found():
    table = "| what | cycles |\n|---|---:|\n| one | 1,234 |\n| two | 56.7 |\n"
    assert list(tables(f"# A\n\ntext\n\n{table}")) == [("A", "| what | cycles |", False)]
    assert list(tables(f"# A\n\n`celosia bench gemm` makes it:\n\n{table}")) == [
        ("A", "| what | cycles |", True)]
    assert list(tables(f"# A\n\n{table}\n# B\n\n`scripts/bench`\n")) == [
        ("A", "| what | cycles |", False)]
    assert not list(tables("# A\n\n| a | b |\n|---|---|\n| one | two |\n"))
