"""docs/passes.md says what there is."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

from celosia.compiler import CANONICAL
from celosia.compiler.pipeline import PASSES

PAGE = (Path(__file__).parents[3] / "docs" / "passes.md").read_text(encoding="utf-8")


def test_example_prints_what_the_page_says():
    code = PAGE.split("```python\n")[1].split("```")[0]
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "passes.md", "exec"), {})
    lines = printed.getvalue()
    graph = lines[lines.index("graph layer("):].strip()
    assert f"```\n{graph}\n```" in PAGE


def test_every_operation_and_pass_is_on_the_page():
    table = PAGE.partition("## The canonical level")[2]
    assert set(re.findall(r"`(\w+)`", table)) >= CANONICAL.ops
    passes = re.findall(r"^\| (\w+) \|", PAGE, re.MULTILINE)
    assert [name for name in passes if name != "pass"][:len(PASSES)] == [
        step.__name__ for step in PASSES]
