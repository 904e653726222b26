"""Measure what a board does, simulated at its pins: cycles, what was predicted, images a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.arch.config import TpuConfig, preset
from celosia.bench.board_memory import memory_timing
from celosia.bench.measure import mlp
from celosia.bench.training import RATE, batches
from celosia.driver import Device
from celosia.driver import open as open_device
from celosia.driver.backends import missing_package
from celosia.driver.errors import needs
from celosia.train import Classifier, Trainer, initial_parameters

if TYPE_CHECKING:
    from celosia.arch.board import Board

__all__ = ["TABLE", "BoardMeasurement", "board_mlp", "board_table", "board_training", "lines",
           "report"]

#: Bits a second on the simulated line: more than a board's bridge has, for the host's bytes are
#: most of what is simulated.
BAUD = 10_000_000
#: Seconds without an answer.
_PATIENCE = 120.0
#: Lines of the table, as arguments of ``celosia bench``: `mlp` and `train` of each board's chips.
TABLE: tuple[tuple[str, ...], ...] = (
    ("mlp", "edge", "64-64-10", "128"), ("mlp", "edge", "784-512-10", "128"),
    ("train", "core4", "64-128-10", "128"))


@dataclass(frozen=True)
class BoardMeasurement:
    """What a run on a simulated board gave.

    Attributes
    ----------
    preset, lanes
        The chip, and the lanes that it has on this board.
    freq_hz
        Its clock.
    cycles, predicted
        From the doorbell to the end, by the chip's counter; and by the cycle model, which was told
        what the board's memory costs.
    images_per_second
        Rows of the batch over the time that these cycles take at that clock.
    bit_exact
        Whether everything that came back equals the golden model's.
    broken
        Rules of the memory's data sheet that were broken, a line each.
    host_seconds
        Of the simulation, loading and reading back included.
    """

    workload: str
    format: str
    board: str
    preset: str
    lanes: int
    freq_hz: int
    batch: int
    cycles: int
    predicted: int
    images_per_second: float
    bit_exact: bool
    broken: tuple[str, ...]
    host_seconds: float
    command: str

    @property
    def error(self) -> float:
        """How far the prediction is off, of the cycles."""
        return self.predicted / self.cycles - 1


def _chip(name: str, chip: str | None) -> tuple[Board, TpuConfig]:
    """Return a board and the chip on it, folded as it is there."""
    if package := missing_package("rtl"):
        raise needs("--board", package, "sim")
    from celosia_hw.boards import board
    found = board(name)
    return found, found.folded(preset(chip or found.preset))


@contextmanager
def _simulated(board: Board, config: TpuConfig, broken: list[str]) -> Iterator[Device]:
    """Open the chip on a board that is simulated in another process."""
    from celosia_sim.board_library import build_board
    from celosia_sim.board_process import BoardProcess

    build_board(board, config, baud=BAUD, announce=lambda line: print(line, file=sys.stderr))
    with BoardProcess("--board", board.name, "--preset", config.name, "--baud", str(BAUD)) as there:
        with open_device("serial", config=config, port=there.port, baud=BAUD,
                         timeout=_PATIENCE) as device:
            yield device
        broken += there.stop().broken


def _measured(name: str, chip: str | None, batch: int, words: tuple[str, str, str],
              run: Callable[[Device], tuple[dict[str, Any], int]]) -> BoardMeasurement:
    """Run on a simulated board and on the golden model.

    ``words``: what, its format, its arguments. ``run`` returns what came back and the cycles.
    """
    board, config = _chip(name, chip)
    broken: list[str] = []
    begin = time.perf_counter()
    with _simulated(board, config, broken) as device:
        found, cycles = run(device)
    seconds = time.perf_counter() - begin
    with open_device("model", config=config, memory_bytes=board.memory_bytes,
                     timing=memory_timing(board, config)) as model:
        wanted, predicted = run(model)
    exact = (found.keys() == wanted.keys()
             and all(found[key].tobytes() == wanted[key].tobytes() for key in wanted))
    what, fmt, arguments = words
    hz = board.clock(config)
    own = f" --preset {config.name}" if config.name != board.preset else ""
    return BoardMeasurement(
        what, fmt, board.name, config.name, config.lanes, hz, batch, cycles, predicted,
        batch * hz / cycles, exact, tuple(broken), seconds,
        f"celosia bench {arguments} --board {board.name}{own}")


def _sizes(sizes: Iterable[int]) -> str:
    return "-".join(map(str, sizes))


def board_mlp(name: str, chip: str | None, sizes: tuple[int, ...], batch: int,
              fmt: str | None = None, seed: int = 0) -> BoardMeasurement:
    """Run a network of dense layers, see `celosia.bench.measure.mlp`.

    Raises
    ------
    ValueError
        If there is no such board, or the chip cannot do it.
    celosia.driver.DeviceError
        If the simulation cannot be built, or the run fails.
    """
    config = _chip(name, chip)[1]
    work = mlp(config, sizes, batch, fmt or config.formats[0], seed)

    def run(device: Device) -> tuple[dict[str, Any], int]:
        result = device.run(work.program, work.inputs)
        return {work.output: np.asarray(result[work.output])}, result.cycles

    return _measured(name, chip, batch, (
        work.name, work.format, f"mlp --layers {_sizes(sizes)} --batch {batch}"), run)


def board_training(name: str, chip: str | None, net: Classifier, seed: int = 0) -> BoardMeasurement:
    """Run steps of training and measure the last, see `celosia.bench.training.training`.

    Raises
    ------
    ValueError
        If there is no such board, or the chip cannot train such a network.
    celosia.driver.DeviceError
        If the simulation cannot be built, or the run fails.
    """
    def run(device: Device) -> tuple[dict[str, Any], int]:
        trainer = Trainer(device, net, initial_parameters(net, seed))
        for x, labels in batches(net, seed):
            trainer.step(x, labels, RATE)
        return trainer.state(), trainer.counters["cycles"]

    sizes = _sizes((net.inputs, net.hidden, net.classes))
    return _measured(name, chip, net.batch, (
        f"training {net}, batch {net.batch}", "bf16",
        f"train --layers {sizes} --batch {net.batch}"), run)


def report(m: BoardMeasurement) -> Iterator[str]:
    """Yield what was measured, line by line."""
    for name, text in (
        ("workload", f"{m.workload}, {m.format}"),
        ("board", f"{m.board} at its pins, {m.preset} with {m.lanes} lanes"),
        ("cycles", f"{m.cycles:,}, predicted {m.predicted:,} ({m.error:+.1%})"),
        ("images/s", f"{m.images_per_second:,.0f} at {m.freq_hz / 1e6:g} MHz"),
        ("result", "equal, bit for bit, to the golden model" if m.bit_exact
         else "DIFFERENT from the golden model"),
        ("memory", f"{len(m.broken):,} rules broken, the first: {m.broken[0]}" if m.broken
         else "no rule of its data sheet broken"),
        ("host", f"{m.host_seconds:.0f} s"),
    ):
        yield f"{name:12}{text}"


def board_table(name: str) -> Iterator[BoardMeasurement]:
    """Measure what `TABLE` has."""
    for what, chip, layers, rows in TABLE:
        inputs, hidden, classes = sizes = tuple(map(int, layers.split("-")))
        yield (board_mlp(name, chip, sizes, int(rows)) if what == "mlp" else
               board_training(name, chip, Classifier(inputs, hidden, classes, int(rows))))


def lines(measured: Iterable[BoardMeasurement]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, as they are measured."""
    yield ("| board | chip | clock | workload | cycles | predicted | images/s | bit for bit "
           "| command |")
    yield "|---|---|---:|---|---:|---:|---:|---|---|"
    for m in measured:
        yield (f"| {m.board} | `{m.preset}` | {m.freq_hz / 1e6:g} MHz | {m.workload}, {m.format} "
               f"| {m.cycles:,} | {m.predicted:,} ({m.error:+.1%}) "
               f"| {m.images_per_second:,.0f} | {'yes' if m.bit_exact else '**NO**'} "
               f"| `{m.command}` |")
