"""What is compiled once stays; what is damaged is compiled again."""

import os
from multiprocessing.pool import ThreadPool

import pytest

import celosia
from celosia.compiler import api, cache
from celosia.graph import parse
from celosia.storage import cachefolder

GRAPH = 'graph pass(\n  %0: f32[4,16] "{name}"\n) {{\n  return %0\n}}\n'


def graph(name="x"):
    return parse(GRAPH.format(name=name))


@pytest.fixture
def folder(copying, tmp_path):
    return tmp_path / "cache" / "compiled"


def test_memory_then_disk(copying, folder):
    first = celosia.compile(graph())
    assert len(copying.calls) == 1
    again = celosia.compile(graph())
    assert again is not first  # each has a device of its own
    assert again.program == first.program
    cache.clear()
    assert celosia.compile(graph()).program == first.program
    assert len(copying.calls) == 1
    assert len(list(folder.iterdir())) == 1


def test_fast_programs_are_others(copying, folder):
    for fast in (False, True, False, True):
        celosia.compile(graph(), fast=fast)
    assert [call["fast"] for call in copying.calls] == [False, True]
    cache.clear()
    celosia.compile(graph(), options={"fast": True})
    celosia.compile(graph(), options={"fast": False})
    assert len(copying.calls) == len(list(folder.iterdir())) == 2


def test_names_are_the_callers(copying):
    celosia.compile(graph("x"))
    other = celosia.compile(graph("y"), name="other")
    assert len(copying.calls) == 1
    with pytest.raises(ValueError, match="argument 0 of other, y, must be"):
        other(1)


def placed(*lines):
    """Return a chain of sums, each with a line of the user's file."""
    sums = "".join(f'  %{i + 1} = add(%{i}, %{i}) : f32[4,16] @ "user.py":{line}:3 "f/add"\n'
                   for i, line in enumerate(lines))
    return parse(f"graph g(\n  %0: f32[4,16] \"x\"\n) {{\n{sums}  return %{len(lines)}\n}}\n")


@pytest.mark.parametrize("forget", [False, True], ids=["memory", "disk"])
def test_sources_are_the_callers(tmp_path, monkeypatch, forget):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path))
    cache.clear()
    made = []
    build = api._made
    monkeypatch.setattr(api, "_made", lambda *args: made.append(build(*args)) or made[-1])
    first = celosia.compile(placed(7, 8))
    if forget:
        cache.clear()
    moved = celosia.compile(placed(70, 80))
    assert len(made) == 1
    assert moved.program.insns == first.program.insns
    for old, new in zip([*first.program.sources, *(each.source for each in first.works)],
                        [*moved.program.sources, *(each.source for each in moved.works)],
                        strict=True):
        assert new == old.replace("user.py:7:3", "user.py:70:3").replace("user.py:8:3",
                                                                         "user.py:80:3")
    assert any("user.py:80:3" in text for text in moved.program.sources)


def test_what_only_brings_a_result_to_its_place_is_of_its_line():
    graph = parse('graph g(\n  %0: f32[4,16] "x"\n) {\n  %1 = transpose(%0) permutation=[1,0] : '
                  'f32[16,4] @ "user.py":7:3 "f"\n  return %1, %0\n}\n')
    works = celosia.compile(graph, cache=False).works
    assert "result user.py:7:3 (f)" in [work.source for work in works]


def test_which_operations_share_a_place_is_in_the_key():
    def key(*lines):
        return cache.key_of(placed(*lines), celosia.preset("core"), {})

    assert key(1, 2, 1) == key(5, 3, 5)
    assert len({key(1, 2, 1), key(1, 1, 1), key(1, 2, 3)}) == 3


def test_key(copying, monkeypatch):
    def key(text=GRAPH, config="core", options=None):
        return cache.key_of(parse(text.format(name="x")), celosia.preset(config), options or {})

    keys = [key(), key(GRAPH.replace("4", "5")), key(config="edge"), key(options={"a": 1}),
            key(options={"a": 2})]
    monkeypatch.setattr(cache, "_sources", lambda: "other")
    keys.append(key())
    monkeypatch.setattr(cache, "version", lambda name: "0.0.0")
    keys.append(key())
    assert len(set(keys)) == len(keys)


def test_sources_are_those_that_decide_what_a_program_becomes(tmp_path, monkeypatch):
    for room in ("arch", "cli"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "x.py").write_text("1")
    monkeypatch.setattr(cache, "_PACKAGE", tmp_path)
    hashes = [cache._sources.__wrapped__()]
    (tmp_path / "arch" / "x.py").write_text("2")
    hashes.append(cache._sources.__wrapped__())
    (tmp_path / "arch" / "x.py").rename(tmp_path / "arch" / "y.py")
    hashes.append(cache._sources.__wrapped__())
    assert len(set(hashes)) == 3
    (tmp_path / "cli" / "x.py").write_text("2")
    assert cache._sources.__wrapped__() == hashes[-1]


@pytest.mark.parametrize("damage", [
    lambda data: data[:-1], lambda data: b"", lambda data: data[:50] + b"?" + data[51:]])
def test_damaged_entries_are_made_again(copying, folder, damage):
    celosia.compile(graph())
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    cache.clear()
    celosia.compile(graph())
    assert len(copying.calls) == 2
    assert path.read_bytes() == whole


def test_without_the_cache(copying, folder):
    for _ in range(2):
        celosia.compile(graph(), cache=False)
    assert len(copying.calls) == 2
    assert not folder.exists()


def test_folder_that_cannot_be_used(copying, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "file"))
    for _ in range(2):
        celosia.compile(graph())
    assert len(copying.calls) == 1


def test_failures_are_not_kept(copying, folder, monkeypatch):
    monkeypatch.setattr(copying, "build", lambda *args, **where: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        celosia.compile(graph())
    monkeypatch.undo()
    assert not folder.exists()


def test_oldest_go_first(copying, folder, monkeypatch):
    def trim(nbytes):
        size = max(path.stat().st_size for path in folder.iterdir())
        cachefolder.trim(folder.parent, 2 * size)

    monkeypatch.setattr(cache, "grew", trim)
    monkeypatch.setattr(cache, "_IN_MEMORY", 1)
    for rows in (1, 2, 3):
        celosia.compile(parse(GRAPH.replace("4", str(rows)).format(name="x")))
        for i, path in enumerate(sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)):
            os.utime(path, (i, i))
    assert len(list(folder.iterdir())) == 2
    assert len(cache._memory) == 1
    celosia.compile(parse(GRAPH.replace("4", "2").format(name="x")))
    assert len(copying.calls) == 3


def test_what_cannot_be_noted_as_used_is_used(copying, folder, monkeypatch):
    program = celosia.compile(graph()).program
    cache.clear()

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(cache.os, "utime", refuse)
    assert celosia.compile(graph()).program == program
    assert len(copying.calls) == 1


def test_several_writers_and_readers(copying, folder):
    compiled = celosia.compile(graph())
    data = compiled.to_bytes()
    (path,) = folder.iterdir()

    def work(number: int) -> bool:
        cache._write(path, ("x",), compiled)
        found = cache._read(path, ("x",))
        return found is not None and found.to_bytes() == data

    with ThreadPool(8) as pool:
        assert all(pool.map(work, range(200), chunksize=1))
    assert [each.name for each in folder.iterdir()] == [path.name]
