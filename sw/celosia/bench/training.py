"""Measure a training step: its cycles, what the array does in them, and whether it is exact."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.registers import UNIT_NAMES, Activity
from celosia.driver import open as open_device
from celosia.train import Classifier, Trainer, initial_parameters

__all__ = ["RATE", "TrainingMeasurement", "batches", "report", "training"]

#: Steps that are run; the last one is measured, so that the optimiser has a past.
_STEPS = 2
#: Learning rate.
RATE = 1e-3
_STATES = {
    Activity.WAIT_DEPS: "waits for another unit", Activity.WAIT_MEMORY: "waits for a bank",
    Activity.WAIT_BUS: "waits for external memory",
    Activity.WAIT_UNIT: "its own pipeline: weights, fill and drain",
    Activity.IDLE: "has no instruction"}


@dataclass(frozen=True)
class TrainingMeasurement:
    """What a step of training gave.

    Attributes
    ----------
    cycles
        From the doorbell to the end, data and state in external memory.
    mxu_busy
        Share of all cycles in which a row enters the array.
    parts
        Cycles of each part of the step, as `celosia.model.timing.predict` has them: what runs
        beside something else costs nothing.
    bit_exact
        Whether loss, parameters, state and the on-chip memories equal the golden model's; None:
        not checked.
    loss
        Of the last step.
    host_seconds
        Of the last step's run on the host.
    """

    workload: str
    preset: str
    backend: str
    format: str
    instructions: int
    cycles: int
    mxu_busy: float
    parts: dict[str, int]
    bit_exact: bool | None
    loss: float
    host_seconds: float
    cycles_per_second: float
    counters: dict[str, int] = field(default_factory=dict)


def batches(net: Classifier, seed: int) -> list[tuple[NDArray[np.float32], NDArray[np.int64]]]:
    """Return random images and their labels, for each step."""
    rng = np.random.default_rng(seed)
    return [(rng.random((net.batch, net.inputs), np.float32),
             rng.integers(0, net.classes, net.batch)) for _ in range(_STEPS)]


def training(config: TpuConfig, backend: str, net: Classifier, *, seed: int = 0,
             check: bool = True) -> TrainingMeasurement:
    """Run steps of training on random data, on a fresh chip.

    Raises
    ------
    ValueError
        If the chip cannot train such a network.
    celosia.driver.DeviceError
        If the backend cannot be opened, or a run fails.
    """
    parameters = initial_parameters(net, seed)
    data = batches(net, seed)
    exact = None
    with open_device(backend, config=config) as device:
        trainer = Trainer(device, net, parameters)
        loss = seconds = 0.0
        for x, labels in data:
            begin = time.perf_counter()
            loss = trainer.step(x, labels, RATE)
            seconds = time.perf_counter() - begin
        if check:
            with open_device("model", config=config) as model:
                wanted = Trainer(model, net, parameters)
                for x, labels in data:
                    wanted.step(x, labels, RATE)
                exact = trainer.equals(wanted)
    counters = dict(trainer.counters)
    cycles = counters["cycles"]
    return TrainingMeasurement(
        f"training {net}, batch {net.batch}", config.name, backend, "bf16",
        counters["instructions"], cycles, counters["mxu_busy"] / cycles,
        dict(trainer.compiled.prediction.by_source), exact, loss, seconds, cycles / seconds,
        counters)


def report(m: TrainingMeasurement) -> Iterator[str]:
    """Yield lines that say where the cycles of the array go, and what the other units do."""
    def line(text: str, cycles: int) -> str:
        return f"  {text:42}{cycles:10,}{cycles / m.cycles:8.2%}"

    yield f"{'what adds cycles, as predicted':44}{'cycles':>10}{'share':>8}"
    for part, cycles in m.parts.items():
        yield line(part, cycles)
    yield ""
    yield f"{'cycles of the array':44}{'cycles':>10}{'share':>8}"
    yield line("busy", m.counters["mxu_busy"])
    for state, text in _STATES.items():
        cycles = m.counters[f"mxu_{state.name.lower()}"]
        if cycles:
            yield line(text, cycles)
    yield ""
    states = list(Activity)
    yield f"{'cycles of':10}" + "".join(f"{state.name.lower():>13}" for state in states)
    for unit in UNIT_NAMES:
        yield f"{unit:10}" + "".join(
            f"{m.counters[f'{unit}_{state.name.lower()}']:13,}" for state in states)
    conflicts = {name.removeprefix("conflicts_"): count for name, count in m.counters.items()
                 if name.startswith("conflicts_") and count}
    if conflicts:
        yield ""
        yield "cycles in which a bank refused a stream"
        for name, count in conflicts.items():
            yield f"  {name:42}{count:10,}{count / m.cycles:8.2%}"
