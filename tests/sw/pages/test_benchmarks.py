import json
import re
from pathlib import Path

from pages.benchmarks import benchmarks_page, figures, picture, read

ROOT = Path(__file__).parents[3]
KEPT = json.loads((ROOT / "docs" / "benchmarks.json").read_text())


def test_the_newest_figures_are_those_of_the_page():
    made = figures((ROOT / "docs" / "performance.md").read_text())
    assert {"mlp-adam, cycles", "simulation of core, cycles/s"} <= set(made)
    assert any(name.endswith("LUTs") for name in made)
    assert read()[-1]["figures"] == made


def test_the_clock_of_a_board_is_that_of_the_slowest_seed():
    for clocks in ("86.4 (1)", "85.9..86.7 (3)"):
        made = figures(f"| A board | `edge` | 80 | {clocks} | 30,547 (36%) |\n")
        assert made == {"A board, edge: LUTs": 30547, "A board, edge: MHz": float(clocks[:4])}


def test_figures_that_no_commit_has_come_last(tmp_path):
    (tmp_path / "docs").mkdir()
    for name in ("benchmarks.json", "performance.md"):
        text = (ROOT / "docs" / name).read_text()
        (tmp_path / "docs" / name).write_text(re.sub(
            r"(\| mlp-adam: [^|]*\|) [\d,]+ ", r"\1 1,234 ", text))
    assert read(tmp_path)[-1]["commit"] == "next"
    assert read(tmp_path)[-1]["figures"]["mlp-adam, cycles"] == 1234


def test_the_page_and_the_picture_have_every_figure():
    page, drawn = benchmarks_page(KEPT), picture(KEPT)
    for name, value in KEPT[-1]["figures"].items():
        assert f"| {name} |" in page
        assert f"{value:,}" in page
        assert f">{name}</text>" in drawn
    assert all(f"| {each['commit']} | {each['date']} |" in page for each in KEPT)
