"""Vector instructions of a cluster: what is just right beside what is wrong."""

from dataclasses import replace

import pytest

from celosia.arch.config import PRESETS
from celosia.arch.isa import DmaFormat
from celosia.arch.vector import Post, Reduce, ReduceOp, VectorOp
from celosia.compiler.errors import IllFormed
from celosia.compiler.kernels.terms import Extent, Leaf, Term
from celosia.compiler.lowered import Access, Cluster, Code, Read, Tensor, Write
from celosia.compiler.verify.code import check_code
from celosia.compiler.views import View
from celosia.graph import DType, TensorType, op, parameter

CORE = PRESETS["core"]


def said(code, cluster):
    """Return the lines that a check has to say of code."""
    try:
        check_code(CORE, cluster, code)
    except IllFormed as error:
        first, *lines = str(error).split("\n  ")
        assert first == (f"vector code of {cluster.source or 'unknown source'} is not well formed:")
        return lines
    return []


def case(space, extent, made, written, source="c"):
    """Return a cluster that reads a value and writes another one, and the read's term."""
    shape = {Extent.FULL: space, Extent.ROWS: space[:-1], Extent.LANES: space[-1:],
             Extent.SCALAR: ()}
    value = parameter(TensorType(DType.F32, shape[extent]))
    result = op("negate", value)
    tensors = [Tensor(name, shape[each] or (1,), DType.F32, DmaFormat.W32)
               for name, each in (("x", extent), ("y", written))]
    access = [Access(each, View.contiguous(each.shape)) for each in tensors]
    cluster = Cluster(space, len(space) - 1, None, None, (result.node,),
                      (Read(value, extent, access[0]),), (Write(result, written, access[1]),),
                      source)
    read = Term(Leaf.READ, (), extent, source=value)
    steps = made(read)
    return Code(tuple(steps), {value: read}, {result: steps[-1]}), cluster


def one(make):
    return lambda read: [make(read)]


@pytest.mark.parametrize(("space", "extent", "make", "written", "lines"), [
    ((4, 8), Extent.FULL, one(lambda x: Term(VectorOp.MOV, (x,))), Extent.FULL, []),
    # A move repeats its operand over rows and lanes; nothing else does.
    ((4, 8), Extent.SCALAR, one(lambda x: Term(VectorOp.MOV, (x,), Extent.FULL)), Extent.FULL, []),
    ((4, 8), Extent.ROWS, one(lambda x: Term(VectorOp.MOV, (x,), Extent.FULL)), Extent.FULL, []),
    ((4, 8), Extent.LANES, one(lambda x: Term(VectorOp.MOV, (x,), Extent.FULL)), Extent.FULL, []),
    ((4, 8), Extent.LANES, one(lambda x: Term(VectorOp.MOV, (x,), Extent.ROWS)), Extent.ROWS,
     ["step 0, mov, must have the extent of its operands, LANES, not ROWS"]),
    ((4, 8), Extent.ROWS, one(lambda x: Term(VectorOp.FADD, (x, x), Extent.FULL)), Extent.FULL,
     ["step 0, fadd, must have the extent of its operands, ROWS, not FULL"]),
    ((4, 8), Extent.FULL, one(lambda x: Term(VectorOp.MOV, (x,), Extent.ROWS)), Extent.ROWS,
     ["step 0, mov, must have the extent of its operands, FULL, not ROWS"]),
    ((4, 8), Extent.FULL, one(lambda x: Term(
        VectorOp.MOV, (x,), Extent.ROWS, reduce=Reduce.LANES, reduce_op=ReduceOp.SUM_F)),
     Extent.ROWS, []),
    ((4, 8), Extent.FULL, one(lambda x: Term(
        VectorOp.FADD, (x, x), Extent.ROWS, reduce=Reduce.LANES, reduce_op=ReduceOp.SUM_F)),
     Extent.ROWS, []),
    ((4, 8), Extent.FULL, one(lambda x: Term(
        VectorOp.MOV, (x,), Extent.FULL, reduce=Reduce.LANES, reduce_op=ReduceOp.SUM_F)),
     Extent.FULL, ["step 0, mov, must have the extent of its operands, ROWS, not FULL"]),
    # Of the one lane that there is the joined one is what it is.
    ((4, 1), Extent.FULL, one(lambda x: Term(VectorOp.MOV, (x,), Extent.ROWS)), Extent.ROWS, []),
    ((4, 1), Extent.FULL, one(lambda x: Term(VectorOp.MOV, (x,), Extent.FULL)), Extent.FULL, []),
    ((4, 2), Extent.FULL, one(lambda x: Term(VectorOp.MOV, (x,), Extent.ROWS)), Extent.ROWS,
     ["step 0, mov, must have the extent of its operands, FULL, not ROWS"]),
    ((4, 8), Extent.FULL, one(lambda x: Term(VectorOp.FFMA, (x, x, x), Extent.FULL)), Extent.FULL,
     ["step 0, ffma, must read 2 streams at most, not 3"]),
    ((4, 8), Extent.FULL, one(lambda x: Term(VectorOp.FMUL, (x, x), Extent.FULL)), Extent.FULL,
     []),
    ((4, 8), Extent.FULL, one(lambda x: Term(VectorOp.FMUL, (x,), Extent.FULL)), Extent.FULL,
     ["step 0, fmul, must have 2 operands, not 1"]),
    ((4, 8), Extent.FULL, one(lambda x: Term(VectorOp.FADD, (x, x), Extent.FULL)), Extent.ROWS,
     ["y must be written of ROWS, not of FULL"]),
    ((4, 8), Extent.FULL, lambda x: [Term(VectorOp.FADD, (x, x), Extent.FULL), x], Extent.FULL, [
        "step 0, fadd, must have a use", "step 1, read, must be an instruction, not a READ",
        ]),
    ((4, 8), Extent.FULL, one(lambda x: Term(
        VectorOp.FADD, (x, x), Extent.FULL, post=Post.RELU_F)), Extent.FULL, []),
], ids=range(19))
def test_extents(space, extent, make, written, lines):
    assert said(*case(space, extent, make, written)) == lines


