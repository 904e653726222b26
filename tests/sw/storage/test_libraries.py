"""Libraries of C: how they are compiled, and when two of them are the same."""

import sys
from pathlib import Path

import pytest

from celosia.storage import libraries
from celosia.storage.compilers import Compiler
from celosia.storage.libraries import c_flags, compile_library, key, library

ZIG = Compiler(("/zig", "cc"), "zig 1", ("-fno",), ("-fno", "-mcpu=baseline", "-nostdlib"), True)
GCC = Compiler(("/gcc",), "gcc 12", ("-march=native",), (), False)
LINK = ("-shared", "-Wl,-undefined,dynamic_lookup") if sys.platform == "darwin" else ("-shared",)


@pytest.fixture
def use(monkeypatch):
    """Use a compiler of C."""
    def chosen(which):
        monkeypatch.setattr(libraries, "compiler", lambda language: {"C": which}[language])

    chosen(ZIG)
    return chosen


@pytest.fixture
def calls(monkeypatch):
    """Programs that would have run; each writes its library."""
    made = []

    def run(name, command, log, *, cwd, env):
        assert log.parent.is_dir()
        made.append((name, [str(part) for part in command], cwd, env))
        Path(command[-1]).write_text("library")

    monkeypatch.setattr(libraries, "run_tool", run)
    return made


@pytest.mark.parametrize(("which", "tuned", "flags"), [
    (ZIG, False, ("-fno", "-mcpu=baseline", "-nostdlib")), (ZIG, True, ("-fno", "-nostdlib")),
    (GCC, False, ()), (GCC, True, ("-march=native",))])
def test_flags_are_those_of_this_processor_where_code_is_tuned(use, calls, tmp_path, which, tuned,
                                                               flags):
    use(which)
    assert c_flags(tuned) == flags
    path = compile_library(Path("/a/some.c"), ["-O2"], tmp_path, tuned=tuned)
    assert path == tmp_path / "some.so"
    work = tmp_path / "work"
    ((name, command, cwd, env),) = calls
    assert (name, cwd) == ("cc", work)
    assert command == [*which.command, *flags, "-O2", *LINK, "/a/some.c", "-o", str(path)]
    assert env["ZIG_GLOBAL_CACHE_DIR"] == env["ZIG_LOCAL_CACHE_DIR"] == str(work)
    assert "PATH" in env
    assert [each.name for each in tmp_path.iterdir()] == ["some.so"]


def test_code_is_not_tuned_where_nothing_is_said(use, calls, tmp_path):
    compile_library(Path("/a/some.c"), [], tmp_path)
    assert "-mcpu=baseline" in calls[0][1]
    source = tmp_path / "some.c"
    source.write_text("")
    assert key(source, []) == key(source, [], tuned=False) != key(source, [], tuned=True)


def test_a_library_is_another_where_anything_of_it_is(use, monkeypatch, tmp_path):
    source = tmp_path / "some.c"
    source.write_text("int a;")
    monkeypatch.setattr(libraries, "cpu_identity", lambda: "this one")
    monkeypatch.setattr(libraries.platform, "machine", lambda: "x")
    keys = [key(source, ["-O2"]), key(source, ["-O3"]), key(source, ["-O2"], tuned=True)]
    for which in (GCC, Compiler(("/zig", "c99"), *(getattr(ZIG, name) for name in (
            "version", "flags", "portable", "headers")))):
        use(which)
        keys.append(key(source, ["-O2"]))
    use(ZIG)
    for text in ("int b;", "int a;"):
        (tmp_path / "some.h").write_text(text)
        keys.append(key(source, ["-O2"]))
    (tmp_path / "some.h").unlink()
    monkeypatch.setattr(libraries.platform, "machine", lambda: "y")
    keys.append(key(source, ["-O2"]))
    monkeypatch.setattr(libraries, "cpu_identity", lambda: "another one")
    keys.append(key(source, ["-O2"], tuned=True))
    source.write_text("int c;")
    keys.append(key(source, ["-O2"]))
    assert len(set(keys)) == len(keys)
    # But not where a compiler is, nor what code for this kind runs on.
    kept = key(source, ["-O2"])
    use(Compiler(("/elsewhere/zig", "cc"), ZIG.version, ZIG.flags, ZIG.portable, True))
    monkeypatch.setattr(libraries, "cpu_identity", lambda: "a third one")
    assert key(source, ["-O2"]) == kept


def test_a_library_is_compiled_once(use, calls, monkeypatch, tmp_path):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "some.c"
    source.write_text("int a;")
    path = library("native", source, ["-O2"])
    assert path.read_text() == "library"
    assert path.parent.parent == tmp_path / "cache" / "native"
    assert path.name == "some.so"
    assert library("native", source, ["-O2"]) == path
    assert len(calls) == 1
    assert library("native", source, ["-O2"], tuned=True) != path
    assert [("-mcpu=baseline" in command) for _, command, *_ in calls] == [True, False]
