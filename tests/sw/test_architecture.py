"""Imports point one way, and files stay small enough to read."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {"celosia": ROOT / "sw", "celosia_hw": ROOT / "hw", "celosia_sim": ROOT / "sim"}
#: What ``pip install celosia`` brings.
BASE = {"numpy", "ml_dtypes"}
#: Parts of celosia that may reach for the chip or a simulator, inside a function.
LAZY = ("celosia.driver", "celosia.cli", "celosia.bench", "celosia.demo")
#: Parts of celosia that may reach for a framework's libraries, inside a function.
FRAMEWORKS = {"celosia.accuracy": "jax", "celosia.frontend": "jaxlib", "celosia.jit": "jax",
              "celosia.pjrt": "jax", "celosia.serve.app": "starlette",
              "celosia.serve.metrics": "prometheus_client", "celosia.serve.server": "uvicorn"}
MOST_LINES = 500


class Import(NamedTuple):
    """``module`` imports ``target``; ``lazy``: inside a function."""

    module: str
    target: str
    lazy: bool


def source_files() -> list[Path]:
    return [path for package, root in SOURCES.items()
            for path in sorted((root / package).rglob("*.py"))]


def module_name(path: Path) -> str:
    for root in SOURCES.values():
        if path.is_relative_to(root):
            parts = path.relative_to(root).with_suffix("").parts
            return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    raise ValueError(path)


def imports_of(path: Path) -> Iterator[Import]:
    module = module_name(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]

    def walk(node: ast.AST, lazy: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(module, alias.name, lazy)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    parts = package.split(".")
                    parts = parts[:len(parts) - child.level + 1]
                    base = ".".join([*parts, base] if base else parts)
                # "from package import module" names a module, too.
                for alias in child.names:
                    yield Import(module, f"{base}.{alias.name}", lazy)
            else:
                yield from walk(child, lazy or isinstance(
                    child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)))

    yield from walk(ast.parse(path.read_text(encoding="utf-8")), False)


def inside(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def ours(target: str) -> bool:
    return inside(target, *SOURCES)


def third_party(target: str) -> bool:
    top = target.partition(".")[0]
    return not ours(target) and top not in sys.stdlib_module_names


#: Modules that a function imports, and the libraries that they are built on.
LATE = {"celosia.serve.connection": ("h11", "uvicorn")}
IMPORTS = [found for path in source_files() for found in imports_of(path)]


def offenders(*wrong: Import) -> str:
    return "\n".join(f"{found.module} imports {found.target}" for found in wrong)


def test_scan_sees_the_imports():
    assert Import("celosia_hw.commands", "celosia.arch.isa", False) in IMPORTS
    assert {found.module.partition(".")[0] for found in IMPORTS} == set(SOURCES)
    assert any(found.lazy for found in IMPORTS)


def test_arch_imports_nothing_but_itself():
    wrong = [found for found in IMPORTS if inside(found.module, "celosia.arch")
             and ours(found.target) and not inside(found.target, "celosia.arch")]
    assert not wrong, offenders(*wrong)


def test_celosia_reaches_for_chip_and_simulators_late_and_in_few_places():
    wrong = [found for found in IMPORTS if inside(found.module, "celosia")
             and inside(found.target, "celosia_hw", "celosia_sim")
             and not (found.lazy and inside(found.module, *LAZY))]
    assert not wrong, offenders(*wrong)


def test_celosia_needs_only_its_dependencies():
    wrong = [found for found in IMPORTS if inside(found.module, "celosia")
             and third_party(found.target) and found.target.partition(".")[0] not in BASE
             and not (found.lazy and (inside(found.module, *LAZY) or any(
                 inside(found.module, part) and inside(found.target, library)
                 for part, library in FRAMEWORKS.items())))
             and not inside(found.target, *LATE.get(found.module, ()))]
    assert not wrong, offenders(*wrong)


def test_modules_on_top_of_libraries_are_imported_late():
    wrong = [found for found in IMPORTS
             if inside(found.target, *LATE) and not found.lazy]
    assert not wrong, offenders(*wrong)


#: Parts of celosia, and what must not be imported there when they are: what comes after them.
LAYERS = {
    "toolchain": ("arch", "graph", "model", "codegen", "kernels", "frontend", "compiler",
                  "compiled", "collectives", "ops", "train", "driver", "pjrt"),
    "graph": ("codegen", "kernels", "frontend", "compiler", "compiled", "collectives", "ops",
              "train", "driver"),
    "model": ("codegen", "kernels", "frontend", "compiler", "compiled", "ops", "train"),
    "codegen": ("kernels", "frontend", "compiler", "compiled", "ops", "train"),
    "kernels": ("frontend", "compiler", "compiled", "ops", "train"),
    "frontend": ("codegen", "kernels", "compiler", "compiled", "collectives", "ops", "train",
                 "driver", "model"),
    "compiled": ("codegen", "kernels", "frontend", "compiler", "collectives", "ops", "train"),
    "collectives": ("codegen", "kernels", "frontend", "compiler", "ops", "train", "pjrt"),
    "compiler": ("ops", "train"),
    "ops": ("train",),
}


@pytest.mark.parametrize("part", LAYERS)
def test_a_part_does_not_import_what_comes_after_it(part):
    later = [f"celosia.{name}" for name in LAYERS[part]]
    wrong = [found for found in IMPORTS if inside(found.module, f"celosia.{part}")
             and inside(found.target, *later) and not found.lazy]
    assert not wrong, offenders(*wrong)


def test_hardware_imports_the_contract_only():
    wrong = [found for found in IMPORTS if inside(found.module, "celosia_hw")
             and ours(found.target) and not inside(found.target, "celosia_hw", "celosia.arch")]
    assert not wrong, offenders(*wrong)


def test_imports_are_absolute():
    for path in source_files():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        relative = [node.lineno for node in ast.walk(tree)
                    if isinstance(node, ast.ImportFrom) and node.level]
        assert not relative, f"{path}:{relative[0]}: relative import"


def test_every_package_is_built():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    built = set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    there = {str(path.parent.relative_to(ROOT)) for root in SOURCES.values()
             for path in root.glob("*/__init__.py")}
    assert built == there
    assert built == {f"{root.name}/{package}" for package, root in SOURCES.items()}


def test_every_folder_is_a_package_and_says_what_it_holds():
    for folder in sorted({path.parent for path in source_files()}):
        init = folder / "__init__.py"
        assert init.exists(), f"{folder} has no __init__.py"
        assert ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))), \
            f"{init} has no docstring"


def test_every_module_says_what_it_is():
    silent = [path for path in source_files()
              if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert not silent, "\n".join(map(str, silent))


@pytest.mark.parametrize("folder", ["hw", "sw", "sim", "tests", "scripts"])
def test_files_are_short(folder):
    long = []
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in {".py", ".c", ".h", ".cpp", ".v", ".sv"} or (
                folder == "scripts" and path.is_file() and not path.suffix):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            if lines > MOST_LINES:
                long.append(f"{path.relative_to(ROOT)}: {lines} lines, {MOST_LINES} at most")
    assert not long, "\n".join(long)
