"""The numbers that the firmware has of the architecture."""

import re

import pytest

from celosia.arch import isa, link, registers
from celosia.arch.faults import Fault
from celosia.arch.vector import FLOAT_OPS, VECTOR_OPERANDS, VectorOp
from celosia_hw.soc.compact.arch_header import HEADERS, arch_header


@pytest.mark.parametrize("path", HEADERS, ids=lambda path: path.name)
def test_header_is_up_to_date(path):
    assert path.read_text() == HEADERS[path](), "python -m celosia_hw.soc.compact.arch_header"


def defined() -> dict[str, str]:
    joined = arch_header().replace("\\\n", " ")
    return dict(re.findall(r"^#define (\w+) (.*?)(?:  //.*)?$", joined, re.MULTILINE))


def test_names_have_the_values_of_the_architecture():
    found = defined()
    assert int(found["OPCODE_VECTOR"]) == isa.Opcode.VECTOR
    assert int(found["FAULT_INDEX_RANGE"]) == Fault.INDEX_RANGE
    assert int(found["REGISTER_WINDOW3_LAST"]) == registers.BY_NAME["WINDOW3_LAST"].offset
    assert int(found["STATUS_FAULTED"]) == registers.Status.FAULTED
    assert int(found["LINK_MAGIC"], 16) == link.LINK_MAGIC
    assert int(found["KIND_AGAIN"]) == link.RequestKind.AGAIN


def words(name: str) -> list[int]:
    return [int(word.rstrip("u"), 0) for word in re.findall(r"\w+", defined()[name])]


def test_shapes_are_those_of_the_instructions():
    shapes, fields, operands = map(words, ("OPCODE_SHAPES", "SHAPE_FIELDS", "SHAPE_OPERANDS"))
    assert len(shapes) == int(defined()["NUM_OPCODES"])
    for opcode, shape in enumerate(shapes):
        instruction = {each.opcode: each for each in isa.INSTRUCTIONS}.get(opcode)
        assert bool(shape) == (instruction is not None)
        if instruction is not None:
            assert operands[shape] == len(instruction.operands)
            used = sum((1 << field.width) - 1 << field.lsb for field in instruction.fields)
            assert fields[2 * shape] | fields[2 * shape + 1] << 32 == used


def test_sets_of_operations_are_those_of_the_instructions():
    found = {name: words(name)[0] for name in (
        "INT8_OPS", "UNARY_OPS", "TERNARY_OPS", "FLOAT_UNARY_OPS", "FLOAT_TERNARY_OPS")}
    for op in VectorOp:
        kind, bit = ("FLOAT_", op - 32) if op in FLOAT_OPS else ("", int(op))
        assert found["INT8_OPS"] >> op & 1 == (op not in FLOAT_OPS)
        operands = 3 if found[f"{kind}TERNARY_OPS"] >> bit & 1 else (
            2 - (found[f"{kind}UNARY_OPS"] >> bit & 1))
        assert operands == VECTOR_OPERANDS[op]
