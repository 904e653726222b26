"""The pictures of the README."""

import xml.etree.ElementTree as ElementTree

from pages.pictures import spans, timeline

from celosia.profile.page.floorplan import BOXES, COLOURS, chip

SVG = "{http://www.w3.org/2000/svg}"


def words(text):
    return [each.text for each in ElementTree.fromstring(text).iter(f"{SVG}text")]


def test_the_block_diagram_has_every_box():
    assert {name for name, *_ in BOXES} <= set(words(chip()))


def test_the_timeline_has_a_bar_for_each_instruction_within_the_run():
    found, cycles = spans()
    assert {unit for unit, *_ in found} >= {"load", "mxu", "store"}
    assert all(0 <= start < end <= cycles for _, start, end in found)
    picture = ElementTree.fromstring(timeline())
    bars = [each for each in picture.iter(f"{SVG}rect") if each.get("fill") in COLOURS.values()]
    assert len(bars) == len(found)
    assert f"{cycles:,} cycles" in words(timeline())[0]
