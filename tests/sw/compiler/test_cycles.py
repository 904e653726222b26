"""What the compiler takes an instruction to cost is what one costs that begins at address 0."""

import pytest

from celosia.arch.commands import Load, Store
from celosia.arch.config import preset
from celosia.arch.vector import Src, VectorOp
from celosia.compiler import cycles

#: Before its rows, of its rows, for the first tile, and from when its unit is free until its end.
COSTS = {
    "nano": [(11, 1, 0, 73), (11, 60, 0, 73), (11, 4, 0, 19), (8, 1, 4, 13), (8, 7, 4, 13),
             (7, 1, 0, 14), (8, 10, 0, 14), (7, 5, 0, 17)],
    "core": [(11, 1, 0, 73), (11, 30, 0, 73), (11, 2, 0, 19), (8, 1, 16, 37), (8, 7, 16, 37),
             (7, 1, 0, 18), (8, 10, 0, 18), (7, 5, 0, 21)],
    "v2": [(11, 1, 0, 73), (11, 60, 0, 73), (11, 4, 0, 19), (8, 1, 128, 261), (8, 7, 128, 261),
           (7, 1, 0, 18), (8, 10, 0, 18), (7, 5, 0, 21)],
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
    assert cycles.issue(config) == 11


def test_a_transfer_of_whole_beats_has_no_beat_more():
    config = preset("core")
    for kind in (Load, Store):
        assert [cycles.transfer(config, kind, 4, 16, size).occupied for size in (2, 4)] == [4, 8]
