"""How many bits of each component the random programs move, of those that have a name.

The command ``python -m celosia_sim.toggles`` prints them, and names the others. Those are, for the
most part, what a chip without floating point does not use of the vector unit and the array, upper
bits of counts, addresses and counters, and constants of the two buses.
"""

import pytest

from celosia.arch.config import preset
from celosia_sim.toggles import shares, toggles

#: Percent that must have risen and fallen on ``nano`` with the programs of 200 seeds.
LEAST = {"(pins)": 88, "acc": 99, "bus": 87, "host": 77, "load": 79, "mxu": 73,
         "scalar": 87, "store": 83, "ub": 99, "vpu": 66}


@pytest.mark.slow
def test_random_programs_move_the_bits_of_every_component():
    found = shares(toggles(preset("nano"), range(200)))
    assert set(found) == set(LEAST)
    assert {name: share.percent for name, share in found.items()
            if share.percent < LEAST[name]} == {}
