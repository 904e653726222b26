"""What scripts/test and scripts/soak do with what they are given, and with what goes wrong."""

import importlib.machinery
import importlib.util
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import soak as programs
from celosia.arch.config import PRESETS, preset
from celosia_sim.lockstep import save_program
from celosia_sim.randprog import random_bus_errors

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch):
    """Load a script as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load(name):
        loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "scripts" / name))
        spec = importlib.util.spec_from_loader(name, loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module

    return load


# scripts/test

@pytest.mark.parametrize(("words", "tiers", "names", "rest"), [
    ("", [], [], []),
    ("sw hw -k matmul", ["sw", "hw"], [], ["-k", "matmul"]),
    ("slow tests/sw/pages/accuracy", ["slow"], [], ["tests/sw/pages/accuracy"]),
    ("tests/test_tiny.py::test_x -x", [], [], ["tests/test_tiny.py::test_x", "-x"]),
    ("extras torch fpga -x", ["extras"], ["torch", "fpga"], ["-x"]),
    ("slow extras torch", ["slow", "extras"], ["torch"], []),
])
def test_tiers_are_read(script, words, tiers, names, rest):
    assert script("test").parse(words.split()) == (tiers, names, rest)


def test_extras_without_a_name_are_all(script):
    test = script("test")
    assert test.parse(["extras"]) == (["extras"], list(test.bootstrap.SEPARATE), [])


@pytest.mark.parametrize(("words", "message"), [
    ("smok", "a tier must be {tiers}, or a path of tests, not 'smok'; did you mean 'smoke'?"),
    ("tests/nowhere", "a tier must be {tiers}, or a path of tests, not 'tests/nowhere'"),
    ("extras toch",
     ("an extra must be jax, keras, flax, torch, tensorflow, profile, fpga, docs, ray, not "
      "'toch'; did "
      "you mean 'torch'?")),
    ("extras torch rtl", "beside extras there must be slow or no tier, not 'rtl'"),
])
def test_wrong_words_are_named(script, words, message):
    test = script("test")
    message = message.format(tiers=", ".join(test.TIERS))
    with pytest.raises(SystemExit) as error:
        test.parse(words.split())
    assert error.value.code == f"scripts/test: {message}\nscripts/test --help lists the tiers"


def test_help_lists_every_tier_and_extra(script, capsys):
    test = script("test")
    assert test.main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(re.search(rf"^    {tier}\b", shown, re.MULTILINE) for tier in test.TIERS)
    assert ", ".join(test.bootstrap.SEPARATE) in shown


def test_every_extra_of_a_test_has_an_environment_and_the_other_way_round(script):
    test = script("test")
    named = {name for path in (ROOT / "tests").rglob("test_*.py")
             for name in re.findall(r'mark\.extra\(name="(\w+)"', path.read_text())}
    # The examples are marked from a table.
    text = (ROOT / "tests" / "e2e" / "test_examples_jax.py").read_text()
    table = re.search(r'mark\.extra\(name=name\) for name in \(\s*([^)]*)\)', text)
    assert table is not None
    named |= set(re.findall(r'"(\w+)"', table.group(1)))
    assert named == set(test.bootstrap.SEPARATE)
    assert all(test.files_of(name) for name in test.bootstrap.SEPARATE)
    assert Path("tests/sw/cli/fpga/test_synthesis.py") not in test.files_of("fpga")


@pytest.mark.parametrize(("tiers", "wanted"), [
    ([], ["tests/test_tiny.py", *(f"tests/{name}" for name in ("e2e", "rtl", "hw", "sw"))]),
    (["smoke"], ["tests/test_tiny.py"]), (["sw", "rtl"], ["tests/rtl", "tests/sw"]),
])
def test_every_test_is_in_a_place_of_its_tiers(script, tiers, wanted):
    command = script("test").pytest_command(sys.executable, tiers, [], "report.xml")
    assert [word for word in command if str(word).startswith("tests/")] == wanted
    if not tiers:
        homes = [ROOT / name for name in wanted]
        assert all(any(path.is_relative_to(home) for home in homes)
                   for path in (ROOT / "tests").rglob("test_*.py"))
    if tiers == ["smoke"]:
        marked = {path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")
                  if "mark.smoke" in path.read_text() and path.name != "test_scripts.py"}
        assert marked == {Path(name) for name in wanted}


def test_files_of_other_tiers_are_not_read(script):
    test = script("test")
    left = {tier: [word for word in test.pytest_command(sys.executable, tiers, [], "report.xml")
                   if str(word).startswith("--ignore")]
            for tier, tiers in (("", []), ("sw", ["sw"]), ("slow", ["slow"]))}
    assert left["slow"] == []
    assert left[""] == left["sw"]
    assert {f"--ignore=tests/{name}.py" for name in (
        "sw/serve/test_attack", "e2e/test_tensorflow", "e2e/web/test_browser")} <= {*left[""]}
    # Of an extra, but in the default tier too; some tests slow; other marks.
    assert not {f"--ignore=tests/{name}.py" for name in (
        "e2e/test_pjrt", "rtl/test_lockstep", "rtl/test_cocotb")} & {*left[""]}


def test_what_no_run_has_compiled_one_process_compiles_for_all(script, monkeypatch, tmp_path):
    test, commands = script("test"), []
    monkeypatch.setattr(test.bootstrap, "bytecode", lambda: str(tmp_path))
    monkeypatch.setattr(test.subprocess, "call", lambda command, **_: commands.append(command))
    for _ in range(2):
        test.Results().tests("tests", sys.executable, ["hw"], [])
        Path(tmp_path, *(ROOT / "tests").parts[1:]).mkdir(parents=True, exist_ok=True)
    collect, run, _ = commands
    assert collect == [*run, "-n", "0", "--collect-only"]


def test_what_is_skipped_in_an_extra_has_failed(script, monkeypatch, capsys):
    test = script("test")
    report = ('<testsuites><testsuite tests="5" failures="0" errors="0" skipped="2"/>'
              "</testsuites>")
    monkeypatch.setattr(test, "pytest_command", lambda *args: [
        sys.executable, "-c", "import sys; open(sys.argv[1], 'w').write(sys.argv[2])",
        args[3], report])
    for extra, code, closing in (("", 0, "3 passed, 0 failed, 2 skipped"),
                                 ("torch", 1, "3 passed, 2 failed, 0 skipped")):
        results = test.Results()
        results.tests("tests", sys.executable, [], [], extra)
        assert results.report() == code
        assert capsys.readouterr().out.splitlines()[-1] == closing


def test_an_environment_apart_is_made_once_and_has_only_its_extra(script, monkeypatch, tmp_path):
    bootstrap, commands = script("bootstrap.py"), []
    monkeypatch.setenv("CELOSIA_VENV", str(tmp_path / "venv"))
    monkeypatch.setattr(bootstrap, "_make", lambda venv: venv.mkdir())
    monkeypatch.setattr(bootstrap, "_call", lambda command, **more: (1, ""))  # so pip, not uv
    monkeypatch.setattr(bootstrap, "_warm_up", lambda python: commands.append("warm"))
    monkeypatch.setattr(bootstrap, "_run", lambda what, command, hint="": commands.append(command))
    for _ in range(2):
        python = bootstrap.ensure_apart("torch")
        assert Path(python).parents[1] == tmp_path / "venv-torch"
    build, project = commands
    assert build[-len(bootstrap.BUILD):] == list(bootstrap.BUILD)
    constrained = project.index("--constraint")
    assert project[constrained + 1] == bootstrap.CONSTRAINTS
    assert project[project.index("--editable") + 1] == f"{ROOT}[torch]"
    assert {"pytest", "pytest-xdist"} < set(project)
    assert any(word.startswith("torch>=") for word in map(str, project))
    # With the simulator it is another one.
    python = bootstrap.ensure_apart("torch", sim=True)
    assert Path(python).parents[1] == tmp_path / "venv-torch-sim"
    assert commands[-2] == "warm"
    assert f"{ROOT}[torch,sim]" in commands[-1]


# scripts/soak

FAILS_AT_7 = """
import sys
first, end = map(int, sys.argv[sys.argv.index("--seeds") + 1:][:2])
if first <= {least} and end > 7:
    sys.exit("nano, seed 7: must be equal")
