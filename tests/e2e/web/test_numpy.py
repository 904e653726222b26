"""What the live page computes beside the chip is what NumPy computes of the same lines."""

import random
import warnings

import numpy as np
import pytest
from website.examples import EXAMPLES, inputs

from celosia.program.asm import assemble
from node import ROOT, WEB, answers, script

pytestmark = pytest.mark.extra(name="docs")
_LINES = ("sum", "cumsum", "max", "min", "argmax", "argmin")
_DTYPES = ("int8", "int32", "int64", "bool")


def _plain(array):
    return [array.dtype.name, list(array.shape), [str(int(each)) for each in array.flat]]


def _ask(lines):
    """Each line: text, inputs, and the array that is wanted of `y`."""
    found = answers([script("evaluate.mjs"), WEB], [
        {"text": text, "inputs": {name: _plain(each) for name, each in given.items()},
         "wanted": {"name": name, "dtype": dtype, "shape": shape}}
        for text, given, (name, dtype, shape) in lines])
    assert not any("failed" in each for each in found), found
    return found


def _numpy(text, given):
    names = {**{name: getattr(np, name) for name in dir(np) if not name.startswith("_")}, "np": np,
             **given}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a division by 0 is 0
        exec(text, names)  # noqa: S102
    return names


class _Expressions:
    """Random expressions of arrays a and b, which broadcast, and of the matrices m and n."""

    def __init__(self, seed):
        self.pick = random.Random(seed)

    def make(self, depth):
        pick = self.pick
        if depth == 0:
            return pick.choice(["a", "b", "a", "b", str(pick.randrange(100)), "(m @ n)"])
        inner = [self.make(depth - 1) for _ in range(3)]
        return pick.choice([
            *(f"({inner[0]} {op} {inner[1]})" for op in ("+", "-", "*", "&", "|", "^")),
            f"({inner[0]} {pick.choice(['//', '%'])} {inner[1]})",
            f"({inner[0]} {pick.choice(['<<', '>>'])} {pick.randrange(9)})",
            f"({inner[0]} {pick.choice(['<', '<=', '>', '>=', '==', '!='])} {inner[1]})",
            f"{pick.choice(['maximum', 'minimum', 'np.maximum'])}({inner[0]}, {inner[1]})",
            f"where({inner[0]} > {pick.randrange(50)}, {inner[1]}, {inner[2]})",
            f"abs({inner[0]})", f"(-{inner[0]})", f"(~{inner[0]})",
            f"(a.astype({pick.choice(['int8', 'np.int32', 'int64', 'bool'])}) + {inner[0]})",
            f"(a.{pick.choice(list(_LINES))}(axis={pick.choice('01')}).sum() + {inner[0]})",
            f"(a.{pick.choice(list(_LINES))}(axis=-1).sum() + {inner[0]})",
            f"cumsum(a, axis={pick.randrange(2)}, dtype=int32)",
            "a.T.reshape(4, 6)", "a[::-1, 1:5]", "a[-1]", "b[:, 0:1]", "b[-9:9:2]",
            "append(a, 7).sum()", "a.reshape(-1)[3]", "arange(6)",
        ])


def test_random_lines_compute_what_numpy_computes():
    lines, wanted = [], []
    for seed in range(1500):
        rng, expressions = np.random.default_rng(seed), _Expressions(seed)
        kinds = [expressions.pick.choice(_DTYPES) for _ in "abmn"]
        shapes = [(4, 6), expressions.pick.choice([(4, 6), (1, 6), (6,), (4, 1)]), (4, 3), (3, 6)]
        given = {name: rng.integers(-128, 128, shape).astype(kind)
                 for name, shape, kind in zip("abmn", shapes, kinds, strict=True)}
        text = f"y = {expressions.make(expressions.pick.randrange(1, 4))}"
        try:
            made = np.asarray(_numpy(text, given)["y"])
        except (TypeError, ValueError, OverflowError, IndexError, np.exceptions.AxisError):
            lines.append((text, given, ("y", "int8", [999])))
            wanted.append(None)
            continue
        lines.append((text, given, ("y", made.dtype.name, list(made.shape))))
        wanted.append(made)
    refused = 0
    for line, found, made in zip(lines, _ask(lines), wanted, strict=True):
        if made is None:
            assert "wrong" in found, line[0]
            refused += 1
        else:
            assert found == {"data": [str(int(each)) for each in made.flat]}, \
                (line[0], {name: each.dtype for name, each in line[1].items()}, made)
    assert 20 < refused < 600


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.file)
def test_lines_of_the_examples_are_numpys(example):
    program = assemble((ROOT / "examples" / example.file).read_text())
    given = {**inputs(example), **program.constants}
    (output,) = program.outputs
    made = _numpy(example.numpy, given)[output.name]
    assert (made.dtype.name, made.shape) == (output.dtype, output.shape)
    (found,) = _ask([(example.numpy, given, (output.name, output.dtype, list(output.shape)))])
    assert found == {"data": [str(each) for each in made.flat]}


