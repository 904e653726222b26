"""Which compiler is taken, and what a failing one leaves."""

import hashlib
import os
import platform
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from celosia.storage import ToolchainError, compiler, compilers, run_tool
from celosia.storage.compilers import cpu_identity, package_folder


@pytest.fixture(autouse=True)
def anew(monkeypatch):
    for variable in ("CELOSIA_CC", "CELOSIA_CXX"):
        monkeypatch.delenv(variable, raising=False)
    compiler.cache_clear()
    yield
    compiler.cache_clear()


LANGUAGES = pytest.mark.parametrize(("language", "variable"), [
    ("C", "CELOSIA_CC"), ("C++", "CELOSIA_CXX")])


@LANGUAGES
def test_compiler_of_choice(monkeypatch, language, variable):
    wanted = re.escape(f"{variable} must name a {language} compiler, not")
    monkeypatch.setenv(variable, "no-such-compiler --fast")
    with pytest.raises(ToolchainError,
                       match=f"^{wanted} 'no-such-compiler': No such file or directory$"):
        compiler(language)
    monkeypatch.setenv(variable, "false")
    with pytest.raises(ToolchainError, match=f"^{wanted} 'false'"):
        compiler(language)
    monkeypatch.setenv(variable, f"{sys.executable} -X dev")
    chosen = compiler(language)
    assert chosen.command == (sys.executable, "-X", "dev")
    assert "Python" in chosen.version
    assert (chosen.flags, chosen.portable) == (("-march=native",), ())


@LANGUAGES
def test_zig_comes_before_the_systems(monkeypatch, language, variable, tmp_path):
    names = {"C": ("cc", "gcc"), "C++": ("c++", "g++")}[language]
    chosen = compiler(language)
    assert re.fullmatch(r".*/ziglang/zig", chosen.command[0])
    assert chosen.command[1:] == names[:1]
    compiler.cache_clear()
    monkeypatch.setattr(compilers, "package_folder", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match="^" + re.escape(
            f"there is no {language} compiler: pip install ziglang, or set {variable}") + "$"):
        compiler(language)
    there = tmp_path / names[1]
    there.write_text("#!/bin/sh\necho a compiler, version 3\n")
    there.chmod(0o755)
    chosen = compiler(language)
    assert chosen.command == (str(there),)
    assert chosen.version == f"{there} a compiler, version 3"


def program(path, says, status=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
    path.chmod(0o755)
    return path


SANITISER = "-fno-sanitize=undefined"


@pytest.mark.parametrize(("name", "says", "flags", "portable", "headers"), [
    ("zig", "zig 0.13", (SANITISER,), (SANITISER, "-mcpu=baseline", "-nostdlib"), True),
    ("clang-17", "a clang version 17", ("-march=native",), (), True),
    ("gcc", "gcc (Debian) 12", ("-march=native",), (), False)])
def test_a_compiler_is_told_what_it_needs(monkeypatch, tmp_path, name, says, flags, portable,
                                          headers):
    # The folder's name says nothing.
    path = program(tmp_path / "zig-clang" / name, says)
    monkeypatch.setenv("CELOSIA_CC", f"{path} cc")
    found = compiler("C")
    assert (found.command, found.version) == ((str(path), "cc"), f"{path} cc {says}")
    assert (found.flags, found.portable, found.headers) == (flags, portable, headers)


@LANGUAGES
def test_clang_comes_before_gcc_and_a_package_without_a_compiler_is_none(
        monkeypatch, tmp_path, language, variable):
    names = {"C": ("cc", "gcc", "clang"), "C++": ("c++", "g++", "clang++")}[language]
    monkeypatch.setattr(compilers, "package_folder", lambda name: tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in names:
        program(tmp_path / name, "version 3")
        compiler.cache_clear()
        assert compiler(language).command == (str(tmp_path / name),)


def test_the_packaged_zig_takes_compiled_headers_and_is_named_by_its_version():
    found = compiler("C++")
    assert re.fullmatch(r"zig \d+\.\d+\.\d+\S*", found.version)
    assert found.headers
    assert found.flags == (SANITISER,)
    assert found.portable == (SANITISER, "-mcpu=baseline", "-nostdlib")


def test_a_compiler_that_fails_is_quoted(monkeypatch, tmp_path):
    path = tmp_path / "cc"
    path.write_text("#!/bin/sh\necho ' " + 250 * "x" + "' >&2\nexit 1\n")
    path.chmod(0o755)
    monkeypatch.setenv("CELOSIA_CC", f"{path} -a")
    with pytest.raises(ToolchainError, match=f"^CELOSIA_CC must name a C compiler, not "
                                             f"'{path} -a': x{{200}}$"):
        compiler("C")


def test_a_package_has_a_folder_where_it_is_installed():
    import json

    assert package_folder("json") == Path(json.__file__).parent
    assert package_folder("bisect") is None  # a file
    assert package_folder("no_such_package") is None


CPUS = """processor : 0
model name : {}
cpu MHz : {}
flags : {}

processor : 1
model name : {}
"""


def test_processors_are_the_same_whose_instructions_are(monkeypatch):
    def of(*values, text=CPUS):
        monkeypatch.setattr(Path, "read_text", lambda self: text.format(*values))
        cpu_identity.cache_clear()
        return cpu_identity()

    one = of("A", 3, "sse avx", "A")
    lines = "model name : A\nflags : sse avx"
    assert one == platform.machine() + hashlib.sha256(lines.encode()).hexdigest()[:16]
    assert of("A", 4, "sse avx", "B") == one
    assert len({one, of("B", 3, "sse avx", "A"), of("A", 3, "sse", "A")}) == 3
    arm = "CPU part : {}\nFeatures : {}\n"
    assert len({of(1, "fp", text=arm), of(2, "fp", text=arm), of(1, "sve", text=arm)}) == 3

    def none(self):
        raise OSError

    monkeypatch.setattr(Path, "read_text", none)
    cpu_identity.cache_clear()
    assert cpu_identity() == f"{platform.machine()} {platform.processor()}"
    cpu_identity.cache_clear()


def test_a_program_says_its_first_five_lines_with_errors(monkeypatch, tmp_path):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))

    def fails(*lines):
        code = f"print(*{list(lines)!r}, sep=chr(10)); raise SystemExit(1)"
        with pytest.raises(ToolchainError) as caught:
            run_tool("tool", [sys.executable, "-c", code], tmp_path / "log")
        return str(caught.value).splitlines()[1:]

    errors = [f"error {number}" for number in range(7)]
    assert fails("one", *errors) == [f"  {line}" for line in errors[:5]]
    assert fails(*"abcdefg") == [f"  {line}" for line in "abcde"]
    run_tool("tool", [sys.executable, "-c", "print('error')"], tmp_path / "log")


