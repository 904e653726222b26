"""What a probe of a simulated chip has shown, from words that are made here."""

import numpy as np
import pytest

from celosia.arch.probe import BY_NAME, FIELDS, PROBE_BITS, STATES
from celosia_sim.probe import Probe


def word(**fields):
    return sum(value << BY_NAME[name].first for name, value in fields.items())


def records(*rows):
    return np.array(rows, np.uint64).reshape(-1, 2)


#: A run of the cycles 10 to 29, with what is before and behind it.
RUN = ((5, word(retired=1)),
       (10, word(running=1, load_activity=1, load_take=1)),
       (11, word(running=1, load_activity=4, retired=1)),
       (14, word(running=1, load_activity=4, load_done=1, read_beat=1, mxu_take=1)),
       (17, word(running=1, mxu_activity=1, conflicts_ub_write_vpu=1)),
       (29, word(running=1, mxu_done=1)),
       (30, word(load_activity=1)))


def test_fields_fill_the_word():
    assert sum(field.mask for field in FIELDS) == (1 << PROBE_BITS) - 1
    assert STATES | BY_NAME["pc"].mask == (1 << PROBE_BITS) - 1
    assert BY_NAME["pc"].bits >= 16


def test_a_run_is_summed():
    probe = Probe(bus_bytes=16)
    probe.add(records(*RUN), 40)
    found = {name: count for name, count in probe.counters.items() if count}
    assert found == {"cycles": 20, "instructions": 3, "bytes_read": 48, "load_busy": 1,
                     "load_wait_bus": 6, "load_idle": 13, "mxu_busy": 12, "mxu_idle": 8,
                     "store_idle": 20, "vpu_idle": 20, "scalar_idle": 20,
                     "conflicts_ub_write_vpu": 12}
    events = {name: cycles.tolist() for name, cycles in probe.events.items() if len(cycles)}
    assert events == {"load_take": [0], "load_done": [4, 5, 6], "mxu_take": [4, 5, 6],
                      "mxu_done": [19],
                      "mxu_busy_from": [6], "mxu_busy_to": [18]}


@pytest.mark.parametrize("cuts", [range(6, 40), (10,), (15, 16), (30,)])
def test_how_often_it_is_looked_at_changes_nothing(cuts):
    whole, parts = Probe(16), Probe(16)
    whole.add(records(*RUN), 40)
    rows = list(RUN)
    for now in (*cuts, 40):
        parts.add(records(*[row for row in rows if row[0] < now]), now)
        rows = [row for row in rows if row[0] >= now]
    assert parts.counters == whole.counters
    for name, cycles in whole.events.items():
        assert "busy" in name or np.array_equal(parts.events[name], cycles)
    spans = [zip(each.events["mxu_busy_from"], each.events["mxu_busy_to"], strict=True)
             for each in (whole, parts)]
    assert len({frozenset(i for a, b in each for i in range(a, b)) for each in spans}) == 1


def test_the_last_run_is_kept():
    probe = Probe(16)
    probe.add(records(*RUN), 40)
    probe.add(records((50, word(running=1, vpu_take=1)), (52, 0)), 60)
    assert probe.counters["cycles"] == 2
    assert probe.events["vpu_take"].tolist() == [0, 1]
    assert not len(probe.events["load_done"])


def test_events_have_a_limit():
    probe = Probe(16, most=2)
    probe.add(records(*RUN), 40)
    assert probe.events["load_done"].tolist() == [4, 5]
    assert probe.dropped == 2  # one load and one matmul
    assert probe.counters["instructions"] == 3


def test_a_chip_without_the_pin_is_refused(open_stub):
    with pytest.raises(ValueError, match="must have the pin probe, but its Verilog has no"):
        open_stub(probe=True)
    chip = open_stub()
    assert chip.probe is None
    chip.chip.probe_set(0)
