"""Verilog text into a shared library (or a cocotb executable), through a cache."""

import contextlib
import os
import platform
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from celosia.arch.config import TpuConfig
from celosia.storage import builds, compiler, run_tool
from celosia.storage.compilers import cpu_identity
from celosia_sim.idle.sleep import sleep
from celosia_sim.loops.localise import localise
from celosia_sim.toolchain import verilator

__all__ = ["ABI", "FLAGS", "HARNESS", "TRACES", "WAVES", "BuildFlags", "base_flags",
           "build_library", "compile_all", "compile_chip", "harness_text", "link",
           "runtime_objects", "tool_identity", "verilate", "write_config"]

#: Version of the C interface in harness/api.cpp.
ABI = 4

HARNESS = Path(__file__).parent / "harness"
PREFIX = "Vcelosia"

#: What every file of a chip includes, directly or not, and reads for a second.
_HEADERS = HARNESS / "headers.h"

#: Bytes of C++ that are a file of their own: large, so that few files parse the headers, and yet
#: a large chip has work for every processor.
_LARGE = 2_500_000
#: Bytes of C++ that wait longer for their headers than for -O2: they go to the fast ones.
_SMALL = 65_000

#: What a chip can write, a waveform or how often its bits have changed: number in the harness.
TRACES = {"": 0, "vcd": 1, "fst": 2, "toggles": 3}
#: What they need of Verilator's run-time library; the rest of it is the same for all chips.
_OF_TRACES = {"vcd": ("verilated_vcd_c.cpp",), "fst": ("verilated_fst_c.cpp",),
              "toggles": ("verilated_cov.cpp",)}
#: Those of waveforms, and none.
WAVES = ("", "vcd", "fst")


@dataclass(frozen=True)
class BuildFlags:
    """Every flag that decides how fast a chip simulates and how long it takes to build."""

    verilator: tuple[str, ...] = (
        "-Wno-lint", "-Wno-style", "-Wno-fatal",  # celosia_sim.lint is where warnings count
        "--x-assign", "fast", "--x-initial", "fast", "--noassert",
        "--output-split", "20000",
    )
    #: Of a chip of which idle runs are not evaluated: what the pass in `celosia_sim.idle` reads.
    idle: tuple[str, ...] = ("-fno-merge-cond", "--output-split-cfuncs", "0",
                             "--inline-cfuncs", "0")
    #: Its records, which Verilator takes in pieces: what reads one field reads no other, and fields
    #: that are made from fields of the same record are no circle.
    split: str = '`verilator_config\nsplit_var -module "*" -var "*payload*"\n'
    #: Of a chip that counts, in signals of so many bits: rows are narrower, memories are not.
    toggles: tuple[str, ...] = ("--coverage-toggle", "--coverage-max-width", "1000")
    #: ``-g0``: zig writes what debuggers want if not told not to, in an eighth of the time.
    cxx: tuple[str, ...] = ("-std=c++17", "-fPIC", "-pthread", "-w", "-g0", "-DVERILATOR=1",
                            "-DVM_SC=0")
    fast: tuple[str, ...] = ("-O2",)
    #: Verilator's run-time library, which chips share.
    runtime: tuple[str, ...] = ("-O2",)
    #: The whole of a vector register: compilers keep to half of 512 bits if not told so.
    vectors: tuple[str, ...] = (("-mprefer-vector-width=512",)
                                if platform.machine() in ("x86_64", "AMD64") else ())
    #: Code that runs once: constructors, initial values, names of signals.
    slow: tuple[str, ...] = ("-O0",)
    #: What writes a waveform or counts, every cycle: with -O0 a fifth of the cycles a second.
    trace: tuple[str, ...] = ("-O1",)
    #: As small code: zig makes the compiler's library at its first use, one for each level, and
    #: the small one in three quarters of the time.
    link: tuple[str, ...] = ("-Os", "-pthread")


FLAGS = BuildFlags()


