import json

import pytest

from sw.compiler.costs import FILE, cost_of, programs

KEPT = json.loads(FILE.read_text())
PARTS = 8


def test_all_costs_are_kept():
    assert programs().keys() == KEPT.keys()


@pytest.mark.parametrize("part", range(PARTS))
def test_costs_are_as_they_were(part):
    """A change of instructions or cycles is seen; where it is meant, costs.py writes them anew."""
    names = list(KEPT)[part::PARTS]
    differing = {name: (KEPT[name], now) for name in names if (now := cost_of(name)) != KEPT[name]}
    assert not differing, "run PYTHONPATH=scripts python tests/sw/compiler/costs.py"
