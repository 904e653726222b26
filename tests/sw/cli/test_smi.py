"""The commands smi and top."""

import json
import subprocess
import sys

import pytest

from celosia.arch.config import preset
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
