"""Control flow, run."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.graph.interpreter.kernels import HostArray, KernelContext, kernel

__all__ = []


@kernel("while")
def _while(run: KernelContext, *values: HostArray) -> Sequence[HostArray]:
    cond, body = run.node.regions
    now: Sequence[HostArray] = values
    while bool(run.graph(cond, now)[0]):
        now = run.graph(body, now)
    return now


@kernel("case")
def _case(run: KernelContext, index: HostArray, *values: HostArray) -> Sequence[HostArray]:
    branches = run.node.regions
    at = int(index)
    return run.graph(branches[at if 0 <= at < len(branches) else -1], values)


@kernel("barrier")
def _barrier(run: KernelContext, *values: HostArray) -> Sequence[HostArray]:
    return values
