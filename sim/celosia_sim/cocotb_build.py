"""The chip as a cocotb simulator, built without make and run with cocotb's environment."""

import importlib.util
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping
from pathlib import Path

from celosia.arch.config import TpuConfig
from celosia.storage import ToolchainError, builds
from celosia_sim.build import (
    WAVES,
    compile_chip,
    link,
    runtime_objects,
    tool_identity,
    verilate,
)

__all__ = ["build_simulator", "run_cocotb", "simulator_environment"]

#: cocotb sees the pins and nothing else: every visible signal is one that Verilator cannot
#: optimise, and making all of them visible costs ten times in speed.
_VISIBLE = """`verilator_config
public_flat_rw -module "celosia" -var "clk"
public_flat_rw -module "celosia" -var "rst"
public_flat_rw -module "celosia" -var "irq"
public_flat_rw -module "celosia" -var "s_axil_*"
public_flat_rw -module "celosia" -var "m_axi_*"
"""


def _cocotb_folders() -> tuple[Path, Path]:
    """Folders of cocotb's libraries and of its main program."""
    if importlib.util.find_spec("cocotb_tools") is None:
        raise ToolchainError("the package cocotb is not installed: pip install celosia[sim]")
    from cocotb_tools import config

    return Path(config.libs_dir), Path(config.share_dir) / "lib" / "verilator"


def build_simulator(text: str, config: TpuConfig, *, trace: str = "",
                    announce: Callable[[str], None] | None = None) -> Path:
    """Compile a chip into a program that runs cocotb tests, or find it in the cache.

    Parameters
    ----------
    text, config, trace, announce
        As of `celosia_sim.build.build_library`.

    Returns
    -------
    Path
        The program; its options are those of cocotb's Verilator main (``--trace``,
        ``--trace-file``).

    Raises
    ------
    ToolchainError
        If a package is missing or a program fails.
    """
    if trace not in WAVES:
        raise ValueError(f"trace must be one of {', '.join(map(repr, WAVES))}, not {trace!r}")
    libraries, share = _cocotb_folders()
    main = share / "verilator.cpp"
    key = builds.digest({**tool_identity(), "text": text, "trace": trace, "visible": _VISIBLE,
                        "main": main.read_text(), "libraries": str(libraries)})

    def make(folder: Path) -> None:
        if announce:
            announce(f"building the {config.name} chip for cocotb (kept for next time)")
        work = folder / "work"
        work.mkdir()
        (work / "visible.vlt").write_text(_VISIBLE)
        sources = verilate(text, work, prefix="Vtop", trace=trace,
                           extra=["--vpi", str(work / "visible.vlt")], beside=[main])
        objects = compile_chip(sources, work, trace)
        link(folder / "celosia", [*objects, *runtime_objects(trace, vpi=True)], work / "link.log",
             ["-rdynamic", f"-L{libraries}", "-lcocotbvpi_verilator", f"-Wl,-rpath,{libraries}"])

    return builds.entry("cocotb", key, make) / "celosia"


def simulator_environment(test_modules: str, extra: Mapping[str, str] | None = None,
                          ) -> dict[str, str]:
    """Environment in which the simulator finds this Python, its packages and the tests."""
    libraries, _ = _cocotb_folders()
    import find_libpython
    from cocotb_tools import config

    libpython = os.environ.get("LIBPYTHON_LOC") or find_libpython.find_libpython()
    if libpython is None:
        raise ToolchainError("there is no libpython; cocotb wants one (Debian: libpython3-dev; "
                             "python.org and uv builds have it)")
    return {
        **os.environ,
        "PATH": os.pathsep.join((os.environ.get("PATH", ""), str(libraries))),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYGPI_PYTHON_BIN": sys.executable,
        "GPI_USERS": f"{libpython};{config.pygpi_entry_point()}",
        "COCOTB_TOPLEVEL": "celosia",
        "COCOTB_TEST_MODULES": test_modules,
        "COCOTB_TRUST_INERTIAL_WRITES": "1",
        "TOPLEVEL_LANG": "verilog",
        **(extra or {}),
    }


def run_cocotb(simulator: Path, test_modules: str, folder: Path, *,
               extra_environment: Mapping[str, str] | None = None,
               arguments: tuple[str, ...] = (), timeout: float = 600.0) -> dict[str, str]:
    """Run the cocotb tests of a module.

    Parameters
    ----------
    simulator
        What `build_simulator` returned.
    test_modules
        Importable module with the tests, or several joined by commas.
    folder
        Where the run happens; ``results.xml`` and ``simulation.log`` stay there.

    Returns
    -------
    dict
        Names of the tests; "" for those that passed, else what went wrong.

    Raises
    ------
    RuntimeError
        If no test ran; the message ends with the last lines of the log.
    """
    results = folder / "results.xml"
    results.unlink(missing_ok=True)
    environment = simulator_environment(
        test_modules, {"COCOTB_RESULTS_FILE": str(results), "COCOTB_ANSI_OUTPUT": "0",
                       **(extra_environment or {})})
    log = folder / "simulation.log"
    with log.open("wb") as file:
        subprocess.run([str(simulator), *arguments], cwd=folder, env=environment, stdout=file,
                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=timeout)
    outcome: dict[str, str] = {}
    if results.exists():
        for case in ElementTree.parse(results).getroot().iter("testcase"):
            failure = case.find("failure")
            error = failure if failure is not None else case.find("error")
            outcome[case.get("name", "")] = "" if error is None else (
                f"{error.get('error_type', '')} {error.get('error_msg', '')} "
                f"{error.get('message', '')} {error.text or ''}".strip() or "failed")
    if not outcome:
        tail = "\n  ".join(log.read_text(errors="replace").splitlines()[-15:])
        raise RuntimeError(f"no cocotb test of {test_modules} ran; {log} ends with\n  {tail}")
    return outcome
