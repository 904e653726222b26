"""What other people's viewers are given."""

import struct
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia.graph import Source
from celosia.profile.exports import konata, perfetto, stacks
from celosia.profile.record import Record
from celosia.program.asm import assemble
from celosia.storage.protobuf import fields

pytestmark = pytest.mark.extra(name="jax", default=True)


def test_stacks_weigh_what_the_run_cost(clean):
    [record] = clean.records
    lines = stacks(record).splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == clean.cycles
    deepest = max(lines, key=lambda line: line.count(";"))
    assert "profiled.py:" in deepest
    assert deepest.rpartition(" ")[0].rpartition(";")[2].startswith(("dot", "maximum", "convert"))


def test_konata_has_each_instruction_once_and_time_goes_on(clean):
    [record] = clean.records
    first, *lines = konata(record).splitlines()
    assert first == "Kanata\t0004"
    kinds = Counter(line.split("\t")[0] for line in lines)
    assert kinds["I"] == kinds["R"] == len(record)
    assert kinds["S"] == kinds["E"]
    assert all(int(line.split("\t")[1]) > 0 for line in lines if line.startswith("C\t"))
    open_stages = Counter()
    for line in lines:
        kind, *rest = line.split("\t")
        if kind in "SE":
            open_stages[rest[0], rest[1]] += 1 if kind == "S" else -1
            assert open_stages[rest[0], rest[1]] in (0, 1)


#: What the log says of three instructions: the first waits for nothing, the second for the first,
#: the third for no other one.
LOG = """\
Kanata\t0004
C=\t5
I\t0\t0\t0
L\t0\t0\t0: load    ub[0], 0x100000, fmt=i8, rows=4, cols=4, pitch=4
L\t0\t1\tload, convert net.py:3
S\t0\t0\tI
C\t3
I\t1\t1\t0
L\t1\t0\t1: matmul  acc[0], ub[0], ub[8], fmt=int8, n0=4, wrows=4
L\t1\t1\tmxu, dot net.py:4 (jit(f)/dot)
S\t1\t0\tI
C\t2
E\t0\t0\tI
S\t0\t0\tW
E\t0\t0\tW
S\t0\t0\tX
C\t1
I\t2\t2\t0
L\t2\t0\t2: vector  iadd, acc[8], acc[0], acc[0], n0=4
L\t2\t1\tvpu, add net.py:5
S\t2\t0\tI
C\t1
E\t1\t0\tI
S\t1\t0\tW
S\t1\t1\tdata
C\t2
E\t0\t0\tX
S\t0\t0\tC
C\t6
E\t0\t0\tC
R\t0\t0\t0
E\t1\t1\tdata
W\t1\t0\t0
E\t1\t0\tW
S\t1\t0\tX
E\t2\t0\tI
S\t2\t0\tW
S\t2\t1\tbus
C\t1
E\t2\t1\tbus
E\t2\t0\tW
S\t2\t0\tX
C\t3
E\t1\t0\tX
S\t1\t0\tC
C\t1
E\t2\t0\tX
S\t2\t0\tC
E\t2\t0\tC
R\t2\t2\t0
C\t5
E\t1\t0\tC
R\t1\t1\t0
"""


@pytest.fixture(scope="module")
def three():
    """A record of three instructions, of times that are easy to read."""
    program = assemble("""
        .chip nano
        .name little
        load ub[0], 0x100000, fmt=i8, rows=4, cols=4, pitch=4
        matmul acc[0], ub[0], ub[8], fmt=int8, n0=4, wrows=4
        vector iadd, acc[8], acc[0], acc[0], n0=4
        halt
        """)
    program = replace(program, sources=(
        Source("net.py", 3).told("convert"),
        Source("net.py", 4, 0, "jit(f)/dot", ("a;b.py:8 in f", "a;b.py:9 in g")).told("dot"),
        Source("net.py", 5).told("add"), ""))
    columns = {"issued": [5, 8, 11], "checked": [10, 12, 20], "start": [10, 20, 21],
               "occupied": [4, 4, 4], "end": [20, 30, 25], "reason": [1, 5, 8],
               "blamed": [-1, 0, -1], "lost": [0, 3, 0]}
    record = Record.of(program, preset("nano"))
    found = replace(record.prediction, by_instruction={0: 9, 1: 11, 3: 5})
    return replace(record, prediction=found,
                   **{name: np.array(column) for name, column in columns.items()})


