"""What programs cost on a chip with little memory: most of what they do comes in parts there.

Kept as those of other chips are, see costs.py; where a change is meant, the difference is for
review.
"""

import pytest
from moving import SMALL

from celosia.graph import parse
from sw.compiler.costs import GRAPHS, cost

#: Instructions in memory and executed, cycles, bytes read and written, and a digest of the code.
COSTS = {
    "products of a batch": [309, 309, 5377, 30720, 5760, "14c41343"],
    "a product by columns": [290, 1214, 10600, 42240, 3840, "a782b2e1"],
    "a vector by a matrix": [194, 998, 9358, 36920, 280, "ca209cff"],
    "softmax": [33, 215, 19662, 27000, 27000, "563803c3"],
    "sums of columns": [101, 263, 7391, 48000, 164, "d092a42c"],
    "sums in the middle": [34, 34, 2146, 14400, 480, "90290781"],
    "transposes": [310, 370, 5682, 20688, 20688, "94e7107e"],
    "slices with steps": [98, 258, 3021, 5008, 5008, "3d865967"],
    "pads, joins, reversals": [169, 347, 3985, 10160, 16016, "2a78fc51"],
    "narrow tensors": [29, 69, 3809, 12000, 8000, "751b17af"],
    "more than fits on the chip": [109, 141, 6745, 30720, 20480, "f127a181"],
    "wide rows": [120, 530, 23312, 120012, 60012, "34e5438d"],
    "sums apart": [87, 87, 3140, 14400, 5132, "e4face0b"],
    "long rows turned": [705, 2081, 21816, 91660, 91660, "6d53bce0"],
    "rows repeated": [56, 83, 3388, 9360, 18000, "8398b58d"],
    "conversions": [38, 56, 4470, 18000, 6000, "dae0c862"],
}


@pytest.mark.parametrize("name", COSTS)
def test_costs_are_as_they_were(name):
    _, options, text = GRAPHS[name]
    assert cost(SMALL, options, parse(text)) == COSTS[name]
