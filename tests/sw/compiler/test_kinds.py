"""Graphs of every kind become no more, and no other, nodes and work than they did."""

import json

import pytest
from kinds import FILE, NAMES, form_of

KEPT = json.loads(FILE.read_text())


def test_all_kinds_are_kept():
    assert list(KEPT) == NAMES


@pytest.mark.parametrize("name", KEPT)
def test_forms_are_as_they_were(name):
    assert form_of(name) == KEPT[name], (
        "run PYTHONPATH=scripts python tests/sw/compiler/kinds.py")
