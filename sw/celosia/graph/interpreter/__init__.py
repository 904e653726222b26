"""The meaning of graphs, in NumPy; a file here is one of celosia.graph.operations."""

from celosia.graph.interpreter.run import evaluate, interpret

__all__ = ["evaluate", "interpret"]
