"""Weak scaling: a training step of chips that links connect beside that of one chip."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from celosia.arch.config import TpuConfig
from celosia.collectives import Topology
from celosia.driver import open as open_device
from celosia.train import Classifier, PodTrainer, Trainer, initial_parameters

__all__ = ["PodMeasurement", "measure_pod", "report"]

#: Steps that are run; the last one is measured, so that the optimiser has a past.
_STEPS = 2
_RATE = 1e-3


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


def measure_pod(config: TpuConfig, backend: str, topology: Topology, net: Classifier, *,
                seed: int = 0, latency: int = 64, errors: float = 0,
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
        Of weights and data.
    latency, errors
        Of links; errors are of RTL chips'.
    check
        Compare with golden chips.
    """
    rng = np.random.default_rng(seed)
    parameters = initial_parameters(net, seed)
    rows = net.batch * topology.chips
    data = [(rng.random((rows, net.inputs), np.float32), rng.integers(0, net.classes, rows))
            for _ in range(_STEPS)]
    with open_device(backend, config=config) as device:
        trainer = Trainer(device, net, parameters)
        for x, labels in data:
            trainer.step(x[:net.batch], labels[:net.batch], _RATE)
        alone = trainer.counters["cycles"]
    lines = {"errors": errors, "seed": seed} if backend == "rtl" else {}
    pod = PodTrainer(backend, config, net, topology, parameters, latency=latency, **lines)
    try:
        loss = seconds = 0.0
        for x, labels in data:
            begin = time.perf_counter()
            loss = pod.step(x, labels, _RATE)
            seconds = time.perf_counter() - begin
        cycles, hashes, meetings = max(pod.cycles), pod.hashes(), pod.meetings
    finally:
        pod.close()
    exact = None
    if check and backend != "model":
        golden = PodTrainer("model", config, net, topology, parameters)
        for x, labels in data:
            golden.step(x, labels, _RATE)
        exact = hashes == golden.hashes()
        golden.close()
    return PodMeasurement(f"training {net}, batch {net.batch}", str(topology), config.name, backend,
                          net.batch, cycles, alone, cycles / alone, meetings, exact, loss, seconds)


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
