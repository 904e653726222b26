import json

from sw.compiler.costs import FILE, all_costs


def test_costs_are_as_they_were():
    """A change of instructions or cycles is seen; where it is meant, costs.py writes them anew."""
    kept, now = json.loads(FILE.read_text()), all_costs()
    assert now.keys() == kept.keys()
    differing = {name: (kept[name], now[name]) for name in kept if kept[name] != now[name]}
    assert not differing, "run PYTHONPATH=scripts python tests/sw/compiler/costs.py"
