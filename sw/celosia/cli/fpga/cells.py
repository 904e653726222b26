"""Cells that are added to a netlist as Yosys writes it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["new_bits"]


def new_bits(cells: Mapping[str, Any]) -> Iterator[int]:
    """Count bits that no cell has yet."""
    bits = (bit for cell in cells.values() for port in cell["connections"].values()
            for bit in port if isinstance(bit, int))
    return itertools.count(max(bits, default=1) + 1)
