from pathlib import Path

from pages import coverage
from pages.coverage import Cell, rows, snippets
from pages.specification import ELEMENTS, OPERATIONS

from celosia.compiler import placement
from celosia.compiler.placement import Placement
from sw.frontend.test_coverage import MORE, OTHERS, STABLEHLO

ROOT = Path(__file__).parents[3]
NAMES = {*(f"stablehlo.{name}" for name in STABLEHLO), *OTHERS, *MORE}


def test_there_is_a_snippet_for_every_operation_that_training_programs_use():
    assert {snippet.name for snippet in snippets() if not snippet.form} == NAMES
    for snippet in snippets():
        assert snippet.name.removeprefix("func.") in snippet.text


def test_sixty_run_on_the_chip():
    known = [row for row in rows() if not row.form]
    assert len(known) == len(NAMES) == 65 + len(MORE)
    assert sum(not row.host for row in known) >= 60
    assert all(row.host for row in rows() if row.form)


def cells_of_the_page():
    """Return what `specification` does, as docs/coverage.md has it (test_docs.py compares them)."""
    text = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    lines = [line[2:-2].split(" | ") for line in text.partition("whole specification\n")[2].split(
        "\n") if line.startswith("| ")]
    reasons = {line[0]: line[1].replace("\\|", "|") for line in lines if line[0].isdecimal()}
    found = {}
    for name, *shown in lines:
        if name.startswith("`"):
            found[f"stablehlo.{name.strip('`')}"] = cells = {}
            for element, cell in zip(ELEMENTS, shown, strict=True):
                host, number = cell.startswith("host "), cell.removeprefix("host ")
                if cell:
                    cells[element] = Cell("chip") if cell == "chip" else Cell(
                        "host" if host else "refused", reasons[number])
    return found


def test_the_whole_specification_is_on_the_page():
    found = cells_of_the_page()
    assert found.keys() == {f"stablehlo.{name}" for name in OPERATIONS}
    cells = [cell for each in found.values() for cell in each.values()]
    assert all(cell.reason for cell in cells if cell.where != "chip")
    # What has 32 bits or fewer and is no queue, tuple or token runs on the chip.
    assert {name for name, each in found.items()
            if each.get("f32", each.get("", Cell("chip"))).where != "chip"
            } == {f"stablehlo.{name}" for name in """async_done async_start get_tuple_element infeed
                  outfeed recv rng rng_bit_generator send tuple uniform_dequantize uniform_quantize
                  """.split()}


def test_check_finds_a_page_that_is_stale_or_missing(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(coverage, "specification", dict)  # of all types: test_docs.py has it
    assert coverage.main(["--check"], tmp_path) == 1
    assert coverage.main([], tmp_path) == 0
    assert coverage.main(["--check"], tmp_path) == 0
    monkeypatch.setitem(placement.PLACES, "tanh", Placement("host", "it is hard"))
    assert coverage.main(["--check"], tmp_path) == 1
    assert capsys.readouterr().err == "docs/coverage.md is stale: run scripts/docs\n" * 2
    page = coverage.coverage_page()
    assert "| `stablehlo.tanh` | no | it is hard | `tanh` |" in page


def test_count_is_at_the_top():
    page = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    count = sum(not row.host for row in rows() if not row.form)
    assert f"\n\n{count} of these {len(NAMES)} operations" in page
    assert page.count("| yes |") == count
