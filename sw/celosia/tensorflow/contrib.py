"""`tf.contrib`, `tf.estimator` and names of TensorFlow 1 that files for TPUs use, on what is left.

What went with TensorFlow 2 is in `tf.compat.v1` for the greater part; names that are in no
module of today come from there. What is in neither is refused where it is asked for, with a
sentence that says what there is instead.
"""

# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportAttributeAccessIssue=false

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import tensorflow as tf
from tensorflow.python.client import session
from tensorflow.python.tpu import bfloat16

from celosia.tensorflow import estimator, keras_models, shards
from celosia.tensorflow.names import NAMES, NameState
from celosia.tensorflow.resolver import TPUClusterResolver

__all__ = ["put_contrib", "refuse"]

#: Modules whose old names are put beside those of today.
_OLD = ("", "train", "losses", "metrics", "nn", "summary", "data", "initializers", "io", "math",
        "image", "random", "saved_model", "lite")


#: Modules that files import as ``tf``; the last two are not the same.
_ROOTS = "tensorflow", "tensorflow._api.v2.compat.v1", "tensorflow.compat.v1"
#: What is refused by modules that are made here.
_MADE = ("tf.contrib", "tf.estimator", "tf.layers")


class _Refusing(ModuleType):
    """A module that says why it has not what is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        own = self.__name__.replace("tensorflow", "tf", 1)
        whole = f"{own}.{name}"
        found = NAMES.get(whole) or NAMES.get(own)
        why = found.sentence if found else "TensorFlow has removed it"
        raise AttributeError(f"{whole} is not there: {why}")


def _module(name: str, **contents: Any) -> ModuleType:
    """Make a module that can be imported, below one that there is."""
    made = _Refusing(f"tensorflow.{name}", __doc__)
    made.__dict__.update(contents, __path__=[])
    sys.modules[made.__name__] = made
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[f"tensorflow.{parent}"], last, made)
    for root in _ROOTS:
        if not parent:
            setattr(importlib.import_module(root), last, made)
        sys.modules[f"{root}.{name}"] = made
    return made


def put_contrib() -> None:
    """Put the modules and names where files look for them; once."""
    if hasattr(tf, "contrib"):
        return
    shards.put_cross_replica_sum()
    keras_models.take_old_optimizers()
    old = tf.compat.v1
    _old_names()
    _take_addresses()
    own = {name: getattr(estimator, name) for name in (
        "InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec")}
    _module("contrib")
    tpu = {**own, "CrossShardOptimizer": old.tpu.CrossShardOptimizer,
           "TPUDistributionStrategy": keras_models.TPUDistributionStrategy,
           "keras_to_tpu_model": keras_models.keras_to_tpu_model,
           "cross_replica_sum": shards.cross_replica_sum,
           "bfloat16_scope": bfloat16.bfloat16_scope,
           "initialize_system": old.tpu.initialize_system,
           "shutdown_system": old.tpu.shutdown_system}
    _module("contrib.tpu", **tpu)
    _module("contrib.tpu.python")
    _module("contrib.tpu.python.tpu")
    _module("contrib.tpu.python.tpu.tpu_config", **own)
    _module("contrib.tpu.python.tpu.tpu_estimator", **own)
    _module("contrib.tpu.python.tpu.tpu_optimizer",
            CrossShardOptimizer=old.tpu.CrossShardOptimizer)
    _module("contrib.cluster_resolver", TPUClusterResolver=TPUClusterResolver)
    _module("contrib.distribute", TPUStrategy=tf.distribute.TPUStrategy)
    _module("layers")
    _module("estimator", ModeKeys=estimator.ModeKeys)
    _module("estimator.tpu", **own)


def _old_names() -> None:
    """Put names of `tf.compat.v1` that no module of today has into those of today."""
    for name in _OLD:
        now, old = tf, tf.compat.v1
        if name:
            now, old = getattr(now, name, None), getattr(old, name, None)
        if now is None or old is None:
            continue
        for each in dir(old):
            if each.startswith("_") or hasattr(now, each):
                continue
            value = getattr(old, each, None)
            if value is not None:
                setattr(now, each, value)
    if not hasattr(tf.data.Dataset, "make_one_shot_iterator"):
        tf.data.Dataset.make_one_shot_iterator = tf.compat.v1.data.make_one_shot_iterator
        tf.data.Dataset.make_initializable_iterator = tf.compat.v1.data.make_initializable_iterator


def _take_addresses() -> None:
    """Have sessions take the address of a TPU for the chips of this process.

    TensorFlow's would ask at the address again and again.
    """
    base = session.BaseSession
    begin, devices = base.__init__, base.list_devices

    def begun(self: Any, target: Any = "", graph: Any = None, config: Any = None) -> None:
        begin(self, "", graph, config)
        self._has_chips = bool(target)

    def list_devices(self: Any) -> list[Any]:
        """As of `tf.compat.v1.Session`."""
        chips = tf.config.list_logical_devices("TPU") if self._has_chips else []
        return [*devices(self), *(session._DeviceAttributes(each.name, "TPU", 0, number)
                                  for number, each in enumerate(chips))]

    base.__init__, base.list_devices = begun, list_devices


def refuse() -> None:
    """Put a sentence in the place of names that cannot do here what they are for."""
    for path, entry in NAMES.items():
        if entry.state is not NameState.REFUSED or path.startswith(_MADE):
            continue
        parent, _, name = path.rpartition(".")
        module: Any = tf
        for part in parent.split(".")[1:]:
            module = getattr(module, part)
        if hasattr(module, name):
            setattr(module, name, _refusal(path, entry.sentence))


def _refusal(path: str, sentence: str) -> Any:
    def refused(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{path} is not there: {sentence}")

    refused.__name__ = refused.__qualname__ = path.rpartition(".")[2]
    refused.__doc__ = f"Refused: {sentence}."
    return refused
