"""Planes for XProf of runs that are counted by hand, by the names of xplane.proto."""

import struct
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia.profile.exports import xplane
from celosia.profile.exports.xplane import DeviceRun, module_name, xspace
from celosia.profile.record import Record
from celosia.program.asm import assemble
from celosia.storage.protobuf import fields
from sw.profile.test_lines import PROGRAM

SOURCES = ("convert net.py:3", "dot net.py:4 (jit(f)/dot) < main.py:9 in g", "add (sum)",
           "copy (end)", "", "")
TIMES = {"start": [10, 22, 33, 45, 50], "occupied": [4, 6, 4, 8, 2], "end": [20, 30, 40, 60, 58]}
BEGIN = 1_700_000_000_000_000_000
PROTOS = {
    "XSpace": {1: ("plane", "XPlane"), 2: ("error", str), 3: ("warning", str)},
    "XPlane": {1: ("id", int), 2: ("name", str), 3: ("line", "XLine"), 4: ("event", "Entry"),
               5: ("stat", "StatEntry"), 6: ("stats", "XStat")},
    "Entry": {1: ("key", int), 2: ("value", "XEventMetadata")},
    "StatEntry": {1: ("key", int), 2: ("value", "XStatMetadata")},
    "XEventMetadata": {1: ("id", int), 2: ("name", str), 4: ("display_name", str),
                       5: ("stats", "XStat")},
    "XStatMetadata": {1: ("id", int), 2: ("name", str)},
    "XLine": {1: ("id", int), 2: ("name", str), 3: ("timestamp_ns", int), 4: ("event", "XEvent"),
              11: ("display_name", str)},
    "XEvent": {1: ("metadata_id", int), 2: ("offset_ps", int), 3: ("duration_ps", int),
               4: ("stats", "XStat")},
    "XStat": {1: ("metadata_id", int), 2: ("double_value", float), 3: ("uint64_value", int),
              4: ("int64_value", int), 5: ("str_value", str), 6: ("bytes_value", bytes)},
}


def read(data, kind="XSpace"):
    """A message as names and values, in their order."""
    made = {str: bytes.decode, float: lambda value: struct.unpack("<d", value)[0]}
    found = []
    for field, value in fields(data):
        name, inner = PROTOS[kind][field]
        found.append((name, read(value, inner) if isinstance(inner, str)
                      else made.get(inner, lambda same: same)(value)))
    return found


def all_of(message, name):
    return [value for key, value in message if key == name]


class Plane:
    """A plane whose statistics have their names, and events those of their kinds."""

    def __init__(self, message):
        self.id, self.name = dict(message)["id"], dict(message)["name"]
        self._names = {}
        for entry in map(dict, all_of(message, "stat")):
            assert entry["key"] == dict(entry["value"])["id"]
            self._names[entry["key"]] = dict(entry["value"])["name"]
        assert len(set(self._names.values())) == len(self._names)
        assert min(self._names, default=1) == 1  # 0 stands for none
        self.stats = self._stats(message)
        self.kinds = {}
        for entry in map(dict, all_of(message, "event")):
            value = entry["value"]
            assert entry["key"] == dict(value)["id"] not in self.kinds
            self.kinds[entry["key"]] = (dict(value)["name"], dict(value).get("display_name", ""),
                                        self._stats(value))
        assert min(self.kinds, default=1) == 1
        self.lines = {}
        for line in all_of(message, "line"):
            head = dict(line)
            assert head["name"] == head["display_name"]
            self.lines[head["name"]] = (head["id"], head["timestamp_ns"], [
                (self.kinds[dict(event)["metadata_id"]][0], dict(event)["offset_ps"],
                 dict(event)["duration_ps"], self._stats(event))
                for event in all_of(line, "event")])

    def _stats(self, message):
        found = {}
        for stat in all_of(message, "stats"):
            (_, which), (_, value) = stat
            found[self._names[which]] = value
        return found


def planes(*arguments, **options):
    message = read(xspace(*arguments, **options))
    return [Plane(plane) for plane in all_of(message, "plane")], all_of(message, "warning")


def made(cycles, pc=(0, 1, 2, 3, 4)):
    record = Record.of(replace(assemble(PROGRAM), sources=SOURCES), preset("nano"))
    return replace(record, pc=np.array(pc), prediction=replace(record.prediction, cycles=cycles),
                   **{name: np.array(column) for name, column in TIMES.items()})


def program(*records, name="net"):
    return SimpleNamespace(name=name, records=records, config=preset("nano"),
                           cycles=sum(record.cycles for record in records))


@pytest.fixture(scope="module")
def net():
    """Two steps of the chip; in the second, one operation is at work twice."""
    return program(made(63), made(70, (1, 0, 1, 1, 4)))


