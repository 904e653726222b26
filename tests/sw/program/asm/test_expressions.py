"""What expressions are, and what is said of those that are none."""

import math

import pytest

from celosia.program.asm.errors import Wrong
from celosia.program.asm.expressions import AsmValue, Names, Parser, f32
from celosia.program.asm.lexer import tokenise

MOST = (1 << 4096) - 1


def parser(text):
    names = Names({"five": 5, "half": 0.5, "f32": 7, "max": 9}, {"start": 3}, {"x": 64, "y z": 128})
    return Parser(tokenise(text), names)


def whole(text):
    """Return the value of a text that must be one expression."""
    reader = parser(text)
    value = reader.expression()
    reader.end()
    return value


@pytest.mark.parametrize(("text", "number"), [
    ("1", 1), ("0x10", 16), ("1.5", 1.5), ("five", 5), ("start", 3), ("half", 0.5),
    ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("10 - 4 - 3", 3), ("10 - (4 - 3)", 9),
    ("64 / 4 / 2", 8), ("7 % 4", 3), ("-7 % 4", 1), ("2 * 7 % 4", 2), ("- 3 + 5", 2),
    ("--3", 3), ("-(2 + 3)", -5), ("-five", -5),
    ("1 << 4", 16), ("1 << 2 + 2", 16), ("(1 << 2) + 2", 6), ("256 >> 4", 16), ("1 << 3 >> 1", 4),
    ("6 & 3", 2), ("6 | 3", 7), ("1 | 6 & 3", 3), ("4 & 1 << 2", 4), ("8 | 1 & 1", 9),
    ("6.0 | 1", 7), ("7.0 & 3.0", 3), ("3.0 << 1.0", 6), ("12.0 >> 2.0", 3),
    ("6 / 3", 2), ("1.0 / 4", 0.25), ("1 / 4.0", 0.25), ("3.0 / 2.0", 1.5), ("6.0 / 3", 2.0),
    ("2 + 0.5", 2.5), ("2 - 0.5", 1.5), ("2 * 0.5", 1.0), ("7.5 % 2", 1.5),
    ("-6 / 3", -2), ("1 << 0", 1), ("0 << 5000", 0), ("1 << 4095", 1 << 4095),
    ("pair(1, 2)", 1 | 2 << 16), ("pair(65535, 0)", 65535), ("pair(0, 65535)", 65535 << 16),
    ("pair(-1, -32768)", 0x8000FFFF), ("pair(1 + 1, (3))", 2 | 3 << 16),
    ("f32(1)", 0x3F800000), ("f32(-2.5)", 0xC0200000), ("f32(1e39)", 0x7F800000),
    ("bf16(1)", 0x3F80), ("bf16(-2.5)", 0xC020), ("bf16(1.00390625)", 0x3F80),
    # The name of a function alone is a name like any other.
    ("f32", 7), ("f32 + 1", 8), ("max", 9),
], ids=str)
def test_numbers(text, number):
    found = whole(text)
    assert found == AsmValue(number)
    assert type(found.number) is type(number)


@pytest.mark.parametrize(("text", "number"), [
    ("@x", 64), ("@x + 4", 68), ("4 + @x", 68), ("@x - 4", 60), ('@"y z"', 128), ("@5", 5),
    ("@(5 + 6)", 11), ("@-5", -5), ("@(five)", 5), ("@x + 4 * 2", 72), ("(@x) + 1", 65),
    ("@x - (2 + 2)", 60), ("@5 + 1", 6)])
def test_addresses(text, number):
    assert whole(text) == AsmValue(number, relocated=True)


WITH = "an address must be used with + or - and a number, not with"


