"""Chips of boards in other processes, and what threads ask of them at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia_sim.library import MEMORY_BYTES, check_span
from celosia_sim.rtl import check_write

__all__ = ["ApartChip", "ChipPart"]

#: Bytes, and pieces, that are written to a chip together, at most.
_MOST_WRITTEN, _MOST_WRITES = 1 << 20, 256


class ChipPart:
    """One thing that a chip is asked.

    Attributes
    ----------
    asked, data
        What, and bytes for it.
    waited
        Whether somebody waits for its answer.
    answer
        A value and bytes, or an error; None: the board has not answered.
    """

    def __init__(self, *asked: Any, data: bytes = b"", waited: bool = True):
        self.asked, self.data, self.waited = asked, data, waited
        self.answer: tuple[Any, memoryview] | Exception | None = None


class ApartChip:
    """A chip of a board in another process: what a pod wants of `celosia_sim.rtl.RtlTransport`.

    What is written, to its registers, too, goes with what it or all boards are asked next. What
    threads ask of several chips while boards answer goes to all of them together.

    Parameters
    ----------
    board, place
        The number of its board, and its own there.
    answered
        Has all chips be asked what they have not been yet, until a part is answered.
    """

    memory_bytes = MEMORY_BYTES

    def __init__(self, board: int, place: int, answered: Callable[[ChipPart], None]):
        self.board, self.place = board, place
        self._answered = answered
        self._lock = threading.Lock()
        self._parts: list[ChipPart] = []

    def take(self) -> list[ChipPart]:
        """Return what it is to be asked and was not yet."""
        with self._lock:
            parts, self._parts = self._parts, []
        return parts

    def _add(self, *parts: ChipPart) -> tuple[int, int]:
        """Have it asked with what comes next; return how much waits, and how many bytes."""
        with self._lock:
            self._parts += parts
            return len(self._parts), sum(len(each.data) for each in self._parts)

    def _write(self, *asked: Any, data: bytes = b"") -> None:
        part = ChipPart(*asked, data=data, waited=False)
        pieces, size = self._add(part)
        if pieces > _MOST_WRITES or size > _MOST_WRITTEN:
            self._ended([part])

    def _ask(self, *parts: ChipPart) -> list[tuple[Any, memoryview]]:
        """Ask for things, one after the other; return what each gives, and its bytes."""
        if parts:
            self._add(*parts)
        return self._ended(parts)

    def _ended(self, parts: Sequence[ChipPart]) -> list[tuple[Any, memoryview]]:
        found: list[tuple[Any, memoryview]] = []
        for each in parts:
            self._answered(each)
            if isinstance(each.answer, Exception):
                raise each.answer
            assert each.answer is not None
            found.append(each.answer)
        return found

    def read_register(self, offset: int) -> int:
        """As of `celosia_sim.rtl.RtlTransport`."""
        return self.read_registers([offset])[0]

    def read_registers(self, offsets: Sequence[int]) -> list[int]:
        """As of `celosia_sim.rtl.RtlTransport`."""
        [(values, _)] = self._ask(ChipPart("read_registers", *offsets))
        return values

    def write_register(self, offset: int, value: int) -> None:
        """As of `celosia_sim.rtl.RtlTransport`."""
        check_write(offset, value)
        self._write("write_register", offset, value)

    def write_registers(self, values: Sequence[tuple[int, int]]) -> None:
        """As of `celosia_sim.rtl.RtlTransport`."""
        for each in values:
            self.write_register(*each)

    def read_memory(self, address: int, size: int) -> NDArray[np.uint8]:
        """As of `celosia_sim.rtl.RtlTransport`."""
        return self.read_memories([(address, size)])[0]

    def read_memories(self, spans: Sequence[tuple[int, int]]) -> list[NDArray[np.uint8]]:
        """As of `celosia_sim.rtl.RtlTransport`."""
        return [np.frombuffer(data, np.uint8)
                for _, data in self._ask(*(ChipPart("read_memory", *each) for each in spans))]

    def write_memory(self, address: int, data: bytes | NDArray[np.uint8]) -> None:
        """As of `celosia_sim.rtl.RtlTransport`."""
        raw = np.ascontiguousarray(data).tobytes() if isinstance(data, np.ndarray) else data
        check_span(address, len(raw))
        self._write("write_memory", address, data=raw)

    def wait_interrupt(self, timeout_cycles: int) -> bool:
        """As of `celosia_sim.rtl.RtlTransport`."""
        [(high, _)] = self._ask(ChipPart("wait_interrupt", timeout_cycles))
        return high

    def peek(self, memory: str, row: int, n: int) -> NDArray[np.uint8]:
        """As of `celosia_sim.rtl.RtlTransport`."""
        [(shape, data)] = self._ask(ChipPart("peek", memory, row, n))
        return np.frombuffer(data, np.uint8).reshape(shape)

    def poke(self, memory: str, row: int, data: NDArray[np.uint8]) -> None:
        """As of `celosia_sim.rtl.RtlTransport`."""
        self._ask(ChipPart("poke", memory, row, data.shape, data=data.tobytes()))

    def close(self) -> None:
        """Do nothing: the board's end is its own."""
