import ast

import house
import pytest
from pages.classes import CURES
from pages.cures import CAUSES
from pages.errors import cause_of, errors_page, every, messages

from celosia.arch.faults import FAULT_CURES, FAULT_DOCS, Fault


def test_every_fault_has_a_cure():
    assert set(FAULT_CURES) == set(FAULT_DOCS) - {Fault.NONE}
    page = errors_page()
    assert all(f"| `{fault.name}` | {FAULT_DOCS[fault][0]} |" in page for fault in FAULT_CURES)


def test_every_error_of_the_package_has_a_cure():
    named = {node.name for name, path in house.modules().items() if house.inside(name, "celosia")
             for node in house.tree(path).body
             if isinstance(node, ast.ClassDef) and node.name.endswith("Error")
             and not node.name.startswith("_")}
    assert named <= set(CURES)
    page = errors_page()
    assert all(f".{name}` |" in page for name in CURES)


def test_every_message_has_a_cause_and_a_cure():
    said = every()
    assert sum(map(len, said.values())) > 700
    used = {(why, cure) for each in said.values() for _, _, why, cure in each}
    assert used == {(each.why, each.cure) for each in CAUSES}  # none is for nothing


def test_a_message_without_a_cause_is_an_error():
    with pytest.raises(LookupError) as raised:
        cause_of("celosia.new.room", "x must be y, not z")
    assert str(raised.value) == (
        "a message must have a cause and a cure in scripts/pages/cures.py, celosia.new.room has "
        "none for 'x must be y, not z'")


def test_the_first_cause_that_holds_is_that_of_a_message():
    assert cause_of("celosia.driver.handles", "x cannot be used: its device is closed")[0] == (
        "It was used after it, or its device, was closed, freed, reset or donated")
    assert "extra" in cause_of("celosia.driver.backends", "backend 'rtl'")[0]


def test_messages_are_those_of_the_sources():
    page = messages()
    before, found, _ = page.partition(
        "- ValueError: `TpuConfig.<name> must be <wanted>, not <value>`")
    assert found
    assert before.rstrip().rpartition("\n")[2].startswith("**Cause:** A parameter of the chip")
    assert "## celosia.program.asm.arguments" in page
