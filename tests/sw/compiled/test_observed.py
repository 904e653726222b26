"""What a process leaves in the folder of ``celosia profile -- COMMAND``."""

import json
import os
from typing import Any

import pytest

from celosia.compiled import observed
from celosia.graph import DType, Graph, TensorType, op, parameter, to_text


class Program:
    """As much of a compiled program as is looked at."""

    def __init__(self, content=b"program"):
        self.content = content

    def to_bytes(self):
        return self.content


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(observed.FOLDER, str(tmp_path))
    monkeypatch.setattr(observed.atexit, "register", lambda each: None)
    return tmp_path


def written(folder, pid=None):
    """By name without the number of the process, what files have."""
    pid = os.getpid() if pid is None else pid
    return {path.name.removeprefix(f"{pid}-"): path.read_bytes() for path in folder.iterdir()
            if path.name.startswith(f"{pid}-")}


def runs(folder, pid=None):
    return {name: json.loads(content) for name, content in written(folder, pid).items()
            if name.endswith(".json")}


def observer() -> Any:
    """The observer of the folder, which is there."""
    return observed.observer()


def test_nobody_looks(monkeypatch):
    monkeypatch.delenv(observed.FOLDER, raising=False)
    assert observed.observer() is None
    program, x = Program(), parameter(TensorType(DType.F32, (2,)))
    observed.note_graph(program, Graph("g", [x], [x]), {})
    assert program not in observed._graphs


def test_programs_are_written_once_and_their_runs_counted(folder):
    one, two, x = Program(b"one"), Program(b"two"), parameter(TensorType(DType.F32, (2,)))
    graph = Graph("g", [x], [op("negate", x)])
    observed.note_graph(two, graph, {"fast": 1})
    note = observer()
    for program in (one, two, two, one, two):
        note(program)
    assert written(folder) == {"0.celosia": b"one", "1.celosia": b"two",
                               "1.graph": to_text(graph).encode()}
    note._count()
    pid = os.getpid()
    assert runs(folder) == {
        "0.json": {"program": f"{pid}-0.celosia", "runs": 2, "fast": False},
        "1.json": {"program": f"{pid}-1.celosia", "runs": 3, "fast": True}}


def test_only_so_many_programs_are_kept(folder, monkeypatch):
    monkeypatch.setattr(observed, "_MOST", 2)
    note, programs = observer(), [Program() for _ in range(3)]
    for program in (*programs, *programs):
        note(program)
    note._count()
    assert {name: each["runs"] for name, each in runs(folder).items()} == {"0.json": 2, "1.json": 2}


def test_each_process_of_a_fork_has_its_own(folder, monkeypatch):
    note, program = observer(), Program()
    note(program)
    pid = os.getpid()
    monkeypatch.setattr(observed.os, "getpid", lambda: pid + 1)
    note._count()  # it has run nothing yet
    assert not runs(folder, pid + 1)
    assert not runs(folder, pid)
    note(program)
    note(program)
    note._count()
    assert runs(folder, pid + 1)["0.json"] == {
        "program": f"{pid + 1}-0.celosia", "runs": 2, "fast": False}


def test_the_end_counts(folder, monkeypatch):
    ends = []
    monkeypatch.setattr(observed.atexit, "register", ends.append)
    note = observer()
    note(Program())
    [end] = ends
    end()
    assert runs(folder)["0.json"]["runs"] == 1
