"""The forward half of a training step: from a batch to the gradient of the scores."""

from __future__ import annotations

import math
from itertools import chain, repeat

from celosia.arch.isa import DmaFormat
from celosia.arch.vector import Dst, Post, Reduce, ReduceOp, Src
from celosia.arch.vector import VectorOp as Op
from celosia.train.emitter import Emitter, acc, buffer, lane, number, row

__all__ = ["forward", "loss", "prepare"]

#: Tiles of depth that the first loads of a step bring: the array starts after the first of them.
_RAMP = (1, 1, 2, 2)
_SLICE = 4
#: Rows of the batch are cut in so many parts, whose chains of dependent instructions interleave.
_CHUNKS = 2


def prepare(e: Emitter) -> None:
    """Load what is small, and make the scalars of this step's Adam.

    They are those of `celosia.kernels.optimisers.adam_scalars`, from c = 1 - beta**t of both betas,
    which is beta * c + (1 - beta) of the step before.
    """
    e.part = "optimiser: scalars"
    p, net = e.places, e.net
    e.load_acc(p.betas_rows, p.betas, 2, 2, 8)
    e.load_acc(p.correction_row, p.correction, 1, 2)
    e.load_acc(p.rate_row, p.rate, 1, 1)
    correction, scratch = p.correction_row, p.scratch_rows
    e.vector(Op.FFMA, correction, 1, acc(correction), row(p.betas_rows), row(p.betas_rows + 1))
    e.store(correction, p.correction, 1, 2)
    e.vector(Op.MOV, scratch, 1, acc(correction), post=Post.RSQRT)
    e.vector(Op.FMUL, scratch, 1, acc(scratch), row(correction))  # square root
    e.vector(Op.MOV, scratch + 1, 1, acc(correction), post=Post.RECIP)
    spread = math.sqrt(1 - p.adam.beta2)
    e.vector(Op.FMUL, scratch + 2, 1, lane(scratch, 1), lane(scratch + 1, 0))
    e.vector(Op.FMUL, scratch + 2, 1, acc(scratch + 2), number((p.adam.beta1 - 1) / spread))
    e.vector(Op.FMUL, p.scale, 1, row(scratch + 2), lane(p.rate_row, 0))
    e.vector(Op.FMUL, p.epsilon, 1, lane(scratch, 1), number(p.adam.epsilon / spread))
    e.part = "forward: second layer"
    e.load_ub(DmaFormat.W32, p.ub_w2, p.moments["w2"].value, net.classes, net.hidden,
              4 * net.hidden, net.classes)
    e.load_acc(p.b2, p.moments["b2"].value, 1, net.classes)
    # Lanes that are no class get a score of -inf, and so the probability 0.
    e.vector(Op.ILT, p.b2_masked, 1, (Src.LANE_INDEX, 0), (Src.SCALAR, net.classes))
    e.vector(Op.SELECT, p.b2_masked, 1, acc(p.b2_masked), row(p.b2), number(-math.inf))
    e.part = "loss"
    e.load_acc(p.chosen, p.labels, net.batch, 1, 4)
    e.vector(Op.IEQ, p.chosen, net.batch, (Src.LANE_INDEX, 0), (Src.ACC_LANE, p.chosen))
    e.vector(Op.AND, p.target, net.batch, acc(p.chosen), number(1 / net.batch))


def _load_x(e: Emitter, k0: int, k1: int) -> None:
    p, net = e.places, e.net
    cols = min(net.inputs, k1 * e.dim) - k0 * e.dim
    e.load_ub(DmaFormat.BF16, p.ub_x + k0 * net.batch, p.x + 2 * k0 * e.dim, net.batch, cols,
              2 * net.inputs, net.batch)


def _load_w1(e: Emitter, n: int, k0: int, k1: int) -> None:
    p, net = e.places, e.net
    rows, cols = min(e.dim, net.hidden - n * e.dim), min(net.inputs, k1 * e.dim) - k0 * e.dim
    addr = p.moments["w1"].value + 4 * (n * e.dim * net.inputs + k0 * e.dim)
    e.load_ub(DmaFormat.W32, p.panels[n] + k0 * e.dim, addr, rows, cols, 4 * net.inputs, e.dim)


def _sum(e: Emitter, n: int, k0: int, k1: int) -> None:
    p, net = e.places, e.net
    for k in range(k0, k1):
        e.matmul(p.sums[n], p.ub_x + k * net.batch, p.panels[n] + k * e.dim, net.batch,
                 min(e.dim, net.hidden - n * e.dim), accumulate=k > 0, transpose=True)


