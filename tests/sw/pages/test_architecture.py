"""docs/architecture.md shows the rooms that there are."""

from pathlib import Path

import house
from pages.architecture import merged, picture, reduced, table

ROOT = Path(__file__).parents[3]


def test_arrows_that_others_make_are_left_out():
    rooms = {"arch": set(), "graph": {"arch"}, "model": {"arch"},
             "cli": {"arch", "graph", "model"}}
    assert reduced(rooms) == {"arch": [], "graph": ["arch"], "model": ["arch"],
                              "cli": ["graph", "model"]}
    assert picture(rooms) == """```mermaid
flowchart TB
    cli_["cli"]
    model_["model"]
    graph_["graph"]
    arch_["arch"]
    cli_ --> model_
    cli_ --> graph_
    model_ --> arch_
    graph_ --> arch_
```
"""


def test_rooms_of_a_package_are_one():
    rooms = {"arch": set(), "chip.fp": {"arch"}, "chip.top": {"chip.fp"}, "sim": {"chip.top"}}
    assert merged(rooms, "chip") == {"arch": set(), "chip": {"arch"}, "sim": {"chip"}}


def test_the_table_has_every_room_and_import_in_order():
    rooms = house.rooms()
    rows = [line.split(" | ") for line in table(rooms).splitlines()[2:]]
    assert [row[0].strip("| `") for row in rows] == list(house.LAYERS)
    for name, what, others in rows:
        assert what.endswith("."), name
        room = name.strip("| `")
        named = others.removesuffix(" |").replace("`", "").split(", ")
        assert {other for other in named if other} == rooms[room], room
