"""What each directive makes of its arguments, at the least and the most that they may be."""

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia.program import Buffer
from celosia.program.asm import AsmError, assemble

CORE = preset("core")


def said(text):
    """Return what is wrong with a text: each line, column and message."""
    with pytest.raises(AsmError) as caught:
        assemble(text, CORE)
    return [(each.line, each.column, each.message) for each in caught.value.problems]


@pytest.mark.parametrize(("text", "fingerprint"), [
    (".chip core", CORE.fingerprint), (".chip 0", 0), (".chip 0xffffffff", 0xFFFFFFFF),
    (".chip 2 + 3", 5), (".chip nano\n.chip core", CORE.fingerprint)])
def test_chips(text, fingerprint):
    assert assemble(text).fingerprint == fingerprint


def test_the_chip_that_is_given_is_the_chip_where_the_text_names_none():
    assert assemble("halt", CORE).fingerprint == CORE.fingerprint
    assert assemble(".chip 7\nhalt", CORE).fingerprint == 7


@pytest.mark.parametrize(("text", "name"), [
    ("", ""), (".name net", "net"), ('.name "a net"', "a net"), (".name a\n.name b", "b")])
def test_names(text, name):
    assert assemble(text, CORE).name == name


@pytest.mark.parametrize("text", [
    ".equ five, 5\nmov r1, five", ".equ five 5\nmov r1, five",
    ".equ two, 2\n.equ five, two + 3\nmov r1, five", "mov r1, 5",
    ".equ five 2 + 3\nmov r1, five", ".equ five, (5)\nmov r1, five"])
def test_constants(text):
    assert assemble(text, CORE).insns == assemble("mov r1, 5", CORE).insns


@pytest.mark.parametrize(("text", "problem"), [
    (".equ a, 1\n.equ a, 2", (2, 6, "'a' must be defined once")),
    ("a: nop\n.equ a, 2", (2, 6, "'a' must be defined once")),
    (".equ a, 1 2", (1, 11, "the end of the argument must come here, not '2'")),
    (".equ a", (1, 1, "'.equ' must have a name and a value, not 1 arguments")),
    (".equ a, 1, 2", (1, 1, "'.equ' must have a name and a value, not 3 arguments")),
    ("nop\n", None), (": nop", (1, 1, "an instruction must come here, not ':'")),
    ('"halt"', (1, 1, (
        "an instruction must come here, not '\"halt\"'; did you mean 'halt'?"))),
    (".name", (1, 1, "'.name' must have a name, not 0 arguments")),
    (".arena", (1, 1, "'.arena' must have a number of bytes, not 0 arguments")),
    (".arena -1", (1, 8, "a number from 0 to 4294967295 must come here, not -1")),
    (".arena 1 << 32", (1, 8, "a number from 0 to 4294967295 must come here, not 4294967296")),
    (".buffer a, int8[4, input", (1, 1, ("'.buffer' must have a name, a type with its shape, a "
                                         "kind and perhaps an offset, not 2 arguments"))),
    (".buffer a, int8[4], input, 1, 2", (1, 1, (
        "'.buffer' must have a name, a type with its shape, a kind and perhaps an offset, not 5 "
        "arguments"))),
    (".buffer a, int8[4] 5, input", (1, 20, "the end of the argument must come here, not '5'")),
    (".buffer a, int8, input", (1, 16, "'[' must come here, not the end of the line")),
])
def test_what_is_wrong(text, problem):
    if problem is None:
        assert len(assemble(text, CORE).insns) == 1
    else:
        assert said(text) == [problem]


@pytest.mark.parametrize(("text", "buffers", "arena"), [
    ("", [], 0), (".arena 96", [], 96), (".arena 0xffffffff", [], 0xFFFFFFFF),
    (".buffer a, int8[3], input", [Buffer("a", 0, (3,), "int8", "input")], 3),
    (".buffer a, int32[], output, 8", [Buffer("a", 8, (), "int32", "output")], 12),
    (".buffer a, int8[3], input\n.buffer b, bfloat16[2, 5], scratch",
     [Buffer("a", 0, (3,), "int8", "input"), Buffer("b", 64, (2, 5), "bfloat16", "scratch")], 84),
    (".buffer a, int8[64], input\n.buffer b, int8[1], input",
     [Buffer("a", 0, (64,), "int8", "input"), Buffer("b", 64, (1,), "int8", "input")], 65),
    (".buffer a, int8[65], input\n.buffer b, int8[1], input\n.arena 500",
     [Buffer("a", 0, (65,), "int8", "input"), Buffer("b", 128, (1,), "int8", "input")], 500),
    # The next one comes after the end of all before it, which need not be that of the last.
    (".buffer a, int8[300], input\n.buffer b, int8[4], input, 0\n.buffer c, int8[4], input",
     [Buffer("a", 0, (300,), "int8", "input"), Buffer("b", 0, (4,), "int8", "input"),
      Buffer("c", 320, (4,), "int8", "input")], 324),
    (".buffer a, int8[4294967295], scratch",
     [Buffer("a", 0, (4294967295,), "int8", "scratch")], 4294967295),
    ('.buffer "a b", int8[1 + 1, (2)], input', [Buffer("a b", 0, (2, 2), "int8", "input")], 4),
])
def test_buffers(text, buffers, arena):
    program = assemble(text, CORE)
    assert list(program.buffers) == buffers
    assert program.arena_bytes == arena


@pytest.mark.parametrize("end", [4294967296, 4294967297])
def test_buffers_end_in_32_bits(end):
    assert said(f".buffer a, int8[16], scratch, {end - 16}") == [
        (1, 1, f"buffer a must end at 4294967295 or before, not at {end}")]


@pytest.mark.parametrize(("text", "values"), [
    (".data w, -128, 127\n.data w, 0, 1", [-128, 127, 0, 1]),
    ('.bytes w, "80ff007f"', [-128, -1, 0, 127]), ('.bytes w, "80"\n.data w, 1, 2, 3',
                                                  [-128, 1, 2, 3])])
def test_contents(text, values):
    program = assemble(f".buffer w, int8[4], constant\n{text}", CORE)
    np.testing.assert_array_equal(program.constants["w"], np.array(values, np.int8), strict=True)


def test_labels_name_the_instruction_behind_them():
    program = assemble("a: b: nop\nc:\nnop\njump c\nd: jump a\njump d\njump b\ne:", CORE)
    targets = [each.operands[-1].value for each in program.insns if each.operands]
    assert [target for each, target in zip(program.insns[2:], targets, strict=False)] == [
        1, 0, 3, 0]


def test_sources():
    text = '.chip core\nnop\n.source "net.py:3"\nnop\n.source "net.py:4"\nnop\nhalt'
    assert assemble(text).sources == ("", "net.py:3", "net.py:4", "net.py:4")
    plain = text.replace(".source", ";")
    assert assemble(plain, filename="a.s").sources == ()
    assert assemble(plain, filename="a.s", line_sources=True).sources == (
        "a.s:2", "a.s:4", "a.s:6", "a.s:7")
    assert assemble(text, line_sources=True).sources == ("", "net.py:3", "net.py:4", "net.py:4")


def test_twenty_problems_are_reported_and_those_of_a_line_once():
    assert len(said("foo\n" * 19)) == 19
    assert len(said("foo\n" * 20)) == 20
    assert len(said("foo\n" * 25)) == 20
    assert said("$\nfoo") == [(1, 1, "a token must begin here, not '$'"),
                              (2, 1, "an instruction must come here, not 'foo'")]
