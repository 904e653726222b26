"""Mixed precision: its module of old, in the terms of today's, and scaled losses on replicas."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import tensorflow as tf

__all__ = ["put_mixed_precision"]

_KERAS = ("tensorflow.keras", "keras._tf_keras.keras")


def _policy(name: str, loss_scale: Any = "auto") -> Any:
    """As of `tf.keras.mixed_precision.experimental.Policy`; the loss is scaled by `compile`."""
    if loss_scale not in ("auto", "dynamic", None):
        raise ValueError(f"loss_scale of Policy must be left out or 'dynamic', not "
                         f"{loss_scale!r}: Keras 3 has a fixed one as loss_scale_factor of the "
                         f"optimizer")
    return tf.keras.mixed_precision.Policy(name)


def _set_policy(policy: Any) -> None:
    """As of `tf.keras.mixed_precision.experimental.set_policy`."""
    tf.keras.mixed_precision.set_global_policy(policy)


def _scaled(optimizer: Any, loss_scale: Any = "dynamic") -> Any:
    """As of `tf.keras.mixed_precision.experimental.LossScaleOptimizer`."""
    if loss_scale == "dynamic":
        return tf.keras.mixed_precision.LossScaleOptimizer(optimizer)
    if isinstance(loss_scale, bool) or not isinstance(loss_scale, int | float) or loss_scale <= 0:
        raise ValueError(f"loss_scale must be 'dynamic' or a number above 0, not {loss_scale!r}")
    optimizer.loss_scale_factor = float(loss_scale)
    return optimizer


def _joined(apply: Callable[..., None]) -> Callable[..., None]:
    """Return ``LossScaleOptimizer._common_apply`` with gradients that are joined before it.

    Keras asks on each replica whether its own are finite, and joins them where they are: replicas
    of one program cannot meet in a branch, and one whose own are not would not come.
    """
    def applied(self: Any, grads: Any, trainable_variables: Any = None) -> None:
        inner = self.inner_optimizer
        replica = tf.distribute.get_replica_context()
        if replica is None or replica.num_replicas_in_sync == 1:
            return apply(self, grads, trainable_variables)
        joined = iter(replica.all_reduce(tf.distribute.ReduceOp.SUM,
                                         [each for each in grads if each is not None]))
        grads = [None if each is None else next(joined) for each in grads]
        vars(inner)["_all_reduce_sum_gradients"] = lambda pairs: pairs
        try:
            apply(self, grads, trainable_variables)
        finally:
            del vars(inner)["_all_reduce_sum_gradients"]

    return applied


def put_mixed_precision() -> None:
    """Put the module where files import it from, and have scaled losses join their gradients."""
    now = tf.keras.mixed_precision
    if hasattr(now, "experimental"):
        return
    now.LossScaleOptimizer._common_apply = _joined(now.LossScaleOptimizer._common_apply)
    for keras in _KERAS:
        parent = importlib.import_module(f"{keras}.mixed_precision")
        module = ModuleType(f"{parent.__name__}.experimental", __doc__)
        module.__dict__.update(Policy=_policy, set_policy=_set_policy, LossScaleOptimizer=_scaled,
                               global_policy=now.global_policy)
        sys.modules[module.__name__] = module
        parent.experimental = module  # type: ignore[attr-defined]
