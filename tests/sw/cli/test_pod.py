"""celosia pod: what it prints, and what it refuses."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from celosia.cli.main import main
from celosia.driver.backends import PODS
from celosia.train import PodTrainer

TRAIN = ["pod", "train", "digits"]


def test_train_prints_losses_and_the_weights_of_each_chip(capsys):
    assert main([*TRAIN, "--topology", "2", "--steps", "3", "--batch", "32", "--hidden", "16",
                 "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["topology"] == "2"
    losses = [step["loss"] for step in found["steps"]]
    assert len(losses) == 3
    assert all(0 < loss < 5 for loss in losses)
    assert len(found["hashes"]) == 2
    assert len(set(found["hashes"])) == 1
    assert found["equal"]
    assert found["meetings"] == 0


@pytest.mark.slow
def test_latencies_of_each_link_and_bit_errors_change_no_bit(capsys):
    found = []
    for more in ([], ["--latency", "1..300", "--ber", "1e-6", "--seed", "0"]):
        assert main([*TRAIN, "--topology", "2x2", "--preset", "core4", "--steps", "3",
                     "--backend", "rtl", "--json", *more]) == 0
        found.append(json.loads(capsys.readouterr().out))
    plain, rough = found
    assert plain["hashes"] == rough["hashes"] == plain["golden"]
    assert [each["loss"] for each in plain["steps"]] == [each["loss"] for each in rough["steps"]]
    assert [each["cycles"] for each in plain["steps"]] != [each["cycles"]
                                                           for each in rough["steps"]]


@pytest.mark.slow
def test_boards_that_are_killed_change_no_bit_and_no_cycle():
    """Twenty, behind steps and at times that the seed says: no step takes more than 10 s."""
    rng = random.Random(0)
    kills = set(rng.sample(range(1, 50, 2), 20))
    command = [sys.executable, "-m", "celosia", *TRAIN, "--topology", "2x2", "--preset", "core4",
               "--steps", "50", "--backend", "rtl"]
    found = []
    for boards in (1, 4):
        with subprocess.Popen([*command, "--boards", str(boards)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            assert running.stdout
            lines, seconds = [], []
            for line in running.stdout:
                lines.append(line)
                seconds.append(time.monotonic())
                if boards > 1 and line.startswith("step ") and len(lines) - 1 in kills:
                    time.sleep(rng.uniform(0, .6))
                    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
                    os.kill(int(rng.choice(children.read_text().split())), signal.SIGKILL)
            assert running.stderr
            err = running.stderr.read()
        assert running.returncode == 0, err
        found.append([line for line in lines if not line.startswith("accuracy")])
    assert found[0] == found[1]
    assert found[0][-1] == "all chips have the same weights\n"
    # A step may be over before its successor's line is read: two are replaced at once then.
    assert 15 <= err.count("was ended by SIGKILL; all go on") <= 20
    assert max(b - a for a, b in pairwise(seconds)) < 10


@pytest.mark.parametrize("wrong", ["", "loss", "weights", "weights of all"])
def test_golden_chips_do_every_step_beside_those_of_rtl(wrong, monkeypatch, capsys):
    """Here golden ones stand for RTL, too, and do something else where they are wrong."""
    step, steps = PodTrainer.step, []

    def stepped(self, *arguments):
        loss = step(self, *arguments)
        steps.append(self)
        if wrong.startswith("weights") and len(steps) == 3:
            for state in self._states[1 if wrong == "weights" else 0:]:
                weights = np.array(state["b2"])
                weights[3] += 1
                state["b2"] = weights
        return loss + (wrong == "loss" and len(steps) == 3)

    monkeypatch.setattr(PodTrainer, "step", stepped)
    monkeypatch.setitem(PODS, "rtl", lambda *given, latency, seed, **_: PODS["model"](
        *given, latency=latency, seed=seed))
    assert main([*TRAIN, "--topology", "2", "--steps", "2", "--batch", "32", "--hidden", "16",
                 "--backend", "rtl"]) == bool(wrong)
    said = capsys.readouterr().out
    assert len(set(map(id, steps))) == 2
    assert len(steps) == 4
    assert said.count("golden chips: the same\n") == 2 - (wrong == "loss")
    assert ("weights are DIFFERENT" if wrong else "all chips have the same weights") in said


@pytest.mark.parametrize(("arguments", "message"), [
    (["--steps", "0"], "--steps must be at least 1, not 0"),
    (["--latency", "300..1"],
     ("latency must be cycles of all links, such as 64, or the least and the most of one, such as "
      "1..300, not '300..1'")),
    (["--ber", "2"], "--ber must be a number from 0 to below 1, not 2.0"),
    (["--ber", "1e-6"], "--ber must be 0 without --backend rtl: golden chips have no lines"),
    (["--boards", "0"], "--boards must be from 1 to the 4 chips of --topology, not 0"),
    (["--boards", "5"], "--boards must be from 1 to the 4 chips of --topology, not 5"),
    (["--boards", "2"],
     "--boards must be 1 without --backend rtl, not 2: golden chips are in this process"),
    (["--topology", "1"], "--topology must be of 2 or more chips, not 1"),
    (["--topology", "64x8"],
     "--batch must be at most 2 for each of 512 chips: there are 1,348 images, not 8,192"),
])
def test_what_is_wrong(arguments, message, capsys):
    assert main([*TRAIN, *arguments]) == 1
    assert capsys.readouterr().err == f"celosia: error: {message}\n"
