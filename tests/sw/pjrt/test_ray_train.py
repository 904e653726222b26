"""Ray Train on chips: who is killed is started again, and what comes out is the same."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.extra(name="ray")

ROOT = Path(__file__).parents[3]
STEPS = 120


def train(folder: Path, *arguments: str, kill: int | None = None) -> tuple[str, list[list[int]]]:
    """Train; return the last line, and the steps that each process has done of those that say any.

    ``kill``: a worker, which is killed in the middle, behind checkpoints.
    """
    environment = {**os.environ, "CELOSIA_DEVICES": "4", "JAX_PLATFORMS": "celosia",
                   "RAY_DEDUP_LOGS": "0"}
    lines, workers = [], dict[int, int]()
    steps = dict[str, set[int]]()
    with subprocess.Popen(
            [sys.executable, "-u", ROOT / "examples" / "ray_train.py", "--keep", str(folder),
             "--steps", str(STEPS), *arguments], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=environment) as running:
        assert running.stdout
        for line in running.stdout:
            lines.append(line)
            if found := re.search(r"RayTrainWorker pid=(\d+).* worker (\d): 2 of 4 chips", line):
                workers[int(found[2])] = int(found[1])
            if found := re.search(r"(?:pid=(\d+).* )?step (\d+): loss", line):
                steps.setdefault(found[1], set()).add(int(found[2]))
            if kill in workers and any(max(each) > 60 for each in steps.values()):
                os.kill(workers[kill], signal.SIGKILL)
                kill = None
    assert running.returncode == 0, "".join(lines)
    assert kill is None, "".join(lines)
    [last] = [line for line in lines if line.startswith("test accuracy")]
    return last, [sorted(each) for each in steps.values()]


@pytest.mark.parametrize("kill", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_worker_that_is_killed_changes_no_bit(kill, tmp_path):
    """Beside one process with as many chips, where nobody is killed."""
    whole, steps = train(tmp_path / "whole", "--workers", "0", "--chips", "4")
    assert steps == [[*range(1, STEPS + 1)]]
    assert re.fullmatch(r"test accuracy 9\d\.\d\d%, loss 0\.\d+\n", whole)
    parts, [before, *others, after] = train(tmp_path / "parts", "--workers", "2", "--chips", "2",
                                            kill=kill)
    assert parts == whole
    # It went on from a checkpoint, not from the beginning.
    assert before[0] == 1
    assert after[0] > 1
    assert after[0] % 5 == 1
    assert after == [*range(after[0], STEPS + 1)]
    assert len(others) <= 1
