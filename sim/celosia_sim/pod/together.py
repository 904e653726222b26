"""A pod whose boards are in processes that run the same program: none of them leads."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia_sim.pod.board import PodBoard
from celosia_sim.pod.options import End, PodOptions
from celosia_sim.rtl import RtlTransport

__all__ = ["SharedBoards", "Together"]


class Together(Protocol):
    """The processes, as one of them knows them: `celosia.collectives.processes.Processes`."""

    #: A connection to each other one.
    lines: Mapping[int, socket.socket]

    @property
    def index(self) -> int:
        """The number of this one."""
        ...

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    def gather(self, value: Any, look: Callable[[], None] = ...) -> list[Any]:
        """Return what each of them gives, a value of JSON; all call it in the same order. What
        ``look`` raises, which is called now and then, ends it.
        """
        ...

    def withdraw(self, why: str) -> None:
        """Say that this one takes part in no `gather` any more."""
        ...


class SharedBoards:
    """The board of this process, and what those of the others answer.

    Whoever has the pod asks in each process for the same, in the same order.

    Parameters
    ----------
    config, links, options
        As of `PodBoard`.
    spans
        The chips of each process.
    together
        The processes.

    Attributes
    ----------
    here
        The chips of this process.
    chips
        The way to each of these.
    """

    def __init__(self, config: TpuConfig, links: Mapping[End, End], options: PodOptions,
                 spans: Sequence[range], together: Together):
        self._together, self._index = together, together.index
        self.here = spans[self._index]
        RtlTransport(config, quiet=True).close()  # it is built before others wait for it
        self.gather(None)
        near = {place for a, b in links.items() for here, there in ((a, b), (b, a))
                if here[0] in self.here for place, span in enumerate(spans) if there[0] in span}
        self._board = PodBoard(config, self.here, links, options, [
            (spans[place], together.lines[place]) for place in sorted(near - {self._index})])
        self.chips = self._board.chips

    def gather(self, value: Any, look: Callable[[], None] = lambda: None) -> list[Any]:
        """Return what each process gives; as of `Together.gather`."""
        return self._together.gather(value, look)

    def withdraw(self, why: str) -> None:
        """Say that this process asks its board no more; as of `Together.withdraw`."""
        self._together.withdraw(why)

    def all(self, name: str, arguments: Sequence[Sequence[Any]]) -> list[Any]:
        """Ask all boards for the same, each with arguments of its own; errors as of `PodBoard`."""
        found = getattr(self._board, name)(*arguments[self._index])
        if isinstance(found, np.ndarray):
            return [bytes.fromhex(each) for each in self.gather(found.tobytes().hex())]
        return self.gather(found)

    def read_memory(self, chip: int, address: int, size: int) -> NDArray[np.uint8]:
        """Return bytes of any chip."""
        own = (self.chips[chip - self.here.start].read_memory(address, size).tobytes().hex()
               if chip in self.here else None)
        [data] = filter(None, self.gather(own))
        return np.frombuffer(bytes.fromhex(data), np.uint8)

    def links(self, chip: int) -> list[dict[str, int]]:
        """As of `PodBoard.links`, of a chip of this process."""
        return self._board.links(chip)

    def close(self) -> None:
        """Free the chips and hang up; closing twice does nothing."""
        self._board.close()
