"""Rows of the vector unit, played beat by beat: how they are read, enter the lanes, are written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from celosia.arch.commands import DST_MEM, SRC_MEM, Vector
from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem
from celosia.arch.lane import in_flight, lane_latency, read_ahead
from celosia.arch.streams import Stream, Strides
from celosia.arch.vector import ROW_SRCS, STREAM_SRCS
from celosia.model.timing.ports import Asks, banks_of, merged, port_of, step_of

__all__ = ["IDLE", "READER", "WRITTEN", "Played", "VectorRows", "play", "played_alone"]

#: On a chip that is cut, cycles of registers before a reader; on each, from the last beat that is
#: written to the end of the instruction.
READER, WRITTEN = 4, 2
_NEVER, _ALWAYS = -1 << 40, 1 << 40
_NOTHING = b""
#: Cycles after which nothing is left of an instruction.
_LONG = 64


def _sources(command: Vector) -> tuple[list[tuple[Mem, Stream]], list[tuple[Mem, Stream]]]:
    """Return streams and single rows that a vector instruction reads, each with its memory."""
    found = [(source.kind, source.stream) for source in command.sources
             if source.stream is not None]
    streams, singles = (
        [(SRC_MEM[kind], stream) for kind, stream in found if kind in kinds]
        for kinds in (STREAM_SRCS, ROW_SRCS))
    return streams, singles


#: First bank of a stream, its counts and strides.
_Shape = tuple[int, tuple[int, ...], Strides]


def _shape(stream: Stream, banks: int) -> _Shape:
    return stream.base % banks, stream.counts, stream.strides


class VectorRows(NamedTuple):
    """What a vector instruction reads and writes, beat by beat.

    Attributes
    ----------
    reads
        Of both readers: for each beat that enters the lanes the bank, a bit, or 0 for none; and
        its port.
    singles
        Beats that are those of single rows.
    writes, port
        The bank of each beat that is written, and the port; none where rows are joined.
    steps
        By port, as of `Asks`, where all its streams there have the same, and a row is one beat.
    """

    reads: tuple[tuple[bytes, bytes], tuple[bytes, bytes]]
    singles: int
    writes: bytes
    port: int
    steps: tuple[tuple[int, int], ...]

    @staticmethod
    def of(command: Vector, config: TpuConfig) -> VectorRows:
        """Return those of an instruction. Rows that come by indexes are left out."""
        streams, singles = _sources(command)
        banks = config.banks
        return _rows(
            tuple((mem, _shape(stream, banks)) for mem, stream in streams
                  if stream.length == command.length),
            tuple((mem, single.base % banks) for mem, single in singles),
            DST_MEM[command.kind],
            _shape(command.dst, banks) if command.dst.length == command.length else None,
            command.length, config.fold, banks)

    @property
    def apart(self) -> VectorRows:
        """The same where its readers never meet: the second one has ports of its own."""
        rows, ports = self.reads[1]
        return self._replace(reads=(self.reads[0], (rows, bytes(4 + port for port in ports))))

    @property
    def beats(self) -> int:
        """Those beside single rows."""
        return len(self.reads[0][0]) - self.singles

    @property
    def ports(self) -> frozenset[int]:
        """The ports in which it may lose more than a cycle."""
        return _ports(self)


@lru_cache(maxsize=1 << 10)
def _rows(streams: tuple[tuple[Mem, _Shape], ...], singles: tuple[tuple[Mem, int], ...],
          to: Mem, dst: _Shape | None, rows: int, fold: int, banks: int) -> VectorRows:
    length, before = rows * fold, ((len(singles) + 1) // 2) * fold
    port, writes = port_of(to, True), _NOTHING
    uses: list[tuple[int, int]] = []
    if dst is not None:
        writes = banks_of(Stream(*dst), banks, fold)
        uses.append((port, step_of(Stream(*dst), banks)))
    sides: list[tuple[bytes, bytes]] = []
    for side in (0, 1):
        beats = ports = _NOTHING
        for mem, bank in singles[side::2]:
            beats += bytes((1 << bank,)) * fold
            ports += bytes((port_of(mem, False),)) * fold
        beats, ports = beats.ljust(before, b"\0"), ports.ljust(before, b"\0")
        for mem, shape in streams[side:side + 1]:
            stream = Stream(*shape)
            beats += banks_of(stream, banks, fold)
            ports += bytes((port_of(mem, False),)) * length
            uses.append((port_of(mem, False), step_of(stream, banks)))
        sides.append((beats.ljust(before + length, b"\0"), ports.ljust(before + length, b"\0")))
    steps = {used: step for used, step in uses if fold == 1
             and all(other == step for port, other in uses if port == used)}
    return VectorRows((sides[0], sides[1]), before, writes, port, tuple(steps.items()))


@lru_cache(maxsize=1 << 10)
def _ports(rows: VectorRows) -> frozenset[int]:
    since = rows.singles if rows.steps else 0
    found = {port for banks, ports in rows.reads
             for bank, port in zip(banks[since:], ports[since:], strict=True) if bank}
    return frozenset(found | {rows.port} if rows.writes else found)


class _Reader(NamedTuple):
    """What a reader leaves behind: when its last request was made, and made to the memory; when the
    beats that it has read last entered the lanes.
    """

    made: int
    asked: int
    entered: tuple[int, ...]


class Played(NamedTuple):
    """What became of a vector instruction.

    Attributes
    ----------
    last
        Cycle in which its last beat is written.
    asks
        What it asks for, each with its port.
    readers
        How it leaves them.
    read, begun, entered
        Cycles of the first reader's last request, and in which the first and the last beat entered
        the lanes; where it reads nothing the first as if it had read the last beat.
    freed
        Those in which the places of the last ones became free.
    """

    last: int
    asks: tuple[tuple[int, Asks], ...]
    readers: tuple[_Reader, _Reader]
    read: int
    begun: int
    entered: int
    freed: tuple[int, ...]

    def later(self, cycles: int) -> Played:
        """Return the same so many cycles later."""
        if not cycles:
            return self
        p, q = [_Reader(made + cycles, asked + cycles, tuple([each + cycles for each in entered]))
                for made, asked, entered in self.readers]
        return Played(self.last + cycles,
                      tuple([(port, asks.later(cycles)) for port, asks in self.asks]), (p, q),
                      self.read + cycles, self.begun + cycles, self.entered + cycles,
                      tuple([each + cycles for each in self.freed]))


_RESTS = _Reader(_NEVER, _NEVER, ())
#: Before the first instruction.
IDLE = Played(_NEVER, (), (_RESTS, _RESTS), _NEVER, _NEVER, _NEVER, ())


class _Reading:
    """A reader at work, hw/celosia_hw/memory/reader.py.

    Attributes
    ----------
    at, asked
        Cycle in which each beat is granted, as far as it is known; that of the last one.
    marks
        What is asked of each port, in each cycle.
    entered
        When each beat that was read has entered the lanes.
    """

    def __init__(self, rows: tuple[bytes, bytes], config: TpuConfig, second: bool, before: _Reader,
                  busy: Mapping[int, bytes]):
        cut = config.cut
        self._rows, self._ports = rows
        self._busy, self._cut = busy, cut
        # On a chip that is cut beats wait in two registers more, of the first reader in four, and
        # requests in two.
        depth = read_ahead(config.fold) + (4 - 2 * second) * cut
        self._back = 4 - second if cut else 1  # from the lanes to the credit
        self.next = self._back + 1 + cut  # from a beat in the lanes to the request after the next
        self.latency = 5 - second if cut else 2 + config.small  # from the grant to the lanes
        tail = before.entered[-depth:]
        self.entered = [_NEVER] * (depth - len(tail)) + [*tail]
        self._depth = depth
        self._count = 0  # beats asked for
        self._made, self.asked = before.made, before.asked
        self.at: list[int] = []
        self.marks: dict[int, bytearray] = {}

    def ahead(self, limit: int, other: Mapping[int, bytes | bytearray], beat: int, until: int
              ) -> None:
        """Ask for beats before ``limit``, as far as there are credits.

        ``other``: the banks that another reader asks for before this one, which are known for
        cycles before ``until``; for ``beat``, which is waited for, they are known.
        """
        at, entered, rows, back, cut = self.at, self.entered, self._rows, self._back, self._cut
        index, count, made, cycle = len(at), self._count, self._made, self.asked
        places, port = len(entered), -1
        while index < limit and count < places:
            if bank := rows[index]:
                if self._ports[index] != port:
                    port = self._ports[index]
                    mine, others = self._busy.get(port, _NOTHING), other.get(port, _NOTHING)
                    size, more = len(mine), len(others)
                    mark = self.marks.setdefault(port, bytearray())
                asks = made + 1 if made >= -cut else -cut
                if entered[count] + back > asks:  # it rests until there are two
                    if count + 1 >= places:
                        break
                    asks = entered[count + 1] + back
                if cut and index > 1 and at[index - 2] >= asks:
                    asks = at[index - 2] + 1
                since = grant = asks + cut if asks + cut > cycle else cycle + 1
                while (grant < size and mine[grant] & bank) or (
                        grant < more and others[grant] & bank):
                    grant += 1
                if grant >= until and index > beat:
                    break
                made, cycle = asks, grant
                count += 1
                if len(mark) <= cycle:
                    mark.extend(bytes(cycle + 64 - len(mark)))
                for each in range(since, cycle + 1):
                    mark[each] |= bank
            at.append(cycle)
            index += 1
        self._count, self._made, self.asked = count, made, cycle

    def left(self) -> _Reader:
        """Return what it leaves behind."""
        return _Reader(self._made, self.asked, tuple(self.entered[-self._depth:]))


def play(rows: VectorRows, config: TpuConfig, start: int, busy: Mapping[int, bytes],
         before: Played) -> Played:
    """Play a vector instruction.

    (It is the same whenever it begins: loops are played once.)

    Parameters
    ----------
    rows
        What it reads and writes.
    config
        Of the chip.
    start
        Cycle from which on it asks; ``busy`` begins there.
    busy
        By port, the banks that come before its own.
    before
        The instruction before it in the unit.
    """
    last = IDLE if before.last < start and before.entered < start - _LONG else (
        before.later(-start))
    return _play(rows, config, tuple(busy.items()), last).later(start)


@lru_cache(maxsize=1 << 12)
def _play(rows: VectorRows, config: TpuConfig, asked: tuple[tuple[int, bytes], ...],
          before: Played) -> Played:
    busy, cut, room = dict(asked), config.cut, in_flight(config)
    through = lane_latency(config) + 1 + cut  # from the lanes' entrance to the port
    p = _Reading(rows.reads[0], config, False, before.readers[0], busy)
    by_p, by_q = rows.reads[0][0], rows.reads[1][0]
    # What the instruction before still asks for through P comes before Q's.
    behind = dict(busy)
    if any(by_q):
        for port, asks in before.asks:
            behind[port] = merged([Asks(0, busy.get(port, _NOTHING)), asks], 0)
    q = _Reading(rows.reads[1], config, True, before.readers[1], behind)
    freed = [_NEVER] * (room - len(before.freed)) + [*before.freed]
    entered, wrote = before.entered + cut, before.last
    writes, mine, written, first = rows.writes, busy.get(rows.port, _NOTHING), bytearray(), 0
    size, singles, begun, count = len(mine), rows.singles, _NEVER, len(by_p)
    until = count if any(by_q[singles:]) else singles  # Q's beats
    p_at, q_at, least, later_p, later_q = p.at, q.at, p.latency, p.latency, q.latency
    for beat in range(count):
        if len(q_at) <= beat < until:
            p.ahead(count, {}, beat, _ALWAYS)
            q.ahead(len(p_at), p.marks, beat, _ALWAYS if len(p_at) == count else entered + p.next)
        elif beat >= len(p_at):
            p.ahead(count, {}, beat, _ALWAYS)
        # One that reads nothing waits for its command as long.
        cycle = entered + 1 if entered >= least else least
        if by_p[beat] and p_at[beat] + later_p > cycle:
            cycle = p_at[beat] + later_p
        if by_q[beat] and q_at[beat] + later_q > cycle:
            cycle = q_at[beat] + later_q
        if beat >= singles and freed[beat - singles] >= cycle:
            cycle = freed[beat - singles] + 1
        entered = cycle
        if not beat:
            begun = cycle
        if by_p[beat]:
            p.entered.append(cycle)
        if by_q[beat]:
            q.entered.append(cycle)
        if beat >= singles:
            asks = wrote = cycle + through if cycle + through > wrote else wrote + 1
            if writes:
                bank = writes[beat - singles]
                while wrote < size and mine[wrote] & bank:
                    wrote += 1
                first = first or asks
                if asks - first > len(written):
                    written.extend(bytes(asks - first - len(written)))
                written.extend(bytes((bank,)) * (wrote + 1 - asks))
            freed.append(asks - 1 if cut else wrote)
    steps = dict(rows.steps)
    found: list[tuple[int, Asks]] = []
    for port in p.marks.keys() | q.marks.keys():
        found.append((port, Asks(0, merged(
            [Asks(0, bytes(reader.marks[port]).rstrip(b"\0"))
             for reader in (p, q) if port in reader.marks], 0), steps.get(port, 0))))
    if written:
        found.append((rows.port, Asks(first, bytes(written), steps.get(rows.port, 0))))
    read = p.asked if any(by_p) else entered - p.latency
    return Played(wrote, tuple(found), (p.left(), q.left()), read, begun, entered,
                  tuple(freed[-room:]))


@lru_cache(maxsize=1 << 10)
def played_alone(rows: VectorRows, config: TpuConfig) -> Played:
    """Play a vector instruction with nothing before or beside it, from cycle 0 on."""
    return play(rows, config, 0, {}, IDLE)