def _finish(e: Emitter, n: int) -> None:
    """Make a tile of the hidden layer of its sums, and add its share to the scores."""
    p, net = e.places, e.net
    hidden = p.ub_hidden + n * net.batch
    e.vector(Op.FADD, hidden, net.batch, acc(p.sums[n]), row(p.b1 + n), post=Post.RELU_F,
             to=Dst.UB_BF16)
    e.part = "forward: second layer"
    e.matmul(p.scores, hidden, p.ub_w2 + n * net.classes, net.batch, net.classes,
             accumulate=n > 0, transpose=True)
    e.part = "forward: first layer"


def forward(e: Emitter) -> None:
    """Compute hidden layer and scores.

    The first tiles of the hidden layer are computed together, slice by slice of the depth, while
    the batch is loaded; the others one after another.
    """
    p, net = e.places, e.net
    e.part = "forward: first layer"
    together = min(3, p.sums.count, p.panels.count, p.n_tiles)
    k = 0
    for step in chain(_RAMP, repeat(_SLICE)):
        end = min(k + step, p.k_tiles)
        _load_x(e, k, end)
        for n in range(together):
            _load_w1(e, n, k, end)
        if not k:
            e.load_acc(p.b1, p.moments["b1"].value, 1, net.hidden)
        for n in range(together):
            _sum(e, n, k, end)
        k = end
        if k == p.k_tiles:
            break
    for n in range(together):
        _finish(e, n)
    for n in range(together, p.n_tiles):
        _load_w1(e, n, 0, p.k_tiles)
        _sum(e, n, 0, p.k_tiles)
        _finish(e, n)


def _chunks(e: Emitter) -> list[tuple[int, int]]:
    """First row and number of rows of parts of the batch, whole tiles each."""
    b_tiles = e.places.b_tiles
    cuts = [b_tiles * i // _CHUNKS * e.dim for i in range(_CHUNKS + 1)]
    return [(a, b - a) for a, b in zip(cuts, cuts[1:], strict=False) if b > a]


def loss(e: Emitter) -> None:
    """Compute softmax, the gradient of the scores (twice: as it is, and turned) and the loss.

    For a row of scores s with label y and t = s - max(s): the loss is ln(sum(e**t)) - t[y], its
    gradient e**t / sum(e**t), less 1 for y. The loss of the batch is the mean.
    """
    e.part = "loss"
    p, net = e.places, e.net
    log2e = number(math.log2(math.e))
    for start, rows in _chunks(e):
        scores, shifted, power, total, spare, target = (
            block + start for block in (p.scores, p.shifted, p.power, p.total, p.spare, p.target))
        e.vector(Op.FADD, shifted, rows, acc(scores), row(p.b2_masked), reduce=Reduce.LANES,
                 reduce_op=ReduceOp.MAX_F)
        e.vector(Op.FADD, scores, rows, acc(scores), row(p.b2_masked))
        e.vector(Op.FSUB, shifted, rows, acc(scores), acc(shifted))
        e.vector(Op.FMUL, total, rows, acc(shifted), log2e, post=Post.EXP2, reduce=Reduce.LANES,
                 reduce_op=ReduceOp.SUM_F)
        e.vector(Op.FMUL, power, rows, acc(shifted), log2e, post=Post.EXP2)
        e.vector(Op.FMUL, spare, rows, acc(total), number(net.batch), post=Post.RECIP)
        e.vector(Op.FMUL, power, rows, acc(power), acc(spare))
        e.vector(Op.FSUB, p.ub_error + start, rows, acc(power), acc(target), to=Dst.UB_BF16)
        e.vector(Op.TRANSPOSE, p.ub_error_turned + start, rows, buffer(p.ub_error + start),
                 to=Dst.UB_BF16)
    # The rest is not waited for.
    for start, rows in _chunks(e):
        total, spare = p.total + start, p.spare + start
        e.vector(Op.MOV, total, rows, acc(total), post=Post.LOG2)
        e.vector(Op.SELECT, spare, rows, acc(p.chosen + start), acc(p.shifted + start), number(0),
                 reduce=Reduce.LANES, reduce_op=ReduceOp.SUM_F)
    e.vector(Op.FFMA, p.loss_row, net.batch, acc(p.spare), number(-math.log2(math.e)),
             acc(p.total), reduce=Reduce.ROWS, reduce_op=ReduceOp.SUM_F)
    e.vector(Op.FMUL, p.loss_row, 1, acc(p.loss_row), number(math.log(2) / net.batch))
    e.store(p.loss_row, p.loss, 1, 1)
    e.part = "backward: biases"
    e.vector(Op.FSUB, p.b2_slope, net.batch, acc(p.power), acc(p.target), reduce=Reduce.ROWS,
             reduce_op=ReduceOp.SUM_F)
