"""The file of equivalent mutants."""

from pathlib import Path

import pytest
from mutation.equivalent import argument_for, load
from mutation.find import mutants

ROOT = Path(__file__).resolve().parents[3]
ENTRY = """[[mutant]]
file = "sw/a.py"
scope = "f"
line = "a = 1"
becomes = "a = 2"
why = "never asked"
"""
CODE = b"def f():\n    b = 1\n    a = 1\n"


def written(tmp_path, text):
    path = tmp_path / "equivalent.toml"
    path.write_text(text)
    return load(path)


def test_an_entry_is_found_by_its_content(tmp_path):
    known = written(tmp_path, ENTRY)
    reasons = {str(mutant): argument_for(mutant, known) for mutant in mutants("sw/a.py", CODE)}
    assert [name for name, why in reasons.items() if why == "never asked"] == [
        "sw/a.py:3:9:off-by-one: 1 -> 2"]


def test_two_places_of_a_line_are_told_apart(tmp_path):
    text = ENTRY.replace("a = 1", "a = 1 + 1").replace("a = 2", "a = 1 + 2")
    known = written(tmp_path, text)
    assert [mutant.column for mutant in mutants("sw/a.py", b"def f():\n    a = 1 + 1\n")
            if argument_for(mutant, known)] == [13]


@pytest.mark.parametrize(("text", "message"), [
    (ENTRY.replace("why", "reason"), "must have file, scope, line, becomes and why"),
    (ENTRY.replace("never asked", " "), "why must be an argument, not ' '"),
])
def test_an_entry_has_an_argument(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        written(tmp_path, text)


def test_no_file_is_no_entry(tmp_path):
    assert load(tmp_path / "none.toml") == []


def test_every_entry_names_a_mutant_that_is_there():
    for known in load(ROOT / "tests" / "equivalent_mutants.toml"):
        source = (ROOT / known.file).read_bytes()
        assert any(known.matches(mutant) for mutant in mutants(known.file, source)), known