@pytest.mark.parametrize(("text", "column", "message"), [
    ("@x + @x", 3, f"{WITH} '+'"), ("@x - @x", 3, f"{WITH} '-'"), ("4 - @x", 2, f"{WITH} '-'"),
    ("@x * 2", 3, f"{WITH} '*'"), ("2 * @x", 2, f"{WITH} '*'"), ("@x | 1", 3, f"{WITH} '|'"),
    ("1 & @x", 2, f"{WITH} '&'"), ("@x / 2", 3, f"{WITH} '/'"), ("@x % 2", 3, f"{WITH} '%'"),
    ("@x << 1", 3, f"{WITH} '<<'"), ("1 >> @x", 2, f"{WITH} '>>'"),
    ("-@x", 0, "an address must not be negated"),
    ("@@x", 1, "a buffer or an offset must come after '@'"),
    ("@1.5", 1, "a buffer or an offset must come after '@'"),
    ("@w", 1, "buffer must be one of x, y z, not 'w'"),
    ("7 / 2", 2, "7 / 2 must have no remainder"), ("7 / 0", 2, "a divisor must not be 0"),
    ("7 % 0", 2, "a divisor must not be 0"), ("7.0 / 0", 4, "a divisor must not be 0"),
    ("1 << -1", 2, "negative shift count"), ("1 >> -1", 2, "negative shift count"),
    ("1 << 4096", 2, "an integer must have at most 4096 bits"),
    ("1 << 99999999", 2, "an integer must have at most 4096 bits"),
    ("(1 << 4095) * 2", 12, "an integer must have at most 4096 bits"),
    (f"0x1{'0' * 1024}", 0, "an integer must have at most 4096 bits"),
    ("pair(1)", 0, "pair() must have 2 numbers, not 1 arguments"),
    ("pair(1, 2, 3)", 0, "pair() must have 2 numbers, not 3 arguments"),
    ("pair(1, @x)", 0, "pair() must have 2 numbers, not 2 arguments"),
    ("f32(@x)", 0, "f32() must have 1 numbers, not 1 arguments"),
    ("f32(1, 2)", 0, "f32() must have 1 numbers, not 2 arguments"),
    ("1 + pair(65536, 0)", 4, "pair() must have two numbers of 16 bits, not 65536"),
    ("pair(0, 65536)", 0, "pair() must have two numbers of 16 bits, not 65536"),
    ("pair(-32769, 0)", 0, "pair() must have two numbers of 16 bits, not -32769"),
    ("pair(0, 1.0)", 0, "pair() must have two numbers of 16 bits, not 1.0"),
    ("fife", 0, ("a name must be a label or a constant (.equ) from above, not 'fife'; did you mean "
                 "'five'?")),
    ("pear(1, 2)", 0, "a name must be a label or a constant (.equ) from above, not 'pear'"),
    ("", 0, "a number, a name or '(' must come here, not the end of the line"),
    ("1 +", 3, "a number, a name or '(' must come here, not the end of the line"),
    ("1 + *", 4, "a number, a name or '(' must come here, not '*'"),
    ("(1", 2, "')' must come here, not the end of the line"),
    ("(1 2)", 3, "')' must come here, not '2'"),
    ("1 2", 2, "the end of the argument must come here, not '2'"),
    ('1 "+" 2', 2, "the end of the argument must come here, not '\"+\"'"),
    ('"("1)', 0, "a number, a name or '(' must come here, not '\"(\"'"),
    ("f32(1", 5, "')' must come here, not the end of the line"),
], ids=lambda value: str(value)[:40])
def test_what_is_wrong(text, column, message):
    with pytest.raises(Wrong) as caught:
        whole(text)
    assert (caught.value.column, caught.value.message) == (column, message)


def test_the_largest_integer():
    assert parser(f"0x{'f' * 1024}").expression().number == MOST
    assert parser(f"-0x{'f' * 1024}").expression().number == -MOST
    assert parser("(1 << 4095) + (1 << 4094)").expression().number == 3 << 4094


def test_names_of_which_there_are_none():
    reader = Parser(tokenise("@x"), Names())
    with pytest.raises(Wrong) as caught:
        reader.expression()
    assert caught.value.message == "buffer must be one of (there are none), not 'x'"


@pytest.mark.parametrize(("text", "number", "said"), [
    ("5", 5, None), ("2 + 3", 5, None), ("-5", -5, None),
    ("@5", None, "an integer must come here, not an address"),
    ("5.0", None, "an integer must come here, not 5.0"),
    ("half", None, "an integer must come here, not 0.5")])
def test_integers(text, number, said):
    if said is None:
        assert parser(text).integer() == number
        return
    with pytest.raises(Wrong) as caught:
        parser(text).integer()
    assert (caught.value.column, caught.value.message) == (0, said)


def test_depth_is_left_again():
    deep = "(" * 63 + "1" + ")" * 63
    assert parser(f"{deep} + {deep} + {deep}").expression().number == 3
    assert parser("-" * 64 + "1").expression().number == 1
    with pytest.raises(Wrong, match="nested at most 64 deep"):
        parser("-" * 65 + "1").expression()


@pytest.mark.parametrize(("value", "bits"), [
    (0, 0), (1, 0x3F800000), (-0.0, 0x80000000), (math.inf, 0x7F800000), (-1e300, 0xFF800000),
    (2**-149, 1), (16777217, 0x4B800000)])
def test_bits_of_fp32(value, bits):
    assert f32(value) == bits
