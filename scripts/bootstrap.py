"""A virtual environment for the scripts: made once, then reused while nothing has changed.

This file runs on whatever ``python3`` the machine has, so it uses nothing that 3.6 lacks.
It is imported by the scripts beside it; run by itself with ``--lock`` it writes constraints.txt
anew from the environment, for use after a bound in pyproject.toml has changed.
"""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["ROOT", "ensure", "tool"]

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "scripts" / "constraints.txt"
OLDEST = (3, 11)
#: Extras of pyproject.toml; each contains those before it.
EXTRAS = ("hw", "sim", "demo", "dev")
#: What builds the project, with what an editable install needs.
BUILD = ("hatchling", "editables")


def _fail(message):
    sys.exit("celosia: " + message)


def _newer_python():
    """Go on in a newer Python where this one is too old."""
    if sys.version_info >= OLDEST:
        return
    for minor in range(14, OLDEST[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        if found and subprocess.call([found, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            os.execv(found, [found, *sys.argv])
    _fail(f"Python must be 3.{OLDEST[1]} or newer, not {sys.version.split()[0]} "
          f"({sys.executable}), and there is no newer one on PATH")


def _venv():
    """Return the folder of the environment."""
    return Path(os.environ.get("CELOSIA_VENV") or ROOT / ".venv").absolute()


def _key():
    """Return what an environment depends on, as a hash."""
    parts = [str(ROOT), str(_venv()), sys.version]
    text = "\0".join(parts).encode()
    return hashlib.sha256(text + (ROOT / "pyproject.toml").read_bytes()
                          + CONSTRAINTS.read_bytes()).hexdigest()


@contextlib.contextmanager
def _locked():
    """Let one process at a time work on environments."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    with open(CONSTRAINTS) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(what, command, hint=""):
    """Run a command in silence; show what it said if it fails."""
    env = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=env)
    if done.returncode:
        sys.stderr.write(done.stdout.decode(errors="replace"))
        _fail(f"{what} failed{hint}")


def _make(venv):
    """Make an empty environment with pip."""
    try:
        import ensurepip  # noqa: F401
        import venv as _  # noqa: F401
    except ImportError:
        _fail("this Python has no venv or no ensurepip module; on Debian and Ubuntu: "
              "apt install python3-venv")
    _run("making " + str(venv), [sys.executable, "-m", "venv", "--clear", venv])


def tool(name):
    """Return the path of a program of the environment."""
    folder = "Scripts" if os.name == "nt" else "bin"
    return str(_venv() / folder / name)


def _warm_up(python):
    """Have the packaged C++ compiler build its C++ library, which it does once, at its first use:
    here it is expected to take a minute, in a test it is not. Does nothing where it fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.cpp"
        source.write_text("#include <string>\nstd::string text() { return {}; }\n")
        subprocess.call([python, "-m", "ziglang", "c++", "-O2", "-std=c++17", "-fPIC", "-shared",
                         "-pthread", "-fno-sanitize=undefined", str(source),
                         "-o", str(source.with_suffix(".so"))],
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ensure(extra):
    """Have an environment with the project and ``extra``; return the path of its Python.

    Needs the package index the first time, and whenever pyproject.toml, constraints.txt, the
    place of the checkout or the version of Python has changed.
    """
    _newer_python()
    venv, key = _venv(), _key()
    stamp = venv / "celosia.json"
    python = tool("python")

    def installed():
        """Return the extra that the environment has, or None if it is not of today."""
        try:
            content = json.loads(stamp.read_text())
        except (OSError, ValueError):
            return None
        return content["extra"] if content["key"] == key else None

    def fits():
        have = installed()
        return have is not None and EXTRAS.index(have) >= EXTRAS.index(extra)

    if fits():
        return python
    venv.parent.mkdir(parents=True, exist_ok=True)
    with _locked():
        if fits():  # another process made it
            return python
        print(f"celosia: preparing {venv}; this takes a minute or two, once", file=sys.stderr,
              flush=True)
        if installed() is None:
            _make(venv)
        pip = [python, "-m", "pip", "install", "--quiet", "--constraint", CONSTRAINTS]
        hint = " (is a package index in reach?)"
        _run("installing the build tools", [*pip, *BUILD], hint)
        _run("installing the project", [*pip, "--no-build-isolation", "--editable",
                                        f"{ROOT}[{extra}]"], hint)
        if EXTRAS.index(extra) >= EXTRAS.index("sim"):
            _warm_up(python)
        stamp.write_text(json.dumps({"key": key, "extra": extra}))
    return python


def _lock():
    """Write constraints.txt: what pip chooses now, within the bounds of pyproject.toml."""
    _newer_python()
    with tempfile.TemporaryDirectory() as folder:
        _make(folder)
        pip = [folder + "/bin/python", "-m", "pip"]
        _run("installing", [*pip, "install", *BUILD, "--editable", f"{ROOT}[dev]"])
        frozen = subprocess.run([*pip, "freeze", "--exclude-editable"], check=True,
                                stdout=subprocess.PIPE).stdout.decode()
    CONSTRAINTS.write_text(
        "# Every package that the scripts install, pinned: one set for Python 3.11 to 3.14.\n"
        "# Written by: python3 scripts/bootstrap.py --lock\n" + frozen)


if __name__ == "__main__":
    if sys.argv[1:] != ["--lock"]:
        _fail("usage: python3 scripts/bootstrap.py --lock")
    _lock()
