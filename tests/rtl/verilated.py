"""Any component as a Verilated library with C functions of the test's own."""

import ctypes
import functools
import shutil
from pathlib import Path

from celosia.storage import builds
from celosia_sim.build import (
    HARNESS,
    compile_chip,
    link,
    runtime_objects,
    tool_identity,
    verilate,
)


@functools.cache
def library(text: str, shim: str, idle: bool = False) -> ctypes.CDLL:
    """Compile the Verilog ``text``, top module ``dut``, and the C++ ``shim``, which uses Vdut."""
    key = builds.digest({**tool_identity(), "text": text, "shim": shim, "idle": idle})

    def make(folder: Path) -> None:
        work = folder / "work"
        work.mkdir()
        beside = work / "shim.cpp"
        beside.write_text(f'#include "Vdut.h"\n#include <cstring>\n{shim}')
        objects = compile_chip(verilate(text, work, top="dut", prefix="Vdut", idle=idle,
                                        beside=[beside]), work, include=[HARNESS])
        link(folder / "dut.so", [*objects, *runtime_objects()], work / "link.log")
        shutil.rmtree(work)

    return ctypes.CDLL(str(builds.entry("dut", key, make) / "dut.so"))
