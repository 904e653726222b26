"""The demo: train on the host, quantise, run on the chip, compare."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from celosia import ops
from celosia.arch.config import PRESETS, TpuConfig
from celosia.arch.words import ceil_div
from celosia.cli.demo.data import Digits, digits, mnist
from celosia.cli.demo.host import accuracy, forward, train
from celosia.cli.demo.on_chip import CLOCK_HZ, train_on_chip
from celosia.cli.demo.show import picture, side_by_side
from celosia.cli.port import add_port, chosen_backend, chosen_config, clock_hz, open_chosen
from celosia.driver import Device, OutOfDeviceMemory, RunResult
from celosia.driver import open as open_device
from celosia.driver.agree import same_state
from celosia.ops.formats import OUTPUTS
from celosia.program import Program
from celosia.storage.destination import check_file

__all__ = ["add_arguments"]

#: Rows of training data that set the scales of the activations.
_CALIBRATION = 1000
_EPILOG = """\
examples:
  celosia demo                       int8 on the simulated chip `core`
  celosia demo --format bf16
  celosia demo --preset nano --images 50
  celosia demo --port /dev/ttyUSB0   on a board
  celosia demo --mnist DIR           MNIST from its four IDX files in DIR
  celosia demo --train               training on the chip; writes training.png
  celosia demo --train --mnist DIR   an epoch; its first steps on the RTL, the rest on the model
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.epilog = _EPILOG
    parser.set_defaults(run=_main)
    add_port(parser, "rtl", "rtl: the Verilog under Verilator (default); model: the golden "
                            "model; cocotb")
    parser.add_argument("--preset", choices=list(PRESETS), metavar="PRESET",
                        help=f"chip: {', '.join(PRESETS)} (default: core, or the board's)")
    parser.add_argument("--format", choices=list(OUTPUTS),
                        help="of the network on the chip (default: the chip's first; with --train "
                             "bf16)")
    parser.add_argument("--hidden", type=int, metavar="N",
                        help="outputs of the first layer (default: 64, MNIST: 128; "
                             "with --train 128 and 512)")
    parser.add_argument("--images", type=int, metavar="N",
                        help="how many test images to read (default: all)")
    parser.add_argument("--mnist", type=Path, metavar="DIR",
                        help="folder with MNIST's IDX files (.gz or not); default: the digits "
                             "that come with scikit-learn")
    training = parser.add_argument_group("training")
    training.add_argument("--train", action="store_true",
                          help="train on the chip, in bf16 with fp32 state, beside the same "
                               "training on the host in float32")
    training.add_argument("--batch", type=int, default=128, metavar="N",
                          help="rows of a step (default: 128)")
    training.add_argument("--steps", type=int, metavar="N",
                          help="steps (default: 100; MNIST: one epoch)")
    training.add_argument("--chip-steps", type=int, metavar="N",
                          help="how many of them run on the backend, beside the golden model "
                               "(default: all; MNIST: 20)")
    training.add_argument("--picture", type=Path, default=Path("training.png"), metavar="FILE",
                          help="PNG of the losses (default: training.png)")


@dataclass(frozen=True, eq=False)
class _Network:
    """The network for the chip: its program, its input, and what NumPy says that it gives."""

    program: Program
    x: NDArray
    wanted: NDArray
    tiles: int


def _network(config: TpuConfig, fmt: str, layers: list[ops.FloatLayer], data: Digits,
             images: NDArray[np.float32]) -> _Network:
    if fmt == "int8":
        quantised = ops.quantise_network(layers, data.train_x[:_CALIBRATION])
        dense, x = list(quantised.layers), quantised.quantise(images)
    else:
        dense = [ops.Dense(layer.weights.astype(ml_dtypes.bfloat16), layer.bias, layer.relu)
                 for layer in layers]
        x = images.astype(ml_dtypes.bfloat16)
    program = ops.dense_network(config, len(x), dense)
    tiles = sum(ceil_div(layer.inputs, config.dim) * ceil_div(layer.outputs, config.dim)
                for layer in dense)
    return _Network(program, x, ops.reference_network(x, dense, config.dim), tiles)


def _same(a: NDArray, b: NDArray) -> bool:
    return np.array_equal(np.ascontiguousarray(a).view(np.uint8),
                          np.ascontiguousarray(b).view(np.uint8))


def _on_chip(device: Device, network: _Network) -> RunResult:
    try:
        return device.run(network.program, {"x": network.x})
    except OutOfDeviceMemory as error:
        raise OutOfDeviceMemory(f"{error}; --images {len(network.x) // 2} or fewer need "
                                f"less") from error


