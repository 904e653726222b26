"""A torus of chips: who is next to whom, and which chips are a line."""

import re

import pytest

from celosia.collectives import Topology


@pytest.mark.parametrize("text", ["1", "2", "8", "4x3", "2x3x4"])
def test_links_lead_there_and_back(text):
    topology = Topology.parse(text)
    assert str(topology) == text
    for chip in range(topology.chips):
        assert topology.chip(topology.coordinates(chip)) == chip
        for port in range(topology.ports):
            if topology.extents[port // 2] > 1:
                assert topology.peer(*topology.peer(chip, port)) == (chip, port)


def test_ports_lead_up_and_down():
    topology = Topology((2, 4))
    assert topology.coordinates(6) == (1, 2)
    assert [topology.peer(7, port) for port in range(4)] == [(3, 1), (3, 0), (4, 3), (6, 2)]


def test_lines_of_a_torus():
    topology = Topology((2, 3))
    assert topology.within([3, 4, 5]) == Topology((3,))
    assert topology.within([1, 4]) == Topology((2,))
    assert topology.within(range(6)) == topology
    assert topology.within([2]) == Topology((1,))


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Topology(()), "topology must be one or more positive numbers of chips, not ()"),
    (lambda: Topology((4, 0)),
     "topology must be one or more positive numbers of chips, not (4, 0)"),
    (lambda: Topology.parse("4x"),
     "topology must be chips along each dimension, such as 8 or 4x4, not '4x'"),
    (lambda: Topology((2, 2)).coordinates(4), "chip must be 0 to 3 of 2x2, not 4"),
    (lambda: Topology((1, 2)).peer(0, 0), "port must be one with a link of 1x2, not 0"),
    (lambda: Topology((2, 2)).peer(0, 4), "port must be one with a link of 2x2, not 4"),
    (lambda: Topology((2, 3)).within([0, 1]),
     "group must be all chips along dimensions of 2x3, in their order, not [0, 1]"),
    (lambda: Topology((2, 3)).within([2, 1, 0]),
     "group must be all chips along dimensions of 2x3, in their order, not [2, 1, 0]"),
    (lambda: Topology((2, 2)).within([0, 3]),
     "group must be all chips along dimensions of 2x2, in their order, not [0, 3]"),
])
def test_what_is_no_topology(make, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make()
