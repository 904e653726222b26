"""docs/architecture.md shows the rooms that there are."""

from pathlib import Path

import house
from pages.architecture import main, picture, reduced, table

ROOT = Path(__file__).parents[3]


def test_page_of_the_repository_is_fresh():
    assert main(["--check"], ROOT) == 0, "run scripts/docs"


def test_check_fails_where_the_page_is_stale(tmp_path, capsys):
    page = tmp_path / "docs" / "architecture.md"
    page.parent.mkdir()
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    page.write_text(text.replace("| `asm` |", "| `asn` |"), encoding="utf-8")
    assert main(["--check"], tmp_path) == 1
    assert capsys.readouterr().err == "docs/architecture.md is stale: run scripts/docs\n"
    assert main([], tmp_path) == 0
    assert page.read_text(encoding="utf-8") == text


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


def test_the_table_has_every_room_and_import_in_order():
    rooms = house.rooms()
    rows = [line.split(" | ") for line in table(rooms).splitlines()[2:]]
    assert [row[0].strip("| `") for row in rows] == list(house.LAYERS)
    for name, what, others in rows:
        assert what.endswith("."), name
        room = name.strip("| `")
        named = others.removesuffix(" |").replace("`", "").split(", ")
        assert {other for other in named if other} == rooms[room], room
