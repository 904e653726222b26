"""Mathematical functions as vector code.

A function is written once, on terms (`celosia.compiler.kernels.terms`); from that come its value
on NumPy arrays (`evaluate`) and what the compiler selects (`celosia.compiler.selection`).
"""

from celosia.compiler.kernels.evaluate import evaluate
from celosia.compiler.kernels.terms import Term, clamp, lane_index, row_index, scalar, step
from celosia.compiler.kernels.trace import Kernel, kernel

__all__ = ["Kernel", "Term", "clamp", "evaluate", "kernel", "lane_index", "row_index", "scalar",
           "step"]
