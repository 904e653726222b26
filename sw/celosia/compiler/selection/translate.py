"""From the nodes of a cluster to terms: the operations as the vector unit has them, exactly.

All elements are words on chip: bools are masks (0 or -1), bf16 and f16 are the fp32 of the same
number, short integers are int32. What an fp32 is rounded to bf16 for decides how: a store rounds by
itself, so a value that is only written stays as it is (`Translation.stored`); another is rounded by
integer instructions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.arch.vector import FLOAT_OPS, Post, Reduce, ReduceOp
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.errors import CompileError
from celosia.compiler.kernels.terms import Extent, Term, recording, step
from celosia.compiler.levels import FUNCTIONS, INSTRUCTIONS
from celosia.compiler.lowered import Cluster
from celosia.compiler.passes.reductions import JOINS_F, JOINS_I
from celosia.compiler.selection.bounds import bounds
from celosia.compiler.selection.exact import exact
from celosia.compiler.selection.notation import both, either, imax, select
from celosia.compiler.selection.pool import Pool, is_first
from celosia.graph import DType, Node, Trait, Value, having

__all__ = ["Translation", "rounded", "translate"]

TermMaker = Callable[[Pool, Node, list[Term]], Term]

#: Operations that change the shape alone.
_SHAPES = having(Trait.IN_ORDER)
_COMPARE_F = {"eq": Op.FEQ, "ne": Op.FNE, "lt": Op.FLT, "le": Op.FLE, "gt": Op.FGT, "ge": Op.FGE}
_COMPARE_I = {"eq": Op.IEQ, "ne": Op.INE, "lt": Op.ILT, "le": Op.ILE, "gt": Op.IGT, "ge": Op.IGE}
_WHOLE = {"floor": Post.F2I_FLOOR, "round": Post.F2I}
_CLAMPS = ("maximum", "minimum")
_SHORT = {DType.I8: (24, Op.SAR), DType.I16: (16, Op.SAR), DType.U8: (24, Op.SHR),
          DType.U16: (16, Op.SHR)}
#: Second stages and operations whose fp32 results have one NaN and no subnormals.
_TIDY_POSTS = frozenset(Post) - {Post.NONE, Post.RELU_I, Post.CLAMP_I}
_TIDY_OPS = FLOAT_OPS - {Op.FABS, Op.FNEG}


@dataclass
class Translation:
    """What the values of a cluster are.

    Attributes
    ----------
    terms
        Of each value, as further operations need it.
    stored
        Likewise, as it is written: what a store rounds by itself is not rounded.
    """

    terms: dict[Value, Term] = field(default_factory=dict)
    stored: dict[Value, Term] = field(default_factory=dict)


def rounded(x: Term) -> Term:
    """Return an fp32 rounded to bf16, to nearest even, as a store does: four instructions.

    Half of the last place is added, less one bit where the last place is even, and the lower half
    is cut off; infinities stay, and large numbers become them. To what arithmetic has not made, -0
    is added first, for its NaN may be one that the sum carries into the sign.
    """
    if not _is_tidy(x):
        x = x + -0.0
    half = select(both(x, 0x10000), 0x8000, 0x7FFF)
    return both(step(Op.IADD, x, half), 0xFFFF0000)


def _rounded_to_f16(x: Term) -> Term:
    """Return an fp32 rounded to f16, to nearest even: ten instructions.

    Sums of a magnitude and a number of 13 binary places more have the last place of f16. Below
    2**-14 that is the one of 0.5, as f16 has no smaller exponent.
    """
    size = abs(x)
    coarse = imax(step(Op.IADD, both(size, 0x7F800000), 13 << 23), 0x3F000000)
    found = size + coarse - coarse
    found = select(step(Op.FGE, size, 65520.0), math.inf, found)
    return either(found, both(x, 0x80000000))


def _is_tidy(x: Term) -> bool:
    """Whether an fp32 is no NaN but the one that arithmetic makes, as far as is plain to see."""
    if x.is_op(Op.SELECT):
        return all(map(_is_tidy, x.args[1:]))
    if x.is_word:
        return x.number == x.number
    return (is_first(x) and x.op in _TIDY_OPS) or x.post in _TIDY_POSTS


def translate(pool: Pool, cluster: Cluster, rules: Mapping[str, TermMaker],
              to_bf16: Callable[[Term], Term] = rounded) -> Translation:
    """Return the terms of a cluster; ``rules`` take the place of what is exact, by operation.

    Raises
    ------
    CompileError
        If a node is none of a cluster.
    """
    with recording(pool):
        return _Translator(pool, cluster, rules, to_bf16).run()


class _Translator:
    def __init__(self, pool: Pool, cluster: Cluster, rules: Mapping[str, TermMaker],
                 to_bf16: Callable[[Term], Term]):
        self.pool, self.cluster, self.rules, self.to_bf16 = pool, cluster, rules, to_bf16
        self.found = Translation()
        #: What a value is by its shape; its term may be less, where it was broadcast.
        self.shapes: dict[Value, Extent] = {}
        self.size = math.prod(cluster.space)
        self.lanes = cluster.space[-1] if cluster.space else 1

    def run(self) -> Translation:
        inputs = [(read.value, read.extent) for read in self.cluster.reads]
        if self.cluster.result is not None:
            inputs.append((self.cluster.result, Extent.FULL))
        for value, extent in inputs:
            self._put(value, self.pool.read(value, extent), extent)
        for node in self.cluster.nodes:
            self._node(node)
        return self.found

    def _put(self, value: Value, term: Term, shape: Extent, stored: Term | None = None) -> None:
        self.found.terms[value] = term
        self.found.stored[value] = stored or term
        self.shapes[value] = Extent.FULL if value.type.size == self.size else shape

    def _error(self, node: Node, text: str) -> CompileError:
        return CompileError(f"{node.source}: {node.op} {text}")

    def _of(self, node: Node, value: Value) -> Term:
        if value not in self.found.terms and value.node.op in ("constant", "barrier"):
            self._node(value.node)
        if value not in self.found.terms:
            raise self._error(node, "must have operands that its cluster reads or makes, not "
                                    f"{value!r}")
        if self.found.terms[value].reduce is Reduce.ROWS:
            raise self._error(node, "must not use what its cluster joins over rows")
        return self.found.terms[value]

    def _is_joined(self, value: Value) -> bool:
        """Whether a value is joined over rows."""
        found = self.found.terms.get(value)
        return found is not None and found.reduce is Reduce.ROWS

    def _is_known(self, value: Value) -> bool:
        node = value.node
        if value not in self.found.terms and node.op == "barrier":
            self._node(node)
        return value in self.found.terms or (
            node.op == "constant" and node.attrs["value"].is_splat)

    def _node(self, node: Node) -> None:
        if all(value in self.found.terms for value in node.results):
            return
        before, self.pool.origin = self.pool.origin, node.source.told(node.op)
        self._made(node)
        self.pool.origin = before

    def _made(self, node: Node) -> None:
        if node.op in _SHAPES:
            for value, operand in zip(node.results, node.operands, strict=True):
                if node.op == "barrier" and (value in self.found.terms
                                             or not self._is_known(operand)):
                    continue  # others want what this cluster has not, or not yet
                self._alias(node, value, operand)
        elif node.op == "constant":
            self._put(node.result, self._constant(node), Extent.SCALAR)
        elif node.op == "iota":
            self._put(node.result, self._iota(node), Extent.LANES)
        elif node.op == "reduce":
            self._reduce(node)
        elif node.op == "convert":
            self._convert(node)
        else:
            self._elementwise(node)

    def _alias(self, node: Node, value: Value, operand: Value) -> None:
        if not self._is_joined(operand):
            self._of(node, operand)
        self._put(value, self.found.terms[operand], self.shapes[operand],
                  self.found.stored[operand])

    def _constant(self, node: Node) -> Term:
        array = node.attrs["value"]
        if not array.is_splat:
            counted = self._counted(array.numpy)
            if counted is not None:
                return counted
            raise self._error(node, f"must be of equal elements, not {array.type}; others are read")
        number = array.numpy.reshape(-1)[0]
        dtype = array.type.dtype
        if dtype is DType.BOOL:
            return self.pool.word(-int(number))
        if dtype.is_float:
            return self.pool.fp32(float(number))
        return self.pool.word(int(number))

    def _counted(self, array: NDArray) -> Term | None:
        """Return the number of the column, from some first one, if a constant is that."""
        row = array.reshape(-1)
        first = float(row[0]) if row.size == self.lanes == array.shape[-1] else math.nan
        if array.dtype == np.bool_ or not first.is_integer() or abs(first) > 1 << 20 or not (
                row.astype(np.float64) == first + np.arange(row.size)).all():
            return None
        lane = self.pool.lane(int(first))
        return self.pool.op(Op.I2F, lane) if DType.of(array.dtype).is_float else lane

    def _iota(self, node: Node) -> Term:
        shape, dim = node.types[0].shape, node.attrs["dim"]
        if shape[dim] != self.lanes or math.prod(shape[dim:]) != self.lanes:
            raise self._error(node, f"must count the columns of {self.cluster.space}, not "
                                    f"dimension {dim} of {shape}; others are read")
        lane = self.pool.lane()
        if not node.types[0].dtype.is_float:
            return lane
        return self._rounded(self.pool.op(Op.I2F, lane), node.types[0].dtype)

    def _elementwise(self, node: Node) -> None:
        value = node.result
        terms = [self._of(node, operand) for operand in node.operands]
        shape = Extent.SCALAR
        for operand in node.operands:
            # The predicate of a select may be a scalar.
            if operand.shape == value.shape and self.shapes[operand] is not Extent.SCALAR:
                shape = self.shapes[operand]
        stored = None
        if node.op == "select" and value.dtype is DType.BF16:
            stored = self.pool.op(Op.SELECT, terms[0],
                                  *(self.found.stored[each] for each in node.operands[1:]))
        self._put(value, self._term(node, terms), shape, stored)

    def _term(self, node: Node, terms: list[Term]) -> Term:
        if node.op in self.rules:
            return self.rules[node.op](self.pool, node, terms)
        is_float = node.operands[0].dtype.is_float
        if node.op in FUNCTIONS:
            return exact(self.pool, node.op, *terms)
        if node.op in INSTRUCTIONS:
            of_floats, of_integers = INSTRUCTIONS[node.op]
            return self.pool.op(of_floats if is_float else of_integers, *terms)
        if node.op == "compare":
            table = _COMPARE_F if is_float else _COMPARE_I
            return self.pool.op(table[node.attrs["direction"]], *terms)
        if node.op == "requantise":
            zero_point, low, high = (node.attrs[name] & 0xFF for name in ("zero_point", "low",
                                                                          "high"))
            return self.pool.op(Op.REQUANT, *terms, param=zero_point | low << 8 | high << 16)
        if node.op == "rsqrt":
            return self.pool.post(Post.RSQRT, terms[0])
        if node.op in _WHOLE:
            return self._whole(terms[0], _WHOLE[node.op], self._shows_sign(node.result))
        raise self._error(node, "has no vector instructions")

    def _shows_sign(self, value: Value) -> bool:
        """Whether it can be seen if a zero is +0 or -0: integers and comparisons do not show it."""
        if any(write.value == value for write in self.cluster.writes):
            return True
        users = [node for node in self.cluster.nodes if value in node.operands]
        return any(self._shows_sign(user.result) if user.op in _CLAMPS or user.op in _SHAPES
                   else user.op != "compare" and not (
                       user.op == "convert" and user.types[0].dtype.is_integer)
                   for user in users)

    def _whole(self, x: Term, post: Post, signed: bool) -> Term:
        """Return the integer next to a number; from 2**23 on it is one. Zeros keep their sign, or
        are +0.
        """
        whole = step(Op.I2F, step(Op.MOV, x, post=post))
        if signed:
            whole = step(Op.OR, whole, step(Op.AND, x, 1 << 31))
        return select(step(Op.FLT, abs(x), 2.0**23), whole, x)

    def _rounded(self, x: Term, dtype: DType) -> Term:
        if dtype is DType.BF16:
            return self.to_bf16(x)
        return _rounded_to_f16(x) if dtype is DType.F16 else x

    def _convert(self, node: Node) -> None:
        [operand], value = node.operands, node.result
        of, to = operand.dtype, value.dtype
        if self._is_joined(operand) and (of, to) == (DType.F32, DType.BF16):
            self._alias(node, value, operand)
            return
        x = self._of(node, operand)
        stored, pool = None, self.pool
        if (of, to) == (DType.F32, DType.BF16):
            stored = self.found.stored[operand]
            x = self.to_bf16(x)
        elif (of, to) == (DType.F32, DType.F16):
            x = _rounded_to_f16(x)
        elif (of, to) == (DType.F32, DType.I32):
            x = pool.post(Post.F2I_TRUNC, x)
        elif (of, to) == (DType.I32, DType.F32):
            x = pool.op(Op.I2F, x)
        elif of is DType.I32 and to in _SHORT:
            low, high = bounds(operand)
            info = np.iinfo(to.numpy)
            if low < info.min or high > info.max:
                shift, back = _SHORT[to]
                x = step(back, step(Op.SHL, x, shift), shift)
        elif not ((of.is_half and to is DType.F32) or (of in _SHORT and to is DType.I32)
                  or of is to):
            raise self._error(node, f"must be one of the canonical level, not from {of} to {to}")
        self._put(value, x, self.shapes[operand], stored)

    def _reduce(self, node: Node) -> None:
        x, value = node.operands[0], node.result
        term, shape = self._of(node, x), self.shapes[x]
        dims = node.attrs["dims"]
        lanes = [dim for dim in dims if shape is Extent.LANES or (
            shape is Extent.FULL and math.prod(x.shape[dim:]) <= self.lanes)]
        rows = len(lanes) < len(dims)
        if lanes:
            extent = math.prod(x.shape[dim] for dim in lanes)
            if extent != self.lanes:
                raise self._error(node, f"must take all {self.lanes} columns, not {extent}")
            shape = Extent.ROWS if shape is Extent.FULL else Extent.SCALAR
            term = self._lanes(node, term, extent)
        if rows:
            term = self.pool.join_rows(self._op(node, x.dtype.is_float), term, shape)
        self._put(value, term, shape)

    def _op(self, node: Node, is_float: bool) -> ReduceOp:
        table = JOINS_F if is_float else JOINS_I
        if node.attrs["reducer"] not in table:
            raise self._error(node, f"must be one of {', '.join(table)}, not "
                                    f"{node.attrs['reducer']}")
        return table[node.attrs["reducer"]]

    def _lanes(self, node: Node, term: Term, extent: int) -> Term:
        code = self._op(node, node.operands[0].dtype.is_float)
        if Extent.LANES in term.extent:
            return self.pool.join(code, term)
        # The same element in all lanes.
        if code is ReduceOp.SUM_F:
            return term * float(extent)
        if code is ReduceOp.SUM_I:
            return step(Op.IMUL, term, extent)
        return term
