"""What other people's viewers are given."""

from collections import Counter

import pytest

from celosia.profile.exports import konata, perfetto, stacks
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
