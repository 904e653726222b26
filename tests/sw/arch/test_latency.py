"""Latencies of links: what a text names, and what a seed draws."""

import pytest

from celosia.arch.latency import check_latency, link_latencies, parse_latency
from celosia.collectives import Topology

LINKS = Topology.parse("4x4").links


@pytest.mark.parametrize(("text", "latency"), [("64", 64), ("1..300", (1, 300)), ("7..7", (7, 7))])
def test_what_a_text_names(text, latency):
    assert parse_latency(text) == latency
    assert check_latency(latency) == latency


@pytest.mark.parametrize("text", ["", "0", "-1", "6.5", "0..3", "9..3", "1..", "1..2..3", "all"])
def test_a_text_that_names_none(text):
    with pytest.raises(ValueError, match=(
            "^latency must be cycles of all links, such as 64, or the least and the most of one, "
            f"such as 1..300, not '{text}'$")):
        parse_latency(text)


@pytest.mark.parametrize("latency", [0, (0, 3), (9, 3), (1, 2, 3), (1, 2.5), ()])
def test_what_is_no_latency(latency):
    with pytest.raises(ValueError, match="^latency must be a positive number of cycles, or the "):
        check_latency(latency)


def test_a_list_is_a_range():
    """As of a range that came as JSON."""
    assert check_latency([1, 300]) == (1, 300)


def test_each_link_has_its_own_in_both_directions():
    found = link_latencies(LINKS, (1, 300), 5)
    assert len(found) == 16 * 4
    assert all(found[a] == found[b] and 1 <= found[a] <= 300 for a, b in LINKS.items())
    assert len({*found.values()}) > 20
    turned = {b: a for a, b in [*LINKS.items()][::-1]}
    assert link_latencies(turned, (1, 300), 5) == found
    assert link_latencies(LINKS, (1, 300), 6) != found
    assert {*link_latencies(LINKS, 9, 5).values()} == {9}
