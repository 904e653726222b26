"""What pages and docstrings name is there."""

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import house
import pytest
from house import ROOT

PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
FOLDERS = ("docs", "examples", "hw", "scripts", "sim", "sw", "tests")
#: A header of somebody else.
FOREIGN = {"pjrt_c_api.h"}
QUOTED = re.compile(r"`+([^`\n]+)`+")
DOTTED = re.compile(rf"(?:{'|'.join(house.SOURCES)})(?:\.\w+)+")
FILE = re.compile(r"[\w./-]+\.(?:py|c|h|cpp|mlir|toml)")


@cache
def files() -> frozenset[str]:
    """Return the paths of all files, from the root and from each folder on the way."""
    paths = [path.relative_to(ROOT).as_posix().split("/") for folder in FOLDERS
             for path in (ROOT / folder).rglob("*.*")]
    return frozenset("/".join(path[i:]) for path in paths for i in range(len(path)))


def is_there(name: str) -> bool:
    """Whether a dotted name is a module, or something of one."""
    module, rest = name, []
    while module not in house.modules():
        module, _, last = module.rpartition(".")
        rest.insert(0, last)
    if not rest:
        return True
    found = importlib.import_module(module)
    for part in rest:
        if part in getattr(found, "__annotations__", {}):
            return True  # a field of a dataclass
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def named(text: str) -> Iterator[tuple[str, bool]]:
    """Yield what a text names: dotted names of ours, and files; whether it is there."""
    for match in QUOTED.finditer(text):
        quoted = match[1]
        if DOTTED.fullmatch(quoted) and not quoted.endswith((".json", ".log")):
            yield quoted, is_there(quoted)
        elif FILE.fullmatch(quoted) and not re.search("[A-Z]{3}", quoted):  # GROUP.py is any
            yield quoted, quoted in files() or quoted in FOREIGN or (ROOT / quoted).exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_is_there(page):
    wrong = {name for name, there in named(page.read_text(encoding="utf-8")) if not there}
    assert not wrong, f"{page.name} must name what is there, not {', '.join(sorted(wrong))}"


def texts(path: Path) -> str:
    """Return the docstrings and comments of a module."""
    source = path.read_text(encoding="utf-8")
    found = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(source))
             if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))]
    return "\n".join([*found, *re.findall(r"#:? (.*)", source)])


LINK = re.compile(r"\]\(([^)#:\s]+\.\w+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pictures_and_pages_that_a_page_links_to_are_there(page):
    missing = [name for name in LINK.findall(page.read_text(encoding="utf-8"))
               if not (page.parent / name).exists()]
    assert missing == []


@pytest.mark.parametrize("package", house.SOURCES)
def test_what_a_docstring_names_is_there(package):
    wrong = [f"{module}: {name}" for module, path in house.modules().items()
             if house.inside(module, package)
             for name, there in named(texts(path)) if not there]
    assert not wrong, "\n".join(wrong)


def test_what_is_not_there_is_found():
    text = ("`celosia.compiler.build.build`, ``celosia.compiler.build.bild``, `words.py`, "
            "`arch/words.py`, `arch/wrds.py`, `celosia.compiler.build.Options.fast`, `wrds.py`")
    assert [name for name, there in named(text) if not there] == [
        "celosia.compiler.build.bild", "arch/wrds.py", "wrds.py"]
