"""States of a pod's boards that a board has in its memory: its own, and those of two others.

A state goes from board to board by a connection of its own, through the door: it is kept when it is
there as a whole, and who has sent it is told so.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from time import monotonic

from celosia.collectives.wire import receive, send
from celosia_sim.pod.board import NeighbourLost, PodBoardError
from celosia_sim.pod.door import Door, Hello, Role, enter

__all__ = ["States"]

#: Parts of a state, as of `PodBoard.save`.
_State = Sequence[bytes | bytearray | memoryview]
#: Where a board is: its first chip, and host and port.
_Place = tuple[int, str, int]
#: Seconds that one may take before a program has said how many.
_PATIENCE = 5.0


class States:
    """States by their number, and the first chip of whose they are.

    Parameters
    ----------
    door
        By which those of others come.
    token
        Of the pod.
    """

    def __init__(self, door: Door, token: bytes):
        self._door, self._token = door, token
        self._lock = threading.Lock()
        self._program, self._patience = -1, _PATIENCE
        self._kept: dict[tuple[int, int], _State] = {}

    def begin(self, program: int, patience: float) -> None:
        """Take those of a program's boards; those of another one are forgotten.

        Parameters
        ----------
        program
            The number that the boards' controller has.
        patience
            Seconds that a state may take.
        """
        with self._lock:
            if program != self._program:
                self._kept.clear()
            self._program, self._patience = program, patience

    def end(self) -> None:
        """Forget all, and take none."""
        self.begin(-1, _PATIENCE)

    def put(self, number: int, chip: int, state: _State) -> None:
        """Keep a state."""
        with self._lock:
            self._kept[number, chip] = state

    def get(self, number: int, chip: int) -> _State:
        """Return a state; PodBoardError if it is not there."""
        with self._lock:
            found = self._kept.get((number, chip))
        if found is None:
            raise PodBoardError(f"a board must have state {number} of the board from chip {chip} "
                                "on, but it has not")
        return found

    def forget(self, number: int) -> None:
        """Forget all but those of a number."""
        with self._lock:
            self._kept = {each: state for each, state in self._kept.items() if each[0] == number}

    def sizes(self) -> dict[int, int]:
        """Return the bytes of the newest state of each board, by its first chip."""
        with self._lock:
            return {chip: sum(memoryview(part).nbytes for part in state)
                    for (_, chip), state in sorted(self._kept.items())}

    def give(self, number: int, chip: int, places: Sequence[_Place],
             look: Callable[[], None]) -> None:
        """Send a state to other boards, and wait until all have it.

        Parameters
        ----------
        number, chip
            Of the state.
        places
            Of the boards.
        look
            Called now and then while a board does not let this one in; what it raises ends it.

        Raises
        ------
        PodBoardError
            If there is no such state.
        NeighbourLost
            If one of them does not take it.
        """
        state, end = self.get(number, chip), monotonic() + self._patience
        taking: list[tuple[int, socket.socket]] = []
        try:
            for first, host, port in places:
                taking.append((first, enter((host, port), self._token, Hello(
                    Role.STATE, 0, chip), max(end - monotonic(), 1e-3), look)))
                with self._limited(*taking[-1], end):
                    send(taking[-1][1], [self._program, number, chip,
                                         [memoryview(part).nbytes for part in state]], *state)
            for first, connection in taking:
                with self._limited(first, connection, end):
                    receive(connection)
        finally:
            for _, connection in taking:
                connection.close()

    @contextlib.contextmanager
    def _limited(self, first: int, connection: socket.socket, end: float) -> Iterator[None]:
        connection.settimeout(max(end - monotonic(), 1e-3))
        try:
            yield
        except (EOFError, OSError) as error:
            why = ("it has not" if isinstance(error, TimeoutError) else f"it is gone: {error}")
            raise NeighbourLost(f"the board from chip {first} on must keep a state within "
                                f"{self._patience:g} s, but {why}") from None

    def take(self) -> None:
        """Take the states that others send, whoever else does not go on; it does not return."""
        while True:
            threading.Thread(target=self._take, args=[self._door.state()], daemon=True).start()

    def _take(self, connection: socket.socket) -> None:
        # Who is not told that it is kept sees that this one hangs up.
        with connection, contextlib.suppress(EOFError, OSError, ValueError, TypeError):
            connection.settimeout(self._patience)
            (program, number, chip, sizes), data = receive(connection)
            parts = _parts(sizes, data)
            with self._lock:
                if program != self._program:
                    return
                self._kept[number, chip] = parts
            send(connection, True)


def _parts(sizes: Sequence[int], data: bytearray) -> list[memoryview]:
    if sum(sizes) != len(data):
        raise ValueError(f"parts of a state must have its {len(data)} bytes, not {sum(sizes)}")
    view, found = memoryview(data), []
    for size in sizes:
        found.append(view[:size])
        view = view[size:]
    return found
