"""What is asked of the ports of the on-chip memories, cycle by cycle.

Each bank grants one read and one write a cycle: first to the array, whose rows nothing stops, then
to the vector unit, then to transfers.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from celosia.arch.commands import Matmul
from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem
from celosia.arch.streams import Stream

__all__ = ["Asks", "array_asks", "banks_of", "merged", "port_of", "step_of"]

#: Constants of the RTL: from a matmul's first cycle to its first activations; from the last row of
#: its sums that is read to its end, beside the sum's cycles.
_ACTS, _SUMMED = 2, 2


class Asks(NamedTuple):
    """What is asked of a port: from a cycle on the banks of each cycle, a bit each.

    ``step``: banks from each cycle to the next, where these are the same; else 0, as where it is
    one bank all the time. Two that ask for a bank a cycle, with the same step, meet once at most.
    """

    first: int
    banks: bytes
    step: int = 0

    def later(self, cycles: int) -> Asks:
        """Return the same so many cycles later."""
        return Asks(self.first + cycles, self.banks, self.step)


def port_of(mem: Mem, write: bool) -> int:
    """Return a number of a port of a memory."""
    return 2 * mem + write


_READ_ACTS, _READ_SUMS, _WRITE_SUMS = (
    port_of(Mem.UB, False), port_of(Mem.ACC, False), port_of(Mem.ACC, True))


@lru_cache(maxsize=1 << 12)
def _banks_of(counts: tuple[int, ...], strides: tuple[int, ...], base: int, banks: int,
              beats: int) -> bytes:
    rows = (Stream(base, counts, strides).offsets() + base) % banks
    return bytes(1 << int(bank) for bank in rows.repeat(beats))


def banks_of(stream: Stream, banks: int, beats: int = 1) -> bytes:
    """Return the bank of each row of a stream, as a bit; so many times as a row has beats."""
    return _banks_of(stream.counts, stream.strides, stream.base % banks, banks, beats)


@lru_cache(maxsize=1 << 12)
def _step(counts: tuple[int, ...], strides: tuple[int, ...], banks: int) -> int:
    steps: set[int] = set()
    inner = 0  # from the first row of the dimensions so far to the last one
    for count, stride in zip(counts, strides, strict=True):
        if count > 1:
            steps.add((stride - inner) % banks)
            inner += (count - 1) * stride
    return steps.pop() if len(steps) == 1 else 0


def step_of(stream: Stream, banks: int) -> int:
    """Return the banks from each row of a stream to the next, as `Asks` says it."""
    return _step(stream.counts, stream.strides, banks)


def array_asks(command: Matmul, config: TpuConfig, start: int, end: int, weights: int
               ) -> list[tuple[int, Asks]]:
    """Return what a matmul asks for, each with its port.

    ``start``, ``end``: of it. ``weights``: when these begin to come in, see `Cost`.
    """
    count = config.banks
    acc = Asks(end + 1 - command.length, banks_of(command.acc, count), step_of(command.acc, count))
    acts = Asks(start + _ACTS, banks_of(command.acts, count), step_of(command.acts, count))
    found = [(_WRITE_SUMS, acc), (_READ_ACTS, acts)]
    if command.weights is not None:
        found.append((_READ_ACTS, Asks(weights + _ACTS, banks_of(command.weights, count),
                                       step_of(command.weights, count))))
    if command.accumulate:
        found.append((_READ_SUMS, acc.later(-_SUMMED - config.sum_cycles)))
    return found


def merged(asks: Iterable[Asks], begin: int) -> bytes:
    """Return the banks that several ask for together, of each cycle from ``begin`` on."""
    together = size = 0
    for first, banks, _ in asks:
        if first < begin:
            first, banks = begin, banks[begin - first:]
        if banks:
            together |= int.from_bytes(banks, "little") << 8 * (first - begin)
            size = max(size, first - begin + len(banks))
    return together.to_bytes(size, "little")
