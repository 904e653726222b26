"""celosia pod start, status, run and stop, and what is left when any of it is killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from celosia.cli import boards
from celosia.cli.main import main
from celosia_sim.pod.kept import KeptPod, begun

#: Runs programs on four chips of nano, in as many processes as there are boards; its argument says
#: how often, and it prints what chips have done, and when.
PROGRAM = textwrap.dedent("""
    import os, sys
    from dataclasses import replace
    from celosia.arch.config import PRESETS
    from celosia.collectives import Topology
    from celosia_sim.pod import RtlPod
    from celosia_sim.podcheck import compare, random_programs

    ring = Topology.ring(4)
    pod = RtlPod(replace(PRESETS["nano"], ports=2), 4, ring.links, latency=40,
                 processes=int(os.environ["CELOSIA_BOARDS"]))
    for seed in range(int(sys.argv[1])):
        compare(pod, ring, random_programs(ring, seed), seed)
        print("step", seed, file=sys.stderr, flush=True)
    print(pod.counters(), pod.sent().tolist())
    pod.close()
    """)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_STATUS", str(tmp_path / "run"))
    yield tmp_path / "run"
    if (tmp_path / "run" / "pod.json").exists():
        main(["pod", "stop"])


def pod(folder: Path) -> KeptPod:
    return KeptPod.read(folder / "pod.json")


def gone(found: KeptPod, seconds: float = 10) -> bool:
    """Whether the pod's processes end within a time."""
    every = [(found.pid, found.begun), *((each.pid, each.begun) for each in found.boards)]
    end = time.monotonic() + seconds
    while any(begun(pid) == at for pid, at in every) and time.monotonic() < end:
        time.sleep(.05)
    return not any(begun(pid) == at for pid, at in every)


