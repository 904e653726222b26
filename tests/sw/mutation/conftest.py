"""A project with one source, whose tests see some of its mutants."""

from pathlib import Path

import pytest

SOURCE = '''"""Source."""


def largest(values):
    """Return the largest value."""
    best = values[0]
    for value in values:
        if value > best:
            best = value
    return best


def unseen(value):
    """No test asks for it."""
    return value == 3
'''
TEST = """from celosia.part.source import largest


def test_largest():
    assert largest([1, 3, 2]) == 3
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # pytest starts in half the time
    root = tmp_path / "tree"
    for path, text in {
            "sw/celosia/__init__.py": "", "sw/celosia/part/__init__.py": "",
            "sw/celosia/part/source.py": SOURCE, "hw/celosia_hw/__init__.py": "",
            "sim/celosia_sim/__init__.py": "", "tests/sw/part/test_source.py": TEST,
            "tests/sw/other/test_other.py": "def test_nothing():\n    assert True\n",
            "pyproject.toml": "[tool.pytest.ini_options]\nmarkers = ['slow: by name']\n"}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root
