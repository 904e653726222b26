"""What the estimator says of programs at random is as it was."""

import itertools
import json
from unittest import mock

import pytest

from celosia.model.timing.rows import RowsUnderWay
from sw.model.timing.random_programs import CHIPS, FILE, MEMORIES, all_of, noted


@pytest.mark.parametrize("chip", CHIPS)
def test_what_is_said_is_as_it_was(chip):
    kept, found = json.loads(FILE.read_text())[chip], all_of(chip)
    assert found == kept, "run python tests/sw/model/timing/random_programs.py"


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("chip", ["core", "edge, folded", "nano, one bank"])
def test_what_is_not_played_again_would_come_to_the_same(chip, memory):
    numbers = itertools.count()
    with mock.patch.object(RowsUnderWay, "changes", side_effect=numbers):
        always = noted(chip, memory)
    assert next(numbers) > 20
    assert noted(chip, memory) == always
