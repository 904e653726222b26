"""Models of Keras on the chips: how they are built, and `tf.contrib.tpu.keras_to_tpu_model`."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from celosia.tensorflow.strategy import TPUStrategy

__all__ = ["TPUDistributionStrategy", "keras_to_tpu_model", "know_replicas",
           "take_old_optimizers"]


class TPUDistributionStrategy(TPUStrategy):
    """As of `tf.contrib.tpu.TPUDistributionStrategy`.

    Parameters
    ----------
    tpu_cluster_resolver
        As of TPUStrategy.
    using_single_core
        Must be False: CELOSIA_DEVICES says how many chips there are.
    """

    def __init__(self, tpu_cluster_resolver: Any = None, using_single_core: bool = False):
        if using_single_core:
            raise ValueError("using_single_core must be left out: CELOSIA_DEVICES=1 says that "
                             "there is one chip")
        super().__init__(tpu_cluster_resolver)


def keras_to_tpu_model(model: Any, strategy: TPUStrategy | None = None) -> Any:
    """Return a copy of a model that trains and predicts on the chips.

    Parameters
    ----------
    model
        Of Keras, with known shapes; compiled, or to be compiled when it is a copy.
    strategy
        None: one of all chips.

    Returns
    -------
    keras.Model
        With a method ``sync_to_cpu``, which gives the first model what it has learnt, and
        ``fit_generator`` and the like, which Keras 3 has no more.
    """
    if not isinstance(model, tf.keras.Model) or not model.built:
        raise ValueError(f"model must be a model of Keras that has been built, not {model!r}: its "
                         f"first layer needs a shape")
    strategy = strategy or TPUStrategy()
    with strategy.scope():
        made = tf.keras.models.clone_model(model)
        made.set_weights(model.get_weights())
    compile = made.compile

    def compile_in_scope(optimizer: Any = "rmsprop", *args: Any, **kwargs: Any) -> None:
        with strategy.scope():
            if isinstance(optimizer, tf.keras.Optimizer):  # its steps are counted in the scope
                optimizer = type(optimizer).from_config(optimizer.get_config())
            compile(optimizer, *args, **kwargs)

    def sync_to_cpu() -> Any:
        model.set_weights(made.get_weights())
        return model

    if model.compiled:
        with strategy.scope():
            made.compile_from_config(model.get_compile_config())
    made.compile, made.sync_to_cpu = compile_in_scope, sync_to_cpu
    made.fit_generator = _fed(made.fit, "steps_per_epoch")
    made.evaluate_generator = _fed(made.evaluate, "steps")
    made.predict_generator = _fed(made.predict, "steps")
    return made


def _fed(method: Callable[..., Any], steps: str) -> Callable[..., Any]:
    """Return a method of a model as it was for generators, whose queues TensorFlow has now."""
    def fed(generator: Any, count: int | None = None, *, max_queue_size: int = 10,
            workers: int = 1, use_multiprocessing: bool = False, **kwargs: Any) -> Any:
        if count is not None:
            kwargs[steps] = count
        return method(generator, **kwargs)

    return fed


def _twin(optimizer: Any) -> Any:
    """Return the optimizer of Keras that does what one of `tf.compat.v1.train` does."""
    old, new = tf.compat.v1.train, tf.keras.optimizers
    if isinstance(optimizer, tf.compat.v1.tpu.CrossShardOptimizer):
        optimizer = optimizer._opt
    rate = getattr(optimizer, "_learning_rate", getattr(optimizer, "_lr", None))
    kind = type(optimizer)
    if kind is old.GradientDescentOptimizer:
        return new.SGD(rate)
    if kind is old.MomentumOptimizer:
        return new.SGD(rate, momentum=optimizer._momentum, nesterov=optimizer._use_nesterov)
    if kind is old.AdamOptimizer:
        return new.Adam(rate, optimizer._beta1, optimizer._beta2, optimizer._epsilon)
    if kind is old.RMSPropOptimizer:
        return new.RMSprop(rate, optimizer._decay, optimizer._momentum, optimizer._epsilon,
                           optimizer._centered)
    if kind is old.AdagradOptimizer:
        return new.Adagrad(rate, optimizer._initial_accumulator_value, 0.0)
    known = "GradientDescent, Momentum, Adam, RMSProp or Adagrad"
    raise ValueError(f"an optimizer of tf.compat.v1.train must be {known} where Keras trains, "
                     f"not {kind.__name__}: Keras 3 takes its own alone")


def take_old_optimizers() -> None:
    """Have `compile` of Keras take optimizers of `tf.compat.v1.train`; once."""
    from keras.src import optimizers
    get = optimizers.get
    if get.__module__ == __name__:
        return

    def taken(identifier: Any) -> Any:
        if isinstance(identifier, tf.compat.v1.train.Optimizer):
            identifier = _twin(identifier)
        return get(identifier)

    optimizers.get = taken


def know_replicas() -> None:
    """Have Keras take replicas of TPUStrategy as those of MirroredStrategy; once.

    It builds a model by the rows that one replica has of the first batch: the mean of those of
    all is none where they have not equally many. What a `train_step` of the user's own returns is
    the mean of what replicas do, not what the first one does.
    """
    from keras.src.backend.tensorflow import trainer
    build, reduce = trainer.TensorFlowTrainer._maybe_symbolic_build, trainer.reduce_per_replica
    if build.__module__ == __name__:
        return

    def built(self: Any, iterator: Any = None, data_batch: Any = None) -> None:
        strategy = self._distribute_strategy
        if isinstance(strategy, TPUStrategy) and iterator is not None:
            for _, _, epoch in iterator:
                data_batch = tf.nest.map_structure(
                    lambda each: strategy.experimental_local_results(each)[0], next(epoch))
                break
            iterator = None
        build(self, iterator, data_batch)

    def reduced(values: Any, strategy: Any, reduction: str) -> Any:
        if reduction == "auto" and isinstance(strategy, TPUStrategy):
            reduction = "mean"
        return reduce(values, strategy, reduction)

    trainer.TensorFlowTrainer._maybe_symbolic_build = built
    trainer.reduce_per_replica = reduced
