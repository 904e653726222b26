"""Programs of several chips: steps, and what is left to links."""

import json
from dataclasses import replace

import pytest

import celosia
from celosia.arch.config import preset
from celosia.compiler import api
from sw.compiler.pods import FILE, GRAPHS, all_steps


@pytest.mark.parametrize("name", GRAPHS)
def test_steps_are_as_they_were(name):
    kept = json.loads(FILE.read_text())[name]
    assert all_steps(name) == kept, "run PYTHONPATH=tests python tests/sw/compiler/pods.py"


@pytest.mark.parametrize(("name", "left"), [
    ("a product beside the first exchange", [True, True, False]),
    ("an exchange at the end", [False]), ("what only the last part wants", [False, False])])
def test_rows_are_left_to_links_that_are_at_work(monkeypatch, name, left):
    """Those before a part, of which it takes nothing; else it has all rows."""
    found = []

    def step(level, takes, config, *rest):
        found.append(config.acc_rows)
        return real(level, takes, config, *rest)

    real = api._chip_step
    monkeypatch.setattr(api, "_chip_step", step)
    config = replace(preset("core"), ports=2)
    celosia.compile(GRAPHS[name], config, cache=False)
    assert [rows < config.acc_rows for rows in found] == left