def base_flags(trace: str) -> list[str]:
    """Flags for every C++ file of a build."""
    root = verilator().include
    flags = [*compiler().flags, *FLAGS.cxx, *FLAGS.vectors, f"-I{root}", f"-I{root / 'vltstd'}",
             f"-DVM_TRACE={int(trace in WAVES[1:])}",
             f"-DVM_TRACE_FST={int(trace == 'fst')}", f"-DVM_TRACE_VCD={int(trace == 'vcd')}",
             f"-DVM_COVERAGE={int(trace == 'toggles')}"]
    if trace == "fst":
        flags.append(f"-I{HARNESS / 'fst_shim'}")
    return flags


def compile_all(sources: Sequence[tuple[Path, tuple[str, ...]]], into: Path,
                flags: Sequence[str]) -> list[Path]:
    """Compile sources, each with flags of its own, on all processors; return the objects."""
    running: set[subprocess.Popen[bytes]] = set()

    def one(item: tuple[Path, tuple[str, ...]]) -> Path:
        source, own = item
        target = into / f"{source.stem}.o"
        run_tool("c++", [*compiler().command, *flags, *own, "-c", source, "-o", target],
                 into / f"{source.stem}.log", cwd=into, running=running)
        return target

    # The largest first: no processor waits long for the last one.
    order = sorted(sources, key=lambda item: -item[0].stat().st_size)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity")
                            else os.cpu_count() or 1) as pool:
        jobs = [pool.submit(one, item) for item in order]
        try:
            return [job.result() for job in jobs]
        except BaseException:
            for job in jobs:
                job.cancel()
            for process in list(running):
                with contextlib.suppress(OSError):
                    process.kill()
            raise


def _precompiled(level: tuple[str, ...], trace: str) -> tuple[str, ...]:
    """Flags for headers that are compiled once for all chips; none where the compiler has none."""
    if not compiler().headers:
        return ()
    # What is written names the files: those of another installation are not these.
    places = [compiler().command, str(verilator().include), str(_HEADERS)]
    key = builds.digest({**tool_identity(), "places": places, "text": _HEADERS.read_text(),
                         "level": level, "trace": trace})

    def make(folder: Path) -> None:
        # The same files may have other times tomorrow, when they are installed anew.
        run_tool("c++", [*compiler().command, *base_flags(trace), *level, "-Xclang",
                         "-fno-pch-timestamp", "-x", "c++-header", _HEADERS,
                         "-o", folder / "headers.pch"], folder / "headers.log", cwd=folder)

    return ("-include-pch", str(builds.entry("headers", key, make) / "headers.pch"))


def compile_chip(sources: Sequence[tuple[Path, tuple[str, ...]]], work: Path, trace: str = "",
                 include: Sequence[Path] = ()) -> list[Path]:
    """Compile what `verilate` made in ``work``; ``include``: more folders of headers."""
    headers = {own: _precompiled(own, trace) for _, own in sources}
    return compile_all([(path, (*own, *headers[own])) for path, own in sources], work,
                       [*base_flags(trace), *(f"-I{each}" for each in (work / "cpp", *include))])


def link(target: Path, objects: Sequence[Path], log: Path,
         flags: Sequence[str] = ("-shared",)) -> None:
    """Link objects into a shared library, or into what ``flags`` say."""
    run_tool("c++", [*compiler().command, *compiler().flags, *FLAGS.link, "-o", target, *objects,
                     *flags], log)


def _programs() -> dict[str, object]:
    """What a key holds of verilator, compiler and processor."""
    return {"verilator": verilator().version, "compiler": compiler().version,
            "compiler_flags": compiler().flags, "cpu": cpu_identity()}


def tool_identity() -> dict[str, object]:
    """What a key holds so that a build is not used where its tools would build another."""
    return {**_programs(), "flags": repr(FLAGS), "passes": [path.read_text() for path in (
        Path(__file__).parent / "loops" / "localise.py",
        *sorted((Path(__file__).parent / "idle").glob("*.py")))]}


