"""Each rule of the vector IR, broken once."""

import sys
from dataclasses import replace

import pytest

from celosia.arch.config import PRESETS, TpuConfig
from celosia.arch.isa import DmaFormat
from celosia.arch.vector import Post, Reduce, VectorOp
from celosia.compiler.build import build
from celosia.compiler.errors import IllFormed
from celosia.compiler.kernels.terms import Extent, Leaf, Term
from celosia.compiler.lowered import Access, Cluster, Code, Read, Tensor, Write
from celosia.compiler.verify.code import check_code
from celosia.compiler.views import View
from celosia.graph import DType, Graph, TensorType, op, parameter

CORE = PRESETS["core"]
INTEGERS = TpuConfig("integers", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=8)
VALUE = parameter(TensorType(DType.F32, (4, 8)))
BIAS = parameter(TensorType(DType.F32, (8,)))
SUM = op("add", VALUE, op("broadcast", BIAS, shape=(4, 8), dims=(1,)))
EARLY = ("step 0, mov, then relu_f, must come after what it needs, and fadd is neither read nor "
         "made before it")


def whole(name, value):
    tensor = Tensor(name, value.shape, value.dtype, DmaFormat.W32)
    return Access(tensor, View.contiguous(value.shape))


CLUSTER = Cluster((4, 8), 1, None, None, (SUM.node,),
                  (Read(VALUE, Extent.FULL, whole("x", VALUE)),
                   Read(BIAS, Extent.LANES, whole("b", BIAS))),
                  (Write(SUM, Extent.FULL, whole("y", SUM)),), "add")
X = Term(Leaf.READ, (), Extent.FULL, source=VALUE)
B = Term(Leaf.READ, (), Extent.LANES, source=BIAS)
ADD = Term(VectorOp.FADD, (X, B))
RELU = Term(VectorOp.MOV, (ADD,), post=Post.RELU_F)
CODE = Code((ADD, RELU), {VALUE: X, BIAS: B}, {SUM: RELU})


def refused(code, cluster=CLUSTER, config=CORE):
    """Return what the check says of code."""
    with pytest.raises(IllFormed) as error:
        check_code(config, cluster, code)
    first, *lines = str(error.value).split("\n  ")
    assert first == "vector code of add is not well formed:"
    return lines


def after_add(*steps):
    """Return code that writes the last of some steps, which follow the addition."""
    return replace(CODE, steps=(ADD, *steps), outputs={SUM: steps[-1]})


def test_what_is_well_formed_is_accepted():
    check_code(CORE, CLUSTER, CODE)


@pytest.mark.parametrize(("code", "said"), [
    (replace(CODE, inputs={VALUE: X}), "what is read must have a term, and parameter has none"),
    (replace(CODE, inputs={VALUE: X, BIAS: replace(B, extent=Extent.FULL)}),
     "the term of parameter must be a read of LANES, not read of FULL"),
    (replace(CODE, inputs={**CODE.inputs, SUM: X}),
     "what has a term must be read, and add is not"),
    (replace(CODE, steps=(RELU, ADD)), EARLY),
    (replace(CODE, steps=(RELU,)), EARLY),
    (replace(CODE, steps=(ADD, ADD, RELU)), "steps must be there once each"),
    (replace(CODE, steps=(ADD, Term(VectorOp.FMUL, (X, X)), RELU)),
     "step 1, fmul, must have a use"),
    (replace(CODE, outputs={}), "y, which is written, must have a term"),
    (replace(CODE, outputs={SUM: X}),
     "y must be written by a step, or be the product's result, not read"),
    (after_add(Term(VectorOp.MOV, (B,), Extent.LANES)),
     "y must be written of FULL, not of LANES"),
])
def test_terms_and_their_order(code, said):
    assert said in refused(code)


@pytest.mark.parametrize(("step", "said"), [
    (Term(Leaf.LANE), "must be an instruction, not a LANE"),
    (Term(VectorOp.FADD, (ADD,)), "must have 2 operands, not 1"),
    (Term(VectorOp.TRANSPOSE, (ADD,)), "must not move words between rows and lanes"),
    (Term(VectorOp.FFMA, (ADD, B, B), post=Post.DIV),
     "must not have the second stage div, which takes c"),
    (Term(VectorOp.MOV, (ADD,), reduce=Reduce.COLLECT),
     "must be joined over rows or lanes, not collected"),
    (replace(RELU, destination=CLUSTER.writes[0]), "must have no destination yet"),
    (Term(VectorOp.FFMA, (ADD, X, X)), "must read 2 streams at most, not 3"),
    (Term(VectorOp.FADD, (ADD, B), Extent.LANES),
     "must have the extent of its operands, FULL, not LANES"),
    (Term(VectorOp.MOV, (ADD,), reduce=Reduce.LANES),
     "must have the extent of its operands, ROWS, not FULL"),
])
def test_steps(step, said):
    name = step.op.name.lower() + (f", then {step.post.name.lower()}" if step.post else "")
    assert f"step 1, {name}, {said}" in refused(after_add(step))


def test_what_is_joined_over_rows_is_not_read():
    joined = Term(VectorOp.MOV, (ADD,), reduce=Reduce.ROWS)
    assert refused(after_add(joined, Term(VectorOp.MOV, (joined,)))) == [
        "step 2, mov, must not read what is joined over rows: that is written and nothing else"]


def test_chips_without_floating_point():
    assert "step 0, fadd, must not be floating point on a chip without" in refused(
        CODE, config=INTEGERS)


def test_what_selection_makes_is_checked(monkeypatch):
    x = parameter(TensorType(DType.F32, (4, 8)))
    graph = Graph("g", [x], [op("negate", x)])
    module = sys.modules["celosia.compiler.selection.select"]  # the package has its function
    monkeypatch.setattr(module, "cover", lambda pool, outputs, reads, result: Code((), {}, {}))
    with pytest.raises(IllFormed, match="vector code of negate is not well formed:\n  what is"):
        build(graph, CORE)
