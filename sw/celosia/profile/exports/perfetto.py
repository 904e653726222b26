"""A record as a trace of Perfetto: a track for each unit, and one for the critical path.

The format is that of ``perfetto.protos.Trace``: packets of track events, names interned; see
https://perfetto.dev/docs/reference/synthetic-track-event. A cycle is one microsecond at 1 MHz of
what the viewer shows: times are in cycles of the chip, divided by its clock.
"""

from __future__ import annotations

from collections.abc import Iterator

from celosia.arch.registers import UNIT_NAMES
from celosia.model.timing import REASONS, Reason
from celosia.profile.record import Record
from celosia.storage.protobuf import fixed, message, number

__all__ = ["perfetto"]

#: Fields of TracePacket, TrackDescriptor and TrackEvent.
_PACKET = 1
_TIMESTAMP, _SEQUENCE, _INTERNED, _EVENT, _FLAGS, _TRACK = 8, 10, 12, 11, 13, 60
_UUID, _NAME, _PARENT = 1, 2, 5
_TYPE, _TRACK_UUID, _NAME_ID, _ANNOTATION, _FLOWS, _ENDS = 9, 11, 10, 4, 47, 48
_BEGIN, _END = 1, 2
_STARTS_ANEW, _NEEDS_NAMES = 1, 2
_SEQUENCE_ID = 1
#: Of tracks: the chip, its units behind it, the critical path.
_CHIP, _CRITICAL = 1, 9


def perfetto(record: Record, megahertz: float = 100) -> bytes:
    """Return a record as a trace: what ui.perfetto.dev opens.

    Each instruction has its source, what it waited for, and a flow from the instruction that it
    waited for.
    """
    return b"".join(message(_PACKET, packet) for packet in _packets(record, 1e3 / megahertz))


def _packets(record: Record, nanoseconds: float) -> Iterator[bytes]:
    yield number(_SEQUENCE, _SEQUENCE_ID) + number(_FLAGS, _STARTS_ANEW)
    title = f"{record.config.name}: {record.program.name or 'program'} ({record.made_by})"
    yield _track(_CHIP, title, 0)
    yield _track(_CHIP + _CRITICAL, "critical path", _CHIP)
    for unit, name in enumerate(UNIT_NAMES[:4]):
        yield _track(_CHIP + 1 + unit, name, _CHIP)
    names: dict[str, int] = {}

    def at(cycle: int) -> bytes:
        return (number(_TIMESTAMP, round(cycle * nanoseconds))
                + number(_SEQUENCE, _SEQUENCE_ID))

    def slice(first: int, last: int, track: int, text: str, more: bytes = b"") -> Iterator[bytes]:
        interned = b""
        if text not in names:
            names[text] = len(names) + 1
            interned = message(_INTERNED, message(
                2, number(1, names[text]) + message(2, text)))
        event = (number(_TYPE, _BEGIN) + number(_TRACK_UUID, track)
                 + number(_NAME_ID, names[text]) + more)
        yield at(first) + number(_FLAGS, _NEEDS_NAMES) + interned + message(_EVENT, event)
        yield at(last) + message(_EVENT, number(_TYPE, _END) + number(_TRACK_UUID, track))

    blamed = set(record.blamed.tolist())
    free = [0] * 4
    for i in range(len(record)):
        pc, unit = int(record.pc[i]), int(record.unit[i])
        more = _notes(record, i)
        if i in blamed:
            more += fixed(_FLOWS, i + 1)
        if record.blamed[i] >= 0:
            more += fixed(_ENDS, int(record.blamed[i]) + 1)
        # Results come when the unit is at the next instruction: slices of a track must not cross.
        first = max(int(record.start[i]), free[unit])
        free[unit] = max(first, int(record.start[i] + record.occupied[i]))
        yield from slice(first, free[unit], _CHIP + 1 + unit, record.text(pc), more)
    for part in record.critical:
        pc = int(record.pc[part.index])
        yield from slice(part.first, part.first + part.cycles, _CHIP + _CRITICAL,
                         f"{part.what}: {record.source(pc)[1].said(record.source(pc)[0])}")


def _track(uuid: int, name: str, parent: int) -> bytes:
    track = number(_UUID, uuid) + message(_NAME, name)
    if parent:
        track += number(_PARENT, parent)
    return message(_TRACK, track)


def _notes(record: Record, index: int) -> bytes:
    """Return what is said of an instruction when it is chosen."""
    pc = int(record.pc[index])
    name, what = REASONS[Reason(int(record.reason[index]))]
    notes: dict[str, str | int] = {
        "instruction": pc, "source": record.program.sources[pc] if record.program.sources else "",
        "waited for": f"{name}: {what}", "issued": int(record.issued[index]),
        "in the window": int(record.checked[index]), "results": int(record.end[index]),
    }
    if record.lost[index]:
        notes["lost to others"] = int(record.lost[index])
    made = b""
    for key, value in notes.items():
        said = message(6, value) if isinstance(value, str) else number(4, value)
        made += message(_ANNOTATION, message(10, key) + said)
    return made
