"""Any module of Verilog with a harness of its own, into a shared library, through the cache."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from celosia.storage import builds
from celosia_sim.build import compile_chip, link, runtime_objects, tool_identity, verilate

__all__ = ["build_module", "port_names"]


def port_names(text: str) -> str:
    """Return what gives ports of a module their names in C++: Verilator writes two underscores
    of one another way.
    """
    names = re.findall(r"^  (?:input|output) .*?(\w+);$", text, re.MULTILINE)
    return "".join(f"#define {name} {name.replace('__', '___05F')}\n"
                   for name in sorted(set(names)) if "__" in name)


def build_module(kind: str, text: str, harness: Sequence[Path], config: str, *, top: str,
                 prefix: str, extra: Sequence[str] = (),
                 before: Callable[[], None] | None = None) -> Path:
    """Compile a module and its harness, or find them in the cache; return the shared library.

    Parameters
    ----------
    kind
        What it is; the library and the header of its parameters are named by it.
    text
        Verilog.
    harness
        Sources; those of C++ are compiled, and all are found by their names.
    config
        Text of the header of parameters (``<kind>_config.h``), which the harness includes.
    top, prefix, extra
        As of `celosia_sim.build.verilate`.
    before
        Called where something must be compiled.

    Raises
    ------
    celosia.storage.ToolchainError
        If Verilator or the compiler is missing or fails.
    """
    key = builds.digest({**tool_identity(), "text": text, "config": config, "extra": list(extra),
                         "harness": [path.read_text() for path in harness]})

    def make(folder: Path) -> None:
        if before is not None:
            before()
        work = folder / "work"
        work.mkdir()
        sources = verilate(text, work, top=top, prefix=prefix, extra=extra,
                           beside=[path for path in harness if path.suffix == ".cpp"])
        (work / "cpp" / f"{kind}_config.h").write_text(config)
        objects = compile_chip(sources, work,
                               include=list(dict.fromkeys(path.parent for path in harness)))
        link(folder / f"{kind}.so", [*objects, *runtime_objects()], work / "link.log")
        shutil.rmtree(work)

    return builds.entry(kind, key, make) / f"{kind}.so"
