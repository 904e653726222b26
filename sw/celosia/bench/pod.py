"""Scaling: a training step of chips that links connect beside that of one chip."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.latency import Latency
from celosia.arch.words import ceil_div
from celosia.collectives import Topology
from celosia.driver import open as open_device
from celosia.train import Classifier, PodTrainer, Trainer, initial_parameters

__all__ = ["CURVE", "PodMeasurement", "PodPoint", "curve", "curve_lines", "measure_pod", "report"]

#: Steps that are run; the last one is measured, so that the optimiser has a past.
_STEPS = 2
_RATE = 1e-3
#: Topologies of a scaling curve, and for how many chips its rows in all are a batch of each.
CURVE = ("2", "2x2", "4x2", "4x4", "8x8")
_SHARED = 16

#: Rows of a step, and their labels.
_Batch = tuple[NDArray[np.float32], NDArray[np.integer]]


@dataclass(frozen=True)
class PodMeasurement:
    """What a run gave.

    Attributes
    ----------
    batch
        Rows of each chip.
    cycles, alone
        Of a step: of the chip that took the most, and of one chip with such a batch.
    scaling
        ``cycles`` of ``alone``: 1, if links cost nothing.
    meetings
        How often the host brought something from chip to chip.
    bit_exact
        Whether all chips have the weights of golden ones; None: not checked.
    loss
        Of the last step.
    seconds
        Of the last step's run on the host.
    """

    workload: str
    topology: str
    preset: str
    backend: str
    batch: int
    cycles: int
    alone: int
    scaling: float
    meetings: int
    bit_exact: bool | None
    loss: float
    seconds: float


def _random(net: Classifier, rows: int, seed: int) -> list[_Batch]:
    """Return rows and labels of each step."""
    rng = np.random.default_rng(seed)
    return [(rng.random((rows, net.inputs), np.float32), rng.integers(0, net.classes, rows))
            for _ in range(_STEPS)]


def measure_pod(config: TpuConfig, backend: str, topology: Topology, net: Classifier, *,
                seed: int = 0, latency: Latency = 64, errors: float = 0,
                check: bool = True) -> PodMeasurement:
    """Run steps of training on random data, on fresh chips.

    Parameters
    ----------
    config
        Of each chip; those of the pod get the topology's ports.
    backend
        "rtl" or "model".
    topology
        Of the chips.
    net
        Sizes; ``batch`` are the rows of each chip.
    seed
        Of weights, data and links.
    latency, errors
        Of links, as of `celosia_sim.pod.PodOptions`; errors are of RTL chips'.
    check
        Compare with golden chips.
    """
    parameters = initial_parameters(net, seed)
    data = _random(net, net.batch * topology.chips, seed)
    alone = _alone(config, backend, net, [(x[:net.batch], labels[:net.batch])
                                          for x, labels in data], seed)
    lines: dict[str, Any] = {"errors": errors} if backend == "rtl" else {}
    pod = PodTrainer(backend, config, net, topology, parameters, latency=latency, seed=seed,
                     **lines)
    try:
        loss = seconds = 0.0
        for x, labels in data:
            begin = time.perf_counter()
            loss = pod.step(x, labels, _RATE)
            seconds = time.perf_counter() - begin
        check = check and backend != "model"
        cycles, meetings = max(pod.cycles), pod.meetings
        hashes = pod.hashes() if check else []
    finally:
        pod.close()
    exact = None
    if check:
        golden = PodTrainer("model", config, net, topology, parameters)
        for x, labels in data:
            golden.step(x, labels, _RATE)
        exact = hashes == golden.hashes()
        golden.close()
    return PodMeasurement(f"training {net}, batch {net.batch}", str(topology), config.name, backend,
                          net.batch, cycles, alone, cycles / alone, meetings, exact, loss, seconds)


def _alone(config: TpuConfig, backend: str, net: Classifier, data: Sequence[_Batch],
           seed: int) -> int:
    """Return the cycles of one chip's last step."""
    with open_device(backend, config=config) as device:
        trainer = Trainer(device, net, initial_parameters(net, seed))
        for x, labels in data:
            trainer.step(x, labels, _RATE)
        return trainer.counters["cycles"]


@dataclass(frozen=True)
class PodPoint:
    """A point of a scaling curve.

    Attributes
    ----------
    weak_cycles, weak
        Of a step if each chip has as many rows as one alone; the part of one chip's rate that each
        has.
    batch, strong_cycles, strong
        Rows of each chip if all together have as many as one alone; cycles of such a step, and how
        often as fast as one chip it is.
    """

    topology: str
    chips: int
    weak_cycles: int
    weak: float
    batch: int
    strong_cycles: int
    strong: float


def curve(config: TpuConfig, backend: str, net: Classifier, *, seed: int = 0,
          latency: Latency = 64, errors: float = 0) -> Iterator[PodPoint]:
    """Measure pods of more and more chips, one chip first; parameters as of `measure_pod`.

    With the same rows of each chip, ``net.batch``, and with the same in all, 16 times as many.

    Raises
    ------
    ValueError
        If there are fewer rows in all than chips.
    """
    rows, most = _SHARED * net.batch, max(Topology.parse(each).chips for each in CURVE)
    if rows < most:
        raise ValueError(f"batch of a scaling curve must be at least {ceil_div(most, _SHARED)}, so "
                         f"that {_SHARED} times as many rows are some for each of {most} chips, "
                         f"not {net.batch}")
    alone = {batch: _alone(config, backend, each := replace(net, batch=batch),
                           _random(each, batch, seed), seed) for batch in (net.batch, rows)}
    yield PodPoint("1", 1, alone[net.batch], 1.0, rows, alone[rows], 1.0)
    for topology in map(Topology.parse, CURVE):
        batch = rows // topology.chips
        cycles = {size: measure_pod(config, backend, topology, replace(net, batch=size), seed=seed,
                                    latency=latency, errors=errors, check=False).cycles
                  for size in {net.batch, batch}}
        weak, strong = cycles[net.batch], cycles[batch]
        yield PodPoint(str(topology), topology.chips, weak, alone[net.batch] / weak, batch, strong,
                       alone[rows] / strong)


def curve_lines(points: Iterable[PodPoint]) -> Iterator[str]:
    """Yield a table of points, line by line."""
    yield f"{'topology':10}{'weak':>10}{'of one':>9}{'rows':>7}{'strong':>11}{'speedup':>9}"
    for each in points:
        yield (f"{each.topology:10}{each.weak_cycles:10}{each.weak:9.1%}{each.batch:7}"
               f"{each.strong_cycles:11}{each.strong:9.2f}")


def report(m: PodMeasurement) -> Iterator[str]:
    """Yield lines that say what was measured."""
    estimate = " (an estimate)" if m.backend == "model" else ""
    exact = {True: "equal, bit for bit, to golden chips", False: "DIFFERENT from golden chips",
             None: "not checked"}[m.bit_exact]
    for name, text in (
            ("workload", f"{m.workload} of each chip, {m.preset} as {m.topology} ({m.backend})"),
            ("cycles", f"{m.cycles:,}{estimate}, of one chip {m.alone:,}: {m.scaling:.3f}"),
            ("host", f"{m.seconds:.2f} s; it brought {m.meetings} arrays from chip to chip"),
            ("loss", f"{m.loss:.4f}"), ("result", exact)):
        yield f"{name:12}{text}"
