"""What an import gives."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.graph import Graph
from celosia.graph.sharding import Sharding

__all__ = ["Spmd"]


@dataclass(frozen=True)
class Spmd:
    """A program for one or several devices.

    Attributes
    ----------
    graph
        What each device runs, on its tiles of the arguments. Device number i is partition i, or
        replica i.
    replicas, partitions
        How many the program is for; one of them is 1.
    arguments, results
        How those of the program are cut into those of the graph. Where the program does not say,
        arguments are as the first manual computation wants them, and results as they come.
    """

    graph: Graph
    replicas: int
    partitions: int
    arguments: tuple[Sharding, ...]
    results: tuple[Sharding, ...]

    @property
    def devices(self) -> int:
        """Number of devices."""
        return self.replicas * self.partitions
