"""What the estimator says of programs at random is as it was."""

import json

import pytest

from sw.model.timing.random_programs import CHIPS, FILE, all_of


@pytest.mark.parametrize("chip", CHIPS)
def test_what_is_said_is_as_it_was(chip):
    kept, found = json.loads(FILE.read_text())[chip], all_of(chip)
    assert found == kept, "run python tests/sw/model/timing/random_programs.py"
