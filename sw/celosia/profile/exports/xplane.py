"""Runs as planes of XProf: what ``jax.profiler.trace`` writes for TPUs, of chips of ours.

The format is ``tensorflow.profiler.XSpace``; what planes and statistics must be called is what
XProf's converters read (openxla/xprof, ``xprof/utils/xplane_schema.cc``). Times are the chip's: a
run begins when it did on the host, and lasts as many cycles as it has, at the clock that is said.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from celosia.arch.registers import UNIT_NAMES
from celosia.graph import Source
from celosia.profile.profile import Profile
from celosia.profile.record import Record
from celosia.storage.protobuf import double, message, number

__all__ = ["DeviceRun", "xspace"]

#: Events of units that are written for a device; after these, runs have their operations alone.
_MOST_EVENTS = 200_000
#: Numbers of operations that are kept for a step of a program.
_MOST_OPERATIONS = 1 << 24
#: The statistic that names a program, on all planes.
_PROGRAM = "program_id"
_Stat = int | float | str | bytes


@dataclass(frozen=True)
class DeviceRun:
    """A run of a program on a device.

    Attributes
    ----------
    program
        What ran; one object for all the runs of a program.
    begin
        When it began: nanoseconds since 1970.
    device
        Number of the chip.
    cycles
        That it had; None: as many as the cycle model says. Those of its operations are of the
        model, and so many times as long.
    """

    program: Profile
    begin: int
    device: int = 0
    cycles: int | None = None

    @property
    def scale(self) -> float:
        """Cycles for one of the model."""
        wanted = self.program.cycles
        return 1.0 if self.cycles is None or not wanted else self.cycles / wanted


@dataclass
class _Operation:
    """An operation of a program, by what its instructions say they come from."""

    text: str
    segments: int = 0
    flops: int = 0
    bytes_read: int = 0
    bytes_written: int = 0


@dataclass
class _Plane:
    """A plane under construction; see xplane.proto."""

    id: int
    name: str
    events: dict[object, int] = field(default_factory=dict)
    stats: dict[str, int] = field(default_factory=dict)
    parts: list[bytes] = field(default_factory=list)

    def stat(self, name: str, value: _Stat) -> bytes:
        """Return a statistic."""
        made = number(1, self.stats.setdefault(name, len(self.stats) + 1))
        if isinstance(value, float):
            return made + double(2, value)
        if isinstance(value, bytes):
            return made + message(6, value)
        if isinstance(value, str):
            return made + message(5, value)
        return made + number(3 if value >= 0 else 4, value)

    def say(self, name: str, value: _Stat) -> None:
        """Add a statistic of the plane."""
        self.parts.append(message(6, self.stat(name, value)))

    def kind(self, key: object, name: str, shown: str = "",
             stats: Mapping[str, _Stat] | None = None) -> int:
        """Return the number of a kind of event, which is made when it is asked for first."""
        found = self.events.get(key)
        if found is None:
            found = self.events[key] = len(self.events) + 1
            made = number(1, found) + message(2, name)
            if shown:
                made += message(4, shown)
            for each, value in (stats or {}).items():
                made += message(5, self.stat(each, value))
            self.parts.append(message(4, number(1, found) + message(2, made)))
        return found

    def line(self, id: int, name: str, begin: int, events: Sequence[bytes]) -> None:
        """Add a line of events, whose times are from ``begin`` on, in nanoseconds since 1970."""
        self.parts.append(message(3, number(1, id) + message(2, name) + message(11, name)
                                  + number(3, begin) + b"".join(events)))

    def event(self, kind: int, offset: int, duration: int, **stats: _Stat) -> bytes:
        """Return an event: picoseconds from the beginning of its line."""
        made = number(1, kind) + number(2, offset) + number(3, duration)
        for name, value in stats.items():
            made += message(4, self.stat(name, value))
        return message(4, made)

    @property
    def bytes(self) -> bytes:
        names = b"".join(message(5, number(1, id) + message(2, number(1, id) + message(2, name)))
                         for name, id in self.stats.items())
        return number(1, self.id) + message(2, self.name) + b"".join(self.parts) + names


def xspace(runs: Sequence[DeviceRun], *, megahertz: float = 100,
           modules: Callable[[Profile], bytes | None] = lambda program: None,
           warnings: Sequence[str] = ()) -> bytes:
    """Return runs as an XSpace.

    Parameters
    ----------
    runs
        In the order in which they began.
    megahertz
        Clock of the chips.
    modules
        The serialised ``xla.HloProto`` of a program, for the viewers of graphs and memory; None
        where there is none.
    warnings
        What the viewer is to say.
    """
    by_device: defaultdict[int, list[DeviceRun]] = defaultdict(list)
    programs: dict[int, tuple[Profile, int]] = {}
    for run in runs:
        by_device[run.device].append(run)
        programs.setdefault(id(run.program), (run.program, len(programs) + 1))
    numbers = {key: found for key, (_, found) in programs.items()}
    planes = [_device(device, mine, numbers, megahertz) for device, mine in by_device.items()]
    planes.append(_metadata(list(programs.values()), modules))
    return b"".join(message(1, plane.bytes) for plane in planes) + b"".join(
        message(3, text) for text in warnings)


def module_name(program: Profile, number: int) -> str:
    """Return what a program is called in all planes."""
    return f"{program.name}({number})"


def _metadata(programs: Sequence[tuple[Profile, int]],
              modules: Callable[[Profile], bytes | None]) -> _Plane:
    plane = _Plane(1000, "/host:metadata")
    for program, found in programs:
        if (hlo := modules(program)) is not None:
            plane.kind(found, module_name(program, found), stats={
                "Hlo Proto": hlo, _PROGRAM: found})
    return plane


def _device(device: int, runs: Sequence[DeviceRun], numbers: Mapping[int, int],
            megahertz: float) -> _Plane:
    config = runs[0].program.config
    plane = _Plane(10 + device, f"/device:TPU:{device}")
    plane.say("device_type_string", f"Celosia {config.name}")
    plane.say("device_id", device)
    plane.say("peak_teraflops_per_second", 2 * config.pes * megahertz / 1e6)
    plane.say("peak_hbm_bw_gigabytes_per_second", config.bus_bytes * megahertz / 1e3)
    picoseconds = round(1e6 / megahertz)
    begin, free = runs[0].begin, 0
    cost = Counter(id(run.program) for run in runs)
    largest = max(cost, key=lambda key: cost[key] * next(
        run.program.cycles for run in runs if id(run.program) == key))
    lines: defaultdict[str, list[bytes]] = defaultdict(list)
    parts: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    step = 0
    for run in runs:
        at = max((run.begin - begin) * 1000, free)
        program, found = run.program, numbers[id(run.program)]
        free = at + round(program.cycles * picoseconds * run.scale)
        group = {"group_id": step}
        module = plane.kind(("module", found), module_name(program, found),
                            stats={_PROGRAM: found})
        lines["XLA Modules"].append(plane.event(module, at, free - at, run_id=step, **group))
        if id(program) == largest:
            lines["Steps"].append(plane.event(
                plane.kind(("step", step), str(step)), at, free - at, **group))
            step += 1
        for place, record in enumerate(program.records):
            each, key = picoseconds * run.scale, (found, place)
            if key not in parts:
                parts[key] = _operations(plane, record, key)
            for kind, first, last in parts[key]:
                first, last = round(first * each), round(last * each)
                lines["XLA Ops"].append(plane.event(kind, at + first, last - first, **group))
            if sum(map(len, lines.values())) < _MOST_EVENTS:
                _units(plane, record, key, at, each, lines)
            at += round(record.cycles * each)
    order = ("Steps", "XLA Modules", "XLA Ops", *(name.upper() for name in UNIT_NAMES[:4]))
    for id_, name in enumerate(order, 1):
        if lines[name]:
            plane.line(id_, name, begin, lines[name])
    return plane


def _operations(plane: _Plane, record: Record,
                key: tuple[int, int]) -> list[tuple[int, int, int]]:
    """Return which kind of event the cycles of a run are, from one to before another.

    ``key``: numbers of the program, and of the record in it.
    """
    operations, segments = _segments(record)
    kinds = {text: plane.kind((key, text), *_named(each, number, key))
             for number, (text, each) in enumerate(operations.items()) if each.segments}
    return [(kinds[text], first, last) for text, first, last in segments]


def _segments(record: Record) -> tuple[dict[str, _Operation], list[tuple[str, int, int]]]:
    """Return the operations of a run, and which of them each cycle belongs to."""
    sources = record.program.sources or ("",) * len(record.program.insns)
    operations: dict[str, _Operation] = {}
    segments: list[tuple[str, int, int]] = []
    front = 0
    for i in range(len(record)):
        text, end = sources[record.pc[i]], int(record.end[i])
        each = operations.setdefault(text, _Operation(text))
        unit = UNIT_NAMES[record.unit[i]]
        if unit == "mxu":
            each.flops += 2 * record.config.pes * int(record.amount[i])
        elif unit == "load":
            each.bytes_read += int(record.amount[i])
        elif unit == "store":
            each.bytes_written += int(record.amount[i])
        if end > front:
            if segments and segments[-1][0] == text:
                segments[-1] = text, segments[-1][1], end
            else:
                segments.append((text, front, end))
            front = end
    if front < record.cycles:
        segments.append((sources[-1], front, record.cycles))
        operations.setdefault(sources[-1], _Operation(sources[-1]))
    for text, _, _ in segments:
        operations[text].segments += 1
    return operations, segments


def _named(each: _Operation, number: int,
           key: tuple[int, int]) -> tuple[str, str, dict[str, _Stat]]:
    """Return the name of an operation, how it is shown, and what XProf wants to know of it.

    Its products and bytes are dealt out evenly to its events.
    """
    operation, source = Source.parse(each.text)
    program, record = key
    # The number tells operations of one kind apart, as XLA's do.
    shown = f"{operation or 'operation'}.{number}" + (f".{record}" if record else "")
    times = each.segments
    stats: dict[str, _Stat] = {
        _PROGRAM: program, "symbol_id": record * _MOST_OPERATIONS + number + 1,
        "hlo_category": _category(operation),
        "flops": each.flops // times, "model_flops": each.flops // times,
        "bytes_accessed": (each.bytes_read + each.bytes_written) // times,
        "memory_access_breakdown": _breakdown(each.bytes_read // times,
                                              each.bytes_written // times),
        "tf_op": f"{source.name or operation}:",
    }
    if source.line:
        stats["source"] = f"{source.file}:{source.line}"
        stats["source_stack"] = "\n".join((f"{source.file}:{source.line}", *source.callers))
    return f"%{shown} = {operation}({source.name})", shown, stats


def _category(operation: str) -> str:
    if operation in ("dot", "convolution"):
        return "convolution fusion"
    if operation in ("result", "copy", "move", "transpose", "reshape", "concatenate", "pad"):
        return "data formatting"
    return "loop fusion"


def _breakdown(read: int, written: int) -> bytes:
    """Return a MemoryAccessBreakdown: reads and writes of the memory outside the chip."""
    return b"".join(message(1, number(1, kind) + number(2, 1) + number(3, count))
                    for kind, count in ((1, read), (2, written)) if count)


def _units(plane: _Plane, record: Record, key: tuple[int, int], at: int, picoseconds: float,
           lines: dict[str, list[bytes]]) -> None:
    """Add what each unit does, an event for each instruction."""
    for i in range(len(record)):
        pc = int(record.pc[i])
        kind = plane.kind((key, pc), record.text(pc))
        lines[UNIT_NAMES[record.unit[i]].upper()].append(plane.event(
            kind, at + round(record.start[i] * picoseconds),
            round(record.occupied[i] * picoseconds)))
