"""A virtual environment for the scripts: made once, then reused while nothing has changed.

This file runs on whatever ``python3`` the machine has, so it uses nothing that 3.6 lacks.
It is imported by the scripts beside it; run by itself with ``--lock`` it writes constraints.txt
anew from the environment, for use after a bound in pyproject.toml has changed.
"""

import ast
import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["DEFAULT_MARKS", "ROOT", "SEPARATE", "bytecode", "ensure", "ensure_apart", "tool"]

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "scripts" / "constraints.txt"
OLDEST = (3, 11)
#: Extras of pyproject.toml; each contains those before it.
EXTRAS = ("hw", "sim", "demo", "dev")
#: The digits of the examples.
_DIGITS = "scikit-learn>=1.5,<2"
#: Environments apart, for ``scripts/test extras NAME``: extras of pyproject.toml, none that ``dev``
#: adds, and what their tests want besides.
SEPARATE = {
    "jax": ("jax", _DIGITS),
    "keras": ("keras", _DIGITS),
    "flax": ("flax", _DIGITS, "keras>=3.15,<4"),  # examples/reload.py is of both
    # 2.13 goes with torchax 0.0.14. An index that has a build for the CPU alone, 2.13.0+cpu, gives
    # that one: pip takes a local version for a newer one.
    "torch": ("torch", _DIGITS, "torch>=2.13,<2.14"),
    "tensorflow": ("tensorflow,serve", _DIGITS, "httpx>=0.28,<1"),
    # xprof reads what jax.profiler.trace writes; 2.24.2 is the release that was tried.
    "profile": ("profile,keras", _DIGITS, "xprof>=2.24.2,<2.25"),
    "fpga": ("fpga",),
    "docs": ("docs", _DIGITS),
    "ray": ("ray", _DIGITS),
}
#: The tests that the environment of ``dev`` is enough for, as pytest's -m has it.
DEFAULT_MARKS = "not extra or extra(default=True)"
#: What runs the tests of an extra; in the release of constraints.txt.
_RUNNER = ("pytest", "pytest-xdist")
#: What builds the project, with what an editable install needs.
BUILD = ("hatchling", "editables")
#: The C++ compiler of the package index.
_COMPILER = "ziglang"
#: Installs ten times as fast as pip; pip installs it, and takes over where it fails.
_INSTALLER = "uv"
#: Settings of pip that it has under other names: it does not read pip's.
_PIP_SETTINGS = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX",
                 "find-links": "UV_FIND_LINKS", "cert": "SSL_CERT_FILE"}


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


def _venv(apart=""):
    """Return the folder of the environment, or of one beside it."""
    venv = Path(os.environ.get("CELOSIA_VENV") or ROOT / ".venv").absolute()
    return venv.with_name(f"{venv.name}-{apart}") if apart else venv


def _key(venv, more):
    """Return what an environment depends on, as a hash; ``more``: packages beside the project."""
    parts = [str(ROOT), str(venv), sys.version, *more]
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


def _call(command, **more):
    """Run a command in silence; return its exit code and what it said."""
    env = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", **more}
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=env)
    return done.returncode, done.stdout.decode(errors="replace")


def _run(what, command, hint=""):
    """Run a command in silence; show what it said if it fails."""
    code, said = _call(command)
    if code:
        sys.stderr.write(said)
        _fail(f"{what} failed{hint}")


def _pip_settings(pip):
    """Return pip's settings of where packages come from, under the names of the installer."""
    _, said = _call([*pip, "config", "list"])
    found = {}
    for line in said.splitlines():
        name, _, value = line.partition("=")
        variable = _PIP_SETTINGS.get(name.split(".")[-1])
        if variable and value:
            # Of several the last one counts, as for pip: the environment stands behind the files.
            found[variable] = " ".join(ast.literal_eval(value).split())
    return found


def _install(python, packages, sim):
    """Install packages, in the releases of constraints.txt; ``sim``: have a C++ compiler warm."""
    pip = [python, "-m", "pip"]
    rest = ["--quiet", "--constraint", CONSTRAINTS]
    code, _ = _call([*pip, "install", *rest, _INSTALLER])
    uv = [python, "-m", "uv", "pip", "install", "--python", python, *rest,
          "--index-strategy", "unsafe-best-match"]  # of all indices, as pip does
    settings = {} if code else _pip_settings(pip)

    def install(what, *words):
        if code or _call([*uv, *words], **settings)[0]:
            _run("installing " + what, [*pip, "install", *rest, *words],
                 " (is a package index in reach?)")

    install("the build tools", *BUILD, *([_COMPILER] if sim else []))
    if sim:
        _warm_up(python)
    install("the project", "--no-build-isolation", *packages)


