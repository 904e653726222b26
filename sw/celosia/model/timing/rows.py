"""Rows under way on the chip: those of the array, of the vector unit, of transfers, and how they
wait for one another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from celosia.arch.commands import Dma, Matmul, Vector
from celosia.arch.config import TpuConfig
from celosia.arch.isa import Unit
from celosia.model.timing.beats import IDLE, READER, WRITTEN, Played, VectorRows, play, played_alone
from celosia.model.timing.ports import Asks, array_asks, banks_of, merged, port_of, step_of
from celosia.model.timing.transfers import loaded, stored
from celosia.model.timing.window import WindowEntry

__all__ = ["PlayedTransfer", "PlayedVector", "RowsUnderWay"]

#: Of the RTL: from the start of a store to its first request on a chip with all its lanes; rows of
#: a store that may wait for the bus (hw/celosia_hw/dma/rows.py), on a chip that is cut as well.
_ASKED, _AHEAD, _AHEAD_CUT = 2, 4, 8
#: Ports of the memories, and with those of a reader that is apart; a cycle that does not come; any
#: step.
_PORTS, _NEVER, _ANY = 8, 1 << 60, -1


class PlayedVector:
    """A vector instruction.

    Attributes
    ----------
    entry, rows
        Of it.
    played, alone
        What became of it; what would with nothing before or beside it, from cycle 0 on.
    late
        Cycles that its rows waited for those of others.
    """

    __slots__ = ("_beats", "_first", "_key", "_least", "_more", "_start", "alone", "entry", "late",
                 "played", "rows")

    def __init__(self, entry: WindowEntry, rows: VectorRows, config: TpuConfig, start: int,
                 latency: int, fill: int):
        self._first = READER * config.cut  # from its start to its first request
        self.entry, self.rows, self.played = entry, rows, IDLE
        self.alone = played_alone(rows, config)
        self._start = start + self._first
        # What its operation takes beside its rows.
        self._more = latency - self._first - self.alone.last
        self._beats = rows.beats + fill
        self._key: object = None
        self._least = self.late = 0

    @property
    def start(self) -> int:
        """Cycle from which on it may ask for rows."""
        return self._start + self.entry.moved

    @property
    def end(self) -> int:
        """Cycle in which it ends."""
        return max(self.played.last + self._more, self._least)

    @property
    def free(self) -> int:
        """Cycle in which the instruction behind it may start."""
        return self.played.read + 1 - self._first

    def play(self, config: TpuConfig, busy: dict[int, bytes], last: PlayedVector | None) -> None:
        """Play it behind another one; ``busy``: by port, what the array asks for."""
        before = IDLE
        if last is not None:  # rows come out in order, whatever those before went through
            before, self._least = last.played, last.end + self._beats
        key = self.start, busy, before
        if key == self._key:
            return
        self._key, start = key, self.behind(before)
        self.played = (self.alone.later(start) if not busy and not config.cut
                       else play(self.rows, config, self.start, busy, before))
        self.late = max(0, self.played.last - start - self.alone.last)

    def behind(self, before: Played) -> int:
        """Return the cycle in which its rows begin behind another one, with nothing beside it."""
        p, q = self.alone.readers
        last_p, last_q = before.readers
        # The second reader may be behind the first one, by the same cycles all the time.
        return max(self.start, last_p.asked + 1, last_q.asked + 1 - max(q.asked - p.asked, 0),
                   before.entered + 1 - self.alone.begun)


class PlayedTransfer:
    """A load or a store.

    Attributes
    ----------
    entry, port
        Of it.
    begins
        Cycle in which its first row was to get through.
    held
        Cycles that it takes longer for the rows of others.
    """

    __slots__ = ("_ahead", "_each", "_first", "_rows", "_step", "begins", "entry", "held", "port")

    def __init__(self, command: Dma, entry: WindowEntry, config: TpuConfig, each: float):
        chip, store = command.chip(config.dim), entry.unit == Unit.STORE
        self.entry, self.port = entry, port_of(command.mem, not store)
        self._rows, self._each = banks_of(chip, config.banks), each
        # Where it has the time it makes good the cycle that it waits for one that goes on.
        self._step = step_of(chip, config.banks) if each == 1 else _ANY
        self._ahead = (_AHEAD_CUT if config.cut else _AHEAD) * store
        #: From its first row to its end.
        self._first = (entry.latency - _ASKED - config.cut + config.small if store
                       else WRITTEN + self._alone)
        self.held, self.begins = 0, entry.end - self._first

    @property
    def _alone(self) -> int:
        return int((len(self._rows) - 1) * self._each)

    def late(self, rows: RowsUnderWay) -> int:
        """Return the cycles that it takes longer beside others."""
        begin = self.entry.end - self.held - self._first
        busy = merged(rows.asked(self.port, begin, self._step, vectors=True), begin)
        if not busy:
            return 0
        if self._ahead:
            return stored(self._rows, self._each, self._ahead, busy) - self._alone
        least = max(1, self._each * self.entry.share)
        return loaded(self._rows, self._each, least, busy) - self._alone


class RowsUnderWay:
    """What is under way, in the order of the program.

    Parameters
    ----------
    config
        Of the chip.
    meet
        Whether rows that meet in a bank wait for one another.

    Attributes
    ----------
    vectors, transfers
        Those that may have to be played again.
    """

    def __init__(self, config: TpuConfig, *, meet: bool = True):
        self._config, self._meet = config, meet
        #: By port, what matmuls asked of it, and how far they had been put off then.
        self._array: list[deque[tuple[WindowEntry, Asks, int]]] = [
            deque() for _ in range(_PORTS)]
        self.vectors: deque[PlayedVector] = deque()
        self.transfers: deque[PlayedTransfer] = deque()

    def forget(self, now: int) -> None:
        """Forget what is over: no row that is played from now on meets it."""
        vectors, transfers, array = self.vectors, self.transfers, self._array
        while transfers and transfers[0].entry.end <= now:
            transfers.popleft()
        since = min((now, *(transfer.begins for transfer in transfers)))
        while len(vectors) > 1 and vectors[1].entry.end <= since:
            vectors.popleft()  # but the last one, behind which the next one is played
        since = min((since, *(vector.start for vector in vectors)))
        for asks in array:
            while asks and asks[0][0].end <= since:
                asks.popleft()

    def asked(self, port: int, begin: int, step: int, *, vectors: bool) -> Iterator[Asks]:
        """Yield what array, and vector unit, ask of a port from a cycle on.

        ``step``: of who waits for them, see `Asks`; those that go in step with it are left out.
        """
        for entry, (first, banks, going), moved in self._array[port]:
            first += entry.moved - moved
            if first + len(banks) > begin and not (going and step in (going, _ANY)):
                yield Asks(first, banks)
        if vectors:
            for vector in self.vectors:
                for used, found in vector.played.asks:
                    if (used == port and found.first + len(found.banks) > begin
                            and not (found.step and step in (found.step, _ANY))):
                        yield found

    def matmul(self, command: Matmul, entry: WindowEntry) -> dict[int, Asks]:
        """Add a matmul; return what it asks for, by port."""
        if not self._meet:
            return {}
        asks = array_asks(command, self._config, entry.end - entry.latency, entry.end)
        for port, each in asks.items():
            self._array[port].append((entry, each, entry.moved))
        return asks

    def vector(self, command: Vector, entry: WindowEntry, start: int, latency: int, fill: int
               ) -> PlayedVector:
        """Add a vector instruction, and play it.

        ``start``, ``latency``: when it could start if its unit were free, and how long it takes by
        itself. ``fill``: see `Cost`.
        """
        rows = VectorRows.of(command, self._config)
        vector = PlayedVector(entry, rows if self._meet else rows.apart, self._config, start,
                              latency, fill)
        self.vectors.append(vector)
        self.play(len(self.vectors) - 1)
        return vector

    def play(self, place: int) -> PlayedVector:
        """Play a vector instruction, as array and the one before it are now; return it."""
        vector = self.vectors[place]
        before = self.vectors[place - 1] if place else None
        start, steps = vector.start, dict(vector.rows.steps)
        asked = {port: [*self.asked(port, start, steps.get(port, 0), vectors=False)]
                 for port in vector.rows.ports}
        begins = min((asks.first for each in asked.values() for asks in each), default=_NEVER)
        behind = vector.behind(before.played if before else IDLE)
        busy = {} if begins > behind + vector.alone.last else {
            port: merged(each, start) for port, each in asked.items() if each}
        vector.play(self._config, busy, before)
        return vector

    def transfer(self, command: Dma, entry: WindowEntry, occupied: int) -> PlayedTransfer | None:
        """Add a transfer; none is returned where its rows have the time to wait."""
        each = occupied / command.chip(self._config.dim).length
        if not self._meet or (each > 2 and self._config.banks > 1):
            return None
        self.transfers.append(PlayedTransfer(command, entry, self._config, each))
        return self.transfers[-1]
