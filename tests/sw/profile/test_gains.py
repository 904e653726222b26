"""What could be gained: which changes are findings, in which order, and where."""

import importlib
from types import SimpleNamespace

import pytest

from celosia.compiler.errors import CompileError
from celosia.model.timing import Timing
from celosia.profile.lines import LineCost
from celosia.profile.mends import Mend
from celosia.profile.profile import Gain, Profile

GRAPH = object()


class Tried(Profile):
    """A run of 10,000 cycles, of which a test says what changes give."""

    lines = ()

    def __init__(self, *tried):
        super().__init__(SimpleNamespace(name="net", config=None, steps=()))
        self._tried = dict(tried)

    expected = (SimpleNamespace(cycles=6_000), SimpleNamespace(cycles=4_000))

    def _mends(self):
        return iter(self._tried)

    def _try(self, mend):
        cycles = self._tried[mend]
        if isinstance(cycles, Exception):
            raise cycles
        return cycles


def mend(kind, **more):
    return Mend(kind, f"what of {kind}", f"try {kind}", **({"timing": Timing()} | more))


def found(*tried):
    return [(each.kind, each.cycles, each.gain) for each in Tried(*tried).findings]


def test_what_gains_most_comes_first():
    assert found((mend("a"), 9_000), (mend("b"), 7_000), (mend("c"), 8_000)) == [
        ("b", 7_000, 3_000), ("c", 8_000, 2_000), ("a", 9_000, 1_000)]


def test_there_are_four_findings_at_most():
    tried = [(mend(f"{i}"), 9_000 - i) for i in range(6)]
    assert [kind for kind, _, _ in found(*tried)] == ["5", "4", "3", "2"]


@pytest.mark.parametrize(("cycles", "gain"), [(9_949, 51), (9_950, 50), (9_951, None),
                                              (10_000, None), (10_500, None)])
def test_half_a_per_cent_is_a_gain(cycles, gain):
    assert found((mend("a"), cycles)) == ([("a", cycles, gain)] if gain else [])


def test_what_the_host_does_comes_first_whatever_it_costs():
    assert found((mend("a"), 5_000), (mend("host", timing=None, graph=GRAPH), 10_100),
                 (mend("host", timing=None), 1)) == [
        ("host", 10_000, 0), ("host", 10_100, -100), ("a", 5_000, 5_000)]


def test_what_does_more_work_counts_by_its_work():
    assert found((mend("batch", repeats=4), 32_003)) == [("batch", 8_000, 2_000)]


def test_what_changes_nothing_or_cannot_be_is_no_finding():
    assert found((mend("a", timing=None), 1), (mend("b"), ValueError("no")),
                 (mend("c"), CompileError("no"))) == []


def line(place, **busy):
    made = LineCost(place)
    made.busy.update(busy)
    return made


@pytest.mark.parametrize(("kind", "place"), [
    ("bus_bytes", "both"), ("read_latency", "load"), ("outstanding", "load"),
    ("write_latency", "store"), ("lanes", "vpu"), ("bank_conflicts", "vpu"),
    ("window", ""), ("ub_rows", "")])
def test_a_change_of_the_chip_is_about_the_line_that_has_most_of_it(kind, place):
    profile = Tried((mend(kind), 5_000), (mend("mine", place="here"), 6_000))
    profile.lines = (line("load", load=9, store=0), line("store", store=9),
                     line("both", load=6, store=7), line("vpu", vpu=1), line("mxu", mxu=99))
    assert profile.findings == (
        Gain(kind, f"what of {kind}", f"try {kind}", place, 5_000, 5_000),
        Gain("mine", "what of mine", "try mine", "here", 6_000, 4_000))


def test_where_no_line_has_any_of_it_there_is_no_place():
    profile = Tried((mend("lanes"), 5_000))
    profile.lines = (line("load", load=9),)
    assert [each.place for each in profile.findings] == [""]
    assert [each.place for each in Tried((mend("lanes"), 5_000)).findings] == [""]


def test_lines_of_all_steps_are_added_up(monkeypatch):
    costs = {1: [line("a", mxu=3), line("b")], 2: [line("c"), line("a", mxu=4, vpu=1)]}
    for number, found in costs.items():
        for i, each in enumerate(found):
            each.cycles = 10 * number + i
            each.operations["dot"] = each.parts["dot"] = each.waits["why"] = number
    monkeypatch.setattr(importlib.import_module("celosia.profile.profile"), "by_line", costs.get)
    made = Profile(SimpleNamespace(), measured=(1, 2)).lines
    assert [(each.place, each.cycles) for each in made] == [("a", 31), ("c", 20), ("b", 11)]
    assert dict(made[0].busy) == {"mxu": 7, "vpu": 1}
    assert made[0].operations["dot"] == made[0].parts["dot"] == made[0].waits["why"] == 3


def test_what_a_program_was_compiled_with_is_kept():
    compiled, given = SimpleNamespace(name="net", config=None, steps=()), {"memory": 5}
    made = Profile(compiled, options=given)
    given["memory"] = 6
    assert (made.options, made.timing, made.graph) == ({"memory": 5}, Timing(), None)
    assert Profile(compiled).options == {}
    slow = Timing(read_latency=99)
    assert Profile(compiled, timing=slow).timing is slow
