"""Run a workload on a chip, on the golden model and in NumPy; measure and compare."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from celosia import ops
from celosia.arch.config import TpuConfig
from celosia.arch.words import ceil_div
from celosia.driver import Device
from celosia.driver import open as open_device
from celosia.driver.agree import same_state
from celosia.ops.formats import OUTPUTS
from celosia.program import Program

__all__ = ["Measurement", "Workload", "gemm", "measure", "mlp"]


@dataclass(frozen=True)
class Workload:
    """A program with its inputs, and what it must give.

    Attributes
    ----------
    name
        What it is called.
    format
        Of its operands.
    program, inputs
        For the device.
    reference
        Makes the wanted output.
    output
        Name of the output buffer.
    ideal_cycles
        Cycles of an array that is busy with these tiles all the time: rows times tiles.
    macs
        Multiply-accumulates that the result needs.
    """

    name: str
    format: str
    program: Program
    inputs: Mapping[str, NDArray]
    reference: Callable[[], NDArray]
    output: str
    ideal_cycles: int
    macs: int


@dataclass(frozen=True)
class Measurement:
    """What a run of a workload gave.

    Attributes
    ----------
    cycles
        From the doorbell to the end, operands and results in external memory.
    ideal_cycles
        As of the workload.
    utilisation
        ideal_cycles / cycles.
    mac_utilisation
        Share of the array's multiply-accumulates that the result needed.
    bit_exact
        Whether the result equals NumPy's and the golden model's, and the on-chip memories equal
        the model's; None: not checked.
    host_seconds
        Of the run on the host.
    cycles_per_second
        cycles / host_seconds.
    """

    workload: str
    preset: str
    backend: str
    format: str
    instructions: int
    cycles: int
    ideal_cycles: int
    utilisation: float
    mac_utilisation: float
    bit_exact: bool | None
    host_seconds: float
    cycles_per_second: float
    counters: dict[str, int] = field(default_factory=dict)


def _operands(fmt: str, rng: np.random.Generator, *shapes: tuple[int, ...]) -> list[NDArray]:
    if fmt == "int8":
        return [rng.integers(-128, 128, shape, dtype=np.int8) for shape in shapes]
    return [rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in shapes]


def gemm(config: TpuConfig, m: int, k: int, n: int, fmt: str, *, transpose_a: bool = False,
         transpose_b: bool = False, epilogue: bool = False, output: str | None = None,
         seed: int = 0) -> Workload:
    """A product of random operands, raw sums or requantised.

    ``epilogue``: each column has a factor and a bias, negative results become zero, and the result
    is of the operands' type.
    """
    if epilogue:
        output = OUTPUTS[fmt][1]
    program = ops.matmul(config, m, k, n, fmt, transpose_a=transpose_a, transpose_b=transpose_b,
                         bias=epilogue, scale=epilogue and fmt == "bf16", relu=epilogue,
                         output=output)
    rng = np.random.default_rng(seed)
    a, b = _operands(fmt, rng, (m, k), (k, n))
    inputs = {"a": np.ascontiguousarray(a.T) if transpose_a else a,
              "b": np.ascontiguousarray(b.T) if transpose_b else b}
    scale = None
    if output == "int8":
        # Three standard deviations of a sum fill the range.
        scale = ops.scale_words(42 / (74.0**2 * np.sqrt(k)) * rng.uniform(0.5, 2, n), n)
        inputs["scale"] = scale
    elif epilogue:
        inputs["scale"] = scale = rng.uniform(0.5, 2, n).astype(np.float32)
    bias = None
    if epilogue:
        bias = 100 * rng.standard_normal(n)
        inputs["bias"] = bias = bias.astype(np.int32 if fmt == "int8" else np.float32)
    marks = ("'" if transpose_a else ""), ("'" if transpose_b else "")
    return Workload(
        f"{m}x{k}{marks[0]} * {k}x{n}{marks[1]}" + (", scale, bias, relu" if epilogue else "")
        + (f" to {output}" if output else ""), fmt, program, inputs,
        lambda: ops.reference_matmul(a, b, config.dim, bias=bias, scale=scale, relu=epilogue,
                                     output=output), "c",
        m * ceil_div(k, config.dim) * ceil_div(n, config.dim), m * k * n)


def mlp(config: TpuConfig, sizes: tuple[int, ...], batch: int, fmt: str,
        seed: int = 0) -> Workload:
    """Inference of a network of dense layers with ReLU between them, random weights."""
    rng = np.random.default_rng(seed)
    layers = []
    pairs = list(zip(sizes, sizes[1:], strict=False))
    for i, (k, n) in enumerate(pairs):
        last = i == len(pairs) - 1
        if fmt == "int8":
            weights = rng.integers(-128, 128, (k, n), dtype=np.int8)
            layers.append(ops.Dense(
                weights, rng.integers(-1000, 1000, n).astype(np.int32), not last,
                scale=None if last else 42 / (74.0**2 * np.sqrt(k)) * rng.uniform(0.5, 2, n),
                zero_point=0 if last else -128))
        else:
            weights = (rng.standard_normal((k, n)) / np.sqrt(k)).astype(ml_dtypes.bfloat16)
            layers.append(ops.Dense(weights, rng.standard_normal(n).astype(np.float32), not last))
    (x,) = _operands(fmt, rng, (batch, sizes[0]))
    program = ops.dense_network(config, batch, layers)
    tiles = sum(ceil_div(k, config.dim) * ceil_div(n, config.dim) for k, n in pairs)
    return Workload(f"{'-'.join(map(str, sizes))}, batch {batch}", fmt, program, {"x": x},
                    lambda: ops.reference_network(x, layers, config.dim), "y",
                    batch * tiles, batch * sum(k * n for k, n in pairs))


def _bytes(array: NDArray) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).view(np.uint8)


def _exact(device: Device, result: NDArray, workload: Workload) -> bool:
    """Compare with NumPy and with the golden model, on-chip memories included."""
    if not np.array_equal(_bytes(result), _bytes(workload.reference())):
        return False
    with open_device("model", config=device.config) as model:
        wanted = model.run(workload.program, workload.inputs)
        return (np.array_equal(_bytes(result), _bytes(wanted[workload.output]))
                and same_state(device, model) is not False)


def measure(config: TpuConfig, backend: str, workload: Workload, *,
            check: bool = True) -> Measurement:
    """Run a workload on a fresh chip.

    Raises
    ------
    celosia.driver.DeviceError
        If the backend cannot be opened, or the run fails.
    """
    with open_device(backend, config=config) as device:
        loaded = device.load(workload.program)
        for name, array in workload.inputs.items():
            device.put(array, into=loaded.array(name))
        begin = time.perf_counter()
        result = device.run(loaded)
        seconds = time.perf_counter() - begin
        exact = _exact(device, result[workload.output], workload) if check else None
    cycles = result.cycles
    return Measurement(
        workload.name, config.name, backend, workload.format, result.instructions, cycles,
        workload.ideal_cycles, workload.ideal_cycles / cycles,
        workload.macs / (config.pes * cycles), exact, seconds, cycles / seconds,
        dict(result.counters))
