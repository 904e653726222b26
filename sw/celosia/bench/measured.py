"""One figure of ``celosia bench speed``, of whichever celosia PYTHONPATH names; JSON is printed.

It is run by its path, on commits that may be much older, so it uses only what has long been there
and imports nothing of the bench.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

#: How often what is fast is done again; the least counts.
_AGAIN = 3
_CALLS, _KERAS_STEPS = 1000, 20
#: Loads that wait for each other, and cycles that the memory takes for each.
_LOADS, _LATENCY = 200, 1000


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _import() -> dict[str, float]:
    """Return what a process takes that imports the package, beyond one that imports nothing."""
    def least(text: str) -> float:
        return min(_seconds(lambda: subprocess.run([sys.executable, "-P", "-c", text], check=True))
                   for _ in range(_AGAIN))

    return {"seconds": least("import celosia") - least("pass")}


def _compile(path: str) -> dict[str, float]:
    import celosia
    from celosia.arch.config import preset

    text = Path(path).read_text(encoding="utf-8")
    return {"seconds": _seconds(lambda: celosia.compile(text, preset("core"), strict=True,
                                                        cache=False))}


def _layers_text(count: int) -> str:
    """Return StableHLO of ``count`` layers of 64 with ReLU."""
    square, rows = "tensor<64x64xf32>", "tensor<32x64xf32>"
    weights = ", ".join(f"%w{i}: {square}" for i in range(count))
    lines = [f"  func.func public @main(%x0: {rows}, {weights}) -> {rows} {{",
             f"    %zero = stablehlo.constant dense<0.0> : {rows}"]
    for i in range(count):
        lines += [(f"    %y{i} = stablehlo.dot_general %x{i}, %w{i}, contracting_dims = [1] x [0] "
                   f": ({rows}, {square}) -> {rows}"),
                  f"    %x{i + 1} = stablehlo.maximum %y{i}, %zero : {rows}"]
    return "\n".join(["module @layers {", *lines, f"    return %x{count} : {rows}", "  }", "}"])


def _layers() -> dict[str, float]:
    import celosia
    from celosia.arch.config import preset

    def least(count: int) -> float:
        text = _layers_text(count)
        return min(_seconds(lambda: celosia.compile(text, preset("core"), strict=True,
                                                    cache=False)) for _ in range(_AGAIN))

    least(2)  # what is loaded once
    seconds = [least(count) for count in (2, 4, 8, 16)]
    return {"doubling": max(b / a for a, b in zip(seconds, seconds[1:], strict=False))}


def _arguments(inputs: Any) -> list[np.ndarray]:
    """Return arguments of any types; labels are zero, what may be a square is positive."""
    rng = np.random.default_rng(0)
    return [(np.zeros(each.type.shape) if each.type.dtype.is_integer
             else rng.random(each.type.shape) / 16).astype(each.type.dtype.numpy)
            for each in inputs]


def _model(path: str) -> dict[str, float]:
    import celosia
    from celosia.arch.config import preset

    text = Path(path).read_text(encoding="utf-8")
    compiled = celosia.compile(text, preset("core"), strict=True)
    arguments = _arguments(compiled.inputs)
    with celosia.open("model", "core") as device, compiled.load(device) as executable:
        found = [_seconds(lambda: executable(*arguments)) for _ in range(1 + _AGAIN)]
    return {"first": found[0], "again": min(found[1:])}


def _waits() -> dict[str, float]:
    """Return the rate of a chip that waits for memory, as a share of its rate while it computes."""
    import celosia
    from celosia import ops
    from celosia.arch.config import preset
    from celosia.program.asm import assemble
    from celosia_sim.rtl import SimOptions

    config = preset("core")
    waiting = [".buffer a, int32[1, 16], input", ".buffer c, int32[1, 16], output"]
    waiting += ["load acc[0], @a, fmt=w32, rows=1, cols=16, pitch=64",
                "vector iadd, acc[0], acc[0], acc[0], n0=1"] * _LOADS
    waiting += ["store acc[0], @c, fmt=w32, rows=1, cols=16, pitch=64", "halt"]
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, (256, 256)).astype(np.int8) for _ in range(2))
    programs = {
        "waits": (assemble("\n".join(waiting), config), {"a": np.ones((1, 16), np.int32)}),
        "computes": (ops.matmul(config, 256, 256, 256, "int8"), {"a": a, "b": b})}
    rates = {}
    for name, (program, inputs) in programs.items():
        options = SimOptions(read_latency=_LATENCY if name == "waits" else 64)
        with celosia.open("rtl", "core", options=options) as device:
            found = []
            for _ in range(_AGAIN):
                begin = time.perf_counter()
                cycles = device.run(program, inputs).cycles
                found.append(cycles / (time.perf_counter() - begin))
        rates[name] = max(found)
    return {"share": rates["waits"] / rates["computes"]}


def _jit() -> dict[str, float]:
    os.environ["JAX_PLATFORMS"] = "celosia"
    import jax

    product = jax.jit(lambda a, b: a @ b)
    a = jax.numpy.ones((64, 64))
    b = product(a, a).block_until_ready()

    def work() -> None:
        for _ in range(_CALLS):
            product(a, b).block_until_ready()

    return {"seconds": _seconds(work) / _CALLS}


def _keras() -> dict[str, float]:
    os.environ.update(JAX_PLATFORMS="celosia", KERAS_BACKEND="jax")
    import keras  # pyright: ignore[reportMissingImports]

    keras.utils.set_random_seed(0)
    network = keras.Sequential([
        keras.layers.Input((28, 28)), keras.layers.Flatten(),
        keras.layers.Dense(512, activation="relu"), keras.layers.Dropout(0.2),
        keras.layers.Dense(10)])
    network.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(
        from_logits=True))
    rng = np.random.default_rng(0)
    x = rng.random((64 * _KERAS_STEPS, 28, 28), np.float32)
    y = rng.integers(0, 10, len(x))
    network.fit(x, y, batch_size=64, epochs=1, verbose="0")
    return {"seconds": _seconds(lambda: network.fit(x, y, batch_size=64, epochs=1, verbose="0"))
            / _KERAS_STEPS}


_FIGURES: dict[str, Callable[..., dict[str, float]]] = {
    "import": _import, "compile": _compile, "layers": _layers, "model": _model,
    "waits": _waits, "jit": _jit, "keras": _keras}

if __name__ == "__main__":
    print(json.dumps(_FIGURES[sys.argv[1]](*sys.argv[2:])))