def _run(config: TpuConfig, args: argparse.Namespace,
         network: _Network) -> tuple[RunResult, list[str], bool, float | None]:
    """Run on the chip and on the model; return the run, what was compared, whether it agrees, and
    the clock of a board.
    """
    backend = chosen_backend(args)
    with open_chosen(args, config) as device:
        clock = clock_hz(device)
        result = _on_chip(device, network)
        agrees = _same(result["y"], network.wanted)
        compared = ["NumPy"]
        if backend != "model":
            with open_device("model", config=config) as model:
                wanted = model.run(network.program, {"x": network.x})
                state = same_state(device, model)
            agrees = agrees and _same(result["y"], wanted["y"]) and state is not False
            compared.append("the golden model" + ("" if state is None else
                                                  ", every row of the on-chip memories included"))
    return result, compared, agrees, clock


def _choose(read: NDArray, labels: NDArray, count: int) -> list[int]:
    """Return images worth seeing: one of each digit as they come, and the first that is misread."""
    _, first = np.unique(labels, return_index=True)
    chosen = sorted(int(i) for i in first)[:count]
    wrong = np.flatnonzero(read != labels)
    if len(wrong) and len(chosen) > 1 and not set(chosen) & set(wrong.tolist()):
        chosen[-1] = int(wrong[0])
    return chosen


def _show_digits(data: Digits, images: NDArray, read: NDArray, labels: NDArray) -> None:
    pictures = [picture(image.reshape(data.side, data.side), sys.stdout.encoding)
                for image in images]
    columns = shutil.get_terminal_size().columns
    chosen = _choose(read, labels, max(1, (columns + 1) // (len(pictures[0][0]) + 3)))
    captions = [f"reads {read[i]}" + ("" if read[i] == labels[i] else f" (is {labels[i]})")
                for i in chosen]
    print()
    for line in side_by_side([pictures[i] for i in chosen], captions):
        print(f"  {line}")
    print()


def _main(args: argparse.Namespace) -> int:
    """Run the demo; return 0 where the chip, the model and NumPy agree, else 1.

    Raises
    ------
    ValueError
        If an argument is out of range, or the data are not what they must be.
    celosia.driver.DeviceError
        If a package is missing, or the run fails.
    """
    config = chosen_config(args)
    fmt = args.format or config.formats[0]
    for name in ("hidden", "images", "batch", "steps", "chip_steps"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise ValueError(f"--{name.replace('_', '-')} must be at least 1, not {value}")
    if args.train and args.format not in (None, "bf16"):
        raise ValueError(f"--format must be bf16 to train, not {args.format}")
    if args.train:
        check_file("--picture", args.picture)
    data = digits() if args.mnist is None else mnist(args.mnist)
    if args.train:
        return train_on_chip(args, data)
    hidden = args.hidden or (64 if args.mnist is None else 128)
    begin = time.perf_counter()
    layers = train(data.train_x, data.train_y, hidden, 30 if args.mnist is None else 8)
    sizes = f"{data.train_x.shape[1]}-{hidden}-10"
    print(f"trained {sizes} on {len(data.train_x):,} of {data.name} "
          f"in {time.perf_counter() - begin:.1f} s, on the host, in float32")
    images, labels = data.test_x[:args.images], data.test_y[:args.images]
    network = _network(config, fmt, layers, data, images)
    print(f"compiled for {config.name} ({config.dim}x{config.dim} array) in {fmt}: "
          f"{len(network.program.insns):,} instructions")
    begin = time.perf_counter()
    result, compared, agrees, clock = _run(config, args, network)
    seconds = time.perf_counter() - begin
    scores = np.asarray(result["y"], np.float64)
    _show_digits(data, images, scores.argmax(axis=1), labels)
    cycles = result.cycles
    backend = chosen_backend(args)
    estimate = " (an estimate)" if backend == "model" else ""
    print(f"images        {len(images):,} that the network has not seen, in one run")
    print(f"accuracy      {accuracy(scores, labels):.2%} on the chip in {fmt}, "
          f"{accuracy(forward(layers, images), labels):.2%} on the host in float32")
    print(f"cycles        {cycles:,}{estimate}; MXU utilisation "
          f"{network.tiles * len(images) / cycles:.1%}")
    hertz = clock or CLOCK_HZ
    print(f"speed         {len(images) * hertz / cycles:,.0f} images/s at "
          f"{hertz / 1e6:.0f} MHz{', the clock of the board' if clock else ''}")
    print(f"run           {seconds:.1f} s with transfers and checks, board at {args.port}"
          if args.port else
          f"simulation    {seconds:.1f} s with its checks, backend {backend}")
    print(f"bit for bit   {'equal to' if agrees else 'DIFFERENT from'} "
          f"{' and '.join(compared)}")
    return 0 if agrees else 1
