"""From the Verilog of a chip to a module of WebAssembly, through a cache."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from celosia.arch.config import TpuConfig
from celosia.arch.registers import Status
from celosia.storage import ToolchainError, builds, compiler, run_tool
from celosia_sim.build import (
    ABI,
    FLAGS,
    HARNESS,
    compile_all,
    harness_text,
    tool_identity,
    verilate,
    write_config,
)
from celosia_sim.library import FUNCTIONS
from celosia_sim.toolchain import verilator
from celosia_sim.verilog import chip_verilog

__all__ = ["SIGNALS", "WasmChip", "build_wasm"]

_HERE = Path(__file__).parent
_TARGET = ("-target", "wasm32-wasi")
#: Verilator's library, and what it names though a model without threads never calls it.
_RUNTIME = ("verilated.cpp", "verilated_threads.cpp")
_PES = "mxu.array.elements.grid."
_BOARD = "scalar.tensor.scoreboard."
#: What a page shows, by its name there: the signal inside of the top module. `valid` of the
#: scoreboard tells which of its slots hold an instruction.
SIGNALS: dict[str, str] = {
    "act": _PES + "act_o", "sum": _PES + "sum_o",
    "weight": _PES + "current", "next_weight": _PES + "following",
    "slots": _BOARD + "valid", "pcs": _BOARD + "errors.pcs",
    **{f"unit{slot}": f"{_BOARD}unit{slot}" for slot in range(4)},
    **{f"waits{slot}": f"{_BOARD}waits{slot}" for slot in range(4)},
    "pc": "pc", "registers": "scalar.operands.registers",
    "loops": "scalar.counter.loops.depth", "left": "scalar.counter.loops.counts",
    "probe": "probe", "status": "host.status",
}
_DECLARED = re.compile(
    r"(?P<type>(?:VlUnpacked<)*(?:CData|SData|IData|QData|VlWide<\d+>)/\*\d+:0\*/"
    r"(?:, \d+>)*) (?P<name>\w+);|VL_OUT64\(&?(?P<pin>\w+),\d+,0\);")
_BYTES = {"CData": 1, "SData": 2, "IData": 4, "QData": 8}


@dataclass(frozen=True)
class WasmChip:
    """A chip as WebAssembly.

    Attributes
    ----------
    module
        The module: the functions of harness/api.cpp, and those for its signals and counters.
    description
        JSON: the version of that interface, the chip's name, and of each signal that a page shows
        its number, the bytes of an element and how many there are.
    """

    module: Path
    description: Path


def _plain(name: str) -> str:
    """Return the name in the hierarchy of a member of the Verilated class."""
    path = name.removeprefix("celosia__DOT__").replace("__DOT__", ".").replace("__05F", "_")
    path = path.replace("__024", "$")
    return re.sub(r"\bx\d+_(\w+)_q\b", r"\1", path)  # registers of a grid


def _size(kind: str) -> tuple[int, int]:
    """Return the bytes of an element of a C++ type, and how many elements it has."""
    wide = re.search(r"VlWide<(\d+)>", kind)
    size = 4 * int(wide[1]) if wide else next(
        size for name, size in _BYTES.items() if name in kind)
    count = 1
    for depth in re.findall(r", (\d+)>", kind):
        count *= int(depth)
    return size, count


def _signals(cpp: Path) -> dict[str, tuple[str, int, int]]:
    """Find the members of `SIGNALS`: each with its C++ name, bytes of an element and elements."""
    root = (cpp / "Vcelosia___024root.h").read_text()
    members = {}
    for found in _DECLARED.finditer(root):
        name = found["name"] or found["pin"]
        members.setdefault(_plain(name), (name, *_size(found["type"] or "QData")))
    if missing := [path for path in SIGNALS.values() if path not in members]:
        raise ToolchainError(f"the Verilated chip must have the signals {', '.join(missing)}, "
                             f"which {Path(__file__).name} names, but it has none of these names")
    return {name: members[path] for name, path in SIGNALS.items()}


def _compile(sources: Sequence[tuple[Path, tuple[str, ...]]], work: Path) -> list[Path]:
    root = verilator().include
    flags = [*_TARGET, *(flag for flag in FLAGS.cxx if flag not in ("-fPIC", "-pthread")),
             "-fno-sanitize=undefined", "-fno-exceptions", "-DVM_TRACE=0", "-DVM_TRACE_FST=0",
             "-DVM_TRACE_VCD=0", "-DVM_COVERAGE=0", "-include", str(_HERE / "one_thread.h"),
             f"-I{root}", f"-I{root / 'vltstd'}", f"-I{work / 'cpp'}", f"-I{HARNESS}"]
    return compile_all(sources, work, flags)


def build_wasm(config: TpuConfig) -> WasmChip:
    """Translate a chip, or find it in the cache.

    Rooms of it that have nothing to do are evaluated all the same: what tells them from the others
    is as large as the chip.

    Raises
    ------
    ToolchainError
        If Verilator or the compiler is missing or fails, or the chip lacks a signal of `SIGNALS`.
    """
    text = chip_verilog(config)
    own = "".join(path.read_text() for path in sorted(_HERE.iterdir()) if path.is_file())
    key = builds.digest({**tool_identity(), "cpu": "", "text": text, "config": repr(config),
                        "harness": harness_text(), "own": own, "abi": ABI})

    def make(folder: Path) -> None:
        work = folder / "work"
        work.mkdir()
        sources = verilate(text, work, beside=[HARNESS / "api.cpp", _HERE / "signals.cpp"])
        signals = _signals(work / "cpp")
        write_config(work / "cpp", config, "")
        with (work / "cpp" / "chip_config.h").open("a") as file:
            members = ", ".join(f"&rootp->{name}" for name, _, _ in signals.values())
            file.write(f"#define CELOSIA_SIGNALS {members}\n"
                       f"#define CELOSIA_STATUS {signals['status'][0]}\n"
                       f"#define CELOSIA_RUNNING {Status.RUNNING:d}\n"
                       f"#define CELOSIA_DONE {Status.DONE:d}\n")
        sources += [(verilator().include / name, FLAGS.fast) for name in _RUNTIME]
        objects = _compile(sources, work)
        exports = [f"-Wl,--export=celosia_{name}" for name in (*FUNCTIONS, "signal", "counters")]
        run_tool("c++", [*compiler().command, *_TARGET, "-mexec-model=reactor", "-O2", "-s",
                         *objects, *exports, "-Wl,--export=malloc", "-Wl,--export=free",
                         "-o", folder / "chip.wasm"], work / "link.log")
        (folder / "chip.json").write_text(json.dumps({
            "abi": ABI, "name": config.name,
            "signals": {name: {"number": number, "bytes": size, "count": count}
                        for number, (name, (_, size, count)) in enumerate(signals.items())}}))
        shutil.rmtree(work)

    folder = builds.entry("wasm", key, make)
    return WasmChip(folder / "chip.wasm", folder / "chip.json")
