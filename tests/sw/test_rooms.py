"""The rooms of sw/ and sim/ and how much of each the tests reach: scripts/rooms.py."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location("rooms", ROOT / "scripts" / "rooms.py")
assert _SPEC is not None
assert _SPEC.loader is not None
rooms = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(rooms)


def test_a_room_is_a_folder_or_the_files_beside_them():
    names = {path: rooms.room_of(ROOT / path) for path in (
        "sw/celosia/__main__.py", "sw/celosia/driver/link/host.py",
        "sw/celosia/compiler/emit/map.py", "sim/celosia_sim/rtl.py",
        "sim/celosia_sim/boards/sdram.py")}
    assert list(names.values()) == ["celosia", "celosia/driver", "celosia/compiler", "celosia_sim",
                                    "celosia_sim"]


def test_statements_are_of_the_grammar_whatever_the_layout(monkeypatch, tmp_path):
    monkeypatch.setattr(rooms, "ROOT", tmp_path)
    source = tmp_path / "sw" / "celosia" / "link" / "some.py"
    source.parent.mkdir(parents=True)
    source.write_text("import a; import b\n\n# c\nif a:\n    b(\n        1)\n")
    assert rooms.statements([source, source]) == {"celosia/link": 8}


def test_a_ratchet_file_is_read_as_it_was_written():
    measured = {"celosia/link": rooms.Room(400, 505, 9), "celosia": rooms.Room(10, 0, 0)}
    text = rooms.write(measured)
    assert rooms.read(text) == measured
    assert text.splitlines()[-1].split() == ["celosia/link", "400", "505", "9", "98.2"]


@pytest.mark.parametrize(("missed", "before", "wanted"), [
    (50, None, None), (51, None, "95.0"), (40, 30, "96.7"), (33, 30, None), (34, 30, "96.7"),
    (10, 30, None), (60, 80, "95.0")])
def test_no_room_falls_below_the_floor_nor_what_it_was(missed, before, wanted):
    old = {} if before is None else {"celosia": rooms.Room(900, 1000, before)}
    said = rooms.fallen({"celosia": rooms.Room(900, 1000, missed)}, old)
    text = (f"celosia: tests must reach {wanted} % of its lines and branches, "
            f"not {100 - missed / 10:.1f} %")
    assert said == ([] if wanted is None else [text])


@pytest.mark.parametrize(("today", "wanted"), [
    ({"celosia": 1000}, []),
    ({"celosia": 500}, []),
    ({"celosia": 1020}, []),
    ({"celosia": 1022}, [("celosia: at least 94.9 % of its lines and branches are reached, "
                          "95 % must be; 22 statements are new")]),
    ({"celosia": 1000, "celosia/new": 3}, ["celosia/new: has not been measured"]),
    ({}, ["celosia: there is no such room"]),
])
def test_what_has_been_added_is_taken_for_missed(today, wanted):
    assert rooms.uncertain(today, {"celosia": rooms.Room(1000, 2000, 60)}) == wanted
