"""Which bits of a chip rise and fall while it runs, and which never do.

``python -m celosia_sim.toggles --preset nano`` runs random programs, and a few that compute
something, on a chip that counts it: in the form of its Verilog that is for synthesis, whose modules
are the components. It prints the share of each component's bits that did both, and the others by
name. Clocks, and wires without a name in the sources, do not count.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from celosia import ops
from celosia.arch.config import PRESETS, TpuConfig, preset
from celosia.driver import Device
from celosia.ops.formats import OUTPUTS
from celosia.program import DTYPES
from celosia_sim.lockstep import Lockstep, cut_options, memory_options
from celosia_sim.randprog import (
    random_bus_errors,
    random_faulting_program,
    random_program,
    random_walks,
)
from celosia_sim.rtl import RtlTransport, SimOptions
from celosia_sim.verilog import chip_verilog

__all__ = ["Share", "Toggles", "main", "parse", "report", "shares", "toggles"]

#: Of a bit, by where it is: module, signal and number; how often it rose, and fell.
Toggles = dict[tuple[str, str, int], tuple[int, int]]
_POINT = re.compile(
    r"^C '.*?\x01o\x02(?P<signal>.+?)(?:\[(?P<bit>\d+)\])?:(?P<edge>0->1|1->0)"
    r"\x01h\x02(?P<module>[^'\x01]*)' (?P<count>\d+)$", re.MULTILINE)
#: A character that Verilator has written as its number.
_ESCAPE = re.compile(r"__0([0-9a-fA-F]{2})")


class Share(NamedTuple):
    """Bits of a component, and how many of them have risen and fallen."""

    bits: int
    toggled: int

    @property
    def percent(self) -> float:
        """Those that have, in percent."""
        return 100 * self.toggled / self.bits


def parse(text: str) -> Toggles:
    """Return what is in a file that a chip has written.

    Raises
    ------
    ValueError
        If there is nothing in it.
    """
    counts: dict[tuple[str, str, int], list[int]] = defaultdict(lambda: [0, 0])
    for point in _POINT.finditer(text):
        module, signal = (_ESCAPE.sub(lambda found: chr(int(found[1], 16)), point[name])
                          for name in ("module", "signal"))
        if signal == "clk" or signal.startswith("$"):
            continue
        place = module.removeprefix("chip."), signal, int(point["bit"] or 0)
        counts[place][point["edge"] == "1->0"] += int(point["count"])
    if not counts:
        raise ValueError("a file of toggles must have bits in it, it has none")
    return {place: (rises, falls) for place, (rises, falls) in counts.items()}


def _component(module: str) -> str:
    """Return the component that a module is a part of: the first level below the chip."""
    return module.removeprefix("celosia").removeprefix(".").partition(".")[0] or "(pins)"


def shares(found: Toggles) -> dict[str, Share]:
    """Return what of each component has toggled."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for (module, _, _), edges in found.items():
        counts[_component(module)][0] += 1
        counts[_component(module)][1] += all(edges)
    return {name: Share(*count) for name, count in sorted(counts.items())}


def _spans(bits: Iterable[int]) -> str:
    """Return numbers as the ranges that they make, the highest first."""
    numbers = sorted(bits, reverse=True)
    runs = [[number for _, number in run]
            for _, run in groupby(enumerate(numbers), lambda item: item[0] + item[1])]
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}:{run[-1]}" for run in runs)


def _never(found: Toggles) -> Iterator[str]:
    """Say for each module which bits of which signals have not toggled."""
    modules: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for (module, signal, bit), edges in sorted(found.items()):
        if not all(edges):
            modules[module][signal].append(bit)
    for module, signals in sorted(modules.items()):
        yield f"{module}: " + ", ".join(f"{signal}[{_spans(bits)}]"
                                        for signal, bits in signals.items())


def report(found: Toggles) -> str:
    """Return a table of the components, and the bits that have not toggled."""
    table = shares(found)
    total = Share(*map(sum, zip(*table.values(), strict=True)))
    lines = [f"{'component':<12}{'bits':>9}{'toggled':>9}{'percent':>9}"]
    lines += [f"{name:<12}{share.bits:>9,}{share.toggled:>9,}{share.percent:>9.1f}"
              for name, share in (*table.items(), ("all", total))]
    return "\n".join([*lines, "never both rose and fell:", *_never(found)])


def toggles(config: TpuConfig, seeds: range) -> Toggles:
    """Run programs on a chip in lockstep with the golden model; return what toggled meanwhile.

    Raises
    ------
    celosia_sim.lockstep.LockstepError
        If chip and model differ.
    celosia.storage.ToolchainError
        If the chip cannot be built.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chip.toggles"
        transport = RtlTransport(config, SimOptions(trace=path),
                                 verilog=chip_verilog(config, simulation=False))
        lockstep = Lockstep(config, transport)
        for seed in seeds:
            transport.set_options(memory_options(seed))
            for make in (random_program, random_faulting_program, random_bus_errors):
                lockstep.run(make(config, seed, memory=transport.memory_bytes))
            cycles, by_host = cut_options(seed)
            lockstep.cut(random_walks(config, seed), cycles, by_host=by_host)
        transport.set_options(SimOptions())
        _products(config, transport)
        transport.close()
        return parse(path.read_text())


def _products(config: TpuConfig, transport: RtlTransport) -> None:
    """Run matrix products whose operands fill the on-chip memories."""
    rng, device = np.random.default_rng(0), Device(transport)
    for fmt in config.formats:
        n = 8 * config.dim
        k = min(config.ub_rows // 4, 64 * config.dim)
        program = ops.matmul(config, 2 * n, k, n, fmt, output=OUTPUTS[fmt][0])
        device.run(program, {
            buffer: rng.integers(-128, 128, shape).astype(DTYPES[program.buffer(buffer).dtype])
            for buffer, shape in (("a", (2 * n, k)), ("b", (k, n)))})


def main(argv: list[str] | None = None) -> int:
    """Print what the programs of these seeds toggle."""
    parser = argparse.ArgumentParser(prog="python -m celosia_sim.toggles", description=__doc__)
    parser.add_argument("--preset", choices=PRESETS, default="nano")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 200), metavar=("FIRST", "END"))
    args = parser.parse_args(argv)
    print(report(toggles(preset(args.preset), range(*args.seeds))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
