"""Planes for XProf: their times are the runs', their statistics those of the instructions."""

import copy
from collections import defaultdict
from typing import NamedTuple

import pytest

from celosia.profile.exports.xplane import DeviceRun, xspace
from celosia.storage.protobuf import fields

pytestmark = pytest.mark.extra(name="jax", default=True)
BEGIN = 1_700_000_000_000_000_000
#: Picoseconds of a cycle at 100 MHz.
CYCLE = 10_000


class Event(NamedTuple):
    """An event of a line: picoseconds from its beginning, and what is said of its kind."""

    name: str
    offset: int
    duration: int
    stats: dict


def planes_of(data):
    """Return the lines of each plane, by their names."""
    found = {}
    for which, plane in fields(data):
        if which != 1:
            continue
        parts = defaultdict(list)
        for field, value in fields(plane):
            parts[field].append(value)
        names = {}
        for entry in parts[5]:
            each = dict(fields(dict(fields(entry))[2]))
            names[each[1]] = each[2].decode()
        kinds = {}
        for entry in parts[4]:
            each = list(fields(dict(fields(entry))[2]))
            kinds[dict(each)[1]] = dict(each)[2].decode(), stats(each, 5, names)
        found[parts[2][0].decode()] = dict(line(each, kinds) for each in parts[3])
    return found


def stats(message, field, names):
    pairs = [list(fields(value)) for which, value in message if which == field]
    return {names[pair[0][1]]: pair[1][1] for pair in pairs}


def line(data, kinds):
    parts = list(fields(data))
    assert dict(parts)[3] == BEGIN or dict(parts)[3] == BEGIN + 10
    events = []
    for which, value in parts:
        if which == 4:
            each = dict(fields(value))
            name, said = kinds[each[1]]
            events.append(Event(name, each[2], each[3], said))
    return dict(parts)[2].decode(), events


@pytest.fixture(scope="module")
def planes(clean):
    """Return planes of runs on two chips: two on the first, one that took half as long again."""
    runs = [DeviceRun(clean, BEGIN), DeviceRun(clean, BEGIN + 10, 1),
            DeviceRun(clean, BEGIN + 50_000_000, 0, clean.cycles * 3 // 2)]
    found = planes_of(xspace(runs, modules=lambda program: b"\x0a\x00", warnings=["an estimate"]))
    assert found.keys() == {"/device:TPU:0", "/device:TPU:1", "/host:metadata"}
    return found


def test_jax_reads_them(clean):
    from jax.profiler import ProfileData
    read = ProfileData.from_serialized_xspace(xspace([DeviceRun(clean, BEGIN)]))
    [device, _] = read.planes
    assert device.name == "/device:TPU:0"
    assert dict(device.stats)["device_type_string"] == "Celosia core"


def test_operations_add_up_to_the_cycles_of_their_runs(planes, clean):
    lines = planes["/device:TPU:0"]
    wanted = [clean.cycles * CYCLE, clean.cycles * 3 // 2 * CYCLE]
    assert [event.duration for event in lines["XLA Modules"]] == wanted
    assert [event.offset for event in lines["XLA Modules"]] == [0, 50_000_000_000]
    assert [event.name for event in lines["Steps"]] == ["0", "1"]
    at = 0
    for event in lines["XLA Ops"]:
        if event.offset == 50_000_000_000:
            assert at == wanted[0]
            at = event.offset
        assert event.offset == at
        at += event.duration
    assert at == 50_000_000_000 + wanted[1]


def test_steps_are_the_runs_of_the_program_that_takes_longest(clean):
    other = copy.copy(clean)
    runs = [DeviceRun(each, BEGIN) for each in (other, clean, clean, other, clean)]
    lines = planes_of(xspace(runs))["/device:TPU:0"]
    modules = lines["XLA Modules"]
    assert [event.name for event in lines["Steps"]] == ["0", "1", "2"]
    assert [event.offset for event in lines["Steps"]] == [modules[i].offset for i in (1, 2, 4)]


def test_units_have_their_instructions(planes, clean):
    [record] = clean.records
    lines = planes["/device:TPU:1"]
    for unit, name in enumerate(("LOAD", "STORE", "MXU", "VPU")):
        mine = record.unit == unit
        assert [event.duration for event in lines[name]] == [
            cycles * CYCLE for cycles in record.occupied[mine]]


def test_operations_have_lines_and_products(planes, clean):
    events = planes["/device:TPU:1"]["XLA Ops"]
    known = sum(event.duration for event in events
                if b"profiled.py:" in event.stats.get("source", b""))
    assert known >= 0.99 * clean.cycles * CYCLE
    [record] = clean.records
    # Each of an operation's events has an equal share, rounded down.
    for name, wanted in (("flops", 2 * record.prediction.macs),
                         ("bytes_accessed", record.prediction.bytes_read
                          + record.prediction.bytes_written)):
        assert wanted - len(events) < sum(event.stats[name] for event in events) <= wanted
    assert b"convolution fusion" in {event.stats["hlo_category"] for event in events}
