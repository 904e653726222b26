"""Estimate of the cycles of a run: an event model of fetch, scalar unit, units and scoreboard.

Each tensor instruction starts when it is fetched, resolved and checked, has a place in the window,
its unit has taken the one before it, and no older instruction of another unit (for the vector unit
also its own) that touches the same rows or bytes is unfinished.

Bank conflicts (:mod:`celosia.model.timing.banks`): those of the two streams of a vector instruction
are played, those of a load beside rows of vector unit or array are averages; other streams fall
behind by a row once, and are left out. Beats of instruction fetch delay the loads under way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter, itemgetter

from celosia.arch.commands import Command, Dma, Matmul, Vector, row_accesses
from celosia.arch.config import TpuConfig
from celosia.arch.ici import link_cycles
from celosia.arch.isa import RecvOp, Unit
from celosia.arch.lane import tree_latency
from celosia.arch.messages import MessageCommand
from celosia.arch.vector import Reduce
from celosia.model.timing.asked import asked
from celosia.model.timing.banks import Walk, constant_bank, port_of, walked
from celosia.model.timing.cost import (
    ASKS,
    HANDOVER,
    ISSUES,
    LANDS,
    LEADERS,
    READS,
    ROOM,
    WRITES,
    cost,
    follow,
)
from celosia.model.timing.events import Reason, Timeline
from celosia.model.timing.fetch import BLOCK, Fetch
from celosia.model.timing.memory import Occupancy, Timing, meeting
from celosia.model.timing.sweeps import Sweep, behind_singles, lost_in, sweeps
from celosia.model.timing.window import SPACE_BITS, WindowEntry, WindowMessage

__all__ = ["Estimator"]

#: Rows of an instruction, and the end that it had then: it may have become later since.
_Swept = tuple[Sweep, WindowEntry, int]

#: Constants of the RTL, measured with single instructions; more in `celosia.model.timing.cost`.
_START, _HALT, _FENCE, _READ = 3, 3, 1, 6  # doorbell to first fetch; behind all that is done
#: From the scalar unit's coming to a block until those that have room then are asked for.
_FETCH = 5
#: Beats that a load has taken, but not yet written.
_QUEUED = 4
#: From an entry's being offered to the scoreboard until it has been compared.
_COMPARED = 2
#: Rows that a store reads ahead, hw/celosia_hw/dma/rows.py; of a cut chip.
_ROWS_AHEAD, _ROWS_AHEAD_CUT = 4, 8
#: Parts of a cycle of what is played.
_PARTS = 4
#: Units whose instructions are late where those of a unit became late.
_PUSHED = {Unit.MXU: (Unit.LOAD, Unit.VPU), Unit.VPU: (Unit.STORE,), Unit.STORE: (Unit.MXU,)}
#: Before the first word of a send, behind the last word of a receive, and of rows that are joined.
_SEND, _RECV, _JOIN = 8, 5, 24
#: Ports, in each of which an instruction has rows at most.
_PORTS = 4
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
        self._before: tuple[Vector, WindowEntry] | None = None  # of the vector unit
        self._wave: tuple[Matmul | None, int] = None, 0  # the matmul before, and its first cycle
        ports = _PORTS if config.fold > 1 else 1
        self._swept: deque[_Swept] = deque(maxlen=max(ports, 2) * config.window)
        #: What others may hold up: port, entry, cycles, those from its last row to the end of the
        #: entry, on-chip rows.
        self._moved: deque[tuple[int, WindowEntry, int, int, Walk]] = deque(
            maxlen=ports * config.window)
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
         entry.behind, entry.turn, singles, waits) = cost(command, self._config, self._timing)
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
        start = checked + ISSUES[unit] + lead
        if self._free[unit] > start:
            start, reason, blamed = self._free[unit], Reason.UNIT, self._latest[unit]
        for other in window:
            end = other.end + lead
            if end >= start and (other.unit != unit or unit == Unit.VPU) and entry.conflicts(other):
                if other.pace and unit in LEADERS and other.unit == LEADERS[unit][0]:
                    after = self._follow(command, lead, other, window)
                else:
                    after = end + HANDOVER * (other.unit != unit)
                if unit == Unit.MXU and other.unit == Unit.LOAD:
                    entry.leaders.append((other, after - other.end))
                if after >= start:
                    start, blamed = after, other.index
                    reason = Reason.DATA if entry.follows(other) else Reason.ROWS
        resolved = start
        if isinstance(command, Vector):
            start, fill = self._between(command, start, fill)
            occupied += fill
            latency += fill
            if start > resolved:
                reason, blamed = Reason.UNIT, self._latest[unit]
            if start == self._free[unit]:  # its rows are right behind those of the one before
                # In one bank, while rows of the array hold up those that the one before writes,
                # its single rows are read.
                assert self._before is not None
                if self._config.banks > 1 or self._before[1].lost < singles:
                    singles = 0
                occupied -= singles
                latency = max(latency - waits - singles, self._done[unit] + occupied - start)
            self._before = command, entry
        elif isinstance(command, Matmul):
            start = self._behind(command, start, lead)
            if start > resolved:
                reason, blamed = Reason.WEIGHTS, self._latest[unit]
        elif unit == Unit.LOAD:  # what was asked for before comes before
            self._loads.append(entry)
            entry.asks = start if reason in (Reason.DATA, Reason.ROWS) else checked
            start = max(start, self._fetch.last - self._timing.way - ASKS)
            if start > resolved:
                reason, blamed = Reason.BUS, -1
        entry.latency, entry.end = latency, max(self._done[unit], start + latency)
        self._free[unit] = start + max(occupied, lead)
        self._done[unit] = entry.end
        if self._timeline is not None:
            entry.index = self._latest[unit] = len(self._timeline)
            amount = (command.rows * command.row_bytes if isinstance(command, Dma)
                      else command.length)
            times = issued, checked, start, occupied, entry.end
            self._timeline.add(self._pc, unit, amount, row_accesses(command, self._config.dim),
                               times, gate, (reason, blamed))
        self.busy[unit] += (occupied if isinstance(command, Dma) else
                            command.length * (self._config.fold if unit == Unit.VPU else 1))
        window.append(entry)
        self._window = window
        if self._timing.shared and isinstance(command, Dma):
            self._share(entry)
        if self._timing.bank_conflicts:
            self._meet(command, entry, occupied)
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
                window: Sequence[WindowEntry | WindowMessage]) -> int:
        """Return when a command may start behind the rows of another one, which is under way."""
        _, most = LEADERS[command.unit]
        before = [each.end for each in window[:window.index(other)] if each.unit == other.unit]
        start = before[-most] + lead + HANDOVER if len(before) >= most else 0
        low, high = (row & ((1 << SPACE_BITS) - 1) for row in other.wrote)
        return max(start, other.end + follow(command, lead, (low, high), other.pace,
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
                late = int(fetch.last - max(begins, comes) - _QUEUED * (1 / other.share - 1))
                if late > 0:
                    self._delay(Unit.LOAD, comes + LANDS, late)
                break
        if timing.shared:
            fetch.late(count, self._meet_others(
                Occupancy(comes, fetch.last, fetch.cycles, 0.0), Unit.STORE))

    def _share(self, entry: WindowEntry) -> None:
        """Delay a transfer, and those of the other kind under way, by each other's bursts."""
        more = self._meet_others(entry.occupancy(), Unit.LOAD + Unit.STORE - entry.unit)
        self._delay(entry.unit, entry.end - 1, more)

    def _meet_others(self, mine: Occupancy, unit: int) -> int:
        """Delay what a unit transfers; return how much later another transfer ends."""
        others = [other for other in self._window
                  if isinstance(other, WindowEntry) and other.unit == unit]
        more, each = meeting(mine, [other.occupancy() for other in others])
        for other, late in zip(others, each, strict=True):
            self._delay(unit, other.end - 1, round(late))
        return round(more)

    def _meet(self, command: Command, entry: WindowEntry, occupied: int) -> None:
        """Delay transfers that share a port's banks with rows of the vector unit or the array."""
        if isinstance(command, Dma):
            self._meet_rows(command, entry, occupied)
            return
        assert isinstance(command, (Matmul, Vector)), command
        read, end = entry.end - entry.latency, entry.end
        found = sweeps(command, self._config, read, end, occupied)
        if isinstance(command, Vector) and self._config.fold > 1:
            self._meet_array(entry, occupied, found)
            found = behind_singles(command, self._config, read, found)
        self._swept.extend((sweep, entry, end) for sweep in found)
        so_far: dict[int, float] = {}
        banks = self._config.banks
        passed = 0.0
        for other, moved in groupby(self._moved, itemgetter(1)):
            if other.end <= read or other.unit == entry.unit:
                continue
            # Of several ports that it uses, that which loses most counts: rows of the vector unit
            # that wait before they are read do not wait again where they are written. So do those
            # of the next instruction beside the last ones of this.
            late = 0.0
            for port, _, cycles, after, walk in moved:
                until = other.end - after
                lost = lost_in(port, until - cycles - other.lost, until, walk, found, banks)
                if other.unit == Unit.VPU:
                    so_far[port] = so_far.get(port, 0.0) + lost
                    lost = so_far[port] - passed
                late = max(late, lost)
            if other.unit == Unit.VPU:
                passed += late
            if (cycles := other.loses(int(late))) >= 1:
                self._delay(other.unit, other.end - 1, cycles)
                if other.unit in _PUSHED:
                    self._push(other)

    def _meet_rows(self, command: Dma, entry: WindowEntry, occupied: int) -> None:
        """Delay a transfer beside rows of the array and of the vector unit."""
        config, store = self._config, entry.unit == Unit.STORE
        chip = command.chip(config.dim)
        each = round(_PARTS * occupied / chip.length) / _PARTS  # cycles of a row
        if each > 2 and config.banks > 1:
            return  # it has the time
        after, port = entry.behind - READS if store else 0, port_of(command.mem, not store)
        end, walk = entry.end - after, walked(chip, each)
        self._moved.append((port, entry, occupied, after, walk))
        lost = lost_in(port, end - occupied, end, walk, [
            (sweep[0], sweep[1], sweep[2] + other.end - then, sweep[3], sweep[4])
            for sweep, other, then in self._swept if sweep[0] == port], config.banks)
        if store:
            entry.spare = int((each - 1) * (_ROWS_AHEAD_CUT if config.cut else _ROWS_AHEAD))
            lost = max(lost - WRITES, 0.0)
        if (late := entry.loses(int(lost))) >= 1:
            self._delay(entry.unit, entry.end - 1, late)

    def _meet_array(self, entry: WindowEntry, occupied: int, found: Sequence[Sweep]) -> None:
        """Delay folded rows, which stay in a bank while those of the array pass through all.

        Of the ports that an instruction uses, the one that loses most counts.
        """
        fold, most = self._config.fold, 0.0
        array = [sweep for sweep, _, _ in self._swept if sweep.fold == 1]
        for port, first, last, steps, _ in found:
            walk = fold, 0, steps[0][1], 1
            self._moved.append((port, entry, occupied, entry.end - last, walk))
            most = max(most, lost_in(port, first, last, walk, array, self._config.banks))
        self._delay(entry.unit, entry.end - 1, int(most))

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
            other.end += cycles
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
            if (later and isinstance(other, WindowEntry) and other.unit in _PUSHED[first.unit]
                    and other.conflicts(first)):
                lead = self._config.dim if other.unit == Unit.MXU else 0
                end = first.end + HANDOVER + lead + other.latency + other.lost
                if end > other.end:
                    self._delay(other.unit, other.end - 1, end - other.end, begun=False)
            later = later or other is first

    def _between(self, command: Vector, start: int, fill: int) -> tuple[int, int]:
        """Return start and fill of a vector instruction behind the one before it in its unit."""
        free = self._free[Unit.VPU]
        if self._before is not None:
            before, _ = self._before
            if fill and start == free and before.op == command.op:
                fill = 0
            if before.reduce >= Reduce.LANES and command.reduce < Reduce.LANES:
                start = max(start, free + tree_latency(self._config) + self._config.fold - 1)
                # Results stay in order.
        return start, fill

    def _behind(self, command: Matmul, start: int, lead: int) -> int:
        """Account for weights, which come in while the activations of the matmul before do."""
        before, began = self._wave
        if before is not None and command.weights is not None:
            apart = (before.acts.base - command.weights.base) % self._config.banks
            # In one bank, the first row of weights waits for that of the activations; where all of
            # these are in one bank, a row of weights in it waits for the last of them.
            start = max(start, began + lead + (apart == 0))
            if constant_bank(before.acts, self._config.banks) is not None:
                start = max(start, began + before.length + command.weights.length - apart)
        self._wave = command, start
        return start
