"""The compiler: from any graph to one that the chip can run."""

from celosia.compiler.levels import CANONICAL
from celosia.compiler.pipeline import canonical

__all__ = ["CANONICAL", "canonical"]