def runtime_objects(trace: str = "", vpi: bool = False) -> list[Path]:
    """Verilator's run-time library, compiled once for all chips."""
    objects = _runtime(("verilated.cpp", "verilated_threads.cpp"))
    if trace:
        objects += _runtime(_OF_TRACES[trace], trace)
    return [*objects, *(_runtime(("verilated_vpi.cpp",)) if vpi else ())]


def _runtime(names: tuple[str, ...], trace: str = "") -> list[Path]:
    flags = (*FLAGS.cxx, *FLAGS.vectors, *FLAGS.runtime)
    key = builds.digest({**_programs(), "flags": flags, "names": names,
                         "shim": harness_text("fst_shim")})

    def make(folder: Path) -> None:
        compile_all([(verilator().include / name, FLAGS.runtime) for name in names], folder,
                    base_flags(trace))

    folder = builds.entry("runtime", key, make)
    return [folder / f"{Path(name).stem}.o" for name in names]


def harness_text(within: str = "") -> str:
    """Every source of the harness, or of a folder of it: what a key holds of it."""
    return "".join(path.read_text() for path in sorted((HARNESS / within).rglob("*"))
                   if path.is_file())


def verilate(text: str, work: Path, *, top: str = "celosia", prefix: str = PREFIX,
             trace: str = "", idle: bool = False, extra: Sequence[str] = (),
             beside: Sequence[Path] = ()) -> list[tuple[Path, tuple[str, ...]]]:
    """Run Verilator in ``work``; return the C++ files and the flags that each wants.

    Files ``beside`` the chip that include its headers are compiled with it. With ``idle``, what
    reads nothing new is not evaluated; who changes a memory from outside calls ``wake``.
    """
    (work / "chip.v").write_text(text)
    (work / "split.vlt").write_text(FLAGS.split)
    options = {"": (), "toggles": FLAGS.toggles}.get(trace, (f"--trace-{trace}",))
    run_tool("verilator", [verilator().binary, "--cc", "--prefix", prefix, "--top-module", top,
                           "--Mdir", work / "cpp", *FLAGS.verilator, *options,
                           *((*FLAGS.idle, work / "split.vlt") if idle else ()), *extra,
                           work / "chip.v"],
             work / "verilator.log", env=verilator().environment())
    if not trace:
        localise(work / "cpp", f"{prefix}___024root")
    if idle:
        sleep(work / "cpp", f"{prefix}___024root")
    return _join(work / "cpp", FLAGS.trace if trace == "toggles" else FLAGS.fast, beside)


