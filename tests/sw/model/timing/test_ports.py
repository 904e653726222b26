"""What is asked of the ports of the memories."""

from dataclasses import replace

import pytest

from celosia.arch.commands import Matmul
from celosia.arch.config import preset
from celosia.arch.isa import MatmulFormat, Mem
from celosia.arch.streams import Stream
from celosia.model.timing.ports import Asks, array_asks, banks_of, merged, port_of, step_of

EDGE = preset("edge")
COUNTS = (6, 1, 1)
SUMS, ADDED, ACTS = port_of(Mem.ACC, True), port_of(Mem.ACC, False), port_of(Mem.UB, False)


def test_ports_have_numbers_of_their_own():
    assert sorted(port_of(mem, write) for mem in (Mem.UB, Mem.ACC) for write in (False, True)) == [
        0, 1, 2, 3]


def test_banks_are_bits():
    rows = Stream(5, (3, 2, 1), (1, 8, 0))  # 5 6 7 13 14 15
    assert banks_of(rows, 4) == bytes([2, 4, 8, 2, 4, 8])
    assert banks_of(rows, 2) == bytes([2, 1, 2, 2, 1, 2])
    assert banks_of(rows, 1, beats=2) == bytes([1]) * 12
    assert banks_of(Stream.linear(6, (2, 1, 1)), 4, beats=2) == bytes([4, 4, 8, 8])


@pytest.mark.parametrize(("counts", "strides", "banks", "step"), [
    ((6, 1, 1), (1, 0, 0), 4, 1), ((6, 1, 1), (3, 0, 0), 4, 3), ((6, 1, 1), (3, 0, 0), 2, 1),
    ((6, 1, 1), (4, 0, 0), 4, 0), ((1, 1, 6), (0, 0, 2), 4, 2), ((1, 1, 1), (1, 1, 1), 4, 0),
    ((3, 4, 1), (1, 3, 0), 4, 1),  # from the last of three to the next it is one, too
    ((3, 4, 1), (1, 7, 0), 4, 1), ((3, 4, 1), (1, 4, 0), 4, 0), ((3, 4, 2), (1, 3, 11), 4, 0),
    ((3, 4, 2), (1, 3, 12), 4, 1), ((3, 4, 1), (0, 1, 0), 4, 0),
])
def test_streams_go_on_by_the_same_banks_or_not(counts, strides, banks, step):
    stream = Stream(2, counts, strides)
    assert step_of(stream, banks) == step
    found = [bank.bit_length() - 1 for bank in banks_of(stream, banks)]
    apart = {(later - bank) % banks for bank, later in zip(found, found[1:], strict=False)}
    assert step == (apart.pop() if len(apart) == 1 else 0)


@pytest.mark.parametrize(("first", "rows", "step"), [
    (32, bytes([1, 2, 4, 8] * 2), 1), (33, bytes([2, 4, 8, 1] * 2), 1)])
def test_a_matmul_asks_for_weights_activations_and_sums(first, rows, step):
    stream = Stream.linear(0, COUNTS)
    command = Matmul(MatmulFormat.INT8, False, False, stream, stream, None)
    asks = [(SUMS, Asks(126, bytes([1, 2, 4, 8, 1, 2]), 1)),
            (ACTS, Asks(102, bytes([1, 2, 4, 8, 1, 2]), 1))]
    assert array_asks(command, EDGE, 100, 131, 71) == asks
    command = replace(command, weights=Stream.linear(first, (8, 1, 1)))
    assert array_asks(command, EDGE, 100, 131, 71) == [*asks, (ACTS, Asks(73, rows, step))]


@pytest.mark.parametrize(("chip", "before"), [(EDGE, 3), (replace(preset("core4"), lanes=1), 6)])
def test_sums_that_are_added_to_are_read_before_they_are_written(chip, before):
    stream = Stream.linear(0, COUNTS)
    command = Matmul(MatmulFormat.INT8, True, False, stream, stream, None)
    found = dict(array_asks(command, chip, 100, 131, 0))
    assert found[ADDED] == found[SUMS].later(-before)
    assert found[SUMS].first + len(found[SUMS].banks) == 132  # the last of them ends it


def test_those_that_ask_together_are_merged():
    asks = [Asks(8, bytes([1, 2, 4])), Asks(12, bytes([8])), Asks(9, bytes([1, 1]))]
    assert merged(asks, 8) == bytes([1, 3, 5, 0, 8])
    assert merged(asks, 10) == bytes([5, 0, 8])
    assert merged(asks, 5) == bytes([0, 0, 0, 1, 3, 5, 0, 8])
    assert merged(asks, 13) == merged([], 0) == b""
