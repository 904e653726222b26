"""The command that compares pods, without pods: what it asks for, and how it names what differs."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from celosia.arch.config import PRESETS
from celosia.collectives import Topology
from celosia.model import PlainMachine, Pod
from celosia_sim import podcheck


@pytest.fixture
def pods(monkeypatch):
    """The pods that are made, with what they ran; a program of a seed in `bad` differs."""
    made = []

    class Pod:
        def __init__(self, config, chips, links, **options):
            self.config, self.chips, self.options = config, chips, options
            self.seeds, self.closed = [], False
            made.append(self)

        def close(self):
            self.closed = True

    def compare(pod, topology, texts, seed):
        assert topology.chips == pod.chips == len(texts)
        assert texts == podcheck.random_programs(topology, seed)
        pod.seeds.append(seed)
        return bad.get(seed, ([], []))

    bad = {}
    monkeypatch.setattr(podcheck, "RtlPod", Pod)
    monkeypatch.setattr(podcheck, "compare", compare)
    return SimpleNamespace(made=made, bad=bad)


def test_programs_run_in_batches_on_pods_of_any_kind(pods, capsys):
    assert podcheck.main(["--first", "30", "--programs", "510", "--errors", "0.25"]) == 0
    assert [each.seeds for each in pods.made] == [
        [*range(first, min(first + 25, 540))] for first in range(30, 540, 25)]
    assert all(each.closed for each in pods.made)
    assert capsys.readouterr().out == "510 programs: every row of every chip equal\n"
    config = pods.made[0].config
    assert (config.name, config.ports) == ("nano", 2)
    assert PRESETS["nano"].ports == 0
    assert {each.chips for each in pods.made} == {2, 3, 4}
    assert {each.options["threads"] for each in pods.made} == {1, 2, 3}
    for each in pods.made:
        latency = each.options["latency"]
        least, most = (latency, latency) if isinstance(latency, int) else latency
        assert 1 <= each.options["window"] <= least <= most <= 300
        assert each.options["errors"] == 0.25
        assert each.options["seed"] == each.seeds[0]
    assert {type(each.options["latency"]) for each in pods.made} == {int, tuple}


def test_the_program_that_differs_is_named(pods):
    fine = SimpleNamespace(cause=0, pc=3)
    for golden, found in ((fine, SimpleNamespace(cause=0, pc=4)),
                          (fine, SimpleNamespace(cause=1, pc=3)),
                          (SimpleNamespace(cause=1, pc=3),) * 2):
        pods.made.clear()
        pods.bad.update({56: ([fine], [fine]), 57: ([fine, golden], [fine, found])})
        with pytest.raises(AssertionError) as error:
            podcheck.main(["--first", "30", "--programs", "60"])
        pod = pods.made[-1]
        assert pod.seeds == [55, 56, 57]
        assert error.value.__notes__ == [
            f"program 57, the 2th on {pod.chips} chips: --first 55 --programs 3"]


def test_ways_are_compared(monkeypatch, capsys):
    asked = []

    def digest(config, topology, first, count, **options):
        asked.append((config.ports, topology.chips, first, count, options))
        return "0123456789abcdef" * 4 if options["window"] < 100 else "f" * 64

    monkeypatch.setattr(podcheck, "digest", digest)
    command = ["--chips", "8", "--windows", "1", "16", "--processes", "1", "2", "--first", "5"]
    assert podcheck.main(command) == 0
    assert asked == [(2, 8, 5, 3, {"window": window, "processes": processes, "latency": (64, 300),
                                   "errors": 1e-5})
                     for window in (1, 16) for processes in (1, 2)]
    *lines, last = capsys.readouterr().out.splitlines()
    assert [line.rpartition(", ")[0] for line in lines] == [
        f"window {window:3}, processes {processes}: 0123456789abcdef0123456789abcdef"
        for window in (1, 16) for processes in (1, 2)]
    assert last.startswith("8 chips, 3 programs: ")
    assert last.endswith("are the same in all 4")
    asked.clear()
    assert podcheck.main([*command, "--windows", "16", "400", "--programs", "9"]) == 1
    assert {(each[3], each[4]["latency"]) for each in asked} == {(9, (400, 400))}
    assert capsys.readouterr().out.endswith("are DIFFERENT\n")


@pytest.mark.parametrize("place", [None, (0, "ub"), (0, "acc"), (1, "ub"), (1, "acc")])
def test_a_row_that_differs_is_named(place):
    """By the real comparison, of golden chips with others of which one spoils its last row."""
    config, topology = replace(PRESETS["nano"], ports=2), Topology.ring(2)
    machines = [PlainMachine(config) for _ in range(2)]

    def set_memory(number, name, rows):
        getattr(machines[number], name)[:] = rows

    def memory(number, name):
        rows = getattr(machines[number], name).copy()
        rows[-1, -1] ^= place == (number, name)
        return rows

    pod = SimpleNamespace(
        config=config, set_memory=set_memory, memory=memory,
        chips=[SimpleNamespace(write_memory=each.memory.write) for each in machines],
        run=lambda programs: Pod(machines, topology.links).run(programs))
    texts = podcheck.random_programs(topology, 3)
    if place is None:
        golden, found = podcheck.compare(pod, topology, texts, 3)
        assert golden == found
        assert not any(each.cause for each in golden)
    else:
        with pytest.raises(AssertionError, match=f"{place[1]} of chip {place[0]}"):
            podcheck.compare(pod, topology, texts, 3)