def test_a_program_has_its_folder_and_its_environment_and_no_input(tmp_path):
    code = "import os, sys; print(os.getcwd(), os.environ['A'], repr(sys.stdin.read()))"
    run_tool("tool", [Path(sys.executable), "-c", code], tmp_path / "log", cwd=tmp_path,
             env={"A": "b"})
    assert (tmp_path / "log").read_text() == f"{tmp_path} b ''\n"


def test_a_program_is_among_those_that_run_until_it_ends(tmp_path):
    running: set[subprocess.Popen[bytes]] = set()
    go = tmp_path / "go"
    wait = f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(.01)"
    thread = threading.Thread(target=run_tool, args=(
        "tool", [sys.executable, "-c", wait], tmp_path / "log"), kwargs={"running": running})
    thread.start()
    while not running:
        time.sleep(.01)
    (process,) = running
    assert process.poll() is None
    go.touch()
    thread.join()
    assert running == set()
    assert process.returncode == 0


def test_a_program_does_not_outlive_who_waits_for_it(monkeypatch, tmp_path):
    made = []

    class Popen(subprocess.Popen):
        waits = 0

        def wait(self, timeout=None):
            if not made:
                made.append(self)
                raise KeyboardInterrupt
            return super().wait(timeout)

    monkeypatch.setattr(subprocess, "Popen", Popen)
    running: set[subprocess.Popen[bytes]] = set()
    with pytest.raises(KeyboardInterrupt):
        run_tool("tool", ["sleep", "60"], tmp_path / "log", running=running)
    assert running == set()
    assert made[0].returncode == -9
    with pytest.raises(ProcessLookupError):
        os.kill(made[0].pid, 0)


def test_a_failure_says_where_the_log_is(monkeypatch, tmp_path):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))
    command = [sys.executable, "-c", "print('so far'); print('an ERROR here'); raise SystemExit(3)"]
    with pytest.raises(ToolchainError) as caught:
        run_tool("tool", command, tmp_path / "log")
    (log,) = (tmp_path / "cache" / "failed").iterdir()
    assert str(caught.value) == (f"tool failed with status 3; the log is {log}\n"
                                 "  an ERROR here")
    assert log.read_text() == "so far\nan ERROR here\n"


def test_a_failure_without_a_folder_for_the_log(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "file"))
    with pytest.raises(ToolchainError,
                       match=r"^tool failed with status 1; no log could be kept: .*file.*\n  \(no"):
        run_tool("tool", ["false"], tmp_path / "log")
