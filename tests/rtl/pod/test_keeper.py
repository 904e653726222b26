"""What is said when boards cannot be kept, or not be written down."""

from __future__ import annotations

import errno
import json
import os
import signal
from pathlib import Path

import pytest

from celosia_sim.pod import PodBoardError, keeper
from celosia_sim.pod.apart import BoardLost
from celosia_sim.pod.kept import KeptBoard, KeptPod, begun


class _Host:
    """A board; the one that is lost has ended before it says where it is."""

    def __init__(self, number: int, lost: bool):
        self.name, self.pid, self.killed, self._lost = f"board {number}", os.getpid(), False, lost

    def address(self) -> tuple[str, int]:
        if self._lost:
            raise BoardLost("a board must say where it listens, but its node has gone")
        return "127.0.0.1", 1

    def kill(self) -> None:
        self.killed = True

    def wait(self) -> None:
        pass

    def end(self) -> str:
        return "has ended"

    def leave(self) -> None:
        pass


class _Starter:
    """Starts boards, of which one of some number is lost."""

    def __init__(self, lost: int):
        self.token, self.processes, self.hosts, self.closed = b"x", [], list[_Host](), False
        self._lost = lost

    def start(self, number: int) -> _Host:
        self.hosts.append(_Host(number, number == self._lost))
        return self.hosts[-1]

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Keep two boards in this process; return the exit code and who has started them."""
    monkeypatch.setattr(os, "dup2", lambda *_: None)
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def kept(lost: int) -> tuple[int, _Starter]:
        starter = _Starter(lost)
        monkeypatch.setattr(keeper, "LocalStarter", lambda: starter)
        return keeper.main([str(tmp_path / "pod.json"), "2"]), starter
    return kept


def test_a_node_that_leaves_while_the_pod_starts(run, capsys, tmp_path):
    code, starter = run(1)
    assert code == 1
    assert capsys.readouterr().err == (
        "celosia: the pod must be kept, but a board must say where it listens, but its node has "
        "gone\n")
    assert [each.killed for each in starter.hosts] == [True, True]
    assert starter.closed
    assert not [*tmp_path.iterdir()]


def _full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_while_the_pod_starts(run, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(json, "dump", _full)
    code, starter = run(-1)
    assert code == 1
    assert capsys.readouterr().err == (
        f"celosia: the pod must be kept, but {tmp_path / 'pod.json'} must be written, but No space "
        "left on device\n")
    assert [each.killed for each in starter.hosts] == [True, True]
    assert not [*tmp_path.iterdir()]


def test_a_full_disk_leaves_the_file_of_before(monkeypatch, tmp_path):
    path = tmp_path / "pod.json"
    pod = KeptPod(os.getpid(), begun(os.getpid()), 0, "00",
                  (KeptBoard(0, "127.0.0.1", 1, 2, "3"),), ())
    pod.write(path)
    monkeypatch.setattr(json, "dump", _full)
    with pytest.raises(PodBoardError, match=f"^{path} must be written, but No space left on "):
        pod.write(path)
    monkeypatch.undo()
    assert KeptPod.read(path) == pod
    assert [*tmp_path.iterdir()] == [Path(path)]
