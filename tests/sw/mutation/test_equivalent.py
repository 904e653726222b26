"""The file of equivalent mutants."""

from pathlib import Path

import pytest
from mutation.equivalent import argument_for, load
from mutation.find import mutants

ROOT = Path(__file__).resolve().parents[3]
ENTRY = """[[mutant]]
file = "sw/a.py"
scope = "f"
before = "1"
after = "2"
why = "never asked"
"""
CODE = b"def f():\n    a = 1\n    b = 1\n"


def written(tmp_path, text):
    path = tmp_path / "equivalent.toml"
    path.write_text(text)
    return load(path)


def test_an_entry_is_found_by_its_content(tmp_path):
    known = written(tmp_path, ENTRY)
    reasons = {str(mutant): argument_for(mutant, known) for mutant in mutants("sw/a.py", CODE)}
    assert [name for name, why in reasons.items() if why == "never asked"] == [
        "sw/a.py:2:9:off-by-one: 1 -> 2", "sw/a.py:3:9:off-by-one: 1 -> 2"]


def test_a_line_tells_equal_places_apart(tmp_path):
    known = written(tmp_path, f'{ENTRY}line = "b = 1"\n')
    assert [mutant.line for mutant in mutants("sw/a.py", CODE)
            if argument_for(mutant, known)] == [3]


@pytest.mark.parametrize(("text", "message"), [
    (ENTRY.replace("why", "reason"), "must have file, scope, before, after and why"),
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
