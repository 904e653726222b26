"""How much is kept of finished work, and what goes first."""

import os
import subprocess
import sys

import pytest

from celosia.storage import builds, cachefolder
from celosia.storage.cachefolder import cache_folder, digest, grew, limit_bytes, trim, use

KEYS = [f"{i:024x}" for i in range(6)]


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cachefolder, "_growth", cachefolder._Growth())
    monkeypatch.setattr(cachefolder, "_used", {})
    monkeypatch.setattr(builds, "grew", lambda nbytes: None)
    yield tmp_path / "cache"
    for descriptor in cachefolder._used.values():
        os.close(descriptor)


def file(root, key, *, used, size=1000):
    path = root / "compiled" / f"{key}.celosia"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    os.utime(path, (used, used))
    return path


def folder(key, *, used, size=1000):
    """An entry that no process uses."""
    path = builds.entry("chip", key, lambda into: (into / "chip.so").write_bytes(bytes(size)))
    os.close(cachefolder._used.pop(path))
    os.utime(path / "manifest.json", (used, used))
    return path


def test_the_folder_is_where_a_user_has_such(monkeypatch, tmp_path):
    monkeypatch.setattr(cachefolder.Path, "home", lambda: tmp_path)
    for name, value, platform, wanted in (
            ("CELOSIA_CACHE", "/a/b", "linux", "/a/b"), ("CELOSIA_CACHE", "/a/b", "darwin", "/a/b"),
            ("XDG_CACHE_HOME", "/x", "linux", "/x/celosia"),
            ("XDG_CACHE_HOME", "", "linux", f"{tmp_path}/.cache/celosia"),
            ("XDG_CACHE_HOME", "/x", "darwin", f"{tmp_path}/Library/Caches/celosia")):
        monkeypatch.delenv("CELOSIA_CACHE", raising=False)
        monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "platform", platform)
        assert str(cache_folder()) == wanted


def test_a_key_is_that_of_all_that_it_stands_for():
    parts = {"chip": "nano", "flags": ["-O2"], "folder": cachefolder.Path("/a")}
    key = digest(parts)
    # Kept here, since all that is cached is made again where it changes.
    assert key == "bbc700f8e8b38cf20f15c372"
    assert digest(dict(reversed(parts.items()))) == key
    assert len({digest(parts | {name: "x"}) for name in (*parts, "more")} | {key}) == 5


def test_limit(monkeypatch):
    assert limit_bytes() == 4096 << 20
    monkeypatch.setenv("CELOSIA_CACHE_LIMIT", "3")
    assert limit_bytes() == 3 << 20
    for text in ("-1", "1G", "²"):
        monkeypatch.setenv("CELOSIA_CACHE_LIMIT", text)
        with pytest.raises(ValueError, match=f"^CELOSIA_CACHE_LIMIT must be a number of MiB, "
                                             f"not '{text}'$"):
            limit_bytes()


def test_what_was_not_used_for_longest_goes(root):
    files = [file(root, KEYS[i], used=10 * i) for i in range(3)]
    folders = [folder(KEYS[i], used=10 * i + 5) for i in range(3)]
    trim(root, 1 << 20)
    assert all(path.exists() for path in (*files, *folders))
    trim(root, 2500)
    assert [path.exists() for path in files] == [False, False, True]
    assert [path.exists() for path in folders] == [False, False, True]
    assert sorted(path.name for path in (root / "chip").iterdir()) == [
        KEYS[2], f"{KEYS[2]}.lock"]
    trim(root, 0)
    assert [path.name for path in root.rglob("*.celosia")] == []
    assert folders[2].exists()  # the last


def test_what_is_found_again_is_used(root):
    first, second = (folder(KEYS[i], used=i) for i in range(2))
    builds.entry("chip", KEYS[0], lambda into: pytest.fail("it is there"))
    os.close(cachefolder._used.pop(first))
    trim(root, 0)
    assert (first.exists(), second.exists()) == (True, False)