"""


@pytest.fixture
def soak(script, monkeypatch, tmp_path):
    module = script("soak")
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    return module


def once(soak, state, kind):
    """Let a worker run one command."""
    class Stopped:
        asked = 0

        def is_set(self):
            self.asked += 1
            return self.asked == 3  # before the first, after it, before the second

    soak.worker(sys.executable, [kind], state, float("inf"), Stopped())


@pytest.mark.parametrize(("least", "span"), [(7, "7 8"), (6, "5 8")])
def test_a_failure_leaves_what_repeats_it_and_the_soak_goes_on_behind_it(soak, tmp_path, capsys,
                                                                        least, span):
    kind = ["-c", FAILS_AT_7.format(least=least)], 20
    name = " ".join(kind[0])
    state = soak.State(tmp_path / "state.json")
    state.data["first"] = 5
    once(soak, state, kind)
    [folder] = (tmp_path / "failures").iterdir()
    assert folder.name.endswith("-7")
    command = (folder / "command").read_text()
    assert command.endswith(f"--seeds {span}\n")
    assert "seed 7: must be equal" in (folder / "output.txt").read_text()
    assert "FAILED" in capsys.readouterr().out
    # What comes after reads the file, and begins where this ended.
    again = soak.State(tmp_path / "state.json")
    assert again.data["next"] == {name: 8}
    assert len(again.data["failures"]) == 1
    once(soak, again, kind)
    assert soak.State(tmp_path / "state.json").data["next"] == {name: 28}
    assert len(list((tmp_path / "failures").iterdir())) == 1


def test_kinds_take_turns_and_none_runs_twice_at_once(soak, tmp_path):
    kinds = [(["a"], 1), (["b"], 1)]
    state = soak.State(tmp_path / "state.json")
    taken = [state.take(kinds)[0] for _ in range(2)]
    assert taken == [["a"], ["b"]]
    state.done("a", 10, 5.0)
    state.done("b", 10, 1.0)
    assert state.take(kinds)[0] == ["b"]
    for _ in range(soak.MOST_FAILURES):
        state.done("a", 10, 0.0, "build/soak/failures/a-1")
    assert state.take(kinds) is None


def test_every_preset_is_soaked_on_rtl_and_model(soak):
    kinds = Counter()
    for words, some in soak.commands():
        assert some > 0
        name = words[words.index("--preset") + 1]
        kinds[name, "rtl"] += "celosia_sim.lockstep" in words
        kinds[name, "model"] += "models" in words
    assert kinds.keys() == {(name, backend) for name in PRESETS for backend in ("rtl", "model")}
    assert min(kinds.values()) > 0


def test_a_model_that_differs_is_found(monkeypatch):
    config = preset("pico")
    assert programs.check_models(config, 1)[1] == ""
    monkeypatch.setattr(programs.Oracle, "do_vector", lambda self, insn, ops: None)
    assert "interpreter" in programs.check_models(config, 1)[1]
    monkeypatch.setattr(programs, "SMALL", ())
    run = programs.Machine.run

    def replayed_wrongly(self, *args, **options):
        found = run(self, *args, **options)
        self.acc[3, 0] += np.uint32("max_instructions" not in options)
        return found

    monkeypatch.setattr(programs.Machine, "run", replayed_wrongly)
    assert programs.check_models(config, 1)[1] == "recorded, it must leave the same acc"


def test_graphs_of_a_seed_are_always_the_same():
    found, again, others = ([repr(each) for each in programs.batch(seed)] for seed in (4, 4, 5))
    assert found == again
    assert len(set(found) & set(others)) <= 2
    assert len(set(found)) > programs.BATCH // 2


def test_a_program_is_kept_as_text_and_bytes(tmp_path):
    program = random_bus_errors(preset("nano"), 5)
    save_program(program, tmp_path / "new")
    text = (tmp_path / "new" / "program.txt").read_text().splitlines()
    assert text[0] == "# nano, seed 5"
    assert sum(line.startswith("# bus errors") for line in text) == 1
    assert len([line for line in text if line[0] != "#"]) == program.length
    assert (tmp_path / "new" / "program.bin").read_bytes() == program.code
    assert (tmp_path / "new" / "data.bin").read_bytes() == program.image
