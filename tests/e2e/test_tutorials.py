"""The code of the tutorials runs, and prints what they say; the notebooks are the same code."""

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
_BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run(blocks, tmp_path, monkeypatch):
    """Run pairs of code and what it must print, None: anything."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "tutorial"}
    for code, wanted in blocks:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, "tutorial", "exec"), names)
        if wanted is not None:
            assert said.getvalue() == wanted, code


def blocks(text):
    found = _BLOCK.findall(text)
    for i, (kind, code) in enumerate(found):
        if kind == "python":
            then = found[i + 1:i + 2]
            yield code, then[0][1] if then and then[0][0] == "text" else None


@pytest.mark.parametrize("page", sorted(TUTORIALS.glob("*.md")), ids=lambda page: page.stem)
def test_code_prints_what_the_page_says(page, tmp_path, monkeypatch):
    run(blocks(page.read_text()), tmp_path, monkeypatch)


@pytest.mark.parametrize("page", sorted(TUTORIALS.glob("*.ipynb")), ids=lambda page: page.stem)
def test_notebooks_print_what_they_show(page, tmp_path, monkeypatch):
    cells = [cell for cell in json.loads(page.read_text())["cells"] if cell["cell_type"] == "code"]
    run([("".join(cell["source"]),
          "".join(cell["outputs"][0]["text"]) if cell["outputs"] else None) for cell in cells],
        tmp_path, monkeypatch)
    assert cells
