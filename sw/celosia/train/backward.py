"""The backward half of a training step: gradients, and Adam."""

from __future__ import annotations

from celosia.arch.vector import Dst, Reduce, ReduceOp
from celosia.arch.vector import VectorOp as Op
from celosia.arch.words import ceil_div
from celosia.kernels.optimisers import adam
from celosia.ops.emit import Lane, Place, lay_out
from celosia.train.emitter import Emitter, acc, buffer, number
from celosia.train.places import Moments

__all__ = ["backward"]


def _hidden(e: Emitter) -> None:
    """Gradient of the hidden layer, turned: rows of a tile are its outputs, lanes the batch."""
    p, net = e.places, e.net
    for n in range(p.n_tiles):
        block = p.back[n]
        e.part = "backward: hidden layer"
        e.matmul(block, p.ub_error, p.ub_w2 + n * net.classes, net.batch, net.classes,
                 accumulate=False)
        e.vector(Op.SELECT, block, net.batch, buffer(p.ub_hidden + n * net.batch), acc(block),
                 number(0))
        e.vector(Op.TRANSPOSE, p.ub_back + n * net.batch, net.batch, acc(block), to=Dst.UB_BF16)
        e.part = "backward: biases"
        e.vector(Op.MOV, p.b1_slope + n, net.batch, acc(block), reduce=Reduce.ROWS,
                 reduce_op=ReduceOp.SUM_F)


class _Updates:
    """Adam on one block of parameters after another; blocks take turns in the slots."""

    def __init__(self, e: Emitter):
        self.e = e
        self.adam = adam(e.places.adam.beta1, e.places.adam.beta2)
        self.gradients = self.blocks = 0

    def gradient(self) -> int:
        """Return the first row of the next block for a gradient."""
        self.gradients += 1
        return self.e.places.gradients[self.gradients - 1]

    def update(self, gradient: int, moments: Moments, offset: int, rows: int, cols: int,
               pitch: int, row_step: int = 1, group_step: int = 1, ways: int = 1) -> None:
        """Load a block of a parameter and its moments, update them, store them.

        Parameters
        ----------
        gradient
            First row of the gradient; it is overwritten.
        moments, offset
            Where the parameter lies, and which byte of it is the first of the block.
        rows, cols, pitch, row_step, group_step
            Of the block, as of a load.
        ways
            Parts of the block whose rows take turns (`Places.ways`).
        """
        e, p = self.e, self.e.places
        slot = p.parameters[self.blocks]
        self.blocks += 1
        value, mean, square = (slot + i * p.block_rows for i in range(3))
        parts = [(place + i, addr + offset + i * rows // ways * pitch)
                 for place, addr in ((mean, moments.mean), (square, moments.square),
                                     (value, moments.value)) for i in range(ways)]
        e.part = "optimiser"
        for place, addr in parts:
            e.load_acc(place, addr, rows // ways, cols, pitch, ways * row_step, group_step)
        there = {"m": Place(mean), "v": Place(square), "w": Place(value)}
        groups = ceil_div(cols, e.dim)
        count = (rows - 1) * row_step + (groups - 1) * group_step + 1
        layout = lay_out(self.adam, {"g": Place(gradient), **there}, there)
        # The one temporary takes the rows of the gradient, which have been read when it comes.
        assert layout.temporary_rows(1) == 1
        e.out += layout.emit(count, gradient, {"scale": Lane(p.scale), "eps": Lane(p.epsilon)},
                             source=e.part)
        for place, addr in parts:
            e.store(place, addr, rows // ways, cols, pitch, ways * row_step, group_step)


def _second_layer(e: Emitter, updates: _Updates) -> None:
    p, net = e.places, e.net
    tiles = max(p.block_rows // net.classes, 1)
    for first in range(0, p.n_tiles, tiles):
        last = min(first + tiles, p.n_tiles)
        gradient = updates.gradient()
        e.part = "backward: second layer"
        for n in range(first, last):
            for b in range(p.b_tiles):
                e.matmul(gradient + (n - first) * net.classes, p.ub_error_turned + b * e.dim,
                         p.ub_hidden + n * net.batch + b * e.dim, net.classes, e.dim,
                         accumulate=b > 0)
        cols = min(net.hidden, last * e.dim) - first * e.dim
        updates.update(gradient, p.moments["w2"], 4 * first * e.dim, net.classes, cols,
                       4 * net.hidden, 1, net.classes)


def _biases(e: Emitter, updates: _Updates) -> None:
    p, net = e.places, e.net
    updates.update(p.b2_slope, p.moments["b2"], 0, 1, net.classes, 0)
    for first in range(0, p.n_tiles, p.block_rows):
        cols = min(net.hidden, (first + p.block_rows) * e.dim) - first * e.dim
        updates.update(p.b1_slope + first, p.moments["b1"], 4 * first * e.dim, 1, cols, 0)


def _first_layer(e: Emitter, updates: _Updates) -> None:
    """Gradient and update of the first layer.

    Blocks of hidden outputs take turns: their rows in memory are far apart, so that what is stored
    of one does not hold up what is loaded of the next.
    """
    p, net = e.places, e.net
    e.part = "backward: first layer"
    # A row of each part of a block, D rows of each tile.
    turned = (p.block_tiles // p.ways * net.batch, 1, net.batch)
    for k in range(p.k_tiles):
        for n in range(0, p.n_tiles, p.block_tiles):
            tiles = min(p.block_tiles, p.n_tiles - n)
            rows = min(p.block_rows, net.hidden - n * e.dim)
            ways = p.ways if rows == p.block_rows else 1
            gradient = updates.gradient()
            e.part = "backward: first layer"
            for b in range(p.b_tiles):
                e.matmul(gradient, p.ub_back + n * net.batch + b * e.dim,
                         p.ub_x + k * net.batch + b * e.dim, ways, e.dim, n1=e.dim,
                         n2=tiles // ways, xacts=turned, accumulate=b > 0)
            updates.update(gradient, p.moments["w1"], 4 * (n * e.dim * net.inputs + k * e.dim),
                           rows, min(e.dim, net.inputs - k * e.dim), 4 * net.inputs, ways=ways)


def backward(e: Emitter) -> None:
    """Emit gradients of all parameters and their updates."""
    _hidden(e)
    updates = _Updates(e)
    _second_layer(e, updates)
    _biases(e, updates)
    _first_layer(e, updates)
