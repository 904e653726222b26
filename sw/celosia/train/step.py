"""A training step as a program."""

from __future__ import annotations

from celosia.arch.config import TpuConfig
from celosia.compiler.codegen.assemble import assemble
from celosia.compiler.codegen.reorder import reorder
from celosia.compiler.codegen.strides import StrideRegisters
from celosia.program import Program
from celosia.train.backward import backward
from celosia.train.emitter import Emitter
from celosia.train.forward import forward, loss, prepare
from celosia.train.places import Adam, Classifier, Places

__all__ = ["training_step"]


def training_step(config: TpuConfig, net: Classifier, adam: Adam | None = None) -> Program:
    """Return the program of one step of training, all data and state in external memory.

    Forward, softmax cross-entropy, backward and Adam: operands of the array are bf16, sums, loss
    and optimiser fp32; weights are fp32 in memory and rounded to bf16 where they are loaded for
    the array. The gradients of one step are computed from its bf16 operands.

    Parameters
    ----------
    config
        The chip; it must have bf16.
    net
        The sizes. ``batch`` must be a multiple of the chip's D, ``classes`` at most D.
    adam
        Its constants; None: those of the paper.

    Returns
    -------
    Program
        Inputs: ``x`` (batch, inputs) in bfloat16, ``labels`` (batch,) in int32, each from 0 to
        classes - 1, ``rate`` (1,) in float32, and the parameters ``w1`` (hidden, inputs),
        ``b1``, ``w2`` (classes, hidden), ``b2`` in float32, which each run updates. Output:
        ``loss`` (1,), the mean over the batch before the update. State too, zero at first:
        ``NAME.mean`` and ``NAME.square`` of each parameter (the moments of
        `celosia.kernels.optimisers.adam`), and ``correction``.

    Raises
    ------
    ValueError
        If a size does not suit the chip, or the step does not fit its memories.
    """
    places = Places(config, net, Adam() if adam is None else adam)
    emitter = Emitter(places)
    prepare(emitter)
    forward(emitter)
    loss(emitter)
    backward(emitter)
    code = assemble(StrideRegisters().give([*reorder(config, emitter.out)]))
    arena = places.arena
    return Program(config.fingerprint, tuple(code.insns), f"training step {net} batch {net.batch}",
                   tuple(code.sources), arena.size, tuple(arena.buffers), arena.constants,
                   tuple(code.relocations))
