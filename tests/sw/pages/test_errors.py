import ast

import house
from pages.errors import CURES, errors_page, messages

from celosia.arch.faults import FAULT_CURES, FAULT_DOCS, Fault


def test_every_fault_has_a_cure():
    assert set(FAULT_CURES) == set(FAULT_DOCS) - {Fault.NONE}
    page = errors_page()
    assert all(f"| `{fault.name}` | {FAULT_DOCS[fault][0]} |" in page for fault in FAULT_CURES)


def test_every_error_of_the_package_has_a_cure():
    named = {node.name for name, path in house.modules().items() if house.inside(name, "celosia")
             for node in ast.parse(path.read_text()).body
             if isinstance(node, ast.ClassDef) and node.name.endswith("Error")
             and not node.name.startswith("_")}
    assert named <= set(CURES)
    page = errors_page()
    assert all(f".{name}` |" in page for name in CURES)


def test_messages_are_those_of_the_sources():
    page = messages()
    assert "- ValueError: `TpuConfig.<name> must be <wanted>, not <value>`" in page
    assert "## celosia.program.asm.arguments" in page
