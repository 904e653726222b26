"""Which compiler is taken, and what a failing one leaves."""

import re
import sys

import pytest

from celosia.storage import ToolchainError, compiler, compilers, run_tool


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
