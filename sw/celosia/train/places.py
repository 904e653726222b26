"""What a training step computes, and where everything lies, on the chip and outside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from celosia.arch.config import BANKS, TpuConfig
from celosia.arch.words import ceil_div
from celosia.ops.arena import Arena
from celosia.ops.gemm import check_size

__all__ = ["Adam", "Classifier", "Moments", "Places"]

#: Blocks of ``batch`` accumulator rows that the loss needs: scores, labels, targets, sums, and
#: three of intermediate results.
_LOSS_BLOCKS = 7
#: Gradients that are in the accumulators at once: one grows, two are being applied.
_GRADIENT_SLOTS = 3
#: Tiles of parameters that are there at once: loaded, updated (two), stored.
_PARAMETER_SLOTS = 4
#: Rows of an instruction beyond which nothing is gained.
_MOST_ROWS = 128
#: Blocks of sums of the array beyond which nothing is gained.
_MOST_BLOCKS = 4


@dataclass(frozen=True)
class Classifier:
    """Sizes of a network of two dense layers, and of a step.

    Parameters
    ----------
    inputs, hidden, classes
        Elements of an input row, outputs of the first layer (with ReLU), of the second (softmax).
    batch
        Rows of a step.

    Raises
    ------
    TypeError, ValueError
        If a size is not a positive integer.
    """

    inputs: int
    hidden: int
    classes: int
    batch: int

    def __post_init__(self) -> None:
        """Check the sizes."""
        for name in ("inputs", "hidden", "classes", "batch"):
            object.__setattr__(self, name, check_size(name, getattr(self, name)))

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the parameters; weights are stored (outputs, inputs)."""
        return {"w1": (self.hidden, self.inputs), "b1": (self.hidden,),
                "w2": (self.classes, self.hidden), "b2": (self.classes,)}

    def __str__(self) -> str:
        return f"{self.inputs}-{self.hidden}-{self.classes}"


@dataclass(frozen=True)
class Adam:
    """The constants of Adam (Kingma and Ba, 2015)."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8


@dataclass(frozen=True)
class Moments:
    """Arena offsets of a parameter and of Adam's two moments of it."""

    value: int
    mean: int
    square: int


@dataclass(frozen=True)
class _Rows:
    """First rows of blocks of equal size."""

    first: int
    step: int
    count: int

    def __getitem__(self, i: int) -> int:
        return self.first + i % self.count * self.step