def program(steps: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "celosia", "pod", "run", "--", sys.executable, "-c", PROGRAM,
         str(steps)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_from_start_to_stop(folder, capsys):
    assert main(["pod", "start", "--boards", "2"]) == 0
    first = pod(folder)
    assert (folder / "pod.json").stat().st_mode & 0o777 == 0o600
    assert main(["pod", "start"]) == 1
    assert capsys.readouterr().err == (
        "celosia: error: a pod must be stopped before another one is started, but the process "
        f"{first.pid} keeps one of 2 boards: `celosia pod stop`\n")

    for command in ("no such command", str(folder)):
        assert main(["pod", "run", "--", command]) == 1
        assert re.fullmatch(rf"celosia: error: the command must be a program, but '{command}' is "
                            r"none: [A-Z][a-z ]+\n", capsys.readouterr().err)

    # A program that is undisturbed, one that is killed, and one that loses a board.
    undisturbed = program(2).communicate(timeout=300)
    with program(1000) as killed:
        assert killed.stderr
        assert killed.stderr.readline() == "step 0\n"
        assert main(["pod", "status", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["pid"] == first.pid
        boards = [each["board"] for each in found["boards"]]
        assert [each["chips"] for each in boards] == [[0, 2], [2, 4]]
        assert all(each["config"] == "nano" and each["up"] == each["links"] == 4
                   for each in boards)
        assert all(each["sent"] > 0 and each["resent"] == each["garbled"] == 0 for each in boards)
        # They are looked at one after the other, and the program goes on.
        assert all(each["runs"] > 0 for each in boards)
        assert all(each["states"].keys() <= {"0", "2"} for each in boards)
        os.kill(killed.pid, signal.SIGKILL)
    with program(2) as disturbed:
        assert disturbed.stderr
        assert disturbed.stderr.readline() == "step 0\n"
        os.kill(first.boards[1].pid, signal.SIGKILL)
        out, err = disturbed.communicate(timeout=300)
    assert out == undisturbed[0] != ""
    assert f"board 1, the process {first.boards[1].pid}, of chips 2 to 3 must go on" in err

    second = pod(folder)
    assert [each.serial for each in second.boards] == [0, 1]
    assert main(["pod", "status"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"kept by the process {first.pid} since ")
    assert [line.split()[:2] for line in said.splitlines()[2:]] == [
        [str(i), str(each.pid)] for i, each in enumerate(second.boards)]
    assert main(["pod", "stop"]) == 0
    assert capsys.readouterr().out == "2 boards have ended\n"
    assert gone(second, 0)
    assert main(["pod", "status"]) == 1
    assert capsys.readouterr().err == (
        f"celosia: error: a pod must have been started, but there is no {folder / 'pod.json'}: "
        "`celosia pod start`\n")
    assert "was ended by SIGKILL; another one is started" in (folder / "pod.log").read_text()


def test_status_says_what_boards_do(monkeypatch, capsys):
    monkeypatch.setattr(time, "localtime", time.gmtime)
    board = {"chips": [0, 2], "config": "nano", "up": 3, "links": 4, "sent": 1234567,
             "resent": 1000, "garbled": 0, "runs": 7, "since": 3661, "states": {}}
    looks = [{"number": number, "pid": 40 + number, "address": "localhost:70", "replaced": number,
              **more} for number, more in enumerate((
                  {"since": 0, "board": board},
                  {"since": 86399, "board": {**board, "chips": [2, 11], "states": {
                      "10": 3 << 19, "2": 1 << 20}}},
                  {"since": 5, "board": None}, {"error": "is gone", "board": None}))]
    monkeypatch.setattr(boards, "_pod", lambda: SimpleNamespace(pid=39, since=60))
    monkeypatch.setattr(boards, "_looks", lambda pod: looks)
    assert main(["pod", "status"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "kept by the process 39 since 00:01:00"
    rows = [re.split("  +", line) for line in said[1:]]
    assert all(re.match(" ?[^ ]", line) and line == line.rstrip() for line in said)
    at = said[1].index("process")
    assert all(line[at - 2:at] == "  " != line[at] for line in said[1:])
    assert rows == [
        ["board", "process", "address", "since", "replaced", "chips", "of", "links up", "frames",
         "again", "garbled", "runs", "states of", "program since"],
        ["0", "40", "localhost:70", "00:00:00", "0", "0..1", "nano", "3 of 4", "1,234,567",
         "1,000", "0", "7", "none yet", "01:01:01"],
        ["1", "41", "localhost:70", "23:59:59", "1", "2..10", "nano", "3 of 4", "1,234,567",
         "1,000", "0", "7", "2,10 (2.5 MiB)", "01:01:01"],
        ["2", "42", "localhost:70", "00:00:05", "2", *["-"] * 9],
        ["3", "43", "localhost:70", "is gone", "3", *["-"] * 9]]
    looks.pop()
    assert main(["pod", "status"]) == 0


def test_boards_end_with_who_keeps_them(folder, capsys):
    assert main(["pod", "start", "--boards", "1"]) == 0
    found = pod(folder)
    os.kill(found.pid, signal.SIGKILL)
    assert gone(found)
    capsys.readouterr()
    assert main(["pod", "run", "--", "true"]) == 1
    assert capsys.readouterr().err == (
        f"celosia: error: the process {found.pid} must keep the pod of {folder / 'pod.json'}, but "
        "it has ended: `celosia pod start`\n")
    (folder / "pod.json").unlink()


@pytest.mark.slow
def test_a_board_that_ends_again_and_again_ends_all(folder):
    assert main(["pod", "start", "--boards", "2"]) == 0
    found = pod(folder)
    end = time.monotonic() + 60
    while begun(found.pid) == found.begun and time.monotonic() < end:
        try:
            os.kill(pod(folder).boards[0].pid, signal.SIGKILL)
        except (OSError, RuntimeError):
            pass
        time.sleep(.05)
    assert gone(found)
    assert not (folder / "pod.json").exists()
    assert "board 0 must not end again and again, but it has, 6 times" in (
        folder / "pod.log").read_text()


def test_more_boards_than_there_are(folder, monkeypatch):
    from celosia_sim.pod import PodBoardError
    from celosia_sim.pod.kept import KeptStarter

    assert main(["pod", "start", "--boards", "1"]) == 0
    with pytest.raises(PodBoardError, match=(
            "^the pod must have 2 boards, not 1: `celosia pod stop`, then `celosia pod start "
            "--boards 2`$")):
        KeptStarter.of({"CELOSIA_POD": str(folder / "pod.json")}, 2)
    assert KeptStarter.of({}, 2) is None


@pytest.mark.parametrize(("text", "message"), [
    ("{", "must be of a pod of this version, but "), ("[]", "must be of a pod of this version"),
    ('{"pid": 1, "boards": []}', "must be of a pod of this version, but ")])
def test_a_file_of_something_else(folder, text, message, capsys):
    folder.mkdir()
    (folder / "pod.json").write_text(text)
    assert main(["pod", "status"]) == 1
    assert capsys.readouterr().err.startswith(f"celosia: error: {folder / 'pod.json'} {message}")
    (folder / "pod.json").unlink()


@pytest.mark.parametrize(("arguments", "message"), [
    (["start", "--boards", "0"], "--boards must be from 1 to 64, not 0"),
    (["run"], "a command must follow, as in `celosia pod run -- python train.py`"),
])
def test_what_is_wrong(arguments, message, folder, capsys):
    assert main(["pod", *arguments]) == 1
    assert capsys.readouterr().err == f"celosia: error: {message}\n"
