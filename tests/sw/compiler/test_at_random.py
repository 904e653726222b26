"""Graphs at random of all sizes: what their programs give and cost."""

import json

import numpy as np
import pytest

import celosia
from celosia.graph import interpret
from sw.compiler.at_random import COUNT, FILE, compiled, inputs
from sw.compiler.costs import cost

KEPT = json.loads(FILE.read_text())
PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_results_are_right_and_costs_as_they_were(part):
    differing = {}
    for seed in range(part, COUNT, PARTS):
        program, graph = compiled(seed)
        arguments = inputs(seed, graph)
        with celosia.open("model", config=program.config) as device:
            found = program.run(device, *arguments)
        with np.errstate(all="ignore"):
            for one, wanted in zip(found, interpret(graph, arguments), strict=True):
                check(one, wanted, f"seed {seed}")
        if (now := cost(program)) != KEPT[str(seed)]:
            differing[seed] = KEPT[str(seed)], now
    assert not differing, "run PYTHONPATH=scripts python tests/sw/compiler/at_random.py"


def check(found, wanted, name):
    """Compare a result: integers exactly, floats but for roundings, also of bf16 products."""
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), name
    if found.dtype.kind in "iub":
        np.testing.assert_array_equal(found, wanted, name)
        return
    found, wanted = (each.astype(np.float64) for each in (found, wanted))
    largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=1)
    np.testing.assert_allclose(found, wanted, 0.03, 0.03 * largest, err_msg=name)