def _make(venv):
    """Make an empty environment with pip."""
    try:
        import ensurepip  # noqa: F401
        import venv as _  # noqa: F401
    except ImportError:
        _fail("this Python has no venv or no ensurepip module; on Debian and Ubuntu: "
              "apt install python3-venv")
    _run("making " + str(venv), [sys.executable, "-m", "venv", "--clear", venv])


def tool(name, apart=""):
    """Return the path of a program of the environment, or of one beside it."""
    folder = "Scripts" if os.name == "nt" else "bin"
    return str(_venv(apart) / folder / name)


def bytecode():
    """Return the folder for what Python compiles: of all environments one, none of the sources."""
    return str(_venv() / "bytecode")


#: Has the packaged C++ compiler build its C++ library, which it does once, at its first use.
_WARM_UP = """
import pathlib, subprocess, sys, tempfile
with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder) / "empty.cpp"
    source.write_text("#include <string>\\nstd::string text() { return {}; }\\n")
    subprocess.call([sys.executable, "-m", sys.argv[1], "c++", "-Os", "-std=c++17", "-fPIC",
                     "-shared", "-pthread", "-fno-sanitize=undefined", str(source),
                     "-o", str(source.with_suffix(".so"))])
"""


def _warm_up(python):
    """Start to make the C++ compiler warm, which takes a minute. Who needs it before waits for it;
    nothing depends on its success.
    """
    subprocess.Popen([python, "-c", _WARM_UP, _COMPILER], stdin=subprocess.DEVNULL,
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                     start_new_session=True)


def ensure(extra):
    """Have an environment with the project and ``extra``; return the path of its Python.

    Needs the package index the first time, and whenever pyproject.toml, constraints.txt, the
    place of the checkout or the version of Python has changed.
    """
    return _ensure("", extra, f"{ROOT}[{extra}]",
                   sim=EXTRAS.index(extra) >= EXTRAS.index("sim"))


def ensure_apart(name, sim=False):
    """Likewise for one of ``SEPARATE``, in a folder of its own; ``sim``: in yet another one, with
    the simulator too.
    """
    extra, *more = SEPARATE[name]
    extras, apart = (f"{extra},sim", f"{name}-sim") if sim else (extra, name)
    return _ensure(apart, extras, f"{ROOT}[{extras}]", *_RUNNER, *more, sim=sim)


def _ensure(apart, content, project, *more, sim):
    """Have an environment with ``content``: the project with extras, and more packages."""
    _newer_python()
    venv = _venv(apart)
    key = _key(venv, more)
    stamp = venv / "celosia.json"
    python = tool("python", apart)

    def installed():
        """Return what the environment has, or None if it is not of today."""
        try:
            found = json.loads(stamp.read_text())
        except (OSError, ValueError):
            return None
        return found["extra"] if found["key"] == key else None

    def fits():
        have = installed()
        return have is not None and (
            have == content or EXTRAS.index(have) >= EXTRAS.index(content))

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
        _install(python, ["--editable", project, *more], sim)
        stamp.write_text(json.dumps({"key": key, "extra": content}))
    return python


def _lock():
    """Write constraints.txt: what pip chooses now, within the bounds of pyproject.toml."""
    _newer_python()
    with tempfile.TemporaryDirectory() as folder:
        _make(folder)
        pip = [folder + "/bin/python", "-m", "pip"]
        extras = ",".join(["dev", *(extra for extra, *_ in SEPARATE.values())])
        more = [package for _, *packages in SEPARATE.values() for package in packages]
        _run("installing", [*pip, "install", _INSTALLER, *BUILD, *more,
                             "--editable", f"{ROOT}[{extras}]"])
        frozen = subprocess.run([*pip, "freeze", "--exclude-editable"], check=True,
                                stdout=subprocess.PIPE).stdout.decode()
    frozen = frozen.replace("+cpu", "")  # whatever build of torch an index has
    CONSTRAINTS.write_text(
        "# Every package that the scripts install, pinned: one set for Python 3.11 to 3.14.\n"
        "# Written by: python3 scripts/bootstrap.py --lock\n" + frozen)


if __name__ == "__main__":
    if sys.argv[1:] != ["--lock"]:
        _fail("usage: python3 scripts/bootstrap.py --lock")
    _lock()