def test_a_plane_says_which_chip_it_is(net):
    [device, other, metadata], warnings = planes(
        [DeviceRun(net, BEGIN, 3), DeviceRun(net, BEGIN + 5, 12)], megahertz=50,
        warnings=["one", "two"])
    assert (device.id, device.name) == (13, "/device:TPU:3")
    # 16 products and sums a cycle, 4 bytes a cycle.
    assert device.stats == {
        "device_type_string": "Celosia nano", "device_id": 3,
        "peak_teraflops_per_second": 32 * 50 / 1e6, "peak_hbm_bw_gigabytes_per_second": 0.2}
    assert (other.id, other.name, other.stats["device_id"]) == (22, "/device:TPU:12", 12)
    assert (metadata.id, metadata.name, metadata.kinds) == (1000, "/host:metadata", {})
    assert warnings == ["one", "two"]
    assert {line[1] for line in other.lines.values()} == {BEGIN + 5}


def test_programs_that_have_a_graph_are_on_the_plane_of_the_host(net):
    other = program(made(63), name="other")
    runs = [DeviceRun(net, BEGIN), DeviceRun(other, BEGIN), DeviceRun(net, BEGIN)]
    metadata = planes(runs, modules=lambda each: b"hlo" if each is other else None)[0][-1]
    assert list(metadata.kinds.values()) == [
        ("other(2)", "", {"Hlo Proto": b"hlo", "program_id": 2})]
    assert module_name(net, 1) == "net(1)"


def test_operations_are_named_and_have_their_work(net):
    [device, _], _ = planes([DeviceRun(net, BEGIN)])
    told = {shown: (name, stats) for name, shown, stats in device.kinds.values() if shown}
    read, written = b"\n\6\10\1\20\1\30", b"\n\6\10\2\20\1\30"

    def stats(number, **more):
        return {"program_id": 1, "symbol_id": number, "hlo_category": "loop fusion", "flops": 0,
                "model_flops": 0, "bytes_accessed": 0, "memory_access_breakdown": b""} | more
    assert told == {
        "convert.0": ("%convert.0 = convert()", stats(
            1, bytes_accessed=16, memory_access_breakdown=read + b"\20", tf_op="convert:",
            source="net.py:3", source_stack="net.py:3")),
        "dot.1": ("%dot.1 = dot(jit(f)/dot)", stats(
            2, hlo_category="convolution fusion", flops=2 * 4 * 16, model_flops=2 * 4 * 16,
            tf_op="jit(f)/dot:", source="net.py:4", source_stack="net.py:4\nmain.py:9 in g")),
        "add.2": ("%add.2 = add(sum)", stats(3, tf_op="sum:")),
        "copy.3": ("%copy.3 = copy(end)", stats(
            4, hlo_category="data formatting", bytes_accessed=64,
            memory_access_breakdown=written + b"\100", tf_op="end:")),
        "operation.4": ("%operation.4 = ()", stats(
            5, bytes_accessed=16, memory_access_breakdown=read + b"\20", tf_op=":")),
        # Of the second step; what is done in two events is dealt out.
        "dot.0.1": ("%dot.0.1 = dot(jit(f)/dot)", stats(
            (1 << 24) + 1, hlo_category="convolution fusion", bytes_accessed=40,
            memory_access_breakdown=read + b"\10" + written + b"\40", tf_op="jit(f)/dot:",
            source="net.py:4", source_stack="net.py:4\nmain.py:9 in g")),
        "convert.1.1": ("%convert.1.1 = convert()", stats(
            (1 << 24) + 2, flops=128, model_flops=128, tf_op="convert:", source="net.py:3",
            source_stack="net.py:3")),
        "operation.2.1": ("%operation.2.1 = ()", stats(
            (1 << 24) + 3, bytes_accessed=16, memory_access_breakdown=read + b"\20", tf_op=":")),
    }


OPERATIONS = [("%convert.0 = convert()", 0, 20), ("%dot.1 = dot(jit(f)/dot)", 20, 30),
              ("%add.2 = add(sum)", 30, 40), ("%copy.3 = copy(end)", 40, 60),
              ("%operation.4 = ()", 60, 63), ("%dot.0.1 = dot(jit(f)/dot)", 63, 83),
              ("%convert.1.1 = convert()", 83, 93), ("%dot.0.1 = dot(jit(f)/dot)", 93, 123),
              ("%operation.2.1 = ()", 123, 133)]


@pytest.mark.parametrize(("cycles", "scale"), [(None, 1), (133, 1), (266, 2)])
def test_times_are_cycles_of_the_chip(net, cycles, scale):
    """A cycle is 20,000 ps at 50 MHz; the model's are as many times as long as those of the run."""
    [device, _], _ = planes([DeviceRun(net, BEGIN, cycles=cycles)], megahertz=50)
    cycle, group = 20_000 * scale, {"group_id": 0}
    first, second = net.records
    lines = {"Steps": [("0", 0, 133 * cycle, group)],
             "XLA Modules": [("net(1)", 0, 133 * cycle, {"run_id": 0, **group})],
             "XLA Ops": [(name, begin * cycle, (end - begin) * cycle, group)
                         for name, begin, end in OPERATIONS]}
    for name, indices in (("LOAD", (0, 4)), ("STORE", (3,)), ("MXU", (1,)), ("VPU", (2,))):
        lines[name] = [
            (record.text(int(record.pc[i])), (base + TIMES["start"][i]) * cycle,
             TIMES["occupied"][i] * cycle, {})
            for record, base in ((first, 0), (second, 63)) for i in indices]
    assert list(device.lines) == list(lines)
    for number, (name, events) in enumerate(lines.items(), 1):
        assert device.lines[name] == (number, BEGIN, events), name


