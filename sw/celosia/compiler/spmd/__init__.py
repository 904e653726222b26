"""SPMD partitioning: from a graph on whole arrays to the one that each device runs.

A pass of its own before all others, in two steps: `propagation` says for each node how its
operands and results are cut, from the shardings that the graph has and by `rules`; `partition`
rewrites the graph so, with exchanges where a value must be cut in another way.
"""

from celosia.compiler.spmd.partition import PARTITIONED, Spmd, partition

__all__ = ["PARTITIONED", "Spmd", "partition"]
