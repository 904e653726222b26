"""Which operations wait for which, exactly or, where much is touched, as if pieces were one."""

import pytest

from celosia.arch.isa import Mem, Unit
from celosia.compiler.codegen.spans import EXTERNAL, CommandCost
from celosia.compiler.codegen.waits import _stored, followers

COST = CommandCost(Unit.VPU, 1, 1, 1, 1, 1, (), False, 1)


def waiting(touched):
    """Return what waits for each operation: of rows of the accumulators, first and last."""
    return followers([COST] * len(touched), [
        [(Mem.ACC, first, last, True)] for first, last in touched])


def test_rows_beside_each_other_do_not_wait():
    assert waiting([(0, 3), (4, 7), (2, 5), (0, 0)]) == [[2, 3], [2], [], []]


@pytest.mark.parametrize(("rows", "apart"), [(62, True), (63, True), (64, False), (66, False)])
def test_from_how_many_pieces_on_they_are_joined(rows, apart):
    """Operations touch ``rows`` pieces on average: a whole that many times twice as many, and each
    of these by itself. Of 64 or more, two beside each other are one.
    """
    single = [(row, row) for row in range(2 * rows - 1)]
    found = waiting([(0, 2 * rows - 2)] * len(single) + single)
    first, second, third = range(len(single), len(single) + 3)
    assert (second in found[first]) is not apart
    assert third not in found[first]
    assert second not in found[second]


def test_bytes_that_are_stored_are_one_range_where_they_meet():
    touched = [[(EXTERNAL, 30, 39, True), (EXTERNAL, 0, 9, True)], [(EXTERNAL, 5, 12, True)],
               [(EXTERNAL, 6, 8, True), (EXTERNAL, 13, 29, False)], [(EXTERNAL, 39, 40, True)],
               [(Mem.ACC, 13, 29, True)]]
    assert _stored(touched) == ([0, 30], [12, 40])
