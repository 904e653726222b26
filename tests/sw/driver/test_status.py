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
PACE = module._PACE


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


def test_all_that_a_device_says(folder, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(module.time, "time", lambda: 5000.0 + clock[0])
    monkeypatch.setattr(sys, "argv", ["x" * 120, "y" * 120])
    idle = dict.fromkeys(("load", "store", "mxu", "vpu", "scalar"), 0.0)
    wanted = {"pid": os.getpid(), "process": "x" * 120 + " " + "y" * 79, "preset": "core",
              "backend": "rtl", "memory": {"used": 700, "peak": 700, "limit": 1 << 20},
              "state": "running", "program": "net", "place": "user.py:7", "runs": 0, "cycles": 0,
              "total_cycles": 0, "busy": idle, "faults": 0, "fault": "", "requests": 0,
              "links": [], "began": 5100.0, "time": 5100.0}
    made = DeviceStatus(CORE, "rtl", 1 << 20)
    wanted["device"] = made._number

    def says(**news):
        wanted.update(news)
        [found] = statuses()
        assert found == wanted
        return True

    made.begin(program("fence", "fence"), 700)
    assert says()
    [file] = folder.iterdir()
    assert (file.name, folder.stat().st_mode & 0o777) == (
        f"{os.getpid()}-{made._number}.json", 0o700)
    clock[0] = 101.0
    made.progress(30)
    assert says(cycles=30, time=5101.0)
    clock[0] = 102.0
    made.progress(30)  # it is no news
    assert says()
    made.end({"cycles": 40, "mxu_busy": 10, "vpu_busy": 30, "load_busy": 40})
    assert says(state="idle", runs=1, cycles=40, total_cycles=40, time=5102.0,
                busy={"load": 1.0, "store": 0.0, "mxu": 0.25, "vpu": 0.75,
                      "scalar": 0.0})
    made.begin(program("fence", name=""), 300)
    assert says(state="running", program="", place="user.py:3", cycles=0, began=5102.0,
                memory={"used": 300, "peak": 700, "limit": 1 << 20})
    made.end({}, lambda: [{"up": 1}])
    assert says(state="idle", runs=2, busy=idle, links=[{"up": 1}])
    made.begin(program("fence", name=""), 900)
    made.end({"cycles": 2}, lambda: [{"up": 2}])  # too soon for another look
    assert says(runs=3, cycles=2, total_cycles=42,
                memory={"used": 900, "peak": 900, "limit": 1 << 20})
    clock[0] = 112.0
    made.end({"cycles": 3}, lambda: [{"up": 3}])
    assert says(runs=4, cycles=3, total_cycles=45, links=[{"up": 3}], time=5112.0)
    made.answered(3)
    made.answered(4)
    assert says(requests=7)
    made.failed(DeviceError("one\ntwo"))
    made.failed(ValueError("it is the caller's"))
    assert says(faults=1, fault="DeviceError: one")
    made.close()
    assert list(folder.iterdir()) == []
    made.close()


def test_a_program_without_lines_has_no_place():
    made = DeviceStatus(CORE, "model", 1 << 20)
    bare = assemble("halt", CORE)
    for sources in ((), ("",), ("dot somewhere",)):
        made.begin(Program(bare.fingerprint, bare.insns, "net", sources), 1)
        [found] = statuses()
        assert found["place"] == ""
    made.close()


def test_files_of_earlier_releases_lack_what_came_later(folder):
    folder.mkdir()
    (folder / "1-0.json").write_text(json.dumps({"pid": os.getpid(), "preset": "core"}))
    (folder / "2-0.json").write_text(json.dumps({"pid": os.getpid(), "requests": 3}))
    (folder / "other.json").write_text(json.dumps({"pid": os.getpid()}))
    assert list(statuses()) == [
        {"pid": os.getpid(), "preset": "core", "requests": 0, "links": []},
        {"pid": os.getpid(), "requests": 3, "links": []}]
    assert list(statuses(folder / "none")) == []


def test_who_is_somebody_elses_lives(monkeypatch):
    def kill(pid, signal):
        assert signal == 0
        raise {1: ProcessLookupError, 2: PermissionError}[pid]

    monkeypatch.setattr(os, "kill", kill)
    assert [module._lives(pid) for pid in (1, 2)] == [False, True]


def test_a_new_chip_writes_five_times_a_second_and_looks_at_links_every_ten():
    assert (PACE, module._LINKS_PACE) == (0.2, 10.0)
