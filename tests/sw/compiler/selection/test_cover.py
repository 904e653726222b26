"""Which halves become one instruction, and what is an instruction more."""

import pytest

from celosia.arch.vector import Post, Reduce, ReduceOp
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.terms import Extent, Leaf, recording, step
from celosia.compiler.selection.cover import cover
from celosia.compiler.selection.notation import (
    div,
    exp2,
    fma,
    relu_f,
    select,
    square,
    total,
)
from celosia.compiler.selection.pool import Pool
from celosia.graph import DType, TensorType, parameter

FULL, ROWS, LANES, SCALAR = Extent.FULL, Extent.ROWS, Extent.LANES, Extent.SCALAR
EXTENTS = {"x": FULL, "y": FULL, "z": FULL, "r": ROWS, "s": LANES, "u": SCALAR}


class Known:
    """What code reads, by name."""

    def __init__(self):
        self.pool, self.values = Pool(), {}
        for name, extent in EXTENTS.items():
            self.values[name] = parameter(TensorType(DType.F32, (4, 16)), name)
            setattr(self, name, self.pool.read(self.values[name], extent))

    def cover(self, *terms, extents=None, result=None):
        extents = extents or [term.extent for term in terms]
        outputs = {parameter(TensorType(DType.F32, (4, 16))): pair
                   for pair in zip(terms, extents, strict=True)}
        reads = [(self.values[name], extent) for name, extent in EXTENTS.items()]
        return cover(self.pool, outputs, reads, result and self.values[result])


def told(code):
    """Return instructions as words: operands by name, or by the number of what makes them."""
    names = {term: value.node.attrs["name"] for value, term in code.inputs.items()}
    found = []
    for number, made in enumerate(code.steps):
        words = [made.op.name.lower(), *(
            names.get(arg) or (f"{arg.param:#x}" if arg.op is Leaf.WORD else "?")
            for arg in made.args)]
        words += [made.post.name.lower()] * (made.post is not Post.NONE)
        words += [f"{made.reduce.name.lower()} {made.reduce_op.name.lower()}"] * (
            made.reduce is not Reduce.NONE)
        found.append(" ".join(words))
        names[made] = str(number)
    return found, [names[term] for term in code.outputs.values()]


def joined(k, term, extent=FULL):
    return k.pool.join_rows(ReduceOp.SUM_F, term, extent)


@pytest.mark.parametrize(("make", "steps"), [
    (lambda k: k.x + k.y, ["fadd x y"]),
    (lambda k: relu_f(k.x + k.y), ["fadd x y relu_f"]),
    (lambda k: relu_f(k.x), ["mov x relu_f"]),
    (lambda k: square(relu_f(k.x + k.y)), ["fadd x y relu_f", "mov 0 square"]),
    (lambda k: total(k.x), ["mov x lanes sum_f"]),
    (lambda k: total(k.x + k.y), ["fadd x y lanes sum_f"]),
    (lambda k: total(exp2(k.x + k.y)), ["fadd x y exp2 lanes sum_f"]),
    (lambda k: total(total(k.x)), ["mov x lanes sum_f", "mov 0 lanes sum_f"]),
    (lambda k: relu_f(total(k.x)), ["mov x lanes sum_f", "mov 0 relu_f"]),
    # The divisor's instruction takes the numerator, if two streams are enough.
    (lambda k: div(k.x, k.y), ["mov y x div"]),
    (lambda k: div(k.x, k.y + k.s), ["fadd y s x div"]),
    (lambda k: div(k.s, k.x + k.y), ["fadd x y s div"]),
    (lambda k: div(k.z, k.x + k.y), ["fadd x y", "mov 0 z div"]),
    (lambda k: div(k.z, fma(k.x, k.s, k.u)), ["ffma x s u", "mov 0 z div"]),
    (lambda k: div(k.x + k.s, k.y), ["fadd x s", "mov y 0 div"]),
    (lambda k: div(k.x, relu_f(k.y + k.s)), ["fadd y s relu_f", "mov 0 x div"]),
    (lambda k: total(div(k.x, k.y + k.s)), ["fadd y s x div lanes sum_f"]),
    # Rows are joined of as many elements as there are.
    (lambda k: joined(k, k.x + k.y), ["fadd x y rows sum_f"]),
    (lambda k: joined(k, exp2(k.x + k.y)), ["fadd x y exp2 rows sum_f"]),
    (lambda k: joined(k, total(k.x), ROWS), ["mov x lanes sum_f", "mov 0 rows sum_f"]),
    (lambda k: joined(k, k.s + k.u), ["fadd s u", "mov 0 rows sum_f"]),
    # Of three streams.
    (lambda k: fma(k.x, k.y, k.z), ["fmul x y", "fadd z 0"]),
    (lambda k: fma(k.x, k.y, k.s), ["ffma x y s"]),
    (lambda k: relu_f(fma(k.x, k.y, k.z)), ["fmul x y", "fadd z 0 relu_f"]),
    (lambda k: select(k.x, k.y, k.z), ["and x y", "select x 0x0 z", "or 0 1"]),
    (lambda k: select(k.x, k.y, k.s), ["select x y s"]),
    (lambda k: step(Op.REQUANT, k.x, k.y, k.z, param=5), ["iadd x z", "requant 0 y 0x0"]),
    (lambda k: step(Op.REQUANT, k.x, k.s, k.z, param=5), ["requant x s z"]),
    (lambda k: k.pool.post(Post.RELU_I, step(Op.REQUANT, k.x, k.s, k.u, param=5)),
     ["requant x s u", "mov 0 relu_i"])])
