"""The build cache, with folders in place of builds."""

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from celosia_sim import cache


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
    first = cache.entry("chip", "key", maker)
    assert first == folder / "chip" / "key"
    assert cache.entry("chip", "key", maker) == first
    assert (first / "file").read_text() == "made"
    assert maker.calls == 1
    cache.entry("chip", "other", maker)
    cache.entry("runtime", "key", maker)
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
    file = cache.entry("chip", "key", maker) / "file"
    damage(file)
    assert (cache.entry("chip", "key", maker) / "file").read_text() == "made"
    assert maker.calls == 2


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_failure_leaves_nothing(folder, error):
    def fail(into: Path) -> None:
        (into / "half").write_text("")
        raise error

    with pytest.raises(error):
        cache.entry("chip", "key", fail)
    assert not (folder / "chip" / "key").exists()
    assert leftovers(folder) == []
    cache.entry("chip", "key", Maker())


def test_remains_of_a_killed_process_are_removed(folder):
    context = multiprocessing.get_context("fork")
    started = context.Event()

    def hang(into: Path) -> None:
        (into / "half").write_text("")
        started.set()
        time.sleep(60)

    process = context.Process(target=cache.entry, args=("chip", "key", hang))
    process.start()
    assert started.wait(10)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert leftovers(folder) == ["key.tmp"]
    made = cache.entry("chip", "key", Maker())
    assert sorted(path.name for path in made.iterdir()) == ["file", "manifest.json"]
    assert leftovers(folder) == []


def test_two_processes_make_an_entry_once(tmp_path):
    context = multiprocessing.get_context("fork")

    def slow(into: Path) -> None:
        with (tmp_path / "calls").open("a") as file:
            file.write("x")
        time.sleep(0.2)
        (into / "file").write_text("made")

    processes = [context.Process(target=cache.entry, args=("chip", "key", slow)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(10)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert (tmp_path / "calls").read_text() == "x"


def test_digest_depends_on_every_part():
    base = {"text": "module", "trace": "", "flags": ("-O2",)}
    keys = {cache.digest(base), cache.digest({**base, "text": "modulf"}),
            cache.digest({**base, "trace": "vcd"}), cache.digest({**base, "flags": ("-O3",)})}
    assert len(keys) == 4
    assert cache.digest(dict(reversed(base.items()))) == cache.digest(base)


def test_cache_folder(monkeypatch, tmp_path):
    assert cache.cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("CELOSIA_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert cache.cache_folder() == Path("/elsewhere/celosia")
