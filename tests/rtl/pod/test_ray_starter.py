"""Boards that Ray starts, on nodes of this machine; who is killed is replaced, a node, too."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from celosia_sim.pod.kept import KeptBoard, KeptPod, begun

pytestmark = pytest.mark.extra(name="ray")

PROGRAM = """
import os, sys
from dataclasses import replace
from celosia.arch.config import PRESETS
from celosia.collectives import Topology
from celosia_sim.pod import RtlPod
from celosia_sim.podcheck import compare, random_programs

ring = Topology.ring(4)
pod = RtlPod(replace(PRESETS["nano"], ports=2), 4, ring.links, latency=40,
             processes=int(os.environ["CELOSIA_BOARDS"]))
for seed in range(60):
    compare(pod, ring, random_programs(ring, seed), seed)
    print("step", seed, file=sys.stderr, flush=True)
    if seed == 30:
        sys.stdin.readline()
print(pod.counters(), pod.sent().tolist())
pod.close()
"""
CELOSIA = [sys.executable, "-m", "celosia"]
STEPS = 20
TRAIN = [*CELOSIA, "pod", "train", "digits", "--topology", "2x2", "--preset", "core4", "--steps",
         str(STEPS), "--backend", "rtl", "--boards", "4"]


def celosia(*arguments: str) -> str:
    done = subprocess.run([*CELOSIA, *arguments], capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    return done.stdout


def program(*, kill: int = 0, board: KeptBoard | None = None) -> str:
    """Run the program; a process is killed behind its first step.

    A board ends some time behind its node, which all steps may be faster than: halfway the program
    waits until the board has ended.
    """
    with subprocess.Popen([*CELOSIA, "pod", "run", "--", sys.executable, "-c", PROGRAM], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as running:
        assert running.stderr
        said = running.stderr.readline()
        assert said == "step 0\n", said + running.stderr.read()
        if board:
            os.kill(kill, signal.SIGKILL)
            limit = time.monotonic() + 20
            while begun(board.pid) == board.begun:
                assert time.monotonic() < limit, f"{board.pid} goes on without {kill}"
                time.sleep(.01)
        out, err = running.communicate("\n", timeout=120)
    assert running.returncode == 0, err
    assert ("must go on, but it " in err) == bool(board)
    return out


def raylet_of(pid: int) -> int:
    """Return the process of the node that a process is on: its parent."""
    [parent] = re.findall(r"^PPid:\s+(\d+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(parent)


def test_boards_of_ray(tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_STATUS", str(tmp_path))
    celosia("pod", "start", "--boards", "2", "--cluster", "local")
    try:
        pod = KeptPod.read(tmp_path / "pod.json")
        nodes = {raylet_of(each.pid) for each in pod.boards}
        assert len(nodes) == 2
        assert os.getpid() not in nodes
        assert nodes <= {pid for pid, _ in pod.others}
        undisturbed = program()
        assert program(kill=pod.boards[0].pid, board=pod.boards[0]) == undisturbed
        # The node of the other one, with all that is on it.
        begin = time.monotonic()
        assert program(kill=raylet_of(pod.boards[1].pid), board=pod.boards[1]) == undisturbed
        assert time.monotonic() - begin < 30
        pod = KeptPod.read(tmp_path / "pod.json")
        assert all(each.serial >= 1 for each in pod.boards)
        assert "kept by the process" in celosia("pod", "status")
    finally:
        pod = KeptPod.read(tmp_path / "pod.json")
        assert celosia("pod", "stop") == "2 boards have ended\n"
    every = [(pod.pid, pod.begun), *pod.others, *((each.pid, each.begun) for each in pod.boards)]
    assert len(every) > 5
    assert not any(begun(pid) == at != "" for pid, at in every)


def train(*command: str, kill: random.Random | None = None) -> tuple[list[str], float]:
    """Train on boards of Ray; a node is killed at a time that a seed decides.

    Returns
    -------
    lines
        Losses, cycles and weights, as they are printed.
    longest
        Seconds between two steps.
    """
    at = kill.randrange(1, STEPS - 1) if kill else -1
    lines, seconds = [], []
    with subprocess.Popen([*command, *TRAIN], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as running:
        assert running.stdout
        assert running.stderr
        for line in running.stdout:
            lines.append(line)
            seconds.append(time.monotonic())
            if kill and line.startswith(f"step {at}:"):
                time.sleep(kill.uniform(0, .6))
                boards = KeptPod.read(Path(os.environ["CELOSIA_STATUS"]) / "pod.json").boards
                os.kill(raylet_of(kill.choice(boards).pid), signal.SIGKILL)
        err = running.stderr.read()
    assert running.returncode == 0, err
    assert ("must go on, but it " in err) == bool(kill)
    return ([line for line in lines if not line.startswith("accuracy")],
            max(b - a for a, b in pairwise(seconds)))


@pytest.fixture(scope="module")
def undisturbed_training():
    return train()[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_node_that_is_killed_in_training(seed, undisturbed_training, tmp_path, monkeypatch):
    """With all boards that are on it, once for each cluster: nobody starts a node again."""
    monkeypatch.setenv("CELOSIA_STATUS", str(tmp_path))
    begin = time.monotonic()
    celosia("pod", "start", "--boards", "4", "--cluster", "local")
    started = time.monotonic() - begin
    try:
        lines, longest = train(*CELOSIA, "pod", "run", "--", kill=random.Random(seed))
    finally:
        celosia("pod", "stop")
    print(f"started in {started:.1f} s, at most {longest:.1f} s between two steps")
    assert lines == undisturbed_training
    assert lines[-1] == "all chips have the same weights\n"
    assert started < 20
    assert longest < 15
