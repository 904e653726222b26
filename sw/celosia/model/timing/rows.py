"""Rows under way on the chip: those of the array, of the vector unit, of transfers, and how they
wait for one another.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping

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
#: Ports of the memories, and with those of a reader that is apart; any step.
_PORTS, _ANY = 8, -1


def _in_step(going: int, step: int) -> bool:
    """Whether rows that go on by a bank a cycle are left out by who waits for them."""
    return going != 0 and step in (going, _ANY)


class PlayedVector:
    """A vector instruction.

    Attributes
    ----------
    entry, rows
        Of it.
    ports
        Those in which it may lose more than a cycle, and its step in each.
    played, alone
        What became of it; what would with nothing before or beside it, from cycle 0 on.
    late
        Cycles that its rows waited for those of others.
    """

    __slots__ = ("_beats", "_first", "_key", "_least", "_more", "_seen", "_start", "alone",
                 "entry", "late", "played", "ports", "rows")

    def __init__(self, entry: WindowEntry, rows: VectorRows, config: TpuConfig, start: int,
                 latency: int, fill: int):
        self._first = READER * config.cut  # from its start to its first request
        self.entry, self.rows, self.played = entry, rows, IDLE
        self.alone = played_alone(rows, config)
        steps = dict(rows.steps)
        self.ports = {port: steps.get(port, 0) for port in rows.ports}
        self._start = start + self._first
        # What its operation takes beside its rows.
        self._more = latency - self._first - self.alone.last
        self._beats = rows.beats + fill
        self._key: object = None
        self._seen: tuple[int, int, Played] | None = None
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

    def follow(self, last: PlayedVector | None, change: int) -> bool:
        """Come behind another one; return whether it is to be played.

        ``change``: a number that is another one when the array asks for other rows.
        """
        before = IDLE
        if last is not None:  # rows come out in order, whatever those before went through
            before, self._least = last.played, last.end + self._beats
        seen, self._seen = self._seen, (self.start, change, before)
        return (seen is None or seen[2] is not before
                or (seen[0], seen[1]) != (self.start, change))

    def play(self, config: TpuConfig, busy: dict[int, bytes], before: Played) -> None:
        """Play it behind another one; ``busy``: by port, what the array asks for."""
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

    __slots__ = ("_ahead", "_each", "_first", "_rows", "_seen", "_step", "begins", "entry", "held",
                 "port")

    def __init__(self, command: Dma, entry: WindowEntry, config: TpuConfig, each: float):
        chip, store = command.chip(config.dim), entry.unit == Unit.STORE
        self.entry, self.port = entry, port_of(command.mem, not store)
        self._rows, self._each = banks_of(chip, config.banks), each
        # Where it has the time it makes good the cycle that it waits for one that goes on; rows of
        # one bank, one behind the other, have it from two cycles each on.
        step = step_of(chip, config.banks)
        self._step = step if each == 1 or (not step and each < 2) else _ANY
        self._ahead = (_AHEAD_CUT if config.cut else _AHEAD) * store
        #: From its first row to its end.
        self._first = (entry.latency - _ASKED - config.cut + config.small if store
                       else WRITTEN + self._alone)
        self.held, self.begins = 0, entry.end - self._first
        self._seen: tuple[int, int] | None = None

    @property
    def _alone(self) -> int:
        return int((len(self._rows) - 1) * self._each)

    def late(self, rows: RowsUnderWay) -> int:
        """Return the cycles that it takes longer beside others."""
        begin = self.entry.end - self.held - self._first
        seen = begin, rows.changes({self.port: self._step}, vectors=True)
        if seen == self._seen:
            return self.held
        self._seen = seen
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
    moves
        How often matmuls have been put off.
    """

    def __init__(self, config: TpuConfig, *, meet: bool = True):
        self._config, self._meet = config, meet
        #: By port and step what matmuls asked for, each with how far it had been put off then; and
        #: how many there have been.
        self._array: list[defaultdict[int, deque[tuple[WindowEntry, Asks, int]]]] = [
            defaultdict(deque) for _ in range(_PORTS)]
        self._added: list[Counter[int]] = [Counter() for _ in range(_PORTS)]
        #: By port, how often the vector unit has come to ask for others.
        self._others: Counter[int] = Counter()
        self.vectors: deque[PlayedVector] = deque()
        self.transfers: deque[PlayedTransfer] = deque()
        self.moves = 0

    def forget(self, now: int) -> None:
        """Forget what is over: no row that is played from now on meets it."""
        vectors, transfers, since = self.vectors, self.transfers, now
        while transfers and transfers[0].entry.end <= now:
            transfers.popleft()
        for transfer in transfers:
            if transfer.begins < since:
                since = transfer.begins
        while len(vectors) > 1 and vectors[1].entry.end <= since:
            vectors.popleft()  # but the last one, behind which the next one is played
        for vector in vectors:
            if (start := vector.start) < since:
                since = start
        for steps in self._array:
            for asks in steps.values():
                while asks and asks[0][0].end <= since:
                    asks.popleft()

    def changes(self, ports: Mapping[int, int], *, vectors: bool = False) -> int:
        """Return a number that is another one when array, and vector unit, may ask for other rows.

        ``ports``: of who waits for them, and its step in each.
        """
        total = self.moves
        for port, step in ports.items():
            for going, count in self._added[port].items():
                if not _in_step(going, step):
                    total += count
            if vectors:
                total += self._others[port]
        return total

    def asked(self, port: int, begin: int, step: int, *, vectors: bool) -> Iterator[Asks]:
        """Yield what array, and vector unit, ask of a port from a cycle on.

        ``step``: of who waits for them, see `Asks`; those that go in step with it are left out.
        """
        for going, asks in self._array[port].items():
            if _in_step(going, step):
                continue
            for entry, (first, banks, _), moved in asks:
                first += entry.moved - moved
                if first + len(banks) > begin:
                    yield Asks(first, banks)
        if vectors:
            for vector in self.vectors:
                for used, found in vector.played.asks:
                    if (used == port and found.first + len(found.banks) > begin
                            and not _in_step(found.step, step)):
                        yield found

    def matmul(self, command: Matmul, entry: WindowEntry, weights: int) -> list[tuple[int, Asks]]:
        """Add a matmul, whose weights begin to come in a cycle; return what it asks for, each with
        its port.
        """
        if not self._meet:
            return []
        asks = array_asks(command, self._config, entry.end - entry.latency, entry.end, weights)
        for port, each in asks:
            self._array[port][each.step].append((entry, each, entry.moved))
            self._added[port][each.step] += 1
        return asks

    def vector(self, command: Vector, entry: WindowEntry, start: int, latency: int, fill: int
               ) -> PlayedVector:
        """Add a vector instruction, and play it.

        ``start``, ``latency``: when it could start if its unit were free, and how long it takes by
        itself. ``fill``: see `Cost`.
        """
        rows = VectorRows.of(command, self._config)
        self.vectors.append(PlayedVector(entry, rows if self._meet else rows.apart, self._config,
                                         start, latency, fill))
        return self.play(len(self.vectors) - 1)

    def play(self, place: int) -> PlayedVector:
        """Play a vector instruction, as array and the one before it are now; return it."""
        vector = self.vectors[place]
        last = self.vectors[place - 1] if place else None
        if not vector.follow(last, self.changes(vector.ports)):
            return vector
        start, before = vector.start, last.played if last else IDLE
        asked = {port: each for port, step in vector.ports.items()
                 if (each := [*self.asked(port, start, step, vectors=False)])}
        busy: dict[int, bytes] = {}
        if asked:
            begins = min(asks.first for each in asked.values() for asks in each)
            if begins <= vector.behind(before) + vector.alone.last:
                busy = {port: merged(each, start) for port, each in asked.items()}
        was = vector.played
        vector.play(self._config, busy, before)
        if vector.played is not was:
            self._others.update(port for port, _ in (*was.asks, *vector.played.asks))
        return vector

    def transfer(self, command: Dma, entry: WindowEntry, occupied: int) -> PlayedTransfer | None:
        """Add a transfer; none is returned where its rows have the time to wait."""
        each = occupied / command.chip(self._config.dim).length
        if not self._meet or (each > 2 and self._config.banks > 1):
            return None
        self.transfers.append(PlayedTransfer(command, entry, self._config, each))
        return self.transfers[-1]