class Places:
    """Where a training step keeps what.

    Parameters
    ----------
    config, net, adam
        The chip, the sizes, the constants.

    Raises
    ------
    ValueError
        If the chip has no bf16, a size does not suit it, or the step does not fit its memories.
    """

    def __init__(self, config: TpuConfig, net: Classifier, adam: Adam):
        self.config, self.net, self.adam = config, net, adam
        dim = config.dim
        if not config.bf16:
            raise ValueError(f"chip must have bf16 to train, {config.name} has "
                             f"{', '.join(config.formats)} only")
        if net.batch % dim:
            raise ValueError(f"batch must be a multiple of {dim}, the side of the array of "
                             f"{config.name}, not {net.batch}")
        if not 2 <= net.classes <= dim:
            raise ValueError(f"classes must be from 2 to {dim}, the lanes of {config.name}, "
                             f"not {net.classes}")
        #: Tiles of the inputs, of the hidden layer and of the batch.
        self.k_tiles = ceil_div(net.inputs, dim)
        self.n_tiles = ceil_div(net.hidden, dim)
        self.b_tiles = net.batch // dim
        self._arena()
        self._buffer()
        self._accumulators()

    def _arena(self) -> None:
        net, adam = self.net, self.adam
        self.arena = arena = Arena()
        self.x = arena.add("x", (net.batch, net.inputs), "bfloat16", "input")
        self.labels = arena.add("labels", (net.batch,), "int32", "input")
        self.rate = arena.add("rate", (1,), "float32", "input")
        self.loss = arena.add("loss", (1,), "float32", "output")
        values = {name: arena.add(name, shape, "float32", "input")
                  for name, shape in net.shapes.items()}
        self.moments = {
            name: Moments(values[name], arena.add(f"{name}.mean", shape, "float32", "scratch"),
                          arena.add(f"{name}.square", shape, "float32", "scratch"))
            for name, shape in net.shapes.items()}
        # 1 - beta**t of both betas; zero before the first step.
        self.correction = arena.add("correction", (2,), "float32", "scratch")
        self.betas = arena.constant("betas", np.array(
            [[adam.beta1, adam.beta2], [1 - adam.beta1, 1 - adam.beta2]], np.float32))

    def _buffer(self) -> None:
        """Rows of the unified buffer; panels of weights lie where the gradient comes later."""
        net, dim, batch = self.net, self.config.dim, self.net.batch
        used = 0

        def take(rows: int) -> int:
            nonlocal used
            used += rows
            return used - rows

        self.ub_x = take(self.k_tiles * batch)
        self.ub_hidden = take(self.n_tiles * batch)
        self.ub_w2 = take(self.n_tiles * net.classes)
        self.ub_error = take(batch)
        self.ub_error_turned = take(batch)
        panel = self.k_tiles * dim
        self.ub_back = take(max(self.n_tiles * batch, min(2, self.n_tiles) * panel))
        if used > self.config.ub_rows:
            raise ValueError(
                f"training {net} with batch {batch} must fit the unified buffer of "
                f"{self.config.ub_rows} rows, not take {used}")
        self.panels = _Rows(self.ub_back, panel,
                            min((self.config.ub_rows - self.ub_back) // panel, self.n_tiles))

    def _accumulators(self) -> None:
        net, config, batch = self.net, self.config, self.net.batch
        used = 0

        def take(rows: int) -> int:
            nonlocal used
            used += rows
            return used - rows

        self.b1, self.b1_slope = take(self.n_tiles), take(self.n_tiles)
        self.b2, self.b2_slope, self.b2_masked = take(1), take(1), take(1)
        self.betas_rows, self.correction_row, self.rate_row = take(2), take(1), take(1)
        self.scratch_rows = take(3)
        self.scale, self.epsilon = take(1), take(1)  # Adam's scalars of this step
        self.loss_row = take(1)
        left = config.acc_rows - used
        if left < _LOSS_BLOCKS * batch:
            raise ValueError(
                f"training {net} with batch {batch} must fit the accumulators of "
                f"{config.acc_rows} rows, not take {used + _LOSS_BLOCKS * batch}")
        blocks = left // batch
        (self.scores, self.chosen, self.target, self.total, self.spare, self.shifted,
         self.power) = (used + i * batch for i in range(_LOSS_BLOCKS))
        more = min(blocks - _LOSS_BLOCKS, _MOST_BLOCKS)
        #: Sums of the first layer, while the loss does not need the blocks.
        self.sums = _Rows(self.spare, batch, min(3 + more, _MOST_BLOCKS))
        #: Gradients of the hidden layer: blocks that the loss does not need, where there are.
        self.back = (_Rows(used + (blocks - more) * batch, batch, more) if more > 1
                     else _Rows(self.spare, batch, 3))
        slots = _GRADIENT_SLOTS + 3 * _PARAMETER_SLOTS
        #: Hidden tiles, and rows, of a block of gradients.
        self.block_tiles = min(max(_MOST_ROWS // config.dim, 1), self.n_tiles,
                               left // slots // config.dim)
        if self.block_tiles < 1:
            raise ValueError(f"training must have accumulators of {used + slots * config.dim} "
                             f"rows, not {config.acc_rows}")
        self.block_rows = rows = self.block_tiles * config.dim
        # Rows of words take several beats. Array and vector unit go on by a bank a cycle; a load
        # that goes on by as many banks as its rows have beats never meets them twice, any other
        # would meet one of them every few rows. So the rows of so many parts of a block alternate.
        beats = min(ceil_div(4 * config.dim, config.bus_bytes), BANKS)
        self.ways = beats if self.block_tiles % beats == 0 else 1
        # The first ones lie where the blocks of the loss are free first.
        self.gradients = _Rows(used, rows, _GRADIENT_SLOTS)
        self.parameters = _Rows(used + _GRADIENT_SLOTS * rows, 3 * rows, _PARAMETER_SLOTS)