def test_konata_says_what_each_instruction_did_and_when(three):
    assert konata(three) == LOG


def test_stacks_are_callers_place_and_operation(three):
    assert stacks(three) == (
        "net.py:3;convert 9\n"
        "a,b.py:9 in g;a,b.py:8 in f;net.py:4;dot jit(f)/dot 11\n"
        "little;? 5\n")


#: Fields of messages of perfetto.protos, by their numbers, and the messages in them.
PROTOS = {
    "Trace": {1: ("packet", "TracePacket")},
    "TracePacket": {8: ("timestamp", int), 10: ("trusted_packet_sequence_id", int),
                    11: ("track_event", "TrackEvent"), 12: ("interned_data", "InternedData"),
                    13: ("sequence_flags", int), 60: ("track_descriptor", "TrackDescriptor")},
    "TrackDescriptor": {1: ("uuid", int), 2: ("name", str), 5: ("parent_uuid", int)},
    "InternedData": {2: ("event_names", "EventName")},
    "EventName": {1: ("iid", int), 2: ("name", str)},
    "TrackEvent": {4: ("debug_annotations", "DebugAnnotation"), 9: ("type", int),
                   10: ("name_iid", int), 11: ("track_uuid", int), 47: ("flow_ids", "fixed64"),
                   48: ("terminating_flow_ids", "fixed64")},
    "DebugAnnotation": {4: ("int_value", int), 6: ("string_value", str), 10: ("name", str)},
}
BEGIN, END = 1, 2


def read(data, kind="Trace"):
    """A message as names and values, in their order."""
    found = []
    for field, value in fields(data):
        name, inner = PROTOS[kind][field]
        if inner == "fixed64":
            assert isinstance(value, bytes)  # eight of them, as the wire type says
            [value] = struct.unpack("<Q", value)
        elif isinstance(inner, str):
            value = read(value, inner)
        elif inner is str:
            value = value.decode()
        found.append((name, value))
    return found


