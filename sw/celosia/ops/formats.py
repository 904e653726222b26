"""Formats of operands of a matrix product, and the types of results that each can have."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from celosia.graph import DType

__all__ = ["DTYPES", "OPERANDS", "OUTPUTS"]

#: Formats of operands by the types of NumPy arrays.
OPERANDS = {np.dtype(np.int8): "int8", np.dtype(ml_dtypes.bfloat16): "bf16"}

#: Output types of each operand format: the raw sums, and the operands' own type.
OUTPUTS = {"int8": ("int32", "int8"), "bf16": ("float32", "bfloat16")}
#: Element types of graphs by the names that outputs and buffers have.
DTYPES = {"int8": DType.I8, "int32": DType.I32, "bfloat16": DType.BF16, "float32": DType.F32}
