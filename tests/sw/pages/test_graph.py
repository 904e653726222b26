"""docs/graph.md says what the tables say."""

from pathlib import Path

from pages.graph import operations_table

from celosia.graph import OPS

ROOT = Path(__file__).parents[3]


def test_every_operation_is_in_the_table():
    table = operations_table()
    for name in OPS:
        assert table.count(f"| `{name}` |") == 1


def test_programs_of_the_page_run(capsys):
    text = (ROOT / "docs" / "graph.md").read_text(encoding="utf-8")
    blocks = text.split("```python\n")[1:]
    assert blocks
    shown = [block.split("```\n")[1:] for block in blocks]
    for block, rest in zip(blocks, shown, strict=True):
        exec(compile(block.split("```")[0], "docs/graph.md", "exec"), {})
        # What it prints stands below it.
        printed = capsys.readouterr().out
        assert printed.strip()
        assert printed in rest[0] + "\n".join(rest[1:])
