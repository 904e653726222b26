"""The pictures of docs/pods.md."""

import xml.etree.ElementTree as ElementTree

import pytest
from pages.pods import measured, points, rates, scaling, seen, timeline, torus

from celosia.collectives import Topology

SVG = "{http://www.w3.org/2000/svg}"
PAGE = """
all_reduce              8        64      1448   0.044   0.077   0.97%      0  acc
all_gather              8    262144     29691   8.829   7.725  96.57%      0  external
all_reduce            4x4    262144     32039   8.182  15.341  95.88%      0  external
all_reduce            4x4     65536      8226   7.967  14.938  93.36%      0  acc
all_reduce            4x4     16384      2226   7.967  14.938  83.36%      3  acc
"""


def every(picture, tag):
    return ElementTree.fromstring(picture).findall(f".//{SVG}{tag}")


@pytest.mark.parametrize(("extents", "wires"), [((4, 4), 8 * 5), ((2, 3), 3 * 3 + 2 * 4)])
def test_a_torus_has_all_chips_and_links(extents, wires):
    topology = Topology(extents)
    picture = torus(topology)
    words = [each.text for each in every(picture, "text")]
    assert {str(chip) for chip in range(topology.chips)} <= set(words)
    # A link round the edge is two pieces.
    found = [each for each in every(picture, "path") if each.get("stroke-width") == "2"]
    assert len(found) == wires


def test_the_timeline_has_what_each_chip_sends_and_receives():
    found, cycles, share = seen()
    assert {chip for chip, *_ in found} == set(range(8))
    assert {(port, receives) for _, port, receives, *_ in found} == {
        (port, receives) for port in range(2) for receives in (False, True)}
    assert all(0 <= start < end <= cycles for *_, start, end in found)
    assert share > 0.85
    bars = [each for each in every(timeline(), "rect") if each.get("height") == "6"]
    assert len(bars) == len(found)


def test_rates_are_those_of_all_reduces_with_nothing_wrong():
    assert measured(PAGE) == {"8": [(64, 1448, 0.97)],
                              "4x4": [(65536, 8226, 93.36), (262144, 32039, 95.88)]}
    assert len(every(rates(PAGE), "circle")) == 3
    assert [each.text for each in every(rates(PAGE), "text")][-2:] == ["8 chips", "4x4 chips"]


def test_a_scaling_curve_has_the_points_of_the_page():
    page = """
topology        weak   of one   rows     strong  speedup
1             421472   100.0%   2048    6865475     1.00
2x2           509256    82.5%    512    1806555     3.80
"""
    assert points(page) == [(1, 1, 1), (4, 3.3, 3.8)]
    assert len(every(scaling(page), "circle")) == 6
    assert [each.text for each in every(scaling(page), "text")][-3:] == [
        "as many rows each", "as many rows in all", "links that cost nothing"]
