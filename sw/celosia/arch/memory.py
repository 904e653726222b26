"""The on-chip memories."""

from enum import IntEnum

__all__ = ["Mem"]


class Mem(IntEnum):
    """An on-chip memory: the unified buffer, the accumulators."""

    UB = 0
    ACC = 1
