"""What one mutant's trial runs."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from mutation.trial import trial

TEST = "tests/test_it.py"


class Entered:
    """A map in which one file enters every function."""

    def tests_of(self, path, scope):
        return [TEST]

    def __getitem__(self, test):
        return SimpleNamespace(seconds=1.0, failed=[])


class Scratch:
    """A tree in which every test fails."""

    def __init__(self, tree):
        self.tree, self.calls = tree, []

    def mutated(self, mutant):
        return nullcontext()

    def run(self, tests, limit, options=()):
        self.calls.append(list(tests))
        return SimpleNamespace(verdict="failed", failed=[f"{TEST}::test_it"])


@pytest.mark.parametrize(("there", "status", "ran"), [
    (True, "killed", [[TEST]]), (False, "survived", [])])
def test_a_file_that_the_trees_do_not_have_kills_nothing(tmp_path, there, status, ran):
    """Tests may be written while mutants are tried, each in a copy of what was there before."""
    scratch = Scratch(tmp_path)
    if there:
        (tmp_path / "tests").mkdir()
        (tmp_path / TEST).touch()
    verdict = trial(SimpleNamespace(path="a.py", scope="f"), scratch, Entered(), 100)
    assert verdict.status == status
    assert scratch.calls == ran
