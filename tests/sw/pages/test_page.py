"""A page is written where it is stale; whether those of docs/ are is asked by scripts/test lint."""

from pathlib import Path

import pytest
from pages import architecture, graph, isa
from pages.page import between, write_page

DOCS = Path(__file__).parents[3] / "docs"


def make(page):
    return "made of " + (page.removeprefix("made of ") or "nothing") + "\n" * (not page)


def test_a_page_that_is_missing_is_written(tmp_path, capsys):
    assert write_page("x.md", make, ["--check"], tmp_path) == 1
    assert capsys.readouterr().err == "docs/x.md is stale: run scripts/docs\n"
    assert write_page("x.md", make, [], tmp_path) == 0
    assert (tmp_path / "docs" / "x.md").read_text() == "made of nothing\n"
    assert write_page("x.md", make, ["--check"], tmp_path) == 0


def test_what_is_fresh_is_asked_of_who_knows(tmp_path):
    assert write_page("x.md", make, ["--check"], tmp_path, lambda page: page == "") == 0


def test_text_between_two_lines():
    assert between("a\n<\nold\n>\nb\n", ("<", ">"), "new") == "a\n<\nnew\n>\nb\n"


@pytest.mark.parametrize(("page", "was", "now"), [
    (architecture, "| `arch` |", "| `arhc` |"), (graph, "| `exp` |", "| `expp` |"),
    (isa, "Opcode 0x24", "Opcode 0x25")])
def test_a_word_that_differs_is_seen_and_mended(tmp_path, page, was, now):
    name = f"{page.__name__.removeprefix('pages.')}.md"
    kept = (DOCS / name).read_text(encoding="utf-8")
    path = tmp_path / "docs" / name
    path.parent.mkdir()
    path.write_text(kept.replace(was, now), encoding="utf-8")
    assert page.main(["--check"], tmp_path) == 1
    assert page.main([], tmp_path) == 0
    assert path.read_text(encoding="utf-8") == kept
