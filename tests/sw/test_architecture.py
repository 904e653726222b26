"""Imports point one way, and files and functions stay small enough to read."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import house
import pytest
from house import LAZY, ROOT, SOURCES, Import, inside

from celosia.compiler import cache

#: What ``pip install celosia`` brings.
BASE = {"numpy", "ml_dtypes"}
#: Parts of celosia that may reach for a framework's libraries, inside a function.
FRAMEWORKS = {"celosia.frontend": "jaxlib", "celosia.compiler.jit": "jax", "celosia.pjrt": "jax",
              "celosia.serve.metrics": "prometheus_client", "celosia.serve.server": "uvicorn",
              "celosia.frontend.tensorflow": "tensorflow", "celosia.serve.trained": "tensorflow"}
#: Rooms that are for those who have a framework, and so import it; nobody imports them.
FOR_USERS_OF = {"celosia.tensorflow": ("tensorflow", "keras")}
#: Modules that a function imports or that are run, and the libraries that they are built on.
LATE = {"celosia.serve.connection": ("h11", "uvicorn"), "celosia.serve.routes": ("starlette",),
        "celosia.cli.fpga.pyosys": ("pyosys",), "celosia.cli.fpga.floorplan": ("scipy",),
        "celosia.profile.page.views": ("bokeh",),
        "celosia.pjrt.ray_train": ("ray",)}
MOST_LINES = 500
#: What people take away as one file may be longer.
ONE_FILE = {"sw/celosia/driver/c/celosia.c"}


def ours(target: str) -> bool:
    return inside(target, *SOURCES)


def third_party(target: str) -> bool:
    top = target.partition(".")[0]
    return not ours(target) and top not in sys.stdlib_module_names


def source_files() -> list[Path]:
    return list(house.modules().values())


def offenders(*wrong: Import) -> str:
    return "\n".join(f"{found.module} imports {found.target}" for found in wrong)


def test_scan_sees_the_imports():
    assert Import("celosia_hw.commands", "celosia.arch.isa", False) in house.imports()
    assert {found.module.partition(".")[0] for found in house.imports()} == set(SOURCES)
    assert any(found.lazy for found in house.imports())


def test_arch_imports_nothing_but_itself():
    wrong = [found for found in house.imports() if inside(found.module, "celosia.arch")
             and ours(found.target) and not inside(found.target, "celosia.arch")]
    assert not wrong, offenders(*wrong)


def test_celosia_reaches_for_chip_and_simulators_late_and_in_few_places():
    wrong = [found for found in house.imports() if inside(found.module, "celosia")
             and inside(found.target, "celosia_hw", "celosia_sim")
             and not (found.lazy and inside(found.module, *LAZY))]
    assert not wrong, offenders(*wrong)


def test_celosia_needs_only_its_dependencies():
    wrong = [found for found in house.imports() if inside(found.module, "celosia")
             and third_party(found.target) and found.target.partition(".")[0] not in BASE
             and not (found.lazy and (inside(found.module, *LAZY) or any(
                 inside(found.module, part) and inside(found.target, library)
                 for part, library in FRAMEWORKS.items())))
             and not inside(found.target, *LATE.get(found.module, ()))
             and not any(inside(found.module, room) and inside(found.target, *libraries)
                         for room, libraries in FOR_USERS_OF.items())]
    assert not wrong, offenders(*wrong)


def test_nobody_imports_what_is_for_users_of_a_framework():
    wrong = [found for found in house.imports()
             if inside(found.target, *FOR_USERS_OF) and not inside(found.module, *FOR_USERS_OF)]
    assert not wrong, offenders(*wrong)


def test_modules_on_top_of_libraries_are_imported_late():
    wrong = [found for found in house.imports()
             if inside(found.target, *LATE) and not found.lazy]
    assert not wrong, offenders(*wrong)


def test_the_order_has_every_room_once():
    assert len(set(house.LAYERS)) == len(house.LAYERS)
    assert set(house.LAYERS) == {house.room_of(module) for module in house.modules()}


def test_a_room_imports_only_what_stands_before_it():
    assert not house.misplaced(), offenders(*house.misplaced())


def test_files_do_not_import_each_other_in_circles():
    assert not house.cycles(house.edges())
    assert not house.cycles(house.rooms())


def test_circles_are_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": {"e"}, "e": set(), "f": {"a", "g"},
             "g": {"f"}}
    assert house.cycles(graph) == [["b", "c"], ["f", "g"]]


def test_imports_for_types_and_in_functions_count():
    found = house.edges()
    assert "celosia.model.timing.predict" in found["celosia.compiled.expected"]
    assert "celosia.compiler.jit" in found["celosia"]
    assert "celosia.driver.model" in found["celosia.driver.backends"]


def test_the_package_has_few_entries():
    assert len(house.entries()) <= house.MOST_ENTRIES, house.entries()


def test_functions_are_short():
    assert not house.long_functions(), "\n".join(house.long_functions())


def test_functions_of_the_chip_and_its_simulator_have_few_parameters():
    assert not house.wide_functions(), "\n".join(house.wide_functions())


def test_long_and_wide_functions_are_found(monkeypatch):
    monkeypatch.setattr(house, "MOST_LINES", 99)
    monkeypatch.setattr(house, "MOST_PARAMETERS", 7)
    assert house.long_functions()
    assert any("celosia_hw" in found for found in house.long_functions())
    assert house.wide_functions()


def test_one_public_type_has_one_name():
    assert house.shared_names() == []


def test_names_that_types_share_are_found(monkeypatch, tmp_path):
    paths = [tmp_path / name for name in ("a.py", "b.py")]
    for path, text in zip(paths, ("class Shape: ...\nclass _Own: ...\n",
                                  "Shape = int | str\n_Own = int\nSIZE = 1\n"), strict=True):
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(house, "modules", lambda: {path.stem: path for path in paths})
    assert house.shared_names() == ["one public type must be called Shape, not 2: a, b"]


def test_the_command_has_nothing_to_say():
    assert house.problems() == []


def test_the_contract_can_be_had_alone():
    code = """
