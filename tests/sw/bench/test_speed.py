"""What is measured on two commits by turns, with a measure that is made up."""

import importlib
import json
import subprocess

import pytest

from celosia.bench import speed
from celosia.bench.speed import JOBS, Side, measure_speed, other_commit, run_job, speed_lines
from celosia.cli.main import main


def git(folder, *words):
    return subprocess.run(["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b",
                           *words], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path):
    """A checkout with two commits, whose package says of itself how long its run took."""
    package = tmp_path / "sw" / "celosia"
    package.mkdir(parents=True)
    git(tmp_path, "init", "-q")
    (package / "__init__.py").touch()
    for seconds in (4, 2):
        (package / "__main__.py").write_text(
            f"print('[{{\"cycles\": 8, \"host_seconds\": {seconds}}}]')\n")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-q", "-m", f"{seconds} s")
    return tmp_path


@pytest.fixture
def sides(tmp_path):
    return Side("new", tmp_path, tmp_path), Side("old", tmp_path, tmp_path)


def test_a_commit_is_cloned_and_each_side_runs_its_own_package(checkout):
    with other_commit(checkout, "HEAD~1") as sides:
        here, there = (run_job(JOBS["rtl-mlp-adam"], side) for side in sides)
        assert (here, there) == ({"rate": 4.0}, {"rate": 2.0})
        assert sides[0].root == checkout
        assert [side.commit for side in sides] == [
            git(checkout, "rev-parse", "--short", name) for name in ("HEAD", "HEAD~1")]
        clone = sides[1].root
    assert not clone.exists()
    (checkout / "sw" / "celosia" / "__init__.py").write_text("x = 1\n")
    with other_commit(checkout, "HEAD") as (here, there):
        assert here.commit == f"{there.commit} and changes"


def test_sides_take_turns_and_medians_are_compared(sides):
    seen = []

    def run(job, side):
        seen.append(side.commit)
        return {"seconds": len(seen) if side.commit == "new" else 2 * len(seen)}

    (found,) = measure_speed(sides, ["info"], 5, run)
    assert seen == ["new", "old", "old", "new", "new", "old", "old", "new", "new", "old"]
    assert found.here_runs == [1, 4, 5, 8, 9]
    assert found.there_runs == [4, 6, 12, 14, 20]
    assert (found.here, found.there, found.ratio) == (5, 12, 5 / 12)
    table = list(speed_lines(iter([found])))
    assert table[0].startswith("| | unit | new | old | ratio |")
    assert table[2] == "| celosia info | s | 5 | 12 | 0.417 | 5: 1..9; 4..20 | `info` |"


def test_what_is_counted_runs_once(sides):
    found = list(measure_speed(sides, ["cycles-lstm-sgd"], 5, lambda job, side: {
        "cycles": 900.0, "utilisation": 0.5}))
    assert [(each.unit, each.here_runs) for each in found] == [
        ("cycles", [900]), ("of the array", [0.5])]


def test_a_side_that_fails_has_no_figure_and_says_why(sides):
    def run(job, side):
        if side.commit == "old":
            raise RuntimeError("no such command")
        return {"seconds": 1.0}

    (found,) = measure_speed(sides, ["info"], 5, run)
    assert (found.here, found.there, found.ratio) == (1, None, None)
    assert found.note == "old: no such command"
    assert "| - | - | old: no such command |" in list(speed_lines(iter([found])))[2]


def test_a_package_that_is_missing_is_said(sides, monkeypatch):
    monkeypatch.setattr(speed, "find_spec", lambda name: None)
    (found,) = measure_speed(sides, ["keras"], 5)
    assert found.note == "keras is not installed"


def test_a_run_that_fails_says_its_last_line(sides, tmp_path):
    package = tmp_path / "sw" / "celosia"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import sys; sys.exit('first\\nlast')")
    with pytest.raises(RuntimeError, match=r"^last$"):
        run_job(JOBS["info"], sides[0])


def test_a_cold_run_begins_with_nothing_compiled(sides, tmp_path):
    """Others with what their side has kept."""
    package = tmp_path / "sw" / "celosia"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    seen = tmp_path / "seen"
    (package / "__main__.py").write_text(
        "import os, pathlib\n"
        f"seen = pathlib.Path({str(seen)!r})\n"
        "seen.write_text(' '.join(sorted(os.listdir(os.environ['CELOSIA_CACHE']))))\n"
        "print('[{\"seconds\": 1, \"host_seconds\": 1}]')\n")
    cold = {name for name, job in JOBS.items() if job.cold}
    assert cold == {"build"}
    for name in ("info", "build"):
        run_job(JOBS[name], sides[0])
        assert ("sw" in seen.read_text().split()) == (name not in cold)


@pytest.mark.parametrize(("arguments", "message"), [
    ([], "bench speed must be given --against, a git revision such as HEAD~1"),
    (["--against", "nothing"],
     "--against must be a revision of the checkout {root}, not 'nothing'"),
    (["--against=--help"], "--against must be a revision of the checkout {root}, not '--help'"),
    (["--against", "HEAD", "--runs", "3"], "--runs must be at least 5, not 3"),
])
def test_wrong_arguments_are_said(arguments, message, checkout, monkeypatch, capsys):
    monkeypatch.setattr(importlib.import_module("celosia.bench.main"), "this_checkout",
                        lambda: checkout)
    assert main(["bench", "speed", *arguments]) == 1
    assert capsys.readouterr().err == f"celosia: error: {message.format(root=checkout)}\n"


def test_what_is_no_checkout_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(speed, "__file__", str(tmp_path / "sw" / "celosia" / "bench" / "speed.py"))
    with pytest.raises(ValueError, match="in a git checkout of the project, .* is none$"):
        speed.this_checkout()


def test_a_revision_without_the_package_is_said(checkout):
    git(checkout, "rm", "-rq", "sw")
    git(checkout, "commit", "-q", "-m", "nothing", "--allow-empty")
    with (pytest.raises(ValueError, match="with sw/celosia, HEAD has none"),
          other_commit(checkout, "HEAD")):
        pass


def test_the_command_prints_json(checkout, monkeypatch, capsys):
    module = importlib.import_module("celosia.bench.main")
    monkeypatch.setattr(module, "this_checkout", lambda: checkout)
    monkeypatch.setattr(module, "measure_speed", lambda sides, names, runs: measure_speed(
        sides, names, runs, lambda job, side: {"seconds": 1.0}))
    assert main(["bench", "speed", "--against", "HEAD~1", "--row", "info", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["name"], found["ratio"]) == ("info", 1)
