"""Which mutants a piece of code has."""

import ast

import pytest
from mutation.find import compiles, mutants


def found(code: str, operator: str) -> set[str]:
    """Return what the code becomes, for each mutant of an operator."""
    source = code.encode()
    return {mutant.apply(source).decode() for mutant in mutants("sw/a.py", source)
            if mutant.operator == operator}


@pytest.mark.parametrize(("operator", "code", "wanted"), [
    ("comparison", "a < b", {"a <= b"}),
    ("comparison", "a >= b", {"a > b"}),
    ("comparison", "a == (b)", {"a != (b)"}),
    ("comparison", "a < b <= c", {"a <= b <= c", "a < b < c"}),
    ("comparison", "rng.random() < a", set()),
    ("comparison", "a > monotonic()", set()),
    ("comparison", "a is  not b", {"a is b"}),
    ("comparison", "a not in b", {"a in b"}),
    ("comparison", "index in inside", {"index not in inside"}),
    ("off-by-one", "a + 0", {"a + 1", "a + (-1)"}),
    ("off-by-one", "-2", {"-3"}),
    ("off-by-one", "x[a:]", {"x[a + 1:]", "x[a - 1:]"}),
    ("off-by-one", "range(n * k)", {"range((n * k) + 1)", "range((n * k) - 1)"}),
    ("off-by-one", "Signal(3)", {"Signal(2)"}),
    ("off-by-one", "Signal(range(n))", set()),
    ("off-by-one", "Signal(8 * n)", {"Signal(7 * n)"}),
    ("constant", "Signal(8 * n)", {"Signal(4 * n)"}),
    ("constant", "f(8 * n)", {"f(4 * n)", "f(16 * n)"}),
    ("condition", "a and b", {"(a)", "(b)"}),
    ("condition", "a or b or c", {"(a or b)", "(a or c)", "(b or c)"}),
    ("condition", "a & (b == c)", {"a", "(b == c)"}),
    ("condition", "not a", {"a"}),
    ("condition", "~(a | b) == c", {"(a | b) == c", "~(a) == c", "~(b) == c"}),
    ("condition", "if a: b", {"if True: b", "if False: b"}),
    ("condition", "b if a else c", {"b if True else c", "b if False else c"}),
    ("condition", "while a: b", {"while False: b"}),
    ("condition", "[a for a in b if c]", {"[a for a in b if True]"}),
    ("condition", "with m.If(a): b", {"with m.If(1): b", "with m.If(0): b"}),
    ("operand", "a - b * c", {"(b * c) - a"}),
    ("operand", "a + b", set()),
    ("operand", "'%d' % b", set()),
    ("operand", "Cat(a, b, c)", {"Cat(b, a, c)"}),
    ("operand", "Mux(a, b, c)", {"Mux(a, c, b)"}),
    ("constant", "f(True)", {"f(False)"}),
    ("constant", "f(0.0)", {"f(1.0)"}),
    ("constant", "f(1.5)", {"f(3.0)"}),
    ("constant", "f(9)", {"f(4)", "f(18)"}),
    ("constant", "f(3)", set()),
    ("statement", "a = b", {"pass"}),
    ("statement", "a += 1", {"pass"}),
    ("statement", "f()", {"pass"}),
    ("statement", "m.d.comb += [a, b]", {"pass", "m.d.comb += [*(), b]", "m.d.comb += [a, *()]"}),
])
def test_operators(operator, code, wanted):
    changed = found(code, operator)
    assert {ast.dump(ast.parse(text)) for text in changed} == {
        ast.dump(ast.parse(text)) for text in wanted}


@pytest.mark.parametrize("code", [
    '"""Text."""', "import a", "__all__ = [1]", "if TYPE_CHECKING:\n    a = 1",
    "raise ValueError(1 if a else 2)", "assert a == 1", "print(1)", "def f(a: 1) -> 2: ...",
    "@cache(1)\ndef f(): ...", "zip(a, strict=True)[b]", "Signal(a, reset_less=True)[b]",
    "Row = A | list[int]", "f'{a + 1}'", "if __name__ == 'a':\n    f()",
])
def test_what_is_never_changed(code):
    assert mutants("sw/a.py", code.encode()) == []


def test_presentation_is_left_out():
    assert not mutants("sw/celosia/cli/demo/curve.py", b"def draw(): a = 1")
    assert mutants("sw/celosia/cli/demo/data.py", b"def draw(): a = 1")


def test_everything_around_the_place_stays():
    source = "# \N{DEGREE SIGN}\nx = ('\N{DEGREE SIGN}' +\n     a - b)  # why\ny = 2\n".encode()
    more = next(each for each in mutants("sw/a.py", source) if each.after == "3")
    assert more.apply(source) == source.replace(b"y = 2", b"y = 3")
    assert (more.line, more.column, more.scope) == (4, 5, "<module>")
    assert str(more) == "sw/a.py:4:5:off-by-one: 2 -> 3"


def test_scopes():
    code = "class A:\n    a = 1\n    def f(self, x=2):\n        def g(): return 3\n"
    assert {each.before: each.scope for each in mutants("sw/a.py", code.encode())
            if each.operator == "off-by-one"} == {"1": "<module>", "2": "<module>", "3": "A.f.g"}


def test_a_file_that_has_changed_is_not_mutated():
    mutant = mutants("sw/a.py", b"a = 1")[0]
    with pytest.raises(ValueError, match="must hold"):
        mutant.apply(b"b = 2")


def test_compiles():
    assert compiles(b"a = 1")
    assert not compiles(b"a = = 1")
