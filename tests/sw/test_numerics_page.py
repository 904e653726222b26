from pathlib import Path

import pytest

from celosia import numerics_page
from celosia.kernels.accuracy import HARDWARE, LIBRARY

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "numerics.md"


def test_page_of_the_repository_is_fresh():
    assert numerics_page.main(["--check"], ROOT) == 0, "run scripts/docs"


def test_every_function_is_on_the_page_and_holds_its_bound():
    lines = PAGE.read_text().splitlines()
    for case in (*HARDWARE, *LIBRARY):
        (line,) = [line for line in lines if line.startswith(f"| `{case.name}` | ")]
        cells = [cell.strip() for cell in line.split("|")]
        assert float(cells[3]) <= case.bound
        assert cells[4] == f"<= {case.bound}"
        assert int(cells[6]) == case.kernel.cost


def test_check_finds_a_page_that_was_changed_or_is_missing(tmp_path, capsys):
    assert numerics_page.main(["--check"], tmp_path) == 1
    page = PAGE.read_text()
    path = tmp_path / "docs" / "numerics.md"
    path.parent.mkdir()
    path.write_text(page)
    assert numerics_page.main(["--check"], tmp_path) == 0
    assert numerics_page.main([], tmp_path) == 0
    path.write_text(page.replace("| 0.8", "| 0.7", 1))
    assert numerics_page.main(["--check"], tmp_path) == 1
    path.write_text(page + "more\n")
    assert numerics_page.main(["--check"], tmp_path) == 1
    assert capsys.readouterr().err == "docs/numerics.md is stale: run scripts/docs\n" * 3


@pytest.mark.slow
def test_the_page_is_what_is_measured():
    assert numerics_page.numerics_page() == PAGE.read_text()
