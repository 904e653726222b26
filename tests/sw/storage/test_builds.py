"""The build cache, with folders in place of builds."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from celosia.storage import builds
from celosia.storage.cachefolder import cache_folder


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Maker:
    """Writes one file and counts how often it was asked."""

    def __init__(self, text: str = "made"):
        self.text, self.calls = text, 0

    def __call__(self, into: Path) -> None:
        self.calls += 1
        (into / "file").write_text(self.text)


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if ".tmp" in path.name]


def test_miss_then_hit(folder):
    maker = Maker()
    first = builds.entry("chip", "key", maker)
    assert first == folder / "chip" / "key"
    assert builds.entry("chip", "key", maker) == first
    assert (first / "file").read_text() == "made"
    assert maker.calls == 1
    builds.entry("chip", "other", maker)
    builds.entry("runtime", "key", maker)
    assert maker.calls == 3


@pytest.mark.parametrize("damage", [
    lambda file: file.write_text("mad"),
    lambda file: file.unlink(),
    lambda file: (file.parent / "manifest.json").unlink(),
    lambda file: (file.parent / "manifest.json").write_text("{"),
    lambda file: (file.parent / "manifest.json").write_text("[]"),
])
def test_damaged_entry_is_made_again(damage):
    maker = Maker()
    file = builds.entry("chip", "key", maker) / "file"
    damage(file)
    assert (builds.entry("chip", "key", maker) / "file").read_text() == "made"
    assert maker.calls == 2


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_failure_leaves_nothing(folder, error):
    def fail(into: Path) -> None:
        (into / "half").write_text("")
        raise error

    with pytest.raises(error):
        builds.entry("chip", "key", fail)
    assert not (folder / "chip" / "key").exists()
    assert leftovers(folder) == []
    builds.entry("chip", "key", Maker())


#: A process that makes an entry; a fork would take the threads of other tests' libraries along.
SCRIPT = """
import sys, time
from pathlib import Path
from celosia.storage import builds

def make(into):
    (into / "half").write_text("")
    with Path(sys.argv[1]).open("a") as file:
        file.write("x")
    time.sleep(float(sys.argv[2]))
    (into / "file").write_text("made")

builds.entry("chip", "key", make)
"""


def making(calls, seconds):
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(calls), str(seconds)])


def test_remains_of_a_killed_process_are_removed(folder, tmp_path):
    calls = tmp_path / "calls"
    with making(calls, 60) as process:
        end = time.monotonic() + 30
        while not calls.exists() and time.monotonic() < end:
            time.sleep(0.01)
        assert calls.exists()
        process.kill()
    assert leftovers(folder) == ["key.tmp"]
    made = builds.entry("chip", "key", Maker())
    assert sorted(path.name for path in made.iterdir()) == ["file", "manifest.json"]
    assert leftovers(folder) == []


def test_two_processes_make_an_entry_once(tmp_path):
    processes = [making(tmp_path / "calls", 0.2) for _ in range(3)]
    assert [process.wait(30) for process in processes] == [0, 0, 0]
    assert (tmp_path / "calls").read_text() == "x"


def test_digest_depends_on_every_part():
    base = {"text": "module", "trace": "", "flags": ("-O2",)}
    keys = {builds.digest(base), builds.digest({**base, "text": "modulf"}),
            builds.digest({**base, "trace": "vcd"}), builds.digest({**base, "flags": ("-O3",)})}
    assert len(keys) == 4
    assert builds.digest(dict(reversed(base.items()))) == builds.digest(base)


def test_cache_folder(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("CELOSIA_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert cache_folder() == Path("/elsewhere/celosia")
