"""How fast chips are simulated: one, and those that links connect, on one thread and on all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import encode
from celosia.collectives import Topology
from celosia.driver.backends import missing_package
from celosia.driver.errors import needs
from celosia.model import PodProgram
from celosia.program.asm import assemble

__all__ = ["SIMULATED", "SimulationMeasurement", "measure_simulation", "simulation_lines"]

#: Rounds of the programs, and how often each is run; the fastest run counts.
_ROUNDS, _WAITS, _RUNS = 24, 150, 3
#: Addresses of the program and of what it loads and stores.
_PROGRAM, _DATA, _LAST = 0x10000, 0x100000, 0x1FFFFF


@dataclass(frozen=True)
class SimulationMeasurement:
    """What a run gave.

    Attributes
    ----------
    program
        Of `SIMULATED`.
    topology
        Of the chips; "1": one chip, whose links lead to itself.
    threads
        That simulate them.
    cycles
        Of a chip.
    rate
        Cycles of all chips together in a second.
    cpu_rate
        The same of a second of a processor.
    share
        ``cpu_rate`` of that of one chip.
    """

    program: str
    topology: str
    preset: str
    chips: int
    threads: int
    cycles: int
    rate: float
    cpu_rate: float
    share: float


def _work(config: TpuConfig) -> str:
    """Return instructions that keep all units of a chip at work, and its links."""
    fmt, add = ("bf16", "fadd") if config.bf16 else ("int8", "iadd")
    kind = "bf16" if config.bf16 else "i8"
    rows, quarter = config.ub_rows // 4, config.acc_rows // 4
    n = min(64, rows, quarter // 4)
    pitch = config.dim * (2 if config.bf16 else 1)
    step = [
        f"load ub[0], {_DATA}, fmt={kind}, rows={n}, cols={config.dim}, pitch={pitch}",
        f"matmul acc[0], ub[0], ub[{rows}], fmt={fmt}, n0={n}, wrows={config.dim}",
        f"vector {add}, acc[{quarter}], acc[{quarter}], acc[{quarter + n}], n0={n}",
    ]
    for port in range(config.ports):
        at = 2 * quarter + port * (n // 2)
        step += [f"send acc[{at}], fmt=w32, port={port}, n0={n // 2}",
                 f"recv set, acc[{at + quarter}], fmt=w32, port={port}, n0={n // 2}"]
    step.append(f"store acc[{quarter}], {_DATA + 0x40000}, fmt=w32, rows={n}, cols={config.dim}, "
                f"pitch={4 * config.dim}")
    return "\n".join(step * _ROUNDS)


def _wait(config: TpuConfig) -> str:
    """Return instructions that send a row, and wait for a row, again and again."""
    return "\n".join(["send acc[0], fmt=w32, port=0, n0=1",
                      "recv set, acc[0], fmt=w32, port=1, n0=1"] * _WAITS)


#: Programs of chips that are simulated: all units and links work, or all wait for a link.
SIMULATED: dict[str, Callable[[TpuConfig], str]] = {"work": _work, "wait": _wait}


def _run(config: TpuConfig, text: str, chips: int, links: Any, threads: int | None) -> Any:
    """Return the cycles of a chip, seconds and seconds of processors of the fastest run."""
    from celosia_sim.pod import RtlPod

    insns = list(assemble(f"{text}\nhalt", config).insns)
    code = b"".join(map(encode, insns))
    pod = RtlPod(config, chips, links, threads=threads)
    try:
        for chip in pod.chips:
            chip.write_memory(_PROGRAM, code)
        program = PodProgram(_PROGRAM, len(insns), [(_DATA, _LAST)])
        best: tuple[int, float, float] | None = None
        for _ in range(_RUNS):
            begin, busy = time.perf_counter(), time.process_time()
            ended = pod.run([program] * chips)
            seconds, busy = time.perf_counter() - begin, time.process_time() - busy
            for chip, each in enumerate(ended):
                if each.cause:
                    raise RuntimeError(f"chip {chip} must halt, not stop with {each.cause.name} at "
                                       f"instruction {each.pc}")
            cycles = max(each.cycles for each in ended)
            best = (cycles, min(seconds, best[1] if best else seconds),
                    min(busy, best[2] if best else busy))
        return best, pod.threads
    finally:
        pod.close()


def measure_simulation(config: TpuConfig, topology: Topology,
                       programs: Sequence[str] = tuple(SIMULATED)
                       ) -> Iterator[SimulationMeasurement]:
    """Run each program on one chip, then on all of a pod with one thread, and with all.

    Parameters
    ----------
    config
        Of each chip; it gets the topology's ports.
    topology
        Of the chips.
    programs
        Of `SIMULATED`.
    """
    if package := missing_package("rtl"):
        raise needs("a simulation", package, "sim")
    config = replace(config, ports=topology.ports)
    itself = {(0, 2 * d): (0, 2 * d + 1) for d in range(topology.ports // 2)}
    for program in programs:
        alone = 0.0
        for chips, links, threads in ((1, itself, 1), (topology.chips, topology.links, 1),
                                      (topology.chips, topology.links, None)):
            (cycles, seconds, busy), used = _run(
                config, SIMULATED[program](config), chips, links, threads)
            alone = alone or cycles / busy
            yield SimulationMeasurement(
                program, str(topology) if chips > 1 else "1", config.name, chips, used, cycles,
                chips * cycles / seconds, chips * cycles / busy, chips * cycles / busy / alone)


def simulation_lines(measured: Iterator[SimulationMeasurement]) -> Iterator[str]:
    """Yield the lines of a table, as they are measured; rates are of all chips together."""
    yield (f"{'program':>8}{'topology':>9}{'chips':>7}{'threads':>9}{'cycles':>9}{'cycles/s':>12}"
           f"{'of a CPU':>12}{'share':>8}")
    for m in measured:
        yield (f"{m.program:>8}{m.topology:>9}{m.chips:7}{m.threads:9}{m.cycles:9}{m.rate:12,.0f}"
               f"{m.cpu_rate:12,.0f}{m.share:8.1%}")
