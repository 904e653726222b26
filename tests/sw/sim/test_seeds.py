import json

import pytest

from sw.sim import seeds


@pytest.mark.parametrize("make", [seeds.programs, seeds.hits])
def test_seeds_stand_for_what_they_did(make):
    kept, now = json.loads(seeds.FILE.read_text()), make()
    differing = [name for name in now if kept[name] != now[name]]
    assert not differing, "run python tests/sw/sim/seeds.py"