_GIVEN = {"a": np.arange(32, dtype=np.int8).reshape(8, 4), "b": np.ones((3, 4), np.int8)}


#: What is asked of c, the array that is wanted, and what is said behind the line.
@pytest.mark.parametrize(("text", "dtype", "shape", "wrong"), [
    ("c = a.astype(int32) @ b", "int32", [8, 4],
     (": matmul: (8, 4) @ (3, 4): the last size of the first must be the first of the second "
      "(4 is different from 3)")),
    ("c = a @ b.T", "int32", [8, 3], "c is int8, in the program int32: say .astype(int32)"),
    ("c = a", "float32", [8, 4],
     "c is int8, in the program float32: only integers are computed here"),
    ("c = a + b", "int8", [8, 4],
     ": operands could not be broadcast together with shapes (8, 4) (3, 4)"),
    ("c = a", "int8", [8, 8], "c has the shape (8, 4), in the program (8, 8)"),
    ("", "int8", [8, 4], "no line computes c"),
    ("# c = a", "int8", [8, 4], "no line computes c"),
    ("c = d", "int8", [8, 4], ": name 'd' is not defined: there are a, b"),
    ("c = a + 200", "int8", [8, 4], ": Python integer 200 out of bounds for int8"),
    ("c = a +", "int8", [8, 4], ": a value must come here, not the end of the line"),
    ("c = a $ b", "int8", [8, 4], ": a name, a number or an operator must come at '$ b'"),
    ("c = (a", "int8", [8, 4], ": ) must come here, not the end of the line"),
    ("c = a a", "int8", [8, 4], ": the end of the line must come here, not a"),
    ("a", "int8", [8, 4], ": = must come here, not the end of the line"),
    ("1 = a", "int8", [8, 4], ": a line must begin with the name of what it computes"),
    ("c = a[9]", "int8", [4], ": index 9 is out of bounds for axis 0 with size 8"),
    ("c = a[0, 0, 0]", "int8", [],
     ": too many indices for array: array is 2-dimensional, but 3 were indexed"),
    ("c = a[::0]", "int8", [8, 4], ": slice step cannot be zero"),
    ("c = a.sum(axis=2)", "int64", [], ": axis 2 is out of bounds for array of dimension 2"),
    ("c = a.reshape(5, 5)", "int8", [5, 5], ": cannot reshape array of size 32 into (5, 5)"),
    ("c = a.astype(float32)", "int8", [8, 4], ": name 'float32' is not defined: there are a, b"),
    ("c = maximum(a)", "int8", [8, 4], ": maximum must be called with 2 values, not 1"),
    ("c = 0 < a < 5", "bool", [8, 4], ": comparisons of arrays cannot be chained"),
    ("c = a << -1", "int8", [8, 4], ": a shift must be by 0 or more: C has no meaning for others"),
])
def test_what_has_no_answer_says_why(text, dtype, shape, wrong):
    said = text + wrong if wrong.startswith(":") else wrong
    assert _ask([(text, _GIVEN, ("c", dtype, shape))]) == [{"wrong": said}]


def test_what_is_not_known_names_what_is():
    function, method = _ask([("c = einsum(a)", _GIVEN, ("c", "int8", [])),
                             ("c = a.mean()", _GIVEN, ("c", "int8", []))])
    assert "function einsum is not known here; there are abs, absolute" in function["wrong"]
    assert "an array has no mean here; there are T, argmax" in method["wrong"]
