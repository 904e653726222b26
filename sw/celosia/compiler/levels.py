"""The canonical level: what a graph consists of before code is made for the chip.

`FUNCTIONS` says which function of `celosia.compiler.kernels` an elementwise operation is,
`INSTRUCTIONS` which instruction; all others are one or two of these.
"""

from __future__ import annotations

from collections.abc import Mapping

from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels import error_functions, functions, inverses  # noqa: F401 - fill FUNCTIONS
from celosia.compiler.kernels.table import FUNCTIONS
from celosia.compiler.passes import elementwise, reductions
from celosia.compiler.passes.bounds import within
from celosia.compiler.passes.convolutions import is_canonical_convolution
from celosia.compiler.passes.dots import is_canonical_dot
from celosia.compiler.passes.indexed import is_row_gather, is_row_scatter
from celosia.compiler.passes.products import is_native
from celosia.compiler.passes.words import ARITHMETIC, CONVERSIONS, WORDS
from celosia.compiler.spmd import PARTITIONED
from celosia.graph import DType, GrammarRule, Node, Trait, having
from celosia.graph.operations.elementwise import SHIFTS

__all__ = ["CANONICAL", "INSTRUCTIONS", "FUNCTIONS"]

#: Elementwise operation to the vector operations of floats and of integers.
INSTRUCTIONS: Mapping[str, tuple[Op, Op]] = {
    "add": (Op.FADD, Op.IADD), "subtract": (Op.FSUB, Op.ISUB), "multiply": (Op.FMUL, Op.IMUL),
    "maximum": (Op.FMAX, Op.IMAX), "minimum": (Op.FMIN, Op.IMIN),
    **{name: (op, op) for name, op in {
        "and": Op.AND, "or": Op.OR, "xor": Op.XOR, "not": Op.NOT, "shift_left": Op.SHL,
        "shift_right": Op.SHR, "shift_right_signed": Op.SAR, "abs": Op.FABS, "negate": Op.FNEG,
        "is_finite": Op.ISFINITE, "select": Op.SELECT}.items()}}
_FLOATS = having(Trait.FLOAT) | elementwise.OF_INTEGERS.keys()
_ORDERING = having(Trait.ORDERING)


def _dot(node: Node) -> str | None:
    if is_canonical_dot(node):
        return None
    return "dot must be [B,M,K] x [B,K,N] of bf16, i8 or i32"


def _convolution(node: Node) -> str | None:
    if is_canonical_convolution(node) and is_native(node):
        return None
    return f"convolution must be b01f_01io->b01f without padding, not {node.attrs['layout']}"


def _word(node: Node) -> str | None:
    dtype = node.operands[0].dtype
    if node.op in _FLOATS and dtype is not DType.F32:
        return f"operands must be f32, not {dtype}"
    if node.op in SHIFTS and not within(node.operands[1], 32):
        return "amounts must be plain to see from 0 to 31"
    unsigned = node.op in _ORDERING and dtype is DType.U32
    return None if dtype in WORDS and not unsigned else f"operands must be words, not {dtype}"


def _convert(node: Node) -> str | None:
    pair = (node.operands[0].dtype, node.attrs["dtype"])
    return None if pair in CONVERSIONS else f"conversion must be one that stays, not {pair}"


def _bitcast(node: Node) -> str | None:
    dtypes = {node.operands[0].dtype, node.attrs["dtype"]}
    if any(dtype.pair_of in dtypes for dtype in dtypes):
        return None
    return None if {dtype.bits for dtype in dtypes} == {32} else "bitcast must be of 32 bits"


def _reduce(node: Node) -> str | None:
    if not reductions.is_canonical_reduction(node):
        return "reduction must be one of the vector unit's, from what changes nothing"
    unsigned = node.attrs["reducer"] in _ORDERING
    dtype = node.operands[0].dtype
    good = dtype in WORDS and not (unsigned and dtype is DType.U32)
    return None if good else f"operand must be of words, not {dtype}"


def _broadcast(node: Node) -> str | None:
    x, dims = node.operands[0], node.attrs["dims"]
    same = all(x.shape[i] == node.attrs["shape"][dim] for i, dim in enumerate(dims))
    return None if list(dims) == sorted(dims) and same else "broadcast must keep its dimensions"


def _pad(node: Node) -> str | None:
    edges = (*node.attrs["low"], *node.attrs["high"])
    return None if min(edges, default=0) >= 0 else "edges of a pad must not be negative"


CANONICAL = PARTITIONED.refine(
    "canonical",
    without=(*elementwise.REPLACED, *reductions.REPLACED),
    rules=(
        GrammarRule("canonical dot", _dot, frozenset({"dot"})),
        GrammarRule("canonical convolution", _convolution, frozenset({"convolution"})),
        GrammarRule("arithmetic on words", _word, ARITHMETIC),
        GrammarRule("canonical conversion", _convert, frozenset({"convert"})),
        GrammarRule("bitcast moves nothing", _bitcast, frozenset({"bitcast"})),
        GrammarRule("canonical reduction", _reduce, frozenset({"reduce"})),
        GrammarRule("canonical broadcast", _broadcast, frozenset({"broadcast"})),
        GrammarRule("canonical pad", _pad, frozenset({"pad"})),
        GrammarRule("gather of rows", lambda node: None if is_row_gather(node) else
                    "gather must be of rows", frozenset({"gather"})),
        GrammarRule("scatter of rows", lambda node: None if is_row_scatter(node) else
                    "scatter must be of rows", frozenset({"scatter"})),
    ))
