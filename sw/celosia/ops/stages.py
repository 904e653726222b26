"""What is to be computed: a chain of matrix products over the same rows."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, MatmulFormat
from celosia.arch.vector import Dst
from celosia.codegen.nodes import ceil_div

__all__ = ["ELEMENT_BYTES", "OUTPUTS", "Chain", "Stage"]

#: Output types of each operand format; the first is the raw sums.
OUTPUTS = {"int8": ("int32", "int8"), "bf16": ("float32", "bfloat16")}
ELEMENT_BYTES = {"int8": 1, "bfloat16": 2, "int32": 4, "float32": 4}
STORE_FORMATS = {"int8": DmaFormat.I8, "bfloat16": DmaFormat.BF16, "int32": DmaFormat.W32,
                 "float32": DmaFormat.W32}


@dataclass(frozen=True)
class Stage:
    """One product: rows of k elements times weights (k, n), and what is done to the sums.

    Parameters
    ----------
    k, n
        Depth and columns.
    format
        ``int8`` or ``bf16``.
    weights
        Arena offset of the weights, stored (k, n), or (n, k) where ``transpose``.
    output
        Type of the result, one of ``OUTPUTS[format]``.
    bias, scale
        Arena offsets of n words, or None. ``scale`` holds requantise words for int8, which int8
        results need, and float32 factors for bf16. Where there are both, bias comes first.
    relu
        Whether negative results become zero (the zero point).
    zero_point
        Of an int8 result.
    label
        What the source map calls it.
    """

    k: int
    n: int
    format: str
    weights: int
    output: str
    transpose: bool = False
    bias: int | None = None
    scale: int | None = None
    relu: bool = False
    zero_point: int = 0
    label: str = "matmul"

    @property
    def operand_bytes(self) -> int:
        """Bytes of an activation or a weight in external memory."""
        return 1 if self.format == "int8" else 2

    @property
    def dma_format(self) -> DmaFormat:
        """How operands lie in external memory."""
        return DmaFormat.I8 if self.format == "int8" else DmaFormat.BF16

    @property
    def matmul_format(self) -> MatmulFormat:
        """How the array reads operands."""
        return MatmulFormat.INT8 if self.format == "int8" else MatmulFormat.BF16

    @property
    def operand_dst(self) -> Dst:
        """How the vector unit writes operands."""
        return Dst.UB_I8 if self.format == "int8" else Dst.UB_BF16

    @property
    def parameters(self) -> int:
        """Rows of parameters for each tile of columns: bias, scale, both or none."""
        return (self.bias is not None) + (self.scale is not None)

    def k_tiles(self, config: TpuConfig) -> int:
        """Tiles along the depth."""
        return ceil_div(self.k, config.dim)

    def n_tiles(self, config: TpuConfig) -> int:
        """Tiles along the columns."""
        return ceil_div(self.n, config.dim)


@dataclass(frozen=True)
class Chain:
    """Stages, each fed by the one before; the first reads and the last writes external memory.

    Parameters
    ----------
    m
        Rows.
    stages
        At least one; each as deep as the one before has columns, all but the last with an output
        of the format's operand type.
    source
        Arena offset of the rows (m, k), or (k, m) where ``transpose``.
    target
        Arena offset of the result (m, n).
    transpose
        Whether the source is stored transposed.
    mask
        Arena offset of D words of 1; needed where a bf16 stage other than the last has ragged
        columns.
    """

    m: int
    stages: tuple[Stage, ...]
    source: int
    target: int
    transpose: bool = False
    mask: int | None = None
