"""The commands smi and top."""

import json
import re
import subprocess
import sys

import pytest

from celosia.arch.config import preset
from celosia.cli import smi
from celosia.cli.main import main
from celosia.program.asm import assemble

PROCESS = """
import sys
sys.path[:0] = {path!r}
from celosia.arch.config import preset
from celosia.driver import open
from celosia.program.asm import assemble
with open("model", {preset!r}) as device:
    device.run(assemble("halt", preset({preset!r})))
    print("ran", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_STATUS", str(tmp_path))


def test_nobody(capsys):
    assert main(["smi"]) == 0
    assert capsys.readouterr().out == "no process has a chip open that has run anything\n"
    assert main(["smi", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_chips_of_two_processes(capsys):
    others = [subprocess.Popen([sys.executable, "-c", PROCESS.format(path=sys.path, preset=each)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
              for each in ("core", "nano")]
    try:
        for each in others:
            assert each.stdout.readline() == "ran\n"
        assert main(["smi"]) == 0
        head, *rows = capsys.readouterr().out.splitlines()
        assert head.split()[:4] == ["pid", "device", "chip", "backend"]
        assert {tuple(row.split()[:4]) for row in rows} == {
            (str(other.pid), "0", preset, "model")
            for other, preset in zip(others, ("core", "nano"), strict=True)}
    finally:
        for each in others:
            each.communicate("")
    assert main(["smi"]) == 0
    assert "no process" in capsys.readouterr().out


def test_top_until_it_is_stopped(capsys, monkeypatch):
    def stop(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr("celosia.cli.smi.time.sleep", stop)
    assert main(["top"]) == 130
    assert "no process" in capsys.readouterr().out
    assert main(["top", "--every", "0"]) == 1
    assert "--every must be from 0.1 to 3600 seconds, not 0" in capsys.readouterr().err


def chip(**fields):
    """What a process wrote of a device."""
    return {"pid": 17, "device": 0, "preset": "core", "backend": "model", "process": "python a.py",
            "program": "net", "place": "", "memory": {"used": 2047, "limit": 3 << 20},
            "busy": {"mxu": 0.504, "vpu": 0.25, "load": 0.126, "store": 0, "scalar": 0.9},
            "runs": 12345, "cycles": 6_789_012, "requests": 3, "state": "idle", "faults": 0,
            "fault": "", "links": []} | fields


def test_each_chip_has_a_line_and_so_has_what_went_wrong(monkeypatch, capsys):
    """Words are set to the left, numbers to the right."""
    monkeypatch.setattr(smi, "statuses", lambda: iter([
        chip(), chip(pid=234567, device=10, preset="nano", state="running", place="net.py:3",
                     program="w", faults=2, fault="TIMEOUT at 5", process="run")]))
    assert main(["smi"]) == 0
    assert capsys.readouterr().out == """\
   pid  device  chip  backend         memory  array  vector  load  store    runs     cycles  \
requests  state    program     process
    17       0  core  model    1 / 3,072 KiB    50%     25%   13%     0%  12,345  6,789,012  \
       3  idle     net         python a.py
234567      10  nano  model    1 / 3,072 KiB    50%     25%   13%     0%  12,345  6,789,012  \
       3  running  w net.py:3  run
234567 device 10: 2 faults, the last TIMEOUT at 5
"""


def test_each_link_has_a_line(monkeypatch, capsys):
    counts = {"sent": 1234, "resent": 5, "received": 99, "garbled": 1}
    monkeypatch.setattr(smi, "statuses", lambda: iter([
        chip(), chip(device=1, links=[{"up": True, "down": False} | counts,
                                      {"up": True, "down": True} | counts,
                                      {"up": False, "down": False} | counts])]))
    assert main(["smi"]) == 0
    head, *rest = capsys.readouterr().out.splitlines()
    assert rest[2:] == [
        "",
        "pid  device  port  link  frames  again  received  garbled",
        " 17       1     0  up     1,234      5        99        1",
        " 17       1     1  down   1,234      5        99        1",
        " 17       1     2  none   1,234      5        99        1"]


@pytest.mark.parametrize("every", ["0.1", "3600"])
def test_top_may_look_as_often_or_seldom(every, monkeypatch, capsys):
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 2:
            raise KeyboardInterrupt
    monkeypatch.setattr("celosia.cli.smi.time.sleep", sleep)
    assert main(["top", "--every", every]) == 130
    assert slept == [float(every)] * 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[1::2] == ["no process has a chip open that has run anything"] * 2
    assert all(re.fullmatch(r"\d\d:\d\d:\d\d", line) for line in lines[::2])


@pytest.mark.parametrize("every", ["0.09", "3601", "nan"])
def test_top_looks_no_more_often_nor_seldom(every, capsys):
    assert main(["top", "--every", every]) == 1
    assert capsys.readouterr().err == (
        f"celosia: error: --every must be from 0.1 to 3600 seconds, not {every}\n")


def test_a_release_that_says_less(tmp_path, capsys):
    from celosia.driver import open
    with open("model", config=preset("nano")) as device:
        device.run(assemble("halt", preset("nano")))
        [path] = tmp_path.glob("*.json")
        said = json.loads(path.read_text())
        del said["requests"], said["links"]
        path.write_text(json.dumps(said))
        assert main(["smi", "--json"]) == 0
        [found] = json.loads(capsys.readouterr().out)
        assert (found["requests"], found["links"]) == (0, [])
        assert main(["smi"]) == 0