import sys
import celosia.arch.config, celosia.arch.isa, celosia.arch.registers
others = [name for name in sys.modules if name.partition(".")[0] not in sys.stdlib_module_names]
print(sorted({".".join(name.split(".")[:2]) for name in others if name.startswith("celosia")}))
print("numpy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['celosia', 'celosia.arch']\nFalse\n"


def test_a_board_loads_no_compiler():
    code = """
import sys
import celosia_sim.pod.process
ours = [name.split(".") for name in sys.modules if name.startswith("celosia.")]
print(sorted({".".join(each[:2]) for each in ours}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ("['celosia.arch', 'celosia.collectives', 'celosia.driver', "
                           "'celosia.storage']\n")


@pytest.mark.parametrize("name", ["celosia", "celosia.collectives", "celosia.driver",
                                  "celosia_sim.pod"])
def test_names_of_a_package_are_there(name):
    package = importlib.import_module(name)
    assert {each for names in package._NAMES.values() for each in names} == set(package.__all__)
    assert set(dir(package)) >= set(package.__all__)
    for module, names in package._NAMES.items():
        for each in names:
            assert getattr(package, each) is getattr(sys.modules[f"{name}.{module}"], each)
    with pytest.raises(AttributeError, match=f"^module '{name}' has no attribute 'jot'$"):
        package.jot  # noqa: B018


def test_the_key_of_a_compiled_program_is_of_the_rooms_that_make_it():
    # Where files are kept decides nothing; the driver only runs.
    assert set(cache.ROOMS) == {"compiler", *house.rooms()["compiler"]} - {"storage", "driver"}


def test_hardware_imports_the_contract_only():
    wrong = [found for found in house.imports() if inside(found.module, "celosia_hw")
             and ours(found.target) and not inside(found.target, "celosia_hw", "celosia.arch")]
    assert not wrong, offenders(*wrong)


def test_components_import_no_writer():
    chip = [room for room in house.LAYERS if inside(room, "celosia_hw")]
    chip = chip[:chip.index("celosia_hw.verilog")]
    wrong = [found for found in house.imports() if house.room_of(found.module) in chip
             and inside(found.target, "celosia_hw.verilog", "amaranth.back", "amaranth._toolchain")]
    assert not wrong, offenders(*wrong)


def test_the_chip_has_facts_of_instructions_by_name():
    """It parses no names, and has no number of an operand."""
    chip = house.LAYERS[house.LAYERS.index("celosia_hw"):house.LAYERS.index("celosia_hw.soc")]
    wanted = re.compile(r"\.(?:starts|ends)with\(|\boperands\[\d")
    wrong = [f"{path}:{number}: {line.strip()}" for module, path in house.modules().items()
             if house.room_of(module) in chip
             for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
             if wanted.search(line)]
    assert not wrong, "\n".join(wrong)


def test_imports_are_absolute():
    for path in source_files():
        relative = [node.lineno for node in ast.walk(house.tree(path))
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
        assert ast.get_docstring(house.tree(init)), f"{init} has no docstring"


def test_every_module_says_what_it_is():
    silent = [path for path in source_files() if not ast.get_docstring(house.tree(path))]
    assert not silent, "\n".join(map(str, silent))


@pytest.mark.parametrize("folder", ["hw", "sw", "sim", "tests", "scripts"])
def test_files_are_short(folder):
    long = []
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in {".py", ".c", ".h", ".cpp", ".v", ".sv"} or (
                folder == "scripts" and path.is_file() and not path.suffix):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            if lines > MOST_LINES and str(path.relative_to(ROOT)) not in ONE_FILE:
                long.append(f"{path.relative_to(ROOT)}: {lines} lines, {MOST_LINES} at most")
    assert not long, "\n".join(long)


#: What the compiler weighs by hand, in cycles or parts of them: how loops, blocks, bytes and a
#: wrong guess count beside the instructions, which `celosia.model.timing` alone knows.
WEIGHED = {
    "codegen.pipeline": {"_PLAIN, _FETCHED", "_LONG"}, "codegen.places": {"_LONG"},
    "codegen.reorder": {"_WORTH"}, "emit.move": {"_WORTH"}, "passes.residuals": {"MOST_STEPS"},
    "emit.tiling": {"LOOP", "BLOCK", "OPERATION", "TRAFFIC"},
    "lowering.order": {"_WORTH, _MOST", "_SHORT"}}


def test_the_compiler_has_no_cycles_of_its_own():
    found: dict[str, set[str]] = {}
    for module, path in house.modules().items():
        if not inside(module, "celosia.compiler"):
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for node in house.tree(path).body:
            if not isinstance(node, ast.Assign) or not any(
                    isinstance(each, ast.Constant) and type(each.value) in (int, float)
                    for each in ast.walk(node.value)):
                continue
            said = [lines[node.lineno - 1]]
            for line in reversed(lines[:node.lineno - 1]):
                if not line.startswith("#"):
                    break
                said.append(line)
            if "cycle" in "\n".join(said).lower():
                found.setdefault(module.removeprefix("celosia.compiler."), set()).add(
                    ast.unparse(node.targets[0]).strip("()"))
    assert found == WEIGHED


def test_what_an_instruction_costs_is_asked_in_two_places():
    """Of operations that are there, and of such as may be made."""
    asking = {found.module for found in house.imports() if inside(found.module, "celosia.compiler")
              and inside(found.target, "celosia.model.timing")}
    assert asking == {"celosia.compiler.cycles", "celosia.compiler.codegen.spans",
                      "celosia.compiler.codegen.play"}
