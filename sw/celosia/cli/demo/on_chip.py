"""``celosia demo --train``: training on the chip, beside the same training on the host."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from numpy.typing import NDArray

from celosia.cli.demo.curve import can_draw, draw
from celosia.cli.demo.data import Digits
from celosia.cli.port import chosen_backend, chosen_config, open_chosen
from celosia.driver import open as open_device
from celosia.train import (
    Classifier,
    HostTrainer,
    Trainer,
    accuracy,
    batches,
    initial_parameters,
)

__all__ = ["CLOCK_HZ", "train_on_chip"]

#: Clock at which times are stated.
CLOCK_HZ = 100e6
RATE = 2e-3
_DIGITS_STEPS = 100
#: Steps of MNIST that are simulated; the rest of the epoch runs on the golden model.
_MNIST_CHIP_STEPS = 20
#: Where stdout is no terminal, every so many steps make a line.
_EVERY = 10


@dataclass
class _Curves:
    """What was seen, step by step."""

    chip: list[float] = field(default_factory=list)
    host: list[float] = field(default_factory=list)
    cycles: list[int] = field(default_factory=list)
    busy: list[int] = field(default_factory=list)
    #: Whether each step that ran on the chip and on the model gave the same bits.
    same: list[bool] = field(default_factory=list)

    @property
    def apart(self) -> list[float]:
        """Relative difference of the losses of every tenth step."""
        return [abs(a / b - 1) for a, b in zip(self.chip[_EVERY - 1::_EVERY],
                                               self.host[_EVERY - 1::_EVERY], strict=True)]


class _Live:
    """A line that is written over and over; where that is impossible, some lines."""

    def __init__(self) -> None:
        self.terminal = sys.stdout.isatty()

    def show(self, text: str, *, keep: bool) -> None:
        if self.terminal:
            text = text[:shutil.get_terminal_size().columns - 1]
            print(f"\r{text}\x1b[K", end="\n" if keep else "", flush=True)
        elif keep:
            print(text, flush=True)


def _train(model: Trainer, chip: Trainer | None, chip_steps: int, host: HostTrainer,
           data: Digits, steps: int, show: Callable[[int, _Curves], None]) -> _Curves:
    curves = _Curves()
    order = batches(len(data.train_x), model.net.batch)
    for step in range(1, steps + 1):
        rows = next(order)
        x, labels = data.train_x[rows], data.train_y[rows]
        curves.host.append(host.step(x, labels, RATE))
        loss = model.step(x, labels, RATE)
        ran = model
        if chip is not None and step <= chip_steps:
            loss, ran = chip.step(x, labels, RATE), chip
            curves.same.append(chip.equals(model))
        curves.chip.append(loss)
        if chip is None or ran is chip:
            curves.cycles.append(ran.counters["cycles"])
            curves.busy.append(ran.counters["mxu_busy"])
        show(step, curves)
    return curves


def train_on_chip(args: argparse.Namespace, data: Digits) -> int:
    """Train, show the losses, draw them; return 0 where chip and golden model agree, else 1.

    Parameters
    ----------
    args
        Of ``celosia demo``: backend, port, baud, preset, mnist, hidden, images, batch, steps,
        chip_steps, picture.
    data
        Images.

    Raises
    ------
    ValueError
        If the chip cannot train such a network, or an argument is out of range.
    celosia.driver.DeviceError
        If a package is missing, or a run fails.
    """
    can_draw()  # or else not begin
    config, backend = chosen_config(args), chosen_backend(args)
    large = args.mnist is not None
    net = Classifier(data.train_x.shape[1], args.hidden or (512 if large else 128), 10, args.batch)
    steps = args.steps or (len(data.train_x) // net.batch if large else _DIGITS_STEPS)
    chip_steps = 0 if backend == "model" else args.chip_steps or (
        _MNIST_CHIP_STEPS if large else steps)
    parameters = initial_parameters(net)
    host, live = HostTrainer(parameters), _Live()

    def show(step: int, curves: _Curves) -> None:
        a, b = curves.chip[-1], curves.host[-1]
        live.show(f"step {step:{len(str(steps))}}/{steps}   loss {a:.4f} on the chip, {b:.4f} on "
                  f"the host ({100 * (a / b - 1):+.2f}%)   {curves.cycles[-1]:,} cycles a step, "
                  f"MXU busy {curves.busy[-1] / curves.cycles[-1]:.1%}",
                  keep=step % _EVERY == 0 or step == steps)

    with ExitStack() as stack:
        model = Trainer(stack.enter_context(open_device("model", config=config)), net, parameters)
        chip = None
        if chip_steps:
            device = stack.enter_context(open_chosen(args, config))
            chip = Trainer(device, net, parameters)
        print(f"training {net} on {len(data.train_x):,} of {data.name}, batch {net.batch}, Adam: "
              f"bf16 operands, fp32 sums and state")
        print(f"one step is one program of {len(model.compiled.program.insns):,} instructions for "
              f"{config.name} ({config.dim}x{config.dim} array)")
        begin = time.perf_counter()
        curves = _train(model, chip, chip_steps, host, data, steps, show)
        seconds = time.perf_counter() - begin
        trained = model.parameters()
    path = Path(args.picture)
    _summary(args, data, curves, trained, host, seconds)
    draw(path, f"{data.name}: {net}, batch {net.batch}, Adam", curves.chip, curves.host)
    print(f"picture       {path}")
    return int(not all(curves.same))


def _summary(args: argparse.Namespace, data: Digits, curves: _Curves,
             trained: dict[str, NDArray], host: HostTrainer, seconds: float) -> None:
    backend = chosen_backend(args)
    estimate = " (an estimate)" if backend == "model" else ""
    cycles = curves.cycles[-1]
    print()
    print(f"loss          {curves.chip[-1]:.4f} on the chip, {curves.host[-1]:.4f} on the host in "
          f"float32")
    if curves.apart:
        print(f"apart         {max(curves.apart):.2%} at most, at every tenth step")
    images, labels = data.test_x[:args.images], data.test_y[:args.images]
    print(f"accuracy      {accuracy(trained, images, labels):.2%} trained on the chip, "
          f"{accuracy(host.parameters(), images, labels):.2%} on the host, of {len(images):,} "
          f"images not seen")
    print(f"cycles        {cycles:,} a step{estimate}; MXU busy "
          f"{curves.busy[-1] / cycles:.1%}; {CLOCK_HZ / cycles:,.0f} steps/s at "
          f"{CLOCK_HZ / 1e6:.0f} MHz")
    if curves.same:
        verdict = "equal to" if all(curves.same) else "DIFFERENT from"
        count = len(curves.same)
        print(f"bit for bit   {count} step{'s' * (count > 1)} {verdict} the golden model: loss, "
              f"parameters, state and every row of the on-chip memories")
    print(f"simulation    {seconds:.1f} s, backend {backend}")
