"""Mathematical functions, normalisation, random numbers and optimisers as vector code.

A function is written once, on tiles (`celosia.kernels.trace`); from that come its value on NumPy
arrays (`evaluate`), instructions with places on chip (`emit`), and a run on a device (`apply`).
"""

from celosia.kernels.emit import Lane, Layout, Place, emit, lay_out
from celosia.kernels.evaluate import evaluate
from celosia.kernels.run import apply, program
from celosia.kernels.trace import Kernel, Scalar, Tile, clamp, kernel, lane_index, row_index, step

__all__ = ["Kernel", "Lane", "Layout", "Place", "Scalar", "Tile", "apply", "clamp", "emit",
           "evaluate", "kernel", "lane_index", "lay_out", "program", "row_index", "step"]
