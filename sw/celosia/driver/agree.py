"""Whether two chips hold the same after the same programs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.driver import Device

__all__ = ["on_chip_rows", "same_state"]


def on_chip_rows(device: Device) -> dict[str, NDArray] | None:
    """Return the rows of the on-chip memories as bytes, or None where the backend hides them.

    Keys are "ub" and "acc", shapes (rows, bytes of a row).
    """
    transport = device.transport
    machine = getattr(transport, "machine", None)
    if machine is not None:
        return {name: np.ascontiguousarray(rows).view(np.uint8)
                for name, rows in (("ub", machine.ub), ("acc", machine.acc))}
    peek = getattr(transport, "peek", None)
    if peek is None:
        return None
    config = device.config
    return {"ub": peek("ub", 0, config.ub_rows), "acc": peek("acc", 0, config.acc_rows)}


def same_state(device: Device, other: Device) -> bool | None:
    """Whether every row of the on-chip memories is equal; None where one backend hides them."""
    rows, others = on_chip_rows(device), on_chip_rows(other)
    if rows is None or others is None:
        return None
    return all(np.array_equal(rows[name], others[name]) for name in rows)
