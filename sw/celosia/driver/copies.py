"""Programs that copy within external memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Insn, insn
from celosia.program import Program

__all__ = ["COPY_BYTES", "copy_program"]

#: Bytes of what is copied at once: of a lane of the accumulators.
COPY_BYTES = 4


def copy_program(config: TpuConfig, spans: Iterable[tuple[int, int, int]]) -> Program:
    """Return a program that copies words by way of the accumulators, which keep all their bits.

    Parameters
    ----------
    config
        The chip.
    spans
        Address, address of the copy and number of bytes, a multiple of `COPY_BYTES`. No copy
        overlaps what is copied.
    """
    insns: list[Insn] = []
    half = 0  # of the accumulators: one is filled while the other one is written back
    for source, into, nbytes in spans:
        for at, rows, lanes in _blocks(nbytes, config.acc_rows // 2, config.dim):
            block = {"mem": "acc", "fmt": "w32", "row": half, "rows": rows, "cols": lanes,
                     "pitch": COPY_BYTES * lanes}
            insns += (insn("load", addr=source + at, **block),
                      insn("store", addr=into + at, **block))
            half = config.acc_rows // 2 - half
    return Program(config.fingerprint, (*insns, insn("halt")), name="copy")


def _blocks(nbytes: int, most: int, lanes: int) -> Iterator[tuple[int, int, int]]:
    """Yield first byte, rows and words of a row of the parts that are copied at once."""
    at, row = 0, COPY_BYTES * lanes
    while nbytes - at >= row:
        rows = min(most, (nbytes - at) // row)
        yield at, rows, lanes
        at += rows * row
    if at < nbytes:
        yield at, 1, (nbytes - at) // COPY_BYTES