def test_perfetto_is_told_of_tracks_slices_flows_and_notes(three):
    packets = [packet for _, packet in read(perfetto(three, megahertz=50))]
    for i, packet in enumerate(packets):
        assert packet.count(("trusted_packet_sequence_id", 1)) == (
            "track_descriptor" not in dict(packet)), i
    assert packets[0] == [("trusted_packet_sequence_id", 1), ("sequence_flags", 1)]
    assert [packet for [(_, packet)] in packets[1:7]] == [
        [("uuid", 1), ("name", "nano: little (model)")],
        *([("uuid", uuid), ("name", name), ("parent_uuid", 1)] for uuid, name in (
            (10, "critical path"), (2, "load"), (3, "store"), (4, "mxu"), (5, "vpu")))]
    names, seen = {}, []
    for packet in map(dict, packets[7:]):
        event = packet["track_event"]
        if "interned_data" in packet:
            [(_, named)] = packet["interned_data"]
            assert dict(named)["iid"] not in names
            names[dict(named)["iid"]] = dict(named)["name"]
        flags = {"sequence_flags": 2} if dict(event)["type"] == BEGIN else {}
        assert {key: packet[key] for key in packet if key == "sequence_flags"} == flags
        notes = {dict(note)["name"]: dict(note).get("string_value", dict(note).get("int_value"))
                 for key, note in event if key == "debug_annotations"}
        rest = [(key, names[value] if key == "name_iid" else value) for key, value in event
                if key not in ("debug_annotations", "type", "track_uuid")]
        event = dict(event)
        seen.append((packet["timestamp"], event["track_uuid"], event["type"], rest, notes))
    assert list(names) == list(range(1, len(names) + 1))  # 0 stands for none
    # A cycle is 20 ns.
    load, dot, add = (three.text(pc) for pc in range(3))
    assert seen == [
        (200, 2, BEGIN, [("name_iid", load), ("flow_ids", 1)], {
            "instruction": 0, "source": "convert net.py:3", "issued": 5, "in the window": 10,
            "waited for": "fetch: it was not fetched before", "results": 20}),
        (280, 2, END, [], {}),
        (400, 4, BEGIN, [("name_iid", dot), ("terminating_flow_ids", 1)], {
            "instruction": 1, "source": three.program.sources[1], "issued": 8,
            "in the window": 12, "waited for": "data: it reads what another one wrote",
            "results": 30, "lost to others": 3}),
        (480, 4, END, [], {}),
        (420, 5, BEGIN, [("name_iid", add)], {
            "instruction": 2, "source": "add net.py:5", "issued": 11, "in the window": 20,
            "waited for": "bus: instructions were fetched before it was", "results": 25}),
        (500, 5, END, [], {}),
        *(each for part in three.critical for each in (
            (20 * part.first, 10, BEGIN, [("name_iid", {
                "fetch": "fetch: convert net.py:3", "load": "load: convert net.py:3",
                "mxu": "mxu: dot net.py:4 (jit(f)/dot)",
            }[part.what])], {}),
            (20 * (part.first + part.cycles), 10, END, [], {})))]


def test_a_trace_is_of_100_mhz_where_nobody_says(three):
    assert perfetto(three) == perfetto(three, megahertz=100)


def test_slices_of_a_unit_do_not_cross(three):
    """Where one begins before the unit is free, it is shown from then on. What has a name already
    is said by its number.
    """
    record = replace(three, pc=np.array([0, 1, 0]), unit=np.array([2, 2, 2]),
                     start=np.array([10, 12, 13]), end=np.array([20, 20, 20]))
    told = [dict(packet) for _, packet in read(perfetto(record, megahertz=1000))[7:]]
    new, said = [], []
    for packet in told[:6:2]:
        new += [dict(name)["iid"] for _, name in packet.get("interned_data", ())]
        said.append(dict(packet["track_event"])["name_iid"])
    assert (new, said) == ([1, 2], [1, 2, 1])
    slices = [packet["timestamp"] for packet in told
              if dict(packet["track_event"])["track_uuid"] == 4]
    assert slices == [10, 14, 14, 16, 16, 17]


def test_slices_of_perfetto_are_those_of_the_units(clean):
    [record] = clean.records
    begun, spent, names, tracks, flows = {}, Counter(), {}, {}, Counter()
    for field, packet in fields(perfetto(record, megahertz=1)):
        assert field == 1
        found = dict(fields(packet))
        if 60 in found:
            track = dict(fields(found[60]))
            tracks[track[1]] = track[2].decode()
        if 12 in found:
            each = dict(fields(dict(fields(found[12]))[2]))
            names[each[1]] = each[2].decode()
        if 11 not in found:
            continue
        events = list(fields(found[11]))
        event = dict(events)
        flows.update(which for which, _ in events if which in (47, 48))
        if event[9] == 1:
            assert event[11] not in begun  # slices of a track do not cross
            assert event[10] in names
            begun[event[11]] = found[8]
        else:
            spent[tracks[event[11]]] += found[8] - begun.pop(event[11])
    assert not begun
    assert spent["critical path"] == 1000 * record.end.max()
    assert spent["mxu"] <= 1000 * record.occupied[record.unit == 2].sum()
    assert spent["mxu"] > 900 * record.occupied[record.unit == 2].sum()
    assert flows[48] == (record.blamed >= 0).sum()
    assert flows[47] == len(set(record.blamed[record.blamed >= 0].tolist()))
