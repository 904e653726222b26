"""The command on a project with one source."""

import json
import re
from pathlib import Path

import bootstrap
import pytest
from mutation.__main__ import main
from mutation.choose import choose, shares
from mutation.entered import Entered
from mutation.project import OF_EXTRAS, Project
from mutation.results import share_killed
from mutation.trial import batches

ROOT = Path(__file__).resolve().parents[3]
PLACE = "sw/celosia/part/source.py"


def run(root, *arguments):
    return main([*arguments, "--workers", "1"], root)


def test_the_same_seed_is_the_same_mutants(root):
    project = Project(root)
    first = choose(project, 1, 6)
    assert first == choose(project, 1, 6)
    assert first != choose(project, 2, 6)
    assert len({mutant.operator for mutant in first}) == 4  # all that the source has


def test_shares():
    assert shares({"a": 80, "b": 19, "c": 1}, 10) == {"a": 7, "b": 2, "c": 1}
    assert shares({"a": 8, "b": 2, "c": 1}, 2) == {"a": 1, "b": 1}
    assert shares({"a": 2, "b": 0}, 10) == {"a": 2}


def test_what_only_an_extra_tests_is_not_mutated(root):
    package = root / "sw/celosia/tensorflow"
    package.mkdir()
    (package / "part.py").write_text("LIMIT = 3\n")
    project = Project(root)
    assert "sw/celosia/tensorflow/part.py" in project.sources()
    assert "sw/celosia/tensorflow/part.py" not in project.mutable()
    assert all(place.exists() for place in map(ROOT.joinpath, OF_EXTRAS))
    assert set(OF_EXTRAS.values()) <= set(bootstrap.SEPARATE)


def test_rooms(root):
    rooms = {path: Project(root).room(path) for path in (
        "hw/celosia_hw/vpu/lane.py", "hw/celosia_hw/top.py", "sw/celosia/model/dma.py",
        "sw/celosia/compiler/emit/map.py", "sw/celosia/serve/app.py", "sw/celosia/__main__.py",
        "sim/celosia_sim/boards/cells.py")}
    assert list(rooms.values()) == ["hw.vpu", "hw.top", "model", "compiler", "sw.serve", "sw.top",
                                    "simulator"]


def test_batches_grow():
    assert list(batches("abcd", [1, 9, 20, 11])) == [(["a", "b"], 10), (["c", "d"], 31)]
    assert list(batches("ab", [50, 1])) == [(["a"], 50), (["b"], 1)]


def test_share_killed():
    assert share_killed(["killed", "killed", "survived", "unfinished", "equivalent"]) == 50
    assert share_killed([]) == 100


def test_the_map_knows_who_enters_what(root, capsys):
    assert run(root, "--map") == 0
    assert "tests/sw/part/test_source.py" in capsys.readouterr().out
    entered = Entered(Project(root), root / "build" / "mutation" / "map")
    assert entered.missing() == []
    known = entered["tests/sw/part/test_source.py"]
    assert known.entered == {"sw/celosia/__init__.py::<module>",
                             "sw/celosia/part/__init__.py::<module>", f"{PLACE}::<module>",
                             f"{PLACE}::largest"}
    assert known.failed == []
    assert entered["tests/sw/other/test_other.py"].entered == set()
    tests = ["tests/sw/part/test_source.py"]
    assert entered.tests_of(PLACE, "largest") == tests
    assert entered.tests_of(PLACE, "unseen") == tests  # nobody enters it: its room's
    (root / "tests/sw/part/test_source.py").write_text("")
    assert Entered(Project(root), root / "build" / "mutation" / "map").missing() == tests


def test_killed_survived_equivalent(root, capsys):
    survivor = f"{PLACE}:15:21:off-by-one:2"
    assert run(root, "--one", f"{PLACE}:8:12:condition", "--bar", "100", "--no-map") == 0
    assert re.search(r"killed .*:condition: value > best -> False  by "
                     r"tests/sw/part/test_source.py::test_largest", capsys.readouterr().out)
    assert run(root, "--one", survivor, "--no-map") == 1
    assert f"{survivor[:-2]}: 3 -> 4" in capsys.readouterr().out
    (root / "tests" / "equivalent_mutants.toml").write_text("""
[[mutant]]
file = "sw/celosia/part/source.py"
scope = "unseen"
line = "return value == 3"
becomes = "return value == 4"
why = "nobody asks"
""")
    assert run(root, "--one", survivor, "--no-map") == 1  # more than 5 % are equivalent
    assert re.search(r"equivalent .* by nobody asks", capsys.readouterr().out)


def test_a_run_goes_on_where_it_was_and_shows_survivors(root, capsys):
    arguments = ("--seed", "0", "--count", "3", "--no-map")
    run(root, *arguments)
    first = capsys.readouterr().out
    assert len(re.findall("^(?:killed|survived) ", first, re.M)) == 3
    run(root, *arguments)
    again = capsys.readouterr().out
    assert not re.search("^(?:killed|survived) ", again, re.M)
    assert again.splitlines()[-1] == first.splitlines()[-1]
    assert run(root, *arguments, "--show") == 0
    shown = capsys.readouterr().out
    state = next((root / "build" / "mutation").glob("0-3-*/results.jsonl"))
    verdicts = [json.loads(line) for line in state.read_text().splitlines()]
    survivors = [each["mutant"] for each in verdicts if each["status"] == "survived"]
    assert survivors
    assert all(f"{mutant} (survived)" in shown for mutant in survivors)
    assert shown.count("--- sw/celosia/part/source.py\n+++ sw/celosia/part/source.py\n@@") == len(
        survivors)


def test_a_place_without_a_mutant_is_refused(root):
    with pytest.raises(SystemExit, match="must name a mutant, but there are 0 at that place"):
        run(root, "--one", f"{PLACE}:1:1:comparison")
