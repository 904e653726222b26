"""What the back half of the compiler works on: tensors that have a place, and work on them.

A canonical graph is lowered to a list of `Work`, in the order in which it runs. Each piece of work
reads tensors and writes tensors; what lies between is known to itself alone. It equals itself only.
The files of `celosia.compiler.emit` make operations of it, block after block, as if they ran one
after another, and loops of blocks; `celosia.compiler.codegen` finds an order in which the units of
the chip overlap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.vector import Reduce
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.kernels.terms import Extent, Term
from celosia.compiler.views import View
from celosia.graph import DType, Node, Value

__all__ = ["Access", "Case", "Cluster", "Code", "Convolution", "Dot", "External",
           "Fill", "GatherRows", "Move", "OnChip", "Read", "ReadWord", "Region",
           "ScatterRows", "Tensor", "While", "Work", "Write", "rows_of", "storage"]


def storage(config: TpuConfig, dtype: DType) -> DmaFormat:
    """Return how elements lie in external memory.

    f32, i32, u32, f16, u8, i16 and u16 take a word (the short ones extended as their type says, the
    driver converts), bf16 two bytes, i8 one; a bool is 0 or -1 in a byte, or in a word on a chip
    without int8.
    """
    if dtype is DType.BF16:
        return DmaFormat.BF16
    if dtype in (DType.I8, DType.BOOL) and config.int8:
        return DmaFormat.I8
    return DmaFormat.W32


def buffer_dtype(config: TpuConfig, dtype: DType) -> str:
    """Return what a buffer of a program is said to hold that has elements in external memory."""
    if storage(config, dtype) is DmaFormat.W32:
        return "float32" if dtype in (DType.F32, DType.F16) else "int32"
    return "bfloat16" if dtype is DType.BF16 else "int8"


@dataclass(frozen=True)
class External:
    """A place in external memory: bytes from the beginning of the arena."""

    offset: int


@dataclass(frozen=True)
class OnChip:
    """A place on chip, for the whole life of a tensor.

    The tensor is a matrix of R rows (all its dimensions but the last) and C columns, cut into
    panels of D columns: row r of panel p is row ``row + p * R + r`` of the memory. Accumulators
    hold words (masks for bools), the unified buffer bf16 or int8. A tensor of C = 1 has its element
    in every lane. Other lanes beyond C hold anything, but 0 in the unified buffer.
    """

    mem: Mem
    row: int


@dataclass(eq=False)
class Tensor:
    """A tensor that is kept from one piece of work to another.

    Attributes
    ----------
    home
        Where it lies; None until memory has been planned.
    """

    name: str
    shape: tuple[int, ...]
    dtype: DType
    format: DmaFormat
    home: External | OnChip | None = None

    @property
    def element_bytes(self) -> int:
        """Bytes of an element in external memory."""
        return self.format.nbytes

    @property
    def nbytes(self) -> int:
        """Bytes in external memory."""
        return math.prod(self.shape) * self.element_bytes


@dataclass(frozen=True)
class Access:
    """Elements of a tensor, as a view of some shape.

    Attributes
    ----------
    base
        Bytes that are added at run time (dynamic slices), or None. Only for tensors in external
        memory; the view then holds what does not change.
    """

    tensor: Tensor
    view: View
    base: Base | None = None


def rows_of(view: View, extent: Extent) -> View:
    """Return where the rows of a view of this extent begin: the view without its lanes."""
    if Extent.LANES not in extent:
        return view
    return View(view.offset, view.shape[:-1], view.strides[:-1])


@dataclass(frozen=True)
class Read:
    """A value that a cluster reads.

    The shape of ``access.view`` is that of the space for FULL, the space without its last
    dimension for ROWS, the last dimension alone for LANES, () for SCALAR. The last stride of what
    has lanes is 1 (any where the dimension is 1).
    """

    value: Value
    extent: Extent
    access: Access


@dataclass(frozen=True)
class Write:
    """A value that a cluster writes.

    Views as of `Read`. What is joined over rows (`Code.joined`) has a view of the shape
    ``space[:kept] + space[-1:]``, or ``space[:kept]`` where lanes are joined as well (ROWS).
    """

    value: Value
    extent: Extent
    access: Access


@dataclass(frozen=True)
class Dot:
    """The product that a cluster begins with: of each batch, lhs (M, K) times rhs (K, N).

    The view of ``lhs`` has the shape (B, M, K) and the stride 1 along K or along M; that of
    ``rhs`` has the shape (B, K, N) and the stride 1 along N or along K (any where it is 1 long). A
    batch stride may be 0. In external memory operands are in the format of the array, or f32, which
    loads round to bf16. An operand that is on chip lies in the unified buffer, with rows M (or B*M)
    or K (B*K), natural order, not transposed.

    Where ``turned`` is given, B is 1, M a multiple of D and the stride of ``lhs`` 1 along K: the
    transpose of ``lhs``, (K, M) in the format of the array, is written there, for later products.
    """

    kind: ClassVar[str] = "dot"

    fmt: MatmulFormat
    lhs: Access
    rhs: Access
    turned: Access | None = None


@dataclass(frozen=True)
class Convolution:
    """The product that a cluster begins with: a convolution of two dimensions without padding.

    ``x`` has a view of shape (batch, height, width, inputs), ``w`` one of shape (kernel height,
    kernel width, inputs, outputs), last strides 1. Output (b, i, j, o) is the sum over (p, q, c) of
    x[b, i * stride[0] + p * dilation[0], j * stride[1] + q * dilation[1], c] * w[p, q, c, o].
    """

    kind: ClassVar[str] = "convolution"

    fmt: MatmulFormat
    x: Access
    w: Access
    stride: tuple[int, int]
    dilation: tuple[int, int]


@dataclass(frozen=True)
class Code:
    """The vector instructions of a cluster, before they have rows; made by `selection`.

    Attributes
    ----------
    steps
        In order, none without use. One step stands for all rows and all panels of D lanes of its
        extent. ``reduce`` LANES joins all lanes of the whole row of the space (over all panels,
        without those beyond the last column) and leaves an element for each row, in every lane;
        ROWS joins the rows that the cluster does not keep, and is written, nothing else. A lane
        index counts the columns of the space.
    inputs
        The term of each value that is read, and of the product's result. What has no lanes has its
        element in every lane.
    outputs
        The term of each value that is written: of the extent of its `Write`.
    """

    steps: tuple[Term, ...]
    inputs: dict[Value, Term]
    outputs: dict[Value, Term]

    @property
    def terms(self) -> tuple[Term, ...]:
        """All that has rows: what is read, and what the steps make."""
        return *self.inputs.values(), *self.steps

    @property
    def joined(self) -> frozenset[Value]:
        """The values that are joined over rows before they are written."""
        return frozenset(value for value, term in self.outputs.items()
                         if term.reduce is Reduce.ROWS)

    def replaced(self, leaf: Callable[[Term], Term]) -> Code:
        """Return the code with other immediates and indexes."""
        made: dict[Term, Term] = {term: term for term in self.inputs.values()}
        for step in self.steps:
            args = tuple(made[arg] if arg in made else leaf(arg) for arg in step.args)
            made[step] = step if args == step.args else replace(step, args=args)
        return Code(tuple(made[step] for step in self.steps), self.inputs,
                    {value: made[term] for value, term in self.outputs.items()})


#: All of a memory on the chip, see `Cluster.share`.
WHOLE = (0, 8)


@dataclass(frozen=True, eq=False)
class Cluster:
    """Elementwise operations and reductions over one space, perhaps with a product before them.

    Attributes
    ----------
    space
        Sizes; the last are lanes, the others rows, outermost first. Of a dot: (B, *M, N), where
        the M multiply to the rows of the product; of a convolution: (batch, height, width,
        outputs).
    kept
        How many of the row dimensions, from the outermost, remain where values are joined over
        rows: the others are joined. All clusters without such values: len(space) - 1.
    product, result
        What it begins with, or None; and the value that this makes.
    nodes
        Operations, in an order in which they may run. All are elementwise on the space, changes of
        shape that keep rows and lanes, broadcasts of ROWS, LANES and SCALAR, or reductions.
    source
        What it came from, for messages.
    share, buffer
        First and last + 1 of the eighths of the accumulators, and of the unified buffer, that it
        may use. Where these are not all, other work has the rest, and runs beside it.
    stream
        Whether the work beside it makes its rows, or takes them, as they come.
    """

    space: tuple[int, ...]
    kept: int
    product: Dot | Convolution | None
    result: Value | None
    nodes: tuple[Node, ...]
    reads: tuple[Read, ...]
    writes: tuple[Write, ...]
    source: str = ""
    share: tuple[int, int] = WHOLE
    buffer: tuple[int, int] = WHOLE
    stream: bool = False

    @property
    def kind(self) -> str:
        """What reports call it."""
        return "map" if self.product is None else self.product.kind

    @property
    def unit(self) -> str:
        """What does most of it."""
        return "the vector unit" if self.product is None else "the array"

    @property
    def macs(self) -> int:
        """Products that it sums."""
        match self.product:
            case Dot(lhs=lhs):
                return math.prod(lhs.view.shape) * self.space[-1]
            case Convolution(w=w):
                return math.prod(self.space) * math.prod(w.view.shape[:-1])
            case None:
                return 0


@dataclass(frozen=True, eq=False)
class Move:
    """Copy elements; both views have the same shape, tensors the same format.

    Where source and target overlap in memory, they are the same bytes in the same order.
    """

    kind: ClassVar[str] = "move"
    unit: ClassVar[str] = "load and store"

    src: Access
    dst: Access
    source: str = ""


@dataclass(frozen=True, eq=False)
class Fill:
    """Set all elements of a view to a word: what an accumulator that is stored there holds."""

    kind: ClassVar[str] = "fill"
    unit: ClassVar[str] = "load and store"

    dst: Access
    word: int
    source: str = ""


@dataclass(frozen=True, eq=False)
class GatherRows:
    """Row i of ``dst`` (K, C) is the row of ``table`` (R, C) that ``indices`` (K,) names."""

    kind: ClassVar[str] = "gather"
    unit: ClassVar[str] = "the vector unit"

    table: Access
    indices: Access
    dst: Access
    source: str = ""


@dataclass(frozen=True, eq=False)
class ScatterRows:
    """Row ``indices[i]`` of ``table`` (R, C) becomes row i of ``updates`` (K, C); the last stays.

    ``table`` is changed in place.
    """

    kind: ClassVar[str] = "scatter"
    unit: ClassVar[str] = "the vector unit"

    table: Access
    indices: Access
    updates: Access
    source: str = ""


@dataclass(frozen=True, eq=False)
class ReadWord:
    """Bring one word of a tensor, a number of bytes, into the scalar register that is ``base``."""

    kind: ClassVar[str] = "read"
    unit: ClassVar[str] = "the scalar unit"

    base: Base
    access: Access
    source: str = ""


@dataclass(frozen=True, eq=False)
class While:
    """Run ``cond``, stop where the bool ``predicate`` is false, run ``body``, and again.

    Attributes
    ----------
    trips
        How often the body runs, where that is known; then ``cond`` is not run at all.
    counts
        With ``trips``: registers of the body, what they hold in its first turn, and what is added
        in each.
    """

    kind: ClassVar[str] = "while"
    unit: ClassVar[str] = "the scalar unit"

    cond: tuple[Work, ...]
    predicate: Access | None
    body: tuple[Work, ...]
    trips: int | None = None
    source: str = ""
    counts: tuple[tuple[Base, int, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Case:
    """Run the branch that ``index`` (an i32) names; the last one where there is no such branch."""

    kind: ClassVar[str] = "case"
    unit: ClassVar[str] = "the scalar unit"

    index: Access
    branches: tuple[tuple[Work, ...], ...]
    source: str = ""


#: All have a ``kind`` that reports name, a ``unit`` that does most of it, and a ``source``, for
#: messages.
Work = (Cluster | Move | Fill | GatherRows | ScatterRows | ReadWord | While | Case)


@dataclass(frozen=True)
class Region:
    """Rows of both memories that a piece of work may use for itself."""

    ub: range
    acc: range
