"""The canonical level: what a graph consists of before code is made for the chip.

`KERNELS` says which function of `celosia.kernels` an elementwise operation is; all others are one
or two instructions.
"""

from __future__ import annotations

from collections.abc import Callable

from celosia.compiler.passes.bounds import within
from celosia.compiler.passes.convolutions import is_canonical_convolution
from celosia.compiler.passes.dots import is_canonical_dot
from celosia.compiler.passes.indexed import is_row_gather, is_row_scatter
from celosia.compiler.passes.products import is_native
from celosia.compiler.passes.reductions import is_canonical_reduction
from celosia.compiler.passes.words import CONVERSIONS, WORDS
from celosia.graph import CORE, DType, Node, Rule
from celosia.graph.operations.elementwise import (
    BITWISE,
    FLOAT_BINARY,
    FLOAT_UNARY,
    NUMERIC_BINARY,
    SHIFTS,
)
from celosia.kernels import error_functions, functions, inverses
from celosia.kernels.trace import Tile

__all__ = ["CANONICAL", "KERNELS"]

#: Elementwise operation to the function of `celosia.kernels` that it is.
KERNELS: dict[str, Callable[..., Tile]] = {
    "divide": functions.div, "cbrt": inverses.cbrt, "atan2": inverses.atan2,
    "erfc": error_functions.erfc, "sqrt": functions.sqrt, "exp": functions.exp,
    "expm1": functions.expm1, "log": functions.log, "log1p": functions.log1p,
    "tanh": functions.tanh, "erf": functions.erf, "sin": functions.sin, "cos": functions.cos,
    "power": functions.power}
_FLOATS = frozenset({*FLOAT_UNARY, *FLOAT_BINARY, "abs", "negate", "divide", "power", "remainder",
                     "is_finite"})
_ARITHMETIC = frozenset({*FLOAT_UNARY, *FLOAT_BINARY, *NUMERIC_BINARY, *BITWISE, *SHIFTS, "abs",
                         "negate", "not", "is_finite", "compare"})


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
    unsigned = node.op in ("compare", "maximum", "minimum") and dtype is DType.U32
    return None if dtype in WORDS and not unsigned else f"operands must be words, not {dtype}"


def _convert(node: Node) -> str | None:
    pair = (node.operands[0].dtype, node.attrs["dtype"])
    return None if pair in CONVERSIONS else f"conversion must be one that stays, not {pair}"


def _bitcast(node: Node) -> str | None:
    bits = {node.operands[0].dtype.bits, node.attrs["dtype"].bits}
    return None if bits == {32} else "bitcast must be of 32 bits"


def _reduce(node: Node) -> str | None:
    if not is_canonical_reduction(node):
        return "reduction must be one of the vector unit's, from what changes nothing"
    unsigned = node.attrs["reducer"] in ("maximum", "minimum")
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


CANONICAL = CORE.refine(
    "canonical",
    without=("arg_reduce", "ceil", "clamp", "erf_inv", "reduce_precision", "reduce_window",
             "sign"),
    rules=(
        Rule("canonical dot", _dot, frozenset({"dot"})),
        Rule("canonical convolution", _convolution, frozenset({"convolution"})),
        Rule("arithmetic on words", _word, _ARITHMETIC),
        Rule("canonical conversion", _convert, frozenset({"convert"})),
        Rule("bitcast moves nothing", _bitcast, frozenset({"bitcast"})),
        Rule("canonical reduction", _reduce, frozenset({"reduce"})),
        Rule("canonical broadcast", _broadcast, frozenset({"broadcast"})),
        Rule("canonical pad", _pad, frozenset({"pad"})),
        Rule("gather of rows", lambda node: None if is_row_gather(node) else
             "gather must be of rows", frozenset({"gather"})),
        Rule("scatter of rows", lambda node: None if is_row_scatter(node) else
             "scatter must be of rows", frozenset({"scatter"})),
    ))
