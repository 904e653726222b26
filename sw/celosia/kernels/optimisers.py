"""Optimiser steps: SGD, momentum, Adam, AdamW.

The state is kept scaled, which saves instructions; the rate absorbs the factors. Scalars that
change from step to step (see `adam_scalars`) are named, all others are constants of the kernel.
"""

from __future__ import annotations

from celosia.arch.vector import Post, VectorOp
from celosia.kernels.terms import clamp, scalar, step
from celosia.kernels.trace import Kernel, kernel

__all__ = ["adam", "adam_scalars", "adamw", "momentum", "sgd"]

_FFMA, _MOV = VectorOp.FFMA, VectorOp.MOV
_TINY, _HUGE = 2.0**-100, 2.0**127


def sgd() -> Kernel:
    """Return w := w + scale * g; scalar ``scale`` is minus the rate. One instruction."""
    return kernel("sgd", lambda w, g: {"w": step(_FFMA, g, scalar("scale"), w)}, ("w", "g"))


def momentum(decay: float = 0.9, nesterov: bool = False) -> Kernel:
    """Return v := decay * v + g; w := w + scale * v. Two instructions, with ``nesterov`` three.

    Scalar ``scale`` is minus the rate. With ``nesterov`` w := w + scale * (decay * v + g).
    """
    def update(w, g, v):
        v = step(_FFMA, v, decay, g)
        ahead = step(_FFMA, v, decay, g) if nesterov else v
        return {"w": step(_FFMA, ahead, scalar("scale"), w), "v": v}
    return kernel("momentum", update, ("w", "g", "v"))


def _direction(g, m, v, beta1: float, beta2: float):
    m = step(_FFMA, m, beta1, g)
    squared = step(_MOV, g, post=Post.SQUARE)
    # The floor keeps v * rsqrt(v) from being 0 * inf; its root is far below any eps.
    v = step(_FFMA, v, beta2, squared, **clamp(_TINY, _HUGE))
    root = step(_MOV, v, post=Post.RSQRT)
    inverse = step(_FFMA, v, root, scalar("eps"), post=Post.RECIP)
    return inverse * m, m, v


def adam(beta1: float = 0.9, beta2: float = 0.999) -> Kernel:
    """Return Adam: seven instructions a row.

    Inputs w, g, m, v, outputs w, m, v. The state is m / (1 - beta1) and v / (1 - beta2), of Kingma
    and Ba's moments before bias correction, both 0 at first (v is at least 2**-100 after a step):

    m := beta1 * m + g; v := beta2 * v + g**2; w := w + scale * m / (sqrt(v) + eps)

    Scalars ``scale`` and ``eps`` of step t are those of `adam_scalars`.
    """
    def update(w, g, m, v):
        direction, m, v = _direction(g, m, v, beta1, beta2)
        return {"w": step(_FFMA, direction, scalar("scale"), w), "m": m, "v": v}
    return kernel("adam", update, ("w", "g", "m", "v"))


def adamw(beta1: float = 0.9, beta2: float = 0.999) -> Kernel:
    """Return AdamW: `adam` with weights that decay on their own; eight instructions a row.

    w := keep * w + scale * m / (sqrt(v) + eps), scalar ``keep`` is 1 - rate * weight decay.
    """
    def update(w, g, m, v):
        direction, m, v = _direction(g, m, v, beta1, beta2)
        moved = direction * scalar("scale")
        return {"w": step(_FFMA, w, scalar("keep"), moved), "m": m, "v": v}
    return kernel("adamw", update, ("w", "g", "m", "v"))


def adam_scalars(number: int, rate: float, beta1: float = 0.9, beta2: float = 0.999,
                 eps: float = 1e-8) -> dict[str, float]:
    """Return ``scale`` and ``eps`` of step ``number`` (the first is 1) of `adam` and `adamw`."""
    if number < 1:
        raise ValueError(f"number must be at least 1, not {number!r}")
    spread = ((1 - beta2) / (1 - beta2**number))**0.5
    return {"scale": -rate * (1 - beta1) / (1 - beta1**number) / spread, "eps": eps / spread}
