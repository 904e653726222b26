"""Measure a training step: its cycles, what the array does in them, and whether it is exact."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from celosia.arch.config import TpuConfig
from celosia.arch.registers import UNIT_NAMES, Activity
from celosia.driver import open as open_device
from celosia.program import Program
from celosia.train import Classifier, Trainer, initial_parameters

__all__ = ["TrainingMeasurement", "report", "training"]

#: Steps that are run; the last one is measured, so that the optimiser has a past.
_STEPS = 2
_RATE = 1e-3
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
    mxu_rows
        Rows that enter the array, for each part of the step.
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
    mxu_rows: dict[str, int]
    bit_exact: bool | None
    loss: float
    host_seconds: float
    cycles_per_second: float
    counters: dict[str, int] = field(default_factory=dict)


def _rows(program: Program) -> dict[str, int]:
    """Rows of the matmuls of each part of a program without loops."""
    rows: dict[str, int] = {}
    for insn, source in zip(program.insns, program.sources, strict=True):
        if insn.instruction.mnemonic == "matmul":
            counts, n2 = (insn.operand(name).value  # type: ignore[union-attr]
                          for name in ("counts", "n2"))
            rows[source] = rows.get(source, 0) + (counts & 0xFFFF) * (counts >> 16) * n2
    return rows


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
    rng = np.random.default_rng(seed)
    parameters = initial_parameters(net, seed)
    data = [(rng.random((net.batch, net.inputs), np.float32),
             rng.integers(0, net.classes, net.batch)) for _ in range(_STEPS)]
    exact = None
    with open_device(backend, config=config) as device:
        trainer = Trainer(device, net, parameters)
        loss = seconds = 0.0
        for x, labels in data:
            begin = time.perf_counter()
            loss = trainer.step(x, labels, _RATE)
            seconds = time.perf_counter() - begin
        if check:
            with open_device("model", config=config) as model:
                wanted = Trainer(model, net, parameters)
                for x, labels in data:
                    wanted.step(x, labels, _RATE)
                exact = trainer.equals(wanted)
    result = trainer.result
    assert result is not None
    cycles, counters = result.cycles, dict(result.counters)
    return TrainingMeasurement(
        f"training {net}, batch {net.batch}", config.name, backend, "bf16", result.instructions,
        cycles, counters["mxu_busy"] / cycles, _rows(trainer.program), exact, loss, seconds,
        cycles / seconds, counters)


def report(m: TrainingMeasurement) -> Iterator[str]:
    """Yield lines that say where the cycles of the array go, and what the other units do."""
    yield f"{'cycles of the array':44}{'cycles':>10}{'share':>8}"

    def line(text: str, cycles: int) -> str:
        return f"  {text:42}{cycles:10,}{cycles / m.cycles:8.2%}"

    for part, rows in m.mxu_rows.items():
        yield line(part, rows)
    rest = m.counters["mxu_busy"] - sum(m.mxu_rows.values())
    if rest:
        yield line("tiles of fewer rows than the array has", rest)
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
