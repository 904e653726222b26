"""Numbers that are agreed upon or looked up, kept in tables.json.

Programs, chips, boards and hosts that were made apart agree upon the instruction set, the
registers, the protocols and the operations of graphs; other numbers are those of data sheets and
papers. Everything else derives from them, on both sides of each test, so no other test finds one
that is wrong. Where a change is meant:
``python tests/sw/tables.py`` writes them anew, and the difference is for review.
"""

import ast
import dataclasses
import enum
import importlib
import json
import pkgutil
from operator import attrgetter
from pathlib import Path

import celosia.arch
from celosia.graph.attributes import REQUIRED

FILE = Path(__file__).with_suffix(".json")
#: By module: what graphs in files are made of, what PJRT's header declares; tables of data sheets,
#: of papers and of what routing gave.
LOOKED_UP = {"celosia.graph.spec": ("OPS",), "celosia_hw.boards": ("BOARDS",),
             "celosia_hw.boards.pll": ("LIMITS",), "celosia_sim.boards.sdram": ("PARTS",),
             "celosia.profile.energy": ("TABLES",),
             "celosia.cli.fpga.families": ("FAMILIES",),
             "celosia.pjrt.structs": ("MAJOR", "MINOR", "_ARGUMENTS", "_STRUCTURES", "ENTRIES",
                                      "ElementType.NUMBERS")}
#: Parts that are words, and entries of the instruction set by other names.
WORDS = {"doc", "summary", "action", "notes", "text", "means", "wanted", "syntax"}
OTHER_NAMES = {"BY_OPCODE", "BY_MNEMONIC", "BY_NAME", "FAULT_DOCS", "FAULT_CURES", "ACTIVITY_DOCS"}


def plain(value):
    """Return a value as JSON has it: enumerators by their names, sets sorted, without words."""
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, type) or callable(value):
        return value.__name__
    if value is REQUIRED:
        return "required"
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
                if field.name not in WORDS}
    if hasattr(value, "_asdict"):
        return plain({name: each for name, each in value._asdict().items() if name not in WORDS})
    if isinstance(value, dict):
        return {str(plain(key)): plain(each) for key, each in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(plain, value), key=str)
    if isinstance(value, (list, tuple)):
        return list(map(plain, value))
    return value if isinstance(value, (int, float, str, type(None))) else repr(value)


def _values(enumeration: type[enum.Enum]):
    return {one.name: one.value for one in enumeration}


def _assigned(module):
    """Iterate over the names of constants and enumerations that a module makes."""
    for statement in ast.parse(Path(module.__file__).read_text()).body:
        if isinstance(statement, ast.ClassDef) and issubclass(
                getattr(module, statement.name), enum.Enum):
            yield statement.name
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            target = statement.target if isinstance(
                statement, ast.AnnAssign) else statement.targets[0]
            if isinstance(target, ast.Name) and target.id.isupper() and target.id[0] != "_":
                yield target.id


def tables():
    """Return tables by module and name."""
    found = {}
    for each in pkgutil.iter_modules(celosia.arch.__path__):
        module = importlib.import_module(f"celosia.arch.{each.name}")
        for name in _assigned(module):
            value = getattr(module, name)
            if name in OTHER_NAMES or (module.__name__.endswith("numerics")
                                       and not isinstance(value, int)):
                continue
            found[f"{module.__name__}.{name}"] = (_values(value) if isinstance(value, type)
                                                  else plain(value))
    for module, names in LOOKED_UP.items():
        for name in names:
            found[f"{module}.{name}"] = plain(attrgetter(name)(importlib.import_module(module)))
    return found


def lines(table):
    """Return a table as text, an entry on each line."""
    if isinstance(table, (dict, list)) and len(json.dumps(table)) > 100:
        keys = [f"{json.dumps(key)}: " for key in table] if isinstance(table, dict) else [""] * len(
            table)
        each = table.values() if isinstance(table, dict) else table
        rows = [f"  {key}{json.dumps(value)}" for key, value in zip(keys, each, strict=True)]
        ends = "{}" if isinstance(table, dict) else "[]"
        return f"{ends[0]}\n" + ",\n".join(rows) + f"\n{ends[1]}"
    return json.dumps(table)


if __name__ == "__main__":
    FILE.write_text("{\n" + ",\n".join(
        f"{json.dumps(name)}: {lines(table)}" for name, table in tables().items()) + "\n}\n")
