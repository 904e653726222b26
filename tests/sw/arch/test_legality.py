"""The rules of legal instructions, as data."""

import string
from dataclasses import replace

import pytest

from celosia.arch import isa
from celosia.arch.config import preset
from celosia.arch.isa import Mem, Opcode, RecvOp
from celosia.arch.legality import RULES, allowed, rules
from celosia.arch.vector import OPERATIONS, SOURCES, STREAM_SRCS, Post, Src, VectorOp

EVERY = [(opcode, rule) for opcode, found in RULES.items() for rule in found]


def values_of(opcode, name):
    """What a field may be; of an operand, that it is an immediate 0."""
    description = isa.BY_OPCODE[opcode]
    for field in description.fields:
        if field.name == name:
            return set(range(1 << field.width) if field.enum is None else map(int, field.enum))
    assert name in {operand.name for operand in description.operands}
    return {0}


@pytest.mark.parametrize(("opcode", "rule"), EVERY)
def test_a_rule_is_of_fields_and_values_that_there_are(opcode, rule):
    for name, values in {**rule.when, rule.field: rule.values}.items():
        assert values
        assert values <= values_of(opcode, name), name
    assert all(values_of(opcode, name) != {0} for name in rule.when)
    words = {name for _, name, _, _ in string.Formatter().parse(rule.wanted) if name}
    names = {field.name for field in isa.BY_OPCODE[opcode].fields}
    assert words <= names | {"taken", "what"}
    assert rule.lacks in ("", "int8", "bf16")


def test_a_chip_has_only_the_rules_of_formats_that_it_lacks():
    assert {rule.lacks for rule in rules(preset("core"), Opcode.VECTOR)} == {""}
    assert {rule.lacks for rule in rules(preset("nano"), Opcode.VECTOR)} == {"", "bf16"}
    assert {rule.lacks for rule in rules(preset("v2"), Opcode.LOAD)} == {"int8"}
    assert rules(preset("core"), Opcode.HALT) == ()


def test_a_port_is_one_of_the_chip():
    linked = replace(preset("nano"), name="linked", ports=3)
    for opcode in (Opcode.SEND, Opcode.RECV):
        assert allowed(linked, opcode, "port", {}) == {0, 1, 2}
    assert allowed(linked, Opcode.RECV, "mem", {"op": RecvOp.SUM_I}) == {Mem.ACC}
    assert allowed(linked, Opcode.RECV, "mem", {"op": RecvOp.SET}) is None
    assert not {RecvOp.SUM_F, RecvOp.MAX_F, RecvOp.MIN_F} & allowed(linked, Opcode.RECV, "op", {})


def test_what_is_allowed_beside_what_is_known():
    core, nano = preset("core"), preset("nano")
    assert allowed(core, Opcode.VECTOR, "b_kind", {"op": VectorOp.ROTATE}) == {Src.SCALAR}
    assert allowed(core, Opcode.VECTOR, "post", {"op": VectorOp.REQUANT}) == {Post.NONE}
    assert allowed(core, Opcode.VECTOR, "post", {"op": VectorOp.IADD}) is None
    assert allowed(nano, Opcode.VECTOR, "post", {"op": VectorOp.IADD}) == {
        Post.NONE, Post.RELU_I, Post.CLAMP_I}
    assert allowed(core, Opcode.VECTOR, "c_kind", {"a_kind": Src.ACC, "b_kind": Src.ACC}) == (
        set(Src) - STREAM_SRCS)


def test_there_is_a_record_for_everything():
    assert set(OPERATIONS) == set(VectorOp)
    assert set(SOURCES) == set(Src)
    assert all(each.means and 1 <= each.operands <= 3 for each in OPERATIONS.values())