def test_runs_follow_each_other_as_on_the_host_but_not_at_once(net):
    """A run of 1,330,000 ps, one asked for meanwhile, and one after a pause."""
    runs = [DeviceRun(net, BEGIN), DeviceRun(net, BEGIN + 1000), DeviceRun(net, BEGIN + 5000)]
    [device, _], _ = planes(runs)
    _, begin, modules = device.lines["XLA Modules"]
    assert begin == BEGIN
    assert [event[1:] for event in modules] == [
        (at, 1_330_000, {"run_id": i, "group_id": i})
        for i, at in enumerate((0, 1_330_000, 5_000_000))]
    assert [event[:3] for event in device.lines["Steps"][2]] == [
        (str(i), at, 1_330_000) for i, at in enumerate((0, 1_330_000, 5_000_000))]
    ops = device.lines["XLA Ops"][2]
    assert [event[1] for event in ops[::len(OPERATIONS)]] == [0, 1_330_000, 5_000_000]


def test_steps_are_of_what_takes_longest_in_all(net):
    """Three runs of 63 cycles are longer than one of 133, and two are not."""
    small = program(made(63), name="small")
    for count, steps in ((2, ["net(1)"]), (3, ["small(2)"] * 3)):
        runs = [DeviceRun(net, BEGIN), *[DeviceRun(small, BEGIN)] * count]
        [device, _], _ = planes(runs)
        begins = {event[1]: event[0] for event in device.lines["XLA Modules"][2]}
        assert [begins[event[1]] for event in device.lines["Steps"][2]] == steps
        groups = [event[3]["group_id"] for event in device.lines["XLA Modules"][2]]
        assert groups == ([0, 1, 1] if count == 2 else [0, 0, 1, 2])


def events_of(record):
    [device, _], _ = planes([DeviceRun(program(record), BEGIN)], megahertz=1e6)
    return [event[:3] for event in device.lines["XLA Ops"][2]]


def test_what_ends_with_another_has_no_cycles_of_its_own():
    record = replace(made(63), end=np.array([20, 20, 40, 40, 63]))
    assert events_of(record) == [("%convert.0 = convert()", 0, 20), ("%add.2 = add(sum)", 20, 20),
                                 ("%operation.4 = ()", 40, 23)]


def test_a_program_without_sources_is_one_operation():
    record = made(63)
    record = replace(record, program=replace(record.program, sources=()))
    assert events_of(record) == [("%operation.0 = ()", 0, 60), ("%operation.0 = ()", 60, 3)]


def test_what_is_left_is_the_last_instructions():
    record = made(63)
    record = replace(record, program=replace(record.program, sources=(*SOURCES[:5], "end")))
    assert events_of(record)[-2:] == [("%copy.3 = copy(end)", 40, 20), ("%end.5 = end()", 60, 3)]


def test_of_many_runs_the_later_ones_have_no_units(net, monkeypatch):
    runs = [DeviceRun(program(made(63)), BEGIN)] * 3
    # A step has a module, a step and 5 operations, and then 5 instructions.
    for most, shown in ((7, 0), (8, 1), (19, 1), (20, 2), (100, 3)):
        monkeypatch.setattr(xplane, "_MOST_EVENTS", most)
        [device, _], _ = planes(runs)
        assert len(device.lines.get("MXU", (0, 0, []))[2]) == shown
        assert len(device.lines["XLA Ops"][2]) == 15


@pytest.mark.parametrize("operation", ["dot", "convolution", "result", "copy", "move", "transpose",
                                       "reshape", "concatenate", "pad", "add", "reduce"])
def test_categories_are_those_that_xprof_knows(operation):
    assert xplane._category(operation) == {
        "dot": "convolution fusion", "convolution": "convolution fusion", "add": "loop fusion",
        "reduce": "loop fusion"}.get(operation, "data formatting")


def test_a_run_without_cycles_has_its_own_scale():
    nothing = program()
    assert (DeviceRun(nothing, BEGIN, cycles=7).scale, DeviceRun(nothing, BEGIN).scale) == (1, 1)


@pytest.mark.parametrize(("value", "field", "found"), [
    (0, "uint64_value", 0), (7, "uint64_value", 7), (-5, "int64_value", (1 << 64) - 5),
    (2.5, "double_value", 2.5), ("text", "str_value", "text"), (b"raw", "bytes_value", b"raw")])
def test_statistics_have_the_fields_of_their_types(value, field, found):
    plane = xplane._Plane(1, "plane")
    assert read(plane.stat("one", 1), "XStat") == [("metadata_id", 1), ("uint64_value", 1)]
    assert read(plane.stat("two", value), "XStat") == [("metadata_id", 2), (field, found)]
    assert dict(read(plane.stat("one", value), "XStat"))["metadata_id"] == 1
