"""Mathematical functions, normalisation, random numbers and optimisers as vector code.

A function is written once, on terms (`celosia.kernels.terms`); from that come its value on NumPy
arrays (`evaluate`), what the compiler selects (`celosia.compiler.selection`), instructions with
places on chip (`celosia.ops.emit`), and a run on a device (`celosia.ops.kernels`).
"""

from celosia.kernels.evaluate import evaluate
from celosia.kernels.terms import Term, clamp, lane_index, row_index, scalar, step
from celosia.kernels.trace import Kernel, kernel

__all__ = ["Kernel", "Term", "clamp", "evaluate", "kernel", "lane_index", "row_index", "scalar",
           "step"]
