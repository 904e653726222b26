"""Compiled programs on RTL chips that links connect: what golden chips give, without the host."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from time import monotonic

import numpy as np
import pytest

import celosia
from celosia.arch.config import PRESETS
from celosia.cli.main import main
from celosia.collectives import HostInterconnect, Topology
from celosia.collectives.linked import linked
from celosia.collectives.run import on_all
from celosia.driver import Device, status
from celosia.driver.backends import PODS
from celosia.driver.model import ModelTransport
from celosia.driver.pod import PodEnded
from celosia.graph import DType, Graph, TensorType, op, parameter
from celosia_sim.pod import RtlPod
from celosia_sim.pod_chips import _RtlChip
from sw.collectives.processes_here import in_threads, processes

#: That of test_pod.py.
CHIP = replace(PRESETS["nano"], ports=2)
RING = Topology.ring(4)
GROUP = [[0, 1, 2, 3]]


@contextmanager
def together():
    """Give the chips of two pods that are one: each has a board, as processes have."""
    with processes(2, lines=True) as (made, _):
        yield [each for found in in_threads(2, lambda i: PODS["rtl"](
            CHIP, RING.chips, RING.links, together=made[i])) for each in found]


@pytest.fixture(scope="module", params=[
    ("rtl", {}), ("rtl", {"processes": 2}), ("together", {}), ("model", {})],
    ids=["rtl", "boards", "together", "model"])
def devices(request):
    backend, options = request.param
    with (together() if backend == "together" else nullcontext(
            PODS[backend](CHIP, RING.chips, RING.links, **options))) as transports:
        made = [Device(each, "rtl" if backend == "together" else backend) for each in transports]
        yield made
        for device in made:
            device.close()


def run(devices, graphs, arguments):
    """Return what each chip gives, and its counters."""
    programs = [linked(celosia.compile(graph, CHIP), RING, number)
                for number, graph in enumerate(graphs)]
    assert all(program.on_chip is not None for program in programs)
    executables = [program.load(device)
                   for program, device in zip(programs, devices, strict=True)]
    link = HostInterconnect(len(devices), 60, topology=RING)
    try:
        found = on_all(link, lambda number, peer: executables[number](
            *arguments[number], peer=peer))
    finally:
        for each in executables:
            each.free()
    assert link.meetings == 0
    return found


def step(size=50):
    """A sum, a gather, a permutation and work of the chip between them."""
    x = parameter(TensorType(DType.I32, (size,)), "x")
    total = op("all_reduce", op("add", x, x), groups=GROUP, reducer="add")
    rows = op("all_gather", op("reshape", op("subtract", total, x), shape=(size, 1)), groups=GROUP,
              dim=1)
    moved = op("collective_permute", rows, pairs=[(0, 2), (2, 3), (3, 0)])
    return Graph("step", [x], [total, op("maximum", moved, rows)])


def test_smi_shows_what_each_port_has_counted(devices, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CELOSIA_STATUS", str(tmp_path))
    for name in ("_PACE", "_LINKS_PACE"):
        monkeypatch.setattr(status, name, 0)
    zeros = [[np.zeros(50, np.int32)]] * 4
    run(devices, [step()] * 4, zeros)
    assert main(["smi", "--json"]) == 0
    before = [each["links"] for each in json.loads(capsys.readouterr().out)]
    run(devices, [step()] * 4, zeros)
    assert main(["smi", "--json"]) == 0
    after = [each["links"] for each in json.loads(capsys.readouterr().out)]
    assert main(["smi"]) == 0
    table = capsys.readouterr().out
    assert len(after) == 4
    if isinstance(devices[0].transport, ModelTransport):
        assert before == after == [[]] * 4
        assert "garbled" not in table
        return
    ports = [port for each in after for port in each]
    assert len(ports) == 8
    assert all((each["up"], each["down"], each["garbled"]) == (1, 0, 0) for each in ports)
    assert 0 < sum(port["sent"] for each in before for port in each) < sum(
        each["sent"] for each in ports) == sum(each["received"] for each in ports)
    head, *lines = table.split("\n\n")[1].splitlines()
    assert head.split() == ["pid", "device", "port", "link", "frames", "again", "received",
                            "garbled"]
    assert [line.split()[2:] for line in lines] == [
        [str(port), "up", *(f"{of[name]:,}" for name in ("sent", "resent", "received", "garbled"))]
        for each in after for port, of in enumerate(each)]


def test_a_program_is_one_of_each_chip(devices):
    drawn = np.random.default_rng(6).integers(-1000, 1000, (4, 50)).astype(np.int32)
    for _ in range(2):
        found = run(devices, [step()] * 4, [[each] for each in drawn])
    total = 2 * drawn.sum(0)
    rows = (total - drawn).T
    for chip, (joined, moved) in enumerate(found):
        np.testing.assert_array_equal(joined, total)
        np.testing.assert_array_equal(moved, np.maximum(rows, 0) if chip == 1 else rows)


def test_who_has_run_a_program_looks_later_whether_it_has_ended(monkeypatch):
    """Where it ends earlier than the last time, that is seen behind the slice in which it has."""
    devices = [Device(each, "rtl") for each in PODS["rtl"](CHIP, RING.chips, RING.links)]
    first, advance, spans = devices[0].transport, RtlPod._advance, list[int]()
    assert isinstance(first, _RtlChip)
    chips = first._pod

    def counted(self: RtlPod, cycles: int) -> bool:
        spans.append(cycles)
        return advance(self, cycles)

    monkeypatch.setattr(RtlPod, "_advance", counted)
    x = parameter(TensorType(DType.I32, (6000,)), "x")
    graphs = [Graph("long", [x], [op("all_reduce", x, groups=GROUP, reducer="add")])] * 4
    looks, passed = [], []
    for _ in range(3):
        found = run(devices, graphs, [[np.full(6000, i, np.int32)] for i in range(4)])
        assert all((each == 6).all() for [each] in found)
        looks.append(len(spans))
        passed.append(sum(spans))
        [(program, took)] = chips._took.items()
        assert -50 < took - devices[0].counters()["cycles"] < 600  # the start takes some, too
        spans.clear()
    assert looks[0] > 20
    assert max(looks[1:]) < 10
    assert max(passed) - min(passed) < 600
    chips._took[program] = 16 * took
    run(devices, graphs, [[np.full(6000, i, np.int32)] for i in range(4)])
    assert chips._took[program] == sum(spans) == 2 * 8192 < 15 * took
    for each in devices:
        each.close()


def test_what_is_never_sent_ends_all_with_the_place_of_each_chip(devices):
    x = parameter(TensorType(DType.I32, (50,)), "x")
    alone = Graph("alone", [x], [op("collective_permute", x, pairs=[(0, 1)])])
    arguments = [[np.zeros(50, np.int32)]] * 4
    begin = monotonic()
    with pytest.raises(PodEnded) as error:
        run(devices, [step(), step(), alone, step()], arguments)
    seconds = monotonic() - begin
    assert re.search(r"a message must come: .*chip \d+ waits at instruction \d+", str(error.value))
    assert re.search(r"\n  chip \d, instruction \d+: (all_reduce|all_gather)", str(error.value))
    assert seconds < 10  # with compilation; on an idle machine it is below 1
    # All of them have been reset, and their links with them.
    found = run(devices, [step()] * 4, arguments)
    assert not any(array.any() for each in found for array in each)


def test_what_waits_for_ever_is_found_soon_where_a_run_was_long_before(monkeypatch):
    class Long(dict[tuple[int, ...], int]):
        def get(self, key, default=None):
            return 1 << 20

    devices = [Device(each, "rtl") for each in PODS["rtl"](CHIP, RING.chips, RING.links)]
    first, advance, spans = devices[0].transport, RtlPod._advance, list[int]()
    assert isinstance(first, _RtlChip)
    first._pod._took = Long()

    def counted(self: RtlPod, cycles: int) -> bool:
        spans.append(cycles)
        return advance(self, cycles)

    monkeypatch.setattr(RtlPod, "_advance", counted)
    x = parameter(TensorType(DType.I32, (50,)), "x")
    alone = Graph("alone", [x], [op("collective_permute", x, pairs=[(0, 1)])])
    with pytest.raises(PodEnded, match="a message must come: "):
        run(devices, [step(), step(), alone, step()], [[np.zeros(50, np.int32)]] * 4)
    assert sum(spans) == 3 * 8192
    for each in devices:
        each.close()


def test_who_is_interrupted_ends_all_at_one_place(devices, request):
    class Interrupted(Exception):
        pass

    def look(waited):
        if waited or request.node.callspec.params["devices"][0] == "model":
            raise Interrupted

    x = parameter(TensorType(DType.I32, (6000,)), "x")
    long = Graph("long", [x], [op("all_reduce", x, groups=GROUP, reducer="add")])
    arguments = [[np.full(6000, i, np.int32)] for i in range(4)]
    shared = getattr(getattr(devices[0].transport, "_pod", None), "shared", False)
    some = devices[2:] if shared else devices  # those of one process
    for device in some:
        device.on_progress = look
    try:
        with pytest.raises((Interrupted, PodEnded)):
            run(devices, [long] * 4, arguments)
    finally:
        for device in some:
            device.on_progress = None
    found = run(devices, [long] * 4, arguments)
    assert all((array == 6).all() for each in found for array in each)


def test_a_process_that_is_gone_ends_the_pod():
    arguments = [np.zeros(50, np.int32)]

    def work(made, transports, chip):
        device = Device(transports[chip], "rtl")
        program = linked(celosia.compile(step(), CHIP), RING, chip).load(device)
        return program(*arguments)

    with processes(2, lines=True) as (made, said):
        pods = in_threads(2, lambda i: PODS["rtl"](CHIP, RING.chips, RING.links, together=made[i]))
        made[1]._others[0].wire.close()  # as a kill does
        found, again = (in_threads(2, lambda i: work(made, pods[0], i)) for _ in range(2))
        for pod in pods:
            pod[0].close()
    sentence = "process 1 (pid 101 on here) must go on, but it is gone"
    assert all(sentence in str(each) for each in found)
    assert sentence in said
    assert all("so their links have parted: start all of them anew" in str(each) for each in again)


def test_who_leaves_before_the_beginning_is_waited_for_by_nobody():
    """One process is interrupted while it waits; the other comes too late, and again."""
    class Interrupted(Exception):
        pass

    looks = []

    def look(_):
        looks.append(None)
        if len(looks) > 10:  # all of its own have come
            raise Interrupted

    def work(transports, chip):
        device = Device(transports[chip], "rtl")
        device.on_progress = look
        program = linked(celosia.compile(step(), CHIP), RING, chip)
        return program.load(device)(np.zeros(50, np.int32))

    with processes(2, lines=True) as (made, _):
        pods = in_threads(2, lambda i: PODS["rtl"](CHIP, RING.chips, RING.links, together=made[i]))
        first = in_threads(2, lambda i: work(pods[0], i))
        for device in pods[1]:
            assert device.read_register(0)  # it is well
        late = in_threads(2, lambda i: _load(pods[1], i))
        for pod in pods:
            pod[0].close()
    assert all("Interrupted" in f"{type(each)}{each}" for each in first)
    assert all("process 0 (pid 100 on here) must go on with all, but: Interrupted" in str(each)
               for each in late)


def _load(transports, place):
    """Run a program on a chip of the second process."""
    program = linked(celosia.compile(step(), CHIP), RING, place + 2)
    return program.load(Device(transports[place], "rtl"))(np.zeros(50, np.int32))


def test_a_chip_alone_runs_while_the_others_wait(devices):
    x = parameter(TensorType(DType.I32, (50,)), "x")
    compiled = celosia.compile(Graph("twice", [x], [op("add", x, x)]), CHIP)
    with compiled.load(devices[3]) as executable:
        [found] = executable(np.arange(50, dtype=np.int32))
    np.testing.assert_array_equal(found, 2 * np.arange(50))
