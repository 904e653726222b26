"""What a pod would need that is larger than any here."""

import importlib
import json

import pytest

from celosia.bench.plan import PodPlan, Rates, plan
from celosia.cli.main import main
from celosia.collectives import Topology

RATES = Rates(100_000, 1 << 20, .001, .002, .00005, 10_000, 14_000)


def test_a_plan_is_made_of_what_was_measured():
    # 16 more chips along the dimensions, from 8x8 to 16x16, take 4,000 cycles, so 96 take 24,000.
    assert plan(RATES, Topology((64, 64)), 256) == PodPlan(
        "64x64", 4096, 256, 16, 34, 38_000, 594, 38_000 * 16 / 100_000, 594 * .00005,
        3 * 16 << 20, 3 * 4096 << 20, 16 * .005, 16 * .005 / .05)


def test_a_state_is_with_as_many_boards_as_there_are():
    for boards, have in ((1, 1), (2, 2), (3, 3), (4, 3)):
        found = plan(RATES, Topology((4, 3)), boards)
        assert found.total_bytes == have * 12 << 20
        assert found.save_seconds == pytest.approx(12 / boards * (.001 + .002 * (have - 1)))


def test_what_was_measured_is_its_own_plan():
    assert plan(RATES, Topology((16, 16)), 1).step_cycles == 14_000
    assert plan(RATES, Topology((8, 8)), 1).step_cycles == 10_000


@pytest.mark.parametrize(("extents", "boards", "each", "crossing"), [
    ((4, 4), 1, 16, 0), ((4, 4), 4, 4, 8), ((4, 4), 16, 1, 4), ((8,), 3, 3, 2), ((2,), 2, 1, 2)])
def test_chips_and_links_of_boards(extents, boards, each, crossing):
    found = plan(RATES, Topology(extents), boards)
    assert (found.chips_each, found.crossing) == (each, crossing)
    assert (found.window_seconds == 0) == (boards == 1)


def test_the_command(monkeypatch, capsys):
    monkeypatch.setattr(importlib.import_module("celosia.bench.main"), "measure_rates",
                        lambda *_, **__: RATES)
    command = ["bench", "pod", "--plan", "--topology", "64x64", "--boards", "256"]
    assert main(command) == 0
    assert capsys.readouterr().out == """\
measured  100,000 cycles of a chip in a second of a processor
          a state of 1,048,576 bytes a chip, saved in 1.00 ms, with another board in 2.00 ms
          a message of a window from another thread: 50 us
          a step of 10,000 cycles on 8x8, 14,000 on 16x16 (golden chips' clock)
pod       64x64: 4,096 chips on 256 boards of at most 16, of each 34 links to others
step      38,000 cycles = those of 16x16, and as many more for each chip along a dimension as from \
8x8 to it; 594 windows
time      6.1 s a step = 6.1 s of chips (cycles x chips of a board / rate) + 0.03 s of \
messages (windows x one)
states    48 MiB of a board, with those of two others, 12.0 GiB of all; saved and given to two in \
80.0 ms, so every 1.60 s at most (a twentieth of the time)
"""
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["step_cycles"] == 38_000


@pytest.mark.parametrize(("arguments", "message"), [
    (["--boards", "9"], "boards must be from 1 to the 8 chips of the topology, not 9"),
    (["--latency", "1..9"], "--latency of a --plan must be one number, not (1, 9)"),
])
def test_what_is_wrong(arguments, message, capsys, monkeypatch):
    monkeypatch.setattr(importlib.import_module("celosia.bench.main"), "measure_rates",
                        lambda *_, **__: pytest.fail("it was measured first"))
    assert main(["bench", "pod", "--plan", *arguments]) == 1
    assert capsys.readouterr().err == f"celosia: error: {message}\n"


@pytest.mark.parametrize("boards", [0, -1, 9])
def test_boards_that_have_no_chip(boards):
    with pytest.raises(ValueError, match="^boards must be from 1 to the 8 chips of the topology, "
                                         f"not {boards}$"):
        plan(RATES, Topology((8,)), boards)


@pytest.mark.parametrize(("latency", "windows"), [(1, 14_000), (64, 219), (14_000, 1), (13_999, 2)])
def test_a_step_is_cut_into_windows_of_the_latency(latency, windows):
    found = plan(RATES, Topology((16, 16)), 2, latency)
    assert (found.windows, found.window_seconds) == (windows, windows * .00005)


def test_a_message_takes_half_of_there_and_back(monkeypatch):
    module = importlib.import_module("celosia.bench.plan")
    times = iter([10, 18])
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(times))
    monkeypatch.setattr(module, "_WINDOWS", 20)
    assert module._exchange(100) == 8 / 2 / 20


@pytest.mark.slow
def test_what_is_measured(capsys):
    assert main(["bench", "pod", "--plan", "--topology", "32x32", "--boards", "64", "--net",
                 "64-128-10", "--batch", "16", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cycles"] > 10_000
    assert found["state_bytes"] > 1 << 20
    assert 0 < found["window_seconds"] < .1
    assert 0 < found["save_seconds"] < 1
    assert 0 < found["give_seconds"] < 1
    assert found["small"] < found["large"] < found["step_cycles"]
