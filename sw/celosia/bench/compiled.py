"""Measure programs that were compiled from JAX: cycles, what they could be, and whether exact."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.registers import Activity
from celosia.arch.words import ceil_div
from celosia.compiled import Compiled
from celosia.compiler.api import compile
from celosia.driver import open as open_device
from celosia.frontend import import_stablehlo
from celosia.graph import DType, Graph, Node, interpret
from celosia.model.timing.predict import Prediction

__all__ = ["PROGRAMS", "CompiledMeasurement", "BenchSource", "lines", "measure_compiled"]

_FOLDER = Path(__file__).parent / "programs"
_RESTS = {Activity.WAIT_DEPS: "waits for others", Activity.WAIT_MEMORY: "waits for banks",
          Activity.WAIT_BUS: "waits for the bus", Activity.WAIT_UNIT: "fills and drains",
          Activity.IDLE: "idle"}


@dataclass(frozen=True)
class BenchSource:
    """A program of the bench; scripts/bench-programs writes its StableHLO.

    Attributes
    ----------
    name
        Of its file in programs/.
    what
        What it computes.
    labels
        Integers among the arguments are below this.
    positive
        Arguments that have no negative elements, as squares have not.
    """

    name: str
    what: str
    labels: int = 1
    positive: range = range(0)

    @property
    def path(self) -> Path:
        """The file of StableHLO."""
        return _FOLDER / f"{self.name}.mlir"


_SOURCES = (
    BenchSource("mlp-adam", "784-512-10, Adam step, batch 128", 10, range(9, 13)),
    BenchSource("mlp-forward", "4 layers of 512, batch 256"),
    BenchSource("convolution", "3x3, 64 channels, 28x28, batch 4"),
    BenchSource("transformer-sgd", "d = 256, 4 heads, 64 tokens, SGD step, batch 8", 256),
    BenchSource("lstm-sgd", "scan of 16, width 128, SGD step, batch 32", 16),
    BenchSource("int8-forward", "3 layers of 512, batch 256"),
    BenchSource("gpt-adam", "4 layers, d = 256, 4 heads, 128 tokens, Adam step, batch 8", 65,
                range(99, 148)),
)
#: By name, in the order in which they are measured.
PROGRAMS: dict[str, BenchSource] = {source.name: source for source in _SOURCES}


@dataclass(frozen=True)
class CompiledMeasurement:
    """What a run of a compiled program gave.

    Attributes
    ----------
    cycles
        From the doorbell to the end, arguments and results in external memory.
    ideal_cycles
        Products that the program asks for, as it was given, by those that the array forms in a
        cycle.
    utilisation
        ideal_cycles / cycles.
    predicted_cycles
        What `celosia.model.timing.predict` says without running it.
    bytes
        Read from external memory and written there, without instructions.
    bit_exact
        Whether every result equals the golden model's; None: not checked.
    bound, bound_cycles
        What limits the program, and the cycles that it needs at least.
    roofline
        Cycles of each part if the others took none: "array" as ideal_cycles, "vector" rows of the
        vector unit, "memory" the bytes of the busier direction by those of the bus.
    rest
        Cycles in which no row enters the array, by why.
    compile_seconds
        From the text to the program.
    host_seconds
        Of the run on the host.
    """

    name: str
    what: str
    preset: str
    backend: str
    instructions: int
    cycles: int
    ideal_cycles: int
    utilisation: float
    predicted_cycles: int
    bytes: int
    bit_exact: bool | None
    bound: str
    bound_cycles: int
    compile_seconds: float
    host_seconds: float
    roofline: dict[str, int] = field(default_factory=dict)
    rest: dict[str, int] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)


def _arguments(source: BenchSource, graph: Graph, seed: int) -> list[NDArray]:
    rng = np.random.default_rng(seed)
    found = []
    for i, value in enumerate(graph.params):
        type = value.type
        if type.dtype.is_integer and type.dtype is not DType.I8:
            array = rng.integers(0, source.labels, type.shape)
        elif type.dtype is DType.I8:
            array = rng.integers(-128, 128, type.shape)
        else:
            # Products of rows of weights stay about 1.
            array = rng.standard_normal(type.shape) / np.sqrt(type.shape[0] if type.shape else 1)
            array = np.square(array) if i in source.positive else array
        found.append(np.asarray(array).astype(type.dtype.numpy))
    return found


def _macs(graph: Graph, arguments: Sequence[NDArray]) -> int:
    """Count the products of dots and convolutions, in loops as often as they turn."""
    total = 0

    def count(node: Node, _: Sequence[NDArray], results: Sequence[NDArray]) -> None:
        nonlocal total
        if node.op == "dot":
            shape = node.operands[0].shape
            inner = [shape[a] for a, _ in node.attrs["contract"]]
            total += results[0].size * int(np.prod(inner, dtype=np.int64))
        elif node.op == "convolution":
            # Outputs are an extent of the kernel too: it is the one after its layout's "o".
            kernel, layout = node.operands[1].shape, str(node.attrs["layout"])
            outputs = kernel[layout.split("_")[1].split("->")[0].index("o")]
            total += results[0].size * (int(np.prod(kernel)) // outputs)

    interpret(graph, arguments, trace=count)
    return total


def _roofline(config: TpuConfig, ideal: int, prediction: Prediction) -> dict[str, int]:
    moved = max(prediction.bytes_read, prediction.bytes_written)
    return {"array": ideal, "vector": prediction.busy["vpu"],
            "memory": ceil_div(moved, config.bus_bytes)}


def _equal(compiled: Compiled, config: TpuConfig, arguments: Sequence[NDArray],
           found: Sequence[NDArray]) -> bool:
    with open_device("model", config=config) as model:
        wanted = compiled.run(model, *arguments)
    return all(a.tobytes() == b.tobytes() for a, b in zip(found, wanted, strict=True))


def measure_compiled(config: TpuConfig, backend: str, source: BenchSource, *, seed: int = 0,
                     check: bool = True, fast: bool = False) -> CompiledMeasurement:
    """Compile a program, ``fast`` as of `celosia.compile`, and run it on a fresh chip.

    Raises
    ------
    FrontendError
        If jaxlib, which reads StableHLO, is not installed.
    CompileError
        If the chip lacks a format that the program needs, or memory.
    celosia.driver.DeviceError
        If the backend cannot be opened, or the run fails.
    """
    begin = time.perf_counter()
    graph = import_stablehlo(source.path, filename=source.path.name)
    compiled = compile(graph, config, strict=True, fast=fast, name=source.name,
                       cache=False)
    compile_seconds = time.perf_counter() - begin
    arguments = _arguments(source, graph, seed)
    with open_device(backend, config=config) as device, compiled.load(device) as executable:
        begin = time.perf_counter()
        found = executable(*arguments, timeout=None)
        seconds = time.perf_counter() - begin
        counters = dict(executable.counters)
    exact = _equal(compiled, config, arguments, found) if check else None
    cycles = counters["cycles"]
    prediction = compiled.prediction
    ideal = ceil_div(_macs(graph, arguments), config.pes)
    roofline = _roofline(config, ideal, prediction)
    bound = max(roofline, key=lambda part: roofline[part])
    return CompiledMeasurement(
        source.name, source.what, config.name, backend, len(compiled.program.insns), cycles,
        ideal, ideal / cycles, prediction.cycles,
        prediction.bytes_read + prediction.bytes_written, exact, bound, roofline[bound],
        compile_seconds, seconds, roofline,
        {text: counters.get(f"mxu_{state.name.lower()}", 0) for state, text in _RESTS.items()},
        counters)


def lines(measured: Iterable[CompiledMeasurement]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, as they are measured."""
    yield ("| program | cycles | ideal | utilisation | predicted | bound | bytes | bit for bit "
           "| compiled in | where the rest goes |")
    yield "|---|---:|---:|---:|---:|---|---:|---|---:|---|"
    for m in measured:
        exact = {True: "yes", False: "**NO**", None: "not checked"}[m.bit_exact]
        off = m.predicted_cycles / m.cycles - 1
        rest = ", ".join(f"{text} {cycles / m.cycles:.1%}" for text, cycles in sorted(
            m.rest.items(), key=lambda each: -each[1]) if cycles >= m.cycles / 200)
        yield (f"| {m.name}: {m.what} | {m.cycles:,} | {m.ideal_cycles:,} | {m.utilisation:.1%} "
               f"| {m.predicted_cycles:,} ({off:+.1%}) | {m.bound}, {m.bound_cycles:,} "
               f"| {m.bytes:,} | {exact} | {m.compile_seconds:.1f} s | {rest} |")
