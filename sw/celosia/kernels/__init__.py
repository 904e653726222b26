"""Mathematical functions, normalisation, random numbers and optimisers as vector code.

A function is written once, on tiles (`celosia.kernels.trace`); from that come its value on NumPy
arrays (`evaluate`), instructions with places on chip (`celosia.ops.emit`), and a run on a device
(`celosia.ops.kernels`).
"""

from celosia.kernels.evaluate import evaluate
from celosia.kernels.trace import Kernel, Scalar, Tile, clamp, kernel, lane_index, row_index, step

__all__ = ["Kernel", "Scalar", "Tile", "clamp", "evaluate", "kernel", "lane_index", "row_index",
           "step"]