def test_the_result_of_a_product_is_read_and_may_be_written():
    made = parameter(TensorType(DType.F32, (4, 8)))
    y = Tensor("y", (4, 8), DType.F32, DmaFormat.W32)
    cluster = Cluster((4, 8), 1, None, made, (), (),
                      (Write(made, Extent.FULL, Access(y, View.contiguous((4, 8)))),))
    read = Term(Leaf.READ, (), Extent.FULL, source=made)
    code = Code((), {made: read}, {made: read})
    assert said(code, cluster) == []
    assert said(replace(code, inputs={}), cluster) == [
        "what is read must have a term, and parameter has none",
        "y must be written by a step, or be the product's result, not read"]
    flat = replace(read, extent=Extent.ROWS)
    assert said(Code((), {made: flat}, {made: flat}), cluster) == [
        "the term of parameter must be a read of FULL, not read of ROWS",
        "y must be written of FULL, not of ROWS"]
    assert said(code, replace(cluster, result=None)) == [
        "what has a term must be read, and parameter is not",
        "y must be written by a step, or be the product's result, not read"]


def test_order():
    def steps(x):
        first = Term(VectorOp.FADD, (x, x), Extent.FULL)
        second = Term(VectorOp.FMUL, (first, x), Extent.FULL)
        return [first, second, Term(VectorOp.FSUB, (second, first), Extent.FULL)]

    code, cluster = case((4, 8), Extent.FULL, steps, Extent.FULL)
    assert said(code, cluster) == []
    late = "must come after what it needs, and"
    a, b, c = code.steps
    assert said(replace(code, steps=(b, a, c)), cluster) == [
        f"step 0, fmul, {late} fadd is neither read nor made before it"]
    assert said(replace(code, steps=(a, c, b)), cluster) == [
        f"step 1, fsub, {late} fmul is neither read nor made before it"]
    assert said(replace(code, steps=(a, b, c, c)), cluster) == ["steps must be there once each"]
