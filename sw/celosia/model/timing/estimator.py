"""Estimate of the cycles of a run: an event model of fetch, scalar unit, units and scoreboard.

Each tensor instruction starts when it is fetched, resolved and checked, has a place in the window,
its unit has taken the one before it, and no older instruction of another unit (for the vector unit
also its own) that touches the same rows or bytes is unfinished.

Rows that wait for one another in a bank (:mod:`celosia.model.timing.rows`) are played, cycle by
cycle, where one holds up another for more than a cycle; rows of what follows in the program are
among them, so what was played before is played again. Beats of instruction fetch delay the loads
under way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence, Set
from operator import attrgetter

from celosia.arch.commands import Command, Dma, Matmul, Vector, row_accesses
from celosia.arch.config import TpuConfig
from celosia.arch.ici import link_cycles
from celosia.arch.isa import RecvOp, Unit
from celosia.arch.lane import tree_latency
from celosia.arch.messages import MessageCommand
from celosia.arch.vector import Reduce
from celosia.model.timing.asked import asked
from celosia.model.timing.banks import constant_bank
from celosia.model.timing.cost import (
    ASKS,
    HANDOVER,
    ISSUES,
    LANDS,
    LEADERS,
    ROOM,
    cost,
    follow,
    paced,
    repeats,
)
from celosia.model.timing.events import Reason, Timeline
from celosia.model.timing.fetch import BLOCK, Fetch
from celosia.model.timing.memory import Occupancy, Timing, meeting
from celosia.model.timing.rows import PlayedTransfer, RowsUnderWay
from celosia.model.timing.transfers import QUEUED
from celosia.model.timing.window import SPACE_BITS, WindowEntry, WindowMessage

__all__ = ["Estimator"]

#: Constants of the RTL, measured with single instructions; more in `celosia.model.timing.cost`.
_START, _HALT, _FENCE, _READ = 3, 3, 1, 6  # doorbell to first fetch; behind all that is done
#: From the scalar unit's coming to a block until those that have room then are asked for.
_FETCH = 5
#: From an entry's being offered to the scoreboard until it has been compared.
_COMPARED = 2
#: Units whose instructions are late where those of a unit became late.
_PUSHED = {Unit.MXU: (Unit.LOAD, Unit.VPU), Unit.VPU: (Unit.LOAD, Unit.STORE, Unit.MXU),
           Unit.STORE: (Unit.LOAD, Unit.VPU, Unit.MXU)}
#: Before the first word of a send, behind the last word of a receive, and of rows that are joined.
_SEND, _RECV, _JOIN = 8, 5, 24
#: How often those that wait for each other are played anew, at most; a cycle that does not come.
_TIMES, _NEVER = 2, 1 << 60
_ALL_PORTS = frozenset(range(4))
_END = attrgetter("end")


class Estimator:
    """Clock of one run.

    Parameters
    ----------
    config
        The chip.
    timing
        Its memory.
    length
        Instructions of the program.
    loops
        Start and end of the loops that are entered, innermost last; looked at all the time.
    timeline
        Where to note each tensor instruction; None: nowhere.

    Attributes
    ----------
    now
        Cycle in which the scalar unit is.
    busy
        Cycles in which each unit moved or computed rows.
    last
        Cycle in which all instructions so far are done.
    """

    def __init__(self, config: TpuConfig, timing: Timing, length: int = 1 << 31,
                 loops: Sequence[Sequence[int]] = (), timeline: Timeline | None = None):
        self._config = config
        self._timing = timing
        self._window: list[WindowEntry | WindowMessage] = []
        self._size = config.window
        self._free = [0] * 4
        self._done = [0] * 4
        self._links: dict[int, int] = {}  # when each unit of a port is free
        self._arrived = 0
        self._taken = self._checked = 0  # when the checker took an instruction; when it is free
        self._before: Vector | None = None  # of the vector unit
        self._wave: tuple[Matmul | None, int] = None, 0  # the matmul before, and its first cycle
        self._weights = 0  # when those of the last matmul began to come in
        self._rows = RowsUnderWay(config, meet=timing.bank_conflicts)
        self._again = _NEVER  # from when on rows have been put off since they were played
        #: Loads that may be under way.
        self._loads: deque[WindowEntry] = deque(maxlen=2 * config.window)
        self._fetch = Fetch(config, timing, length)
        self._block = -1  # of the instruction before
        self._loops = loops
        self._timeline = timeline
        self._pc = 0
        self._starved = False  # whether the instruction at hand was waited for
        self._latest = [-1] * 4  # of each unit, in the timeline
        self.now = _START
        self.busy = [0] * 5
        self.last = 0

    def scalar(self, pc: int, cycles: int) -> None:
        """Count the scalar unit's part in an instruction."""
        self._pc, self._starved = pc, False
        if pc // BLOCK != self._block:
            self._block = pc // BLOCK
            if count := self._fetch.wanted(pc, self._loops):
                self._ask(count)
            if (ready := self._fetch.ready(pc)) > self.now:
                self.now, self._starved = ready, True
        self.now += cycles
        self.busy[Unit.SCALAR] += cycles
        if self.now > self.last:
            self.last = self.now

    def halt(self) -> None:
        """Wait for the tensor units, and raise the interrupt."""
        self._drain(_HALT)

    def fence(self) -> None:
        """Wait for the tensor units."""
        self._drain(_FENCE)

    def read(self) -> None:
        """Wait for the tensor units, and read a row."""
        self._drain(_READ)

    @property
    def halted(self) -> int:
        """Cycle of the interrupt if the run ended now."""
        return self._drained + _HALT

    @property
    def _drained(self) -> int:
        return max(self.now, self._checked, self._arrived, *self._done)

    def _drain(self, cycles: int) -> None:
        self.now = self._drained + cycles
        self._window.clear()
        self.last = max(self.last, self.now)

    def stride(self) -> None:
        """Wait for the checker, as an instruction that sets a stride register does."""
        self.now = max(self.now, self._checked)

    def tensor(self, command: Command) -> None:
        """Count a tensor instruction; :meth:`scalar` came before."""
        entry = WindowEntry(command, self._config)
        (check, occupied, latency, lead, fill, entry.burst, entry.pace, entry.share, entry.work,
         entry.behind, entry.turn, entry.again, singles) = cost(command, self._config, self._timing)
        unit = entry.unit
        issued, blamed = self.now, -1
        free = Reason.FETCH if self._starved else Reason.SCALAR
        reason = Reason.CHECK if self._hand_over() else free
        checked = self._taken + check
        room = ROOM[unit]
        window = [other for other in self._window if other.end + room > checked]
        if len(window) >= self._size:  # it is never larger
            first = min(window, key=_END)
            checked, reason, blamed = first.end + room, Reason.WINDOW, first.index
        window = [other for other in window if other.end > checked]
        self._checked = checked
        gate = reason, blamed
        leader: WindowEntry | WindowMessage | None = None
        start = plain = taken = checked + ISSUES[unit] + lead
        if self._free[unit] > start:
            start, reason, blamed = self._free[unit], Reason.UNIT, self._latest[unit]
        for other in window:
            end = other.end + lead
            if end >= plain and (other.unit != unit or unit == Unit.VPU) and entry.conflicts(other):
                if other.pace and unit in LEADERS and other.unit == LEADERS[unit][0]:
                    may, after = self._follow(command, lead, other, window)
                    leader, taken = other, max(taken, may)
                else:
                    after = end + HANDOVER * (other.unit != unit)
                    taken = max(taken, after)
                if unit == Unit.MXU and other.unit == Unit.LOAD:
                    entry.leaders.append((other, after - other.end))
                plain = max(plain, after)
                if after >= start:
                    start, blamed = after, other.index
                    reason = Reason.DATA if entry.follows(other) else Reason.ROWS
        resolved, waited, waits, more = start, 0, 0, 0
        if isinstance(command, Vector):
            start, fill = self._between(command, start, fill)
            occupied += fill
            latency += fill
            if start > resolved:
                reason, blamed = Reason.UNIT, self._latest[unit]
            else:
                resolved = plain
            vector = self._rows.vector(command, entry, min(start, resolved), latency, fill)
            latency, waited = max(vector.end, self._done[unit] + 1) - start, vector.late
            # Right behind another one single rows are read while that still is in the lanes.
            occupied = max(occupied - singles * (start == self._free[unit]), vector.free - start)
            self._before = command
        elif isinstance(command, Matmul):
            start = self._behind(command, start, plain, lead)
            if start > resolved:
                reason, blamed = Reason.WEIGHTS, self._latest[unit]
        elif unit == Unit.LOAD:  # what was asked for before comes before
            self._loads.append(entry)
            entry.asks = start if reason in (Reason.DATA, Reason.ROWS) else checked + ISSUES[unit]
            start = max(start, self._fetch.last - self._timing.way - ASKS)
            if start > resolved:
                reason, blamed = Reason.BUS, -1
        elif leader is not None:
            more = paced(command.chip(self._config.dim).length, occupied, leader.end - start)
            occupied += more
            latency += more
            waits = start - max(taken, self._free[unit])
        entry.latency, entry.end = latency, max(self._done[unit], start + latency)
        self._free[unit] = start + max(occupied, lead)
        self._done[unit] = entry.end
        if self._timeline is not None:
            entry.index = self._latest[unit] = len(self._timeline)
            amount = (command.rows * command.row_bytes if isinstance(command, Dma)
                      else command.length)
            times = issued, checked, start - waits, occupied + waits, entry.end
            self._timeline.add(self._pc, unit, amount, row_accesses(command, self._config.dim),
                               times, gate, (reason, blamed), waited)
        self.busy[unit] += (occupied - more if isinstance(command, Dma) else
                            command.length * (self._config.fold if unit == Unit.VPU else 1))
        window.append(entry)
        self._window = window
        if self._timing.shared and isinstance(command, Dma):
            self._share(entry)
        self._meet(command, entry, occupied - more)
        if self._done[unit] > self.last:
            self.last = self._done[unit]

    def _hand_over(self) -> bool:
        """Give the checker an instruction, before which one may wait; return whether it is busy."""
        self.now = max(self.now, self._taken)
        # A small chip's checker is free when the one before has been compared with the window, too.
        self._taken = max(self.now, self._checked + _COMPARED * self._config.small)
        busy = self._taken > self.now
        if self._config.small:  # none may wait
            self.now = self._taken
        return busy

    def message(self, command: MessageCommand, comes: int = 0) -> int:
        """Count a send or a receive; :meth:`scalar` came before.

        Parameters
        ----------
        command
            What is sent or received.
        comes
            When the last word of what is received is there; 0: before it is waited for.

        Returns
        -------
        int
            When the last word of what is sent is at the other end of the link.
        """
        config, entry = self._config, WindowMessage(command)
        words = 1 + (command.rows.length * config.dim * command.fmt.nbytes) // config.link_bytes
        busy, drain = link_cycles(words)
        self._hand_over()
        checked = self._taken + 1
        window = [other for other in self._window if other.end > checked]
        if len(window) >= self._size:
            checked = min(map(_END, window))
            window = [other for other in window if other.end > checked]
        self._checked = checked
        start = max(checked, self._links.get(entry.unit, 0))
        for other in window:
            if other.unit != entry.unit and entry.conflicts(other):
                start = max(start, other.end + HANDOVER)
        if command.op is None:
            start += _SEND
            entry.end, self._links[entry.unit] = start + words, start + busy - _SEND
        else:
            there = max(start + words, comes + drain)
            self._links[entry.unit] = there
            entry.end = there + _RECV + _JOIN * (command.op is not RecvOp.SET)
        self._arrived = max(self._arrived, entry.end)
        self.last = max(self.last, entry.end)
        self._window = [*window, entry]
        latency = self._timing.link_latency
        return start + busy + (latency if isinstance(latency, int) else latency[command.port])

    def _follow(self, command: Command, lead: int, other: WindowEntry | WindowMessage,
                window: Sequence[WindowEntry | WindowMessage]) -> tuple[int, int]:
        """Return when a command may be taken that follows the rows of another one, which is under
        way, and when its own rows may begin.
        """
        _, most = LEADERS[command.unit]
        before = [each.end for each in window[:window.index(other)] if each.unit == other.unit]
        start = before[-most] + lead + HANDOVER if len(before) >= most else 0
        low, high = (row & ((1 << SPACE_BITS) - 1) for row in other.wrote)
        return start, max(start, other.end + follow(command, lead, (low, high), other.pace,
                                                    self._config.dim))

    def _ask(self, count: int) -> None:
        """Fetch blocks, between the bursts of the loads under way."""
        fetch, now, timing = self._fetch, self.now, self._timing
        if not fetch.last:
            now -= timing.ahead
        else:
            now += _FETCH
        while self._loads and self._loads[0].end - LANDS <= now:
            self._loads.popleft()
        # An SDRAM goes to another row, and back.
        beside = self._loads or self._done[Unit.STORE] > now
        comes = fetch.request(count, now, asked(self._loads, now, timing),
                              2 * timing.page_cycles * bool(beside))
        for other in self._loads:
            if other.end - LANDS > comes:
                begins = other.end - other.latency + ASKS + timing.way
                # What a load writes row by row it has in store while other beats come.
                late = int(fetch.last - max(begins, comes) - QUEUED * (1 / other.share - 1))
                if late > 0:
                    self._delay(Unit.LOAD, comes + LANDS, late, begun=comes > begins)
                break
        if timing.shared:
            fetch.late(count, self._meet_others(
                Occupancy(comes, fetch.last, fetch.cycles), Unit.STORE))

    def _share(self, entry: WindowEntry) -> None:
        """Delay a transfer, and those of the other kind under way, by each other's bursts."""
        more = self._meet_others(entry.occupancy(), Unit.LOAD + Unit.STORE - entry.unit)
        self._delay(entry.unit, entry.end - 1, more)

    def _meet_others(self, mine: Occupancy, unit: int) -> int:
        """Delay what a unit transfers; return how much later another transfer ends."""
        others = [other for other in self._window
                  if isinstance(other, WindowEntry) and other.unit == unit]
        more, each = meeting(mine, [other.occupancy() for other in others], self._timing)
        for other, late in zip(others, each, strict=True):
            self._delay(unit, other.end - 1, round(late))
        return round(more)

    def _meet(self, command: Command, entry: WindowEntry, occupied: int) -> None:
        """Delay what waits in a port for rows of the array or of the vector unit."""
        rows, begins = self._rows, entry.end - entry.latency
        if not isinstance(command, Matmul):  # who looks for what is under way comes less often
            rows.forget(self._checked)
        if isinstance(command, Dma):
            if (transfer := rows.transfer(command, entry, occupied)) is not None:
                self._hold(transfer)
        elif isinstance(command, Matmul):
            asks = rows.matmul(command, entry, self._weights)
            begins = min((each.first for _, each in asks), default=begins)
            self._play(begins, {port for port, _ in asks})
        else:
            self._hold_again(begins, rows.vectors[-1].ports.keys())
        for _ in range(_TIMES):
            if self._again == _NEVER:
                break
            begins, self._again = self._again, _NEVER
            self._play(begins, _ALL_PORTS)

    def _play(self, since: int, ports: Set[int]) -> None:
        """Play what was under way in a cycle again: rows of the array in some ports have changed.

        Vector instructions follow one another: from the first that meets those rows, all are.
        """
        vectors = self._rows.vectors
        first = next((place for place, vector in enumerate(vectors) if vector.entry.end > since
                      and not ports.isdisjoint(vector.ports)), len(vectors))
        late = 0
        for place in range(first, len(vectors)):
            vector = self._rows.play(place)
            entry, before = vector.entry, late
            late = vector.end - entry.end
            if late:
                ports = ports | vector.ports.keys()
                entry.end += late
                entry.lost += late - before
                if self._timeline is not None:
                    self._timeline.delay([(entry.index, late)], not before)
                if late > 0:
                    self._push(entry)
        self._done[Unit.VPU] += late
        self._free[Unit.VPU] += late
        self._hold_again(since, ports)

    def _hold(self, transfer: PlayedTransfer) -> None:
        """Hold up a transfer for the rows of others, as these stand."""
        entry = transfer.entry
        if change := transfer.late(self._rows) - transfer.held:
            transfer.held += change
            self._delay(entry.unit, entry.end - 1, change)
            if change > 0 and entry.unit in _PUSHED:
                self._push(entry)

    def _hold_again(self, since: int, ports: Set[int]) -> None:
        """Hold up the transfers in some ports that were not done in a cycle."""
        for transfer in self._rows.transfers:
            if transfer.entry.end > since and transfer.port in ports:
                self._hold(transfer)

    def _delay(self, unit: int, since: int, cycles: int, begun: bool = True) -> None:
        """Make what a unit has not finished so many cycles later; ``begun``: the first of it has.

        Loads between which there was time are less late; matmuls that follow loads begin later.
        """
        late, ended = [], 0
        for other in self._window:
            if other.unit != unit or other.end <= since or isinstance(other, WindowMessage):
                continue
            if unit == Unit.LOAD:
                begins = other.end - other.latency + ASKS + self._timing.way
                if ended and begins > ended + self._config.cut:
                    cycles = max(0, cycles - (begins - ended - self._config.cut))
                ended = other.end - LANDS
            if unit in (Unit.MXU, Unit.VPU):
                self._again = min(self._again, other.end - other.latency)
                self._rows.moves += 1
            other.end += cycles
            if not begun or late:
                other.moved += cycles
            if begun and not late:
                other.lost += cycles
                if other.pace:
                    other.pace += cycles / (1 + other.wrote[1] - other.wrote[0])
            late.append((other.index, cycles))
        if self._timeline is not None:
            self._timeline.delay(late, begun)
        self._free[unit] += cycles
        self._done[unit] += cycles
        if unit == Unit.LOAD:
            for other in self._window:
                if isinstance(other, WindowEntry) and (more := other.early()) > 0:
                    self._delay(Unit.MXU, other.end - 1, more, begun=False)
                    self._push(other)

    def _push(self, first: WindowEntry) -> None:
        """Delay what conflicts with an instruction that has become later, and begins behind it."""
        later = False
        for other in self._window:
            if later and isinstance(other, WindowEntry) and other.unit in _PUSHED[first.unit]:
                lead = self._config.dim if other.unit == Unit.MXU else 0
                end = first.end + HANDOVER + lead + other.latency + other.lost
                if end > other.end and other.conflicts(first):
                    self._delay(other.unit, other.end - 1, end - other.end, begun=False)
            later = later or other is first

    def _between(self, command: Vector, start: int, fill: int) -> tuple[int, int]:
        """Return start and fill of a vector instruction behind the one before it in its unit."""
        free = self._free[Unit.VPU]
        if self._before is not None:
            before = self._before
            if fill and start == free and before.op == command.op:
                fill = 0
            if before.reduce >= Reduce.LANES and command.reduce < Reduce.LANES:
                start = max(start, free + tree_latency(self._config) + self._config.fold - 1)
                # Results stay in order.
        return start, fill

    def _behind(self, command: Matmul, start: int, plain: int, lead: int) -> int:
        """Account for weights, which come in while the activations of the matmul before do.

        ``plain``: when it could start if its unit were free.
        """
        before, began = self._wave
        weights = plain - lead
        if before is not None and command.weights is not None:
            apart = (before.acts.base - command.weights.base) % self._config.banks
            # In one bank, the first row of weights waits for that of the activations; where all of
            # these are in one bank, a row of weights in it waits for the last of them.
            weights = max(weights, began + (apart == 0))
            if constant_bank(before.acts, self._config.banks) is not None:
                weights = max(weights,
                              began + before.length + command.weights.length - apart - lead)
            start = max(start, weights + lead)
        if (before is not None and command.accumulate and before.accumulate
                and before.length < repeats(self._config) and command.acc == before.acc):
            # A row that comes again too soon waits for the last one of before, and the weights do.
            start = max(start, began + before.length + max(before.length, lead))
        self._wave, self._weights = (command, start), weights
        return start
