"""Sources as text, and back."""

import pytest

from celosia.graph import Source

CALLERS = ("model.py:9 in forward", "train.py:40 in <module>")


@pytest.mark.parametrize(("source", "told"), [
    (Source(), "dot"),
    (Source(name="forward"), "dot (forward)"),
    (Source("a b.py"), "dot a b.py"),
    (Source("a.py", 3), "dot a.py:3"),
    (Source("a.py", 3, 7), "dot a.py:3:7"),
    (Source("a.py", 3, 7, "jit(f)/jvp(g)/dot"), "dot a.py:3:7 (jit(f)/jvp(g)/dot)"),
    (Source("a.py", 3, 0, "x"), "dot a.py:3 (x)"),
    (Source("a.py", 3, 7, "", CALLERS),
     "dot a.py:3:7 < model.py:9 in forward < train.py:40 in <module>"),
])
def test_text_and_back(source, told):
    assert source.told("dot") == told
    operation, found = Source.parse(told)
    assert operation == "dot"
    assert found == source
    assert found.callers == source.callers


def test_callers_are_not_said_and_do_not_tell_sources_apart():
    source = Source("a.py", 3, 7, "f", CALLERS)
    assert str(source) == "a.py:3:7 (f)"
    assert source.said("dot") == "dot a.py:3:7 (f)"
    assert source == Source("a.py", 3, 7, "f")


@pytest.mark.parametrize("text", ["", "end"])
def test_what_a_person_wrote_has_no_place(text):
    assert Source.parse(text) == (text, Source())
