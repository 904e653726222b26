"""The network of the page that trains one: its program, its data, and the golden model's losses."""

from __future__ import annotations

import base64
import json

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import celosia
from celosia import train
from celosia.arch.config import TpuConfig
from celosia.compiled import Compiled
from celosia.program import Program
from celosia.train.step import training_step

__all__ = ["NET", "POINTS", "STEPS", "losses", "moons", "network", "program_of"]

NET = train.Classifier(inputs=2, hidden=16, classes=2, batch=32)
POINTS, STEPS, RATE, _SEED = 256, 300, 0.02, 4


def moons() -> tuple[NDArray, NDArray]:
    """Return points of two half circles that reach into each other, and which one each is of."""
    rng = np.random.default_rng(_SEED)
    angle = np.pi * rng.random(POINTS)
    label = np.arange(POINTS) % 2
    x = np.where(label, 1 - np.cos(angle), np.cos(angle)) - 0.5
    y = np.where(label, 0.5 - np.sin(angle), np.sin(angle)) - 0.25
    points = np.stack([x, y], axis=1) + rng.normal(0, 0.1, (POINTS, 2))
    return points.astype(ml_dtypes.bfloat16), label.astype(np.int32)


def program_of(compiled: Compiled) -> Program:
    """Return the program of something compiled that is one program and nothing else."""
    (step,) = compiled.steps
    return step.program  # type: ignore[union-attr]


def _batches() -> NDArray:
    """Return the points of each step."""
    rng = np.random.default_rng(_SEED)
    rounds = [rng.permutation(POINTS) for _ in range(-(-STEPS * NET.batch // POINTS))]
    return np.concatenate(rounds)[:STEPS * NET.batch].reshape(STEPS, NET.batch)


def losses(config: TpuConfig) -> list[float]:
    """Return the loss of each step on the golden model."""
    points, labels = moons()
    with celosia.open("model", config=config) as device:
        trainer = train.Trainer(device, NET, train.initial_parameters(NET, _SEED))
        return [trainer.step(points[rows], labels[rows], RATE) for rows in _batches()]


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def network(config: TpuConfig) -> str:
    """Return all of it as JSON, arrays as the bytes that the chip has of them."""
    program = program_of(training_step(config, NET))
    points, labels = moons()
    state = {name: np.zeros(shape, np.float32) for name, shape in NET.state.items()}
    state |= train.initial_parameters(NET, _SEED)
    return json.dumps({
        "program": {
            "name": program.name, "fingerprint": program.fingerprint,
            "arenaBytes": program.arena_bytes, "code": _text(program.code()),
            "buffers": [{"name": b.name, "offset": b.offset, "shape": b.shape, "dtype": b.dtype,
                         "kind": b.kind, "nbytes": b.nbytes, "end": b.end}
                        for b in program.buffers],
            "constants": {name: _text(array.tobytes())
                          for name, array in program.constants.items()}},
        "chip": {"name": config.name, "dim": config.dim, "ubRows": config.ub_rows,
                 "accRows": config.acc_rows, "window": config.window,
                 "fingerprint": config.fingerprint},
        "points": points.astype(np.float32).tolist(), "labels": labels.tolist(),
        "batches": _batches().tolist(), "rate": RATE,
        "state": {name: _text(array.tobytes()) for name, array in state.items()},
        "hidden": NET.hidden, "loss": program.outputs[0].name, "golden": losses(config)})