def test_what_is_not_ours_stays(root, tmp_path):
    own = [file(root, KEYS[0], used=0), folder(KEYS[1], used=1)]
    mine = [root / "compiled" / "thesis.celosia", root / "thesis.txt",
            root / "chip" / "notes" / "x",
            root / "compiled" / "0" / f"{KEYS[3]}.celosia", root / "chip" / KEYS[4] / "data"]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
        os.utime(path, (0, 0))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / f"{KEYS[5]}.celosia").write_text("mine")
    os.utime(outside / f"{KEYS[5]}.celosia", (0, 0))
    (root / "link").symlink_to(outside)
    (root / "compiled" / f"{KEYS[5]}.celosia").symlink_to(outside / f"{KEYS[5]}.celosia")
    file(root, KEYS[2], used=1e9)
    trim(root, 0)
    assert not any(path.exists() for path in own)
    assert all(path.read_text() == "mine" for path in (*mine, outside / f"{KEYS[5]}.celosia"))
    assert (root / "compiled" / f"{KEYS[5]}.celosia").is_symlink()


def test_remains_go(root):
    log = root / "failed" / "c++-20260101-120000-17.log"
    torn = root / "compiled" / f"{KEYS[0]}abcd_123.tmp"
    for path in (log, torn, root / "chip" / f"{KEYS[1]}.tmp" / "a" / "b",
                 root / "chip" / f"{KEYS[2]}.gone" / "c"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("remains")
    file(root, KEYS[3], used=1e10)
    trim(root, 0)
    assert sorted(path.name for path in root.rglob("*") if path.is_file()) == [
        f"{KEYS[3]}.celosia"]


USER = """
import sys
from celosia.storage import builds
path = builds.entry("chip", sys.argv[1], lambda into: sys.exit("it must be there"))
print("using", flush=True)
sys.stdin.readline()
assert (path / "chip.so").stat().st_size == 1000
"""


def test_what_a_process_uses_stays(root):
    path = folder(KEYS[0], used=0)
    file(root, KEYS[1], used=1e10)
    with subprocess.Popen([sys.executable, "-c", USER, KEYS[0]], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"using\n"
        trim(root, 0)
        assert path.exists()
        process.communicate(b"\n")
    assert process.returncode == 0
    trim(root, 0)
    assert not path.exists()
    assert not use(path)


def test_a_folder_that_is_used_again_is_open_once():
    path = folder(KEYS[0], used=0)
    assert use(path)
    first = cachefolder._used[path]
    assert use(path)
    assert cachefolder._used[path] != first
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(first)
    assert (path / "manifest.json").stat().st_mtime > 1e9


def test_what_is_being_made_stays(root):
    file(root, KEYS[1], used=1e10)

    def make(into):
        (into / "half").write_text("")
        os.utime(into, (0, 0))
        trim(root, 0)
        assert (into / "half").exists()

    assert (builds.entry("chip", KEYS[0], make) / "half").exists()


def test_an_entry_that_was_removed_meanwhile_is_made_again(monkeypatch):
    path, calls = folder(KEYS[0], used=0), []

    def late(where):
        if not calls:
            calls.append("use")
            trim(path.parent.parent, -1)
            assert cachefolder._remove(where)
        return use(where)

    monkeypatch.setattr(builds, "use", late)
    made = builds.entry("chip", KEYS[0], lambda into: calls.append("make"))
    assert made == path
    assert calls == ["use", "make"]


def test_the_folder_is_looked_at_now_and_then(monkeypatch):
    looks = []
    monkeypatch.setattr(cachefolder, "trim", lambda root, limit: looks.append(limit))
    monkeypatch.setenv("CELOSIA_CACHE_LIMIT", "16")
    grew(1)  # the first of a process
    assert looks == [16 << 20]
    # From then on when a sixteenth has come to it, and a byte.
    for nbytes, more in ((1 << 20, 0), (1, 1), (1 << 20, 0), (1, 1), ((1 << 20) + 1, 1), (9, 0),
                         ((1 << 20) - 9, 0), (1, 1)):
        before = len(looks)
        grew(nbytes)
        assert len(looks) - before == more


def test_compiled_programs_and_builds_count(root, monkeypatch):
    monkeypatch.setenv("CELOSIA_CACHE_LIMIT", "0")
    monkeypatch.setattr(builds, "grew", grew)
    old = file(root, KEYS[0], used=0)
    builds.entry("chip", KEYS[1], lambda into: None)
    assert not old.exists()