def _size(paths: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def _join(cpp: Path, fast: tuple[str, ...],
          beside: Sequence[Path]) -> list[tuple[Path, tuple[str, ...]]]:
    """Make few files of those that want the same flags; return them and their flags.

    Every file includes the same headers, for two seconds, and most of them have little else.
    """
    files: dict[tuple[str, ...], list[Path]] = {}
    for path in (*sorted(cpp.glob("*.cpp")), *beside):  # the last may define macros
        flags = (FLAGS.slow if "Slow" in path.stem else
                 FLAGS.trace if "__Trace" in path.stem else fast)
        files.setdefault(flags, []).append(path)
    for flags in [flags for flags in files if flags != fast and _size(files[flags]) < _SMALL]:
        files[fast] = files.pop(flags) + files.get(fast, [])
    items = []
    for flags, paths in files.items():
        parts, size = [], _LARGE
        for path in paths:
            if size >= _LARGE:
                parts.append([])
                size = 0
            parts[-1].append(path)
            size += path.stat().st_size
        for part in parts:
            joined = cpp / f"joined_{len(items)}.cpp"
            joined.write_text("".join(f'#include "{path}"\n' for path in part))
            items.append((joined, flags))
    return items


_ARRAY = re.compile(
    r"VlUnpacked<[^;]*?/\*(?P<high>\d+):0\*/, (?P<depth>\d+)> "
    r"(?P<name>(?!__)\w*?__DOT__(?P<memory>ub|acc)__DOT__(?:\w+__DOT__)??bank(?P<bank>\d)"
    r"(?:__DOT__part(?P<part>\d))?(?:__DOT__\w+)?);")
_PROBE = re.compile(r"VL_OUT64\(&?probe,63,0\);")
_CLOCK = re.compile(r"CData/\*0:0\*/ (__Vtrigprevexpr___TOP__clk__\d+);")


def write_config(cpp: Path, config: TpuConfig, trace: str) -> None:
    """Write chip_config.h: what the harness must know of the generated class."""
    root = (cpp / f"{PREFIX}___024root.h").read_text()
    pins = (cpp / f"{PREFIX}.h").read_text()
    arrays = list(_ARRAY.finditer(root))
    count = Counter(array["memory"] for array in arrays)
    banks = [
        f'{{"{array["memory"]}", {array["bank"]}, '
        f"reinterpret_cast<uint8_t*>(&rootp->{array['name']}[0]), {array['depth']}, "
        f"sizeof(rootp->{array['name']}[0]), {int(array['high']) // 8 + 1}, "
        f"{array['part'] or 0}, {count[array['memory']] // config.banks}}}"
        for array in arrays
    ]
    links = [
        "{" + ", ".join(f"&pins.link{port}_{pin}" for pin in (
            "tx_kind", "rx_kind", "tx_data", "rx_data")) + "}"
        for port in range(config.ports)]
    clocks = _CLOCK.findall(root)
    lines = [
        f'#include "{PREFIX}.h"', f'#include "{PREFIX}___024root.h"',
        f"#define CELOSIA_MODEL {PREFIX}",
        f"#define CELOSIA_EVAL {PREFIX}___024root___eval",
        f"#define CELOSIA_ABI {ABI}",
        f"#define CELOSIA_BUS_BYTES {config.bus_bytes}",
        f"#define CELOSIA_NUM_BANKS {config.banks}",
        f"#define CELOSIA_TRACE {TRACES[trace]}",
        f"#define CELOSIA_IDLE {int('void wake()' in root)}",
        f"#define CELOSIA_PORTS {config.ports}",
        f"#define CELOSIA_LINK_BYTES {config.link_bytes}",
        f"#define CELOSIA_LINKS {', '.join(links)}",
        f"#define CELOSIA_PROBE {int(bool(_PROBE.search(pins)))}",
        f"#define CELOSIA_BANKS {', '.join(banks)}",
    ]
    if len(clocks) == 1:
        lines.append(f"#define CELOSIA_CLOCK_BEFORE rootp->{clocks[0]}")
    (cpp / "chip_config.h").write_text("\n".join(lines) + "\n")


def build_library(text: str, config: TpuConfig, *, trace: str = "",
                  announce: Callable[[str], None] | None = None) -> Path:
    """Compile a chip, or find it in the cache.

    Parameters
    ----------
    text
        Verilog, top module ``celosia`` with the pins of `celosia_hw.top`.
    config
        What the chip is; the harness wants its bus width.
    trace
        "vcd" or "fst" for a chip that can write waveforms, "toggles" for one that counts how often
        each of its bits changes (they run slower); "" for one that can do neither.
    announce
        Called with a line of text before something that takes long.

    Returns
    -------
    Path
        The shared library.

    Raises
    ------
    ToolchainError
        If Verilator or the compiler is missing or fails.
    """
    if trace not in TRACES:
        raise ValueError(f"trace must be one of {', '.join(map(repr, TRACES))}, not {trace!r}")
    key = builds.digest({**tool_identity(), "text": text, "config": repr(config), "trace": trace,
                        "harness": harness_text(), "abi": ABI})

    def make(folder: Path) -> None:
        if announce:
            announce(f"building the {config.name} chip for simulation (kept for next time)")
        work = folder / "work"
        work.mkdir()
        sources = verilate(text, work, trace=trace, idle=not trace, beside=[HARNESS / "api.cpp"])
        write_config(work / "cpp", config, trace)
        objects = compile_chip(sources, work, trace, [HARNESS])
        link(folder / "chip.so", [*objects, *runtime_objects(trace)], work / "link.log")
        shutil.rmtree(work)

    return builds.entry("chip", key, make) / "chip.so"
