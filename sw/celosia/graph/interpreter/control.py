"""Control flow, run."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.graph.interpreter.kernels import KernelContext, Tensor, kernel

__all__ = []


@kernel("while")
def _while(run: KernelContext, *values: Tensor) -> Sequence[Tensor]:
    cond, body = run.node.regions
    now: Sequence[Tensor] = values
    while bool(run.graph(cond, now)[0]):
        now = run.graph(body, now)
    return now


@kernel("case")
def _case(run: KernelContext, index: Tensor, *values: Tensor) -> Sequence[Tensor]:
    branches = run.node.regions
    at = int(index)
    return run.graph(branches[at if 0 <= at < len(branches) else -1], values)


@kernel("barrier")
def _barrier(run: KernelContext, *values: Tensor) -> Sequence[Tensor]:
    return values
