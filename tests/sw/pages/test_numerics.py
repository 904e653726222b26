from pathlib import Path

import pytest
from pages import accuracy, numerics
from pages.accuracy.kernels import HARDWARE, LIBRARY

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "numerics.md"


def rows_of(section):
    """Return the cells of each row of the table of a section, by function."""
    _, _, rest = PAGE.read_text().partition(f"\n## {section}\n")
    table = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("| `")]
    rows = [[cell.strip().replace("\\*", "*") for cell in line.split("|")[1:-1]] for line in table]
    return {cells[0].strip("`"): cells for cells in rows}


@pytest.mark.parametrize(("section", "cases"), [
    ("Functions of the hardware", HARDWARE), ("Functions of the library", LIBRARY)])
def test_every_function_is_on_the_page_and_holds_its_bound(section, cases):
    rows = rows_of(section)
    assert list(rows) == [case.name for case in cases]
    for case in cases:
        cells = rows[case.name]
        assert float(cells[2]) <= case.bound
        assert cells[3] == f"<= {case.bound}"
        assert int(cells[5]) == case.kernel.cost


def test_every_function_of_programs_is_on_the_page_and_holds_its_bound():
    rows = rows_of("Functions as programs have them")
    assert list(rows) == [case.name for case in accuracy.CASES]
    for case in accuracy.CASES:
        cells = rows[case.name]
        assert float(cells[1]) <= case.bound, case.name
        assert cells[2] == f"<= {case.bound:g}"
        assert cells[4] == case.notes, case.name


def test_check_finds_a_page_that_was_changed_or_is_missing(tmp_path, capsys):
    assert numerics.main(["--check"], tmp_path) == 1
    page = PAGE.read_text()
    path = tmp_path / "docs" / "numerics.md"
    path.parent.mkdir()
    path.write_text(page)
    assert numerics.main(["--check"], tmp_path) == 0
    assert numerics.main([], tmp_path) == 0
    path.write_text(page.replace("| 0.8", "| 0.7", 1))
    assert numerics.main(["--check"], tmp_path) == 1
    path.write_text(page + "more\n")
    assert numerics.main(["--check"], tmp_path) == 1
    assert capsys.readouterr().err == "docs/numerics.md is stale: run scripts/docs\n" * 3


@pytest.mark.slow
def test_the_page_is_what_is_measured():
    assert numerics.numerics_page() == PAGE.read_text()
