"""A wire in memory that spoils what it carries, with a clock of its own."""

import numpy as np

from sw.driver.link.board import Board

__all__ = ["FaultyWire"]


class FaultyWire:
    """A board behind a line on which bytes are changed, lost and doubled, and frames too.

    Time passes only when there is nothing to read. ``rate`` is the chance of a fault in a byte,
    each kind alike; ``frame_rate`` that of a whole burst of bytes being lost or doubled.
    """

    name, byte_seconds = "the faulty wire", 0.0

    def __init__(self, board: Board, seed: int = 0, rate: float = 0.0, frame_rate: float = 0.0):
        self.board, self.rate, self.frame_rate = board, rate, frame_rate
        self.now = 0.0
        self.faults = {"flip": 0, "drop": 0, "double": 0, "burst": 0}
        self.bytes = [0, 0]  # to the board, from it
        self._rng = np.random.default_rng(seed)
        self._coming = b""
        self._bursts = iter(())

    def clock(self) -> float:
        return self.now

    def _burst(self) -> float:
        """Return a random number, drawn many at a time."""
        for number in self._bursts:
            return number
        self._bursts = iter(self._rng.random(4096).tolist())
        return next(self._bursts)

    def _spoil(self, data: bytes) -> bytes:
        chance = self._burst()
        if chance < self.frame_rate:
            self.faults["burst"] += 1
            data = b"" if chance < self.frame_rate / 2 else data * 2
        count = self._rng.binomial(len(data), self.rate) if self.rate else 0
        if not count:
            return data
        spoilt = bytearray(data)
        for at in sorted(self._rng.integers(0, len(data), count), reverse=True):
            kind = ("flip", "drop", "double")[self._rng.integers(3)]
            self.faults[kind] += 1
            if kind == "flip":
                spoilt[at] ^= 1 << int(self._rng.integers(8))
            elif kind == "drop":
                del spoilt[at]
            else:
                spoilt.insert(at, spoilt[at])
        return bytes(spoilt)

    def write(self, data: bytes) -> None:
        self.bytes[0] += len(data)
        answer = self.board.feed(self._spoil(data))
        self.bytes[1] += len(answer)
        self._coming += self._spoil(answer)

    def read(self, seconds: float) -> bytes:
        if not self._coming:
            self.now += seconds
            return b""
        size = 1 + int(self._burst() * len(self._coming))
        data, self._coming = self._coming[:size], self._coming[size:]
        return data

    def close(self) -> None:
        self._coming = b""
