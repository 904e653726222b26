import json

from pages.notebooks import notebook

PAGE = "# A\n\ntext\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\nmore\n\n```text\nalone\n```\n"


def test_blocks_become_cells_with_what_they_print():
    cells = json.loads(notebook(PAGE))["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code", "markdown"]
    assert cells[1]["source"] == ["print(1)"]
    assert cells[1]["outputs"] == [
        {"name": "stdout", "output_type": "stream", "text": ["1\n"]}]
    assert cells[2]["source"][0] == "more\n"