def test_instructions(make, steps):
    known = Known()
    with recording(known.pool):
        term = make(known)
    assert told(known.cover(term)) == (steps, [str(len(steps) - 1)])


def test_parameters_of_both_stages_are_kept():
    known = Known()
    with recording(known.pool):
        plain = step(Op.REQUANT, known.x, known.y, known.z, param=0x123)
        clamped = known.pool.post(Post.CLAMP_I, step(Op.IADD, known.x, known.y), 0x70001)
        joined_ = known.pool.join(ReduceOp.SUM_I, clamped)
    assert known.cover(plain).steps[-1].param == 0x123
    [made] = known.cover(joined_).steps
    assert (made.op, made.post, made.param, made.reduce) == (
        Op.IADD, Post.CLAMP_I, 0x70001, Reduce.LANES)


def test_what_is_used_again_is_an_instruction_of_its_own():
    known = Known()
    with recording(known.pool):
        summed = known.x + known.y
        assert told(known.cover(relu_f(summed), summed)) == (
            ["fadd x y", "mov 0 relu_f"], ["1", "0"])
        assert told(known.cover(summed, relu_f(known.x * known.y))) == (
            ["fadd x y", "fmul x y relu_f"], ["0", "1"])


def test_what_is_written_is_made_of_the_extent_that_is_wanted():
    known = Known()
    with recording(known.pool):
        summed, less = known.x + known.y, known.s + known.u
    assert told(known.cover(known.x)) == (["mov x"], ["0"])
    assert told(known.cover(known.x, result="x")) == ([], ["x"])
    assert told(known.cover(known.x, result="y")) == (["mov x"], ["0"])
    assert told(known.cover(known.s, extents=[FULL], result="s")) == (["mov s"], ["0"])
    code = known.cover(less, extents=[FULL])
    assert told(code) == (["fadd s u", "mov 0"], ["1"])
    assert [each.extent for each in code.steps] == [LANES, FULL]
    assert told(known.cover(summed, summed)) == (["fadd x y"], ["0", "0"])
    assert told(known.cover(known.pool.word(7), extents=[FULL])) == (["mov 0x7"], ["0"])


def test_all_that_is_read_is_among_the_inputs():
    known = Known()
    code = known.cover(known.x)
    assert {value.node.attrs["name"]: term.extent for value, term in code.inputs.items()} == EXTENTS
