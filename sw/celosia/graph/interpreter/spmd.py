"""Whole arrays of a program for several partitions, run at one place."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.graph.interpreter.kernels import HostArray, KernelContext, kernel

__all__ = []


@kernel("shard")
def _shard(run: KernelContext, x: HostArray) -> HostArray:
    return x


@kernel("manual")
def _manual(run: KernelContext, *values: HostArray) -> Sequence[HostArray]:
    raise ValueError(f"{run.node.source}: manual is what several devices do: "
                     f"celosia.compiler.spmd.partition makes the program of each")
