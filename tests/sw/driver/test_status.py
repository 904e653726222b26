"""What devices say of themselves in files, and who reads them."""

import json
import os
import subprocess
import sys

import pytest

from celosia.arch.config import preset
from celosia.driver import ChipFault, DeviceError, open
from celosia.driver import status as module
from celosia.driver.status import DeviceStatus, statuses
from celosia.program import Program
from celosia.program.asm import assemble

CORE = preset("core")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_STATUS", str(tmp_path / "status"))
    monkeypatch.setattr(module, "_PACE", 0)
    return tmp_path / "status"


def test_files_are_where_what_runs_has_its_place(monkeypatch):
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: "/some")
    monkeypatch.setattr(os, "getuid", lambda: 17)
    monkeypatch.setenv("USERNAME", "her")
    for name, value, wanted in (
            ("CELOSIA_STATUS", "/a/b", "/a/b"), ("XDG_RUNTIME_DIR", "/run/1", "/run/1/celosia"),
            ("XDG_RUNTIME_DIR", "", "/some/celosia-17")):
        monkeypatch.delenv("CELOSIA_STATUS", raising=False)
        monkeypatch.setenv(name, value)
        assert str(module.status_folder()) == wanted
    # On Windows users have names alone.
    monkeypatch.delattr(os, "getuid")
    assert str(module.status_folder()) == "/some/celosia-her"
    monkeypatch.delenv("USERNAME")
    assert str(module.status_folder()) == "/some/celosia-user"


def program(*lines, name="net"):
    made = assemble("\n".join((*lines, "halt")), CORE)
    sources = [f"dot user.py:{7 if i else 3}:1" for i in range(len(made.insns))]
    return Program(made.fingerprint, made.insns, name, tuple(sources), made.arena_bytes,
                   made.buffers, made.constants, made.relocations)


def test_a_device_says_what_it_ran(folder):
    with open("model", "core") as device:
        assert list(statuses()) == []  # it has run nothing
        seen = []
        device.on_progress = lambda cycles: seen.extend(statuses())
        for _ in range(2):
            device.run(program("vector mov, acc[0], scalar[0], n0=64", "fence"))
        [found] = statuses()
        assert seen[0]["state"] == "running"
        assert (seen[0]["program"], seen[0]["place"]) == ("net", "user.py:7")
    assert list(statuses()) == []
    assert list(folder.iterdir()) == []
    assert found["pid"] == os.getpid()
    assert (found["preset"], found["backend"], found["state"]) == ("core", "model", "idle")
    assert (found["runs"], found["total_cycles"]) == (2, 2 * found["cycles"])
    assert 0 < found["busy"]["vpu"] < 1
    assert 0 < found["memory"]["used"] <= found["memory"]["peak"] < found["memory"]["limit"]


def test_faults_are_counted():
    with open("model", "core") as device:
        for count in (1, 2):
            with pytest.raises(ChipFault):
                device.run(program("load acc[4096], @0, fmt=w32, rows=1, cols=16, pitch=64"))
            [found] = statuses()
            assert found["faults"] == count
        assert found["fault"].startswith("ChipFault: ")
        assert "\n" not in found["fault"]
        assert found["runs"] == 0


def test_what_somebody_ends_is_no_fault():
    def stop(cycles):
        raise KeyboardInterrupt

    with open("model", "core") as device:
        with pytest.raises(KeyboardInterrupt):
            device.run(program(), progress=stop)
        [found] = statuses()
        assert (found["state"], found["faults"], found["fault"]) == ("idle", 0, "")


def test_programs_that_are_gone_are_not_kept():
    made = DeviceStatus(CORE, "model", 1 << 20)
    kept = program()
    for _ in range(3):
        made.begin(program(), 1)
        made.begin(kept, 1)
    assert list(made._places) == [id(kept)]
    made.close()


def test_several_devices_of_a_process():
    with open("model", "core") as first, open("model", "nano"):
        first.run(program())
        assert [each["preset"] for each in statuses()] == ["core"]


def test_files_of_the_dead_go_and_damaged_ones_stay_out(folder):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    folder.mkdir()
    (folder / f"{ended.pid}-0.json").write_text(json.dumps({"pid": ended.pid}))
    for name, text in (("1-0.json", "{"), ("2-0.json", "{}"), ("3-0.json", '{"pid": "x"}')):
        (folder / name).write_text(text)
    assert list(statuses()) == []
    assert not (folder / f"{ended.pid}-0.json").exists()
    assert (folder / "1-0.json").exists()


def test_writes_are_not_more_often_than_their_pace(folder, monkeypatch):
    monkeypatch.setattr(module, "_PACE", 1000)
    made = DeviceStatus(CORE, "model", 1 << 20)
    made.begin(program(), 1)
    [before] = statuses()
    for cycles in range(100):
        made.progress(cycles)
    made.end({"cycles": 5})
    assert list(statuses()) == [before]
    made.failed(DeviceError("it"))
    [found] = statuses()
    assert (found["runs"], found["fault"]) == (1, "DeviceError: it")
    made.close()


def test_links_are_looked_at_at_their_pace():
    looks = []

    def links():
        looks.append(1)
        return [{"up": 1, "sent": len(looks)}]

    made = DeviceStatus(CORE, "rtl", 1 << 20)
    for _ in range(5):
        made.end({"cycles": 5}, links)
    [found] = statuses()
    assert found["links"] == [{"up": 1, "sent": 1}]
    assert len(looks) == 1
    made.close()


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CELOSIA_STATUS", str(tmp_path / "file" / "status"))
    with open("model", "core") as device:
        device.run(program())
    assert list(statuses()) == []
