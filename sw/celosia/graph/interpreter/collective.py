"""Operations among devices, run: alone, or by way of a peer that meets the others."""

from __future__ import annotations

import numpy as np

from celosia.graph.interpreter.kernels import HostArray, KernelContext, kernel
from celosia.graph.operations.collective import COLLECTIVES

__all__ = []


@kernel(*sorted(COLLECTIVES))
def _collective(run: KernelContext, *operands: HostArray) -> HostArray:
    node = run.node
    if run.peer is not None:
        return run.peer.exchange(node, operands)
    devices = {device for pair in node.attrs.get("groups", node.attrs.get("pairs", ()))
               for device in pair}
    if devices - {0}:
        raise ValueError(f"{node.source}: {node.op} must be run by celosia.collectives.run_spmd: "
                         f"{len(devices)} devices take part in it")
    if node.op == "device_id":
        return np.array(0, np.uint32)
    [x] = operands
    return x if devices else np.zeros_like(x)
