"""What the compiler takes an instruction to cost is what one costs that begins at address 0."""

import pytest

from celosia.arch.commands import Load, Store
from celosia.arch.config import preset
from celosia.arch.vector import Src, VectorOp
from celosia.compiler import cycles

#: Before its rows, of its rows, for the first tile, and from when its unit is free until its end.
COSTS = {
    "nano": [(10, 1, 0, 79), (10, 60, 0, 79), (10, 4, 0, 24), (11, 1, 4, 13), (11, 7, 4, 13),
             (10, 1, 0, 13), (11, 10, 0, 13), (10, 5, 0, 16)],
    "core": [(10, 1, 0, 79), (10, 30, 0, 79), (10, 2, 0, 24), (11, 1, 16, 37), (11, 7, 16, 37),
             (10, 1, 0, 18), (11, 10, 0, 18), (10, 5, 0, 21)],
    "v2": [(10, 1, 0, 79), (10, 60, 0, 79), (10, 4, 0, 24), (11, 1, 128, 261), (11, 7, 128, 261),
           (10, 1, 0, 18), (11, 10, 0, 18), (10, 5, 0, 21)],
}


@pytest.mark.parametrize("name", COSTS)
def test_costs_of_instructions(name):
    config = preset(name)
    found = (
        cycles.transfer(config, Load, 1, 1, 1),
        cycles.transfer(config, Load, 3, 5 * config.dim, 4),
        cycles.transfer(config, Store, 2, config.dim, 2),
        cycles.matmul(config), cycles.matmul(config, 7), cycles.vector(config),
        cycles.vector(config, VectorOp.IADD, Src.ACC, Src.ACC_ROW, rows=9),
        cycles.vector(config, VectorOp.GATHER, Src.ACC, rows=4))
    assert [(each.check, each.occupied, each.lead, cycles.behind(each))
            for each in found] == COSTS[name]


def test_a_transfer_of_whole_beats_has_no_beat_more():
    config = preset("core")
    for kind in (Load, Store):
        assert [cycles.transfer(config, kind, 4, 16, size).occupied for size in (2, 4)] == [4, 8]
