"""TPUEstimator, which TensorFlow has no more: train, evaluate and predict by a ``model_fn``."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportAttributeAccessIssue=false

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context

from celosia.tensorflow.cores import settings
from celosia.tensorflow.model_functions import ModelFunction, accepted
from celosia.tensorflow.resolver import TPUClusterResolver
from celosia.tensorflow.strategy import TPUStrategy

__all__ = ["InputPipelineConfig", "ModeKeys", "RunConfig", "TPUConfig", "TPUEstimator",
           "TPUEstimatorSpec"]

_STEP = "global_step"


class ModeKeys:
    """As of `tf.estimator.ModeKeys`."""

    TRAIN, EVAL, PREDICT = "train", "eval", "infer"


class InputPipelineConfig(IntEnum):
    """As of `tf.contrib.tpu.InputPipelineConfig`: who calls an input function."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


@dataclass(frozen=True)
class TPUConfig:
    """As of `tf.contrib.tpu.TPUConfig`; input functions are called once, for all replicas.

    Attributes
    ----------
    iterations_per_loop
        Steps between two looks at the loss.
    num_shards
        Replicas that the file expects; there are as many as chips.
    """

    iterations_per_loop: int = 2
    num_shards: int | None = None
    num_cores_per_replica: int | None = None
    per_host_input_for_training: Any = True
    tpu_job_name: str | None = None
    initial_infeed_sleep_secs: int | None = None
    input_partition_dims: Any = None
    eval_training_input_configuration: Any = 2
    experimental_host_call_every_n_steps: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.iterations_per_loop, int) or self.iterations_per_loop < 1:
            raise ValueError(f"iterations_per_loop must be an integer of at least 1, "
                             f"not {self.iterations_per_loop!r}")
        if self.num_cores_per_replica not in (None, 1):
            raise ValueError(f"num_cores_per_replica must be None or 1, not "
                             f"{self.num_cores_per_replica!r}: a replica has one chip")
        shards = self.per_host_input_for_training  # True is 1, and means PER_HOST_V1
        if shards is False or shards is not True and shards == InputPipelineConfig.PER_SHARD_V1:
            raise ValueError("per_host_input_for_training must be left out or PER_HOST_V1 or "
                             "PER_HOST_V2, not PER_SHARD_V1: input functions are called once")


@dataclass(frozen=True)
class RunConfig:
    """As of `tf.contrib.tpu.RunConfig`.

    Attributes
    ----------
    model_dir
        Where checkpoints go; None: a folder of its own.
    tf_random_seed
        For initial values.
    save_checkpoints_steps, save_checkpoints_secs
        How often while training; at its end in any case. None for both: 600 s.
    keep_checkpoint_max
        How many stay; 0: all.
    master, evaluation_master, cluster, session_config ..
        Taken, and without meaning: the chips are in this process.
    """

    tpu_config: TPUConfig | None = None
    evaluation_master: str | None = None
    master: str | None = None
    cluster: Any = None
    model_dir: str | None = None
    tf_random_seed: int | None = None
    save_summary_steps: int | None = 100
    save_checkpoints_steps: int | None = None
    save_checkpoints_secs: float | None = None
    session_config: Any = None
    keep_checkpoint_max: int | None = 5
    keep_checkpoint_every_n_hours: float = 10000
    log_step_count_steps: int | None = 100
    protocol: str | None = None
    session_creation_timeout_secs: int = 7200

    def __post_init__(self) -> None:
        object.__setattr__(self, "tpu_config", self.tpu_config or TPUConfig())


@dataclass(frozen=True)
class TPUEstimatorSpec:
    """As of `tf.contrib.tpu.TPUEstimatorSpec`.

    Attributes
    ----------
    mode
        Of `ModeKeys`.
    predictions
        A tensor or a dictionary of tensors, a row for each example.
    loss, train_op
        Of a step.
    eval_metrics
        A function of metrics, which gets tensors of all replicas, and these tensors.
    host_call, export_outputs
        Taken, and left out.
    """

    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metrics: Any = None
    export_outputs: Any = None
    scaffold_fn: Any = None
    host_call: Any = None
    training_hooks: Any = None
    evaluation_hooks: Any = None
    prediction_hooks: Any = None

    def __post_init__(self) -> None:
        wanted = {ModeKeys.TRAIN: ("loss", "train_op"), ModeKeys.EVAL: ("loss",),
                  ModeKeys.PREDICT: ("predictions",)}
        if self.mode not in wanted:
            raise ValueError(f"mode must be {', '.join(wanted)}, not {self.mode!r}")
        for name in wanted[self.mode]:
            if getattr(self, name) is None:
                raise ValueError(f"{name} must be given for mode {self.mode!r}")
        for name in ("scaffold_fn", "training_hooks", "evaluation_hooks", "prediction_hooks"):
            if getattr(self, name):
                raise ValueError(f"{name} of TPUEstimatorSpec must be left out: there is no "
                                 f"session that it could work on")


class TPUEstimator:
    """As of `tf.contrib.tpu.TPUEstimator`: steps are programs of the chips.

    Parameters
    ----------
    model_fn
        Takes features, and of labels, mode, params and config what it has parameters for; returns
        a TPUEstimatorSpec. Variables are those of `tf.compat.v1.get_variable`, `tf.Variable`
        and layers of Keras, by their names.
    model_dir, config, params
        As of TensorFlow's.
    use_tpu
        False: all is done on the host, by one replica.
    train_batch_size, eval_batch_size, predict_batch_size
        Rows of a batch for all replicas: what input functions find in ``params["batch_size"]``;
        model functions find those of a replica. None: whatever batches come.
    """

    def __init__(self, model_fn: Callable[..., Any], model_dir: str | None = None,
                 config: RunConfig | None = None, params: Mapping[str, Any] | None = None,
                 use_tpu: bool = True, train_batch_size: int | None = None,
                 eval_batch_size: int | None = None, predict_batch_size: int | None = None,
                 batch_axis: Any = None, eval_on_tpu: bool = True, export_to_tpu: bool = True,
                 export_to_cpu: bool = True, warm_start_from: Any = None):
        if "batch_size" in (params or {}):
            raise ValueError("params must not have batch_size: it is that of train_batch_size, "
                             "eval_batch_size and predict_batch_size")
        if batch_axis is not None and any(tf.nest.flatten(batch_axis)):
            raise ValueError(f"batch_axis must be None or 0, not {batch_axis!r}")
        if warm_start_from is not None:
            raise ValueError("warm_start_from must be left out: a checkpoint in model_dir is where "
                             "training begins")
        self.config = config or RunConfig()
        self.model_dir = model_dir or self.config.model_dir or tempfile.mkdtemp()
        self.params = dict(params or {})
        self._model_fn = model_fn
        self._sizes = {ModeKeys.TRAIN: train_batch_size, ModeKeys.EVAL: eval_batch_size,
                       ModeKeys.PREDICT: predict_batch_size}
        self._at: str | None = None
        #: What saves the variables, and how many these were.
        self._saver: tuple[int, Any] = 0, None
        with context.eager_mode():
            strategy = None
            if use_tpu:
                strategy = TPUStrategy(TPUClusterResolver(self.config.master))
                expected = self.config.tpu_config and self.config.tpu_config.num_shards
                if expected not in (None, settings().devices):
                    tf.compat.v1.logging.warning(
                        f"TPUConfig.num_shards is {expected}, and there are {settings().devices} "
                        f"replicas: CELOSIA_DEVICES says how many")
            if self.config.tf_random_seed is not None:
                tf.random.set_seed(self.config.tf_random_seed)
            self._step = ModelFunction(self._spec, getattr(model_fn, "__name__", "model_fn"),
                                       strategy)
        for mode, size in self._sizes.items():
            if size is not None and (not isinstance(size, int) or size < 1
                                     or size % self._step.replicas):
                raise ValueError(f"batch size for mode {mode!r} must be a multiple of the "
                                 f"{self._step.replicas} replicas, not {size!r}")

    def _spec(self, features: Any, labels: Any, mode: str) -> TPUEstimatorSpec:
        params = self._params(mode, self._step.replicas)
        spec = self._model_fn(features, **accepted(self._model_fn, {
            "labels": labels, "mode": mode, "params": params, "config": self.config}))
        if not isinstance(spec, TPUEstimatorSpec):
            raise ValueError(f"model_fn must return a TPUEstimatorSpec, not "
                             f"{type(spec).__name__}")
        if spec.host_call is not None:
            tf.compat.v1.logging.warning("host_call of TPUEstimatorSpec is left out")
        return spec

    def _params(self, mode: str, parts: int) -> dict[str, Any]:
        size = self._sizes[mode]
        return {**self.params, **({} if size is None else {"batch_size": size // parts})}

    def train(self, input_fn: Callable[..., Any], hooks: Any = None, steps: int | None = None,
              max_steps: int | None = None, saving_listeners: Any = None) -> TPUEstimator:
        """Train for some steps, or until there are so many, or the data ends; then save."""
        _no_hooks(hooks, saving_listeners)
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        with context.eager_mode():
            self._load(self.latest_checkpoint())
            tpu = self.config.tpu_config or TPUConfig()
            saved = time.monotonic()
            done = 0
            for features, labels in self._batches(input_fn, ModeKeys.TRAIN):
                if done == steps or (max_steps is not None and self._count() >= max_steps):
                    break
                results = self._step.run(ModeKeys.TRAIN, features, labels)
                done += 1
                loss = float(np.mean([float(each[0]) for each in results]))
                if not np.isfinite(loss):
                    raise RuntimeError(f"NaN loss during training: {loss} in step {done}")
                if done % tpu.iterations_per_loop == 0:
                    tf.compat.v1.logging.info(f"loss = {loss:g}, step = {self._count()}")
                    if self._due(done, tpu.iterations_per_loop, time.monotonic() - saved):
                        self._save()
                        saved = time.monotonic()
            if done:
                self._save()
                tf.compat.v1.logging.info(f"Loss for final step: {loss}.")
        return self

    def _due(self, done: int, loop: int, seconds: float) -> bool:
        every = self.config.save_checkpoints_steps
        if every is not None:
            return done // every > (done - loop) // every
        return seconds >= (self.config.save_checkpoints_secs or 600)

    def evaluate(self, input_fn: Callable[..., Any], steps: int | None = None, hooks: Any = None,
                 checkpoint_path: str | None = None, name: str | None = None) -> dict[str, Any]:
        """Return the metrics of some batches, or of all, the mean loss and the step."""
        _no_hooks(hooks)
        with context.eager_mode():
            self._load(checkpoint_path or self.latest_checkpoint())
            losses, tensors = [], []
            for features, labels in self._batches(input_fn, ModeKeys.EVAL):
                if len(losses) == steps:
                    break
                results = self._step.run(ModeKeys.EVAL, features, labels)
                losses.append(np.mean([float(each[0]) for each in results]))
                tensors.append(tf.nest.map_structure(
                    lambda *parts: np.concatenate([np.atleast_1d(each) for each in parts]),
                    *(each[1] for each in results)))
            if not losses:
                raise ValueError("input_fn must give a batch to evaluate, not none")
            found = {"loss": np.float32(np.mean(losses)), _STEP: self._count()}
            metrics = self._step.specs[ModeKeys.EVAL].eval_metrics
        return {**(_measured(metrics[0], tensors) if metrics else {}), **found}

    def predict(self, input_fn: Callable[..., Any], predict_keys: Any = None, hooks: Any = None,
                checkpoint_path: str | None = None, yield_single_examples: bool = True
                ) -> Iterator[Any]:
        """Yield the predictions of each example, or of each batch."""
        _no_hooks(hooks)
        path = checkpoint_path or self.latest_checkpoint()
        if path is None:
            raise ValueError(f"Could not find trained model in model_dir: {self.model_dir}.")
        with context.eager_mode():
            self._load(path)
            for features, _ in self._batches(input_fn, ModeKeys.PREDICT):
                rows = len(tf.nest.flatten(features)[0])
                more = -rows % self._step.replicas
                results = self._step.run(ModeKeys.PREDICT, tf.nest.map_structure(
                    lambda each, more=more: np.concatenate([each, each[:1].repeat(more, 0)]),
                    features), None)
                found = tf.nest.map_structure(
                    lambda *parts, rows=rows: np.concatenate([each.numpy() for each in parts]
                                                             )[:rows], *results)
                if isinstance(found, dict) and predict_keys:
                    found = {key: each for key, each in found.items() if key in predict_keys}
                if not yield_single_examples:
                    yield found
                    continue
                for row in range(rows):
                    yield tf.nest.map_structure(lambda each, row=row: each[row], found)

    def export_saved_model(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: TensorFlow has no exporter of estimators any more."""
        raise NotImplementedError(
            "TPUEstimator.export_saved_model is not there: TensorFlow has removed its exporter of "
            "estimators; checkpoints in model_dir have the variables by their names")

    def latest_checkpoint(self) -> str | None:
        """Return the path of the newest checkpoint."""
        return tf.train.latest_checkpoint(self.model_dir)

    def get_variable_names(self) -> list[str]:
        """Return the names of all variables."""
        return sorted(self._step.variables) or sorted(
            self._reader(self.latest_checkpoint()).get_variable_to_shape_map())

    def get_variable_value(self, name: str) -> Any:
        """Return the value of a variable."""
        if name in self._step.variables:
            with context.eager_mode():
                return self._step.variables[name].numpy()
        return self._reader(self.latest_checkpoint()).get_tensor(name)

    def _reader(self, path: str | None) -> Any:
        if path is None:
            raise ValueError(f"Estimator has not been trained: no checkpoint in {self.model_dir}")
        return tf.train.load_checkpoint(path)

    def _count(self) -> int:
        found = self._step.variables.get(_STEP)
        return int(self._step.initial.get(_STEP, 0)) if found is None else int(found.numpy())

    def _load(self, path: str | None) -> None:
        if path is None or path == self._at:
            return
        reader = self._reader(path)
        values = {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
        self._step.initial = values
        self._step.assign(values)
        self._at = path

    def _save(self) -> None:
        Path(self.model_dir).mkdir(parents=True, exist_ok=True)
        path = str(Path(self.model_dir, "model.ckpt"))
        count, made = self._saver
        if made is None or count != len(self._step.variables):
            made = tf.compat.v1.train.Saver(dict(self._step.variables),
                                            max_to_keep=self.config.keep_checkpoint_max or None)
            known = tf.train.get_checkpoint_state(self.model_dir)
            if known:
                made.recover_last_checkpoints(known.all_model_checkpoint_paths)
            self._saver = len(self._step.variables), made
        self._at = made.save(None, path, global_step=self._count())

    def _batches(self, input_fn: Callable[..., Any], mode: str) -> Iterator[tuple[Any, Any]]:
        """Yield features and labels, as arrays, of an input function; it is called in a graph."""
        with tf.Graph().as_default() as graph:
            found = input_fn(**accepted(input_fn, {
                "params": self._params(mode, 1), "mode": mode, "config": self.config}))
            starts = [tf.compat.v1.tables_initializer()]
            if isinstance(found, tf.data.Dataset):
                iterator = tf.compat.v1.data.make_initializable_iterator(found)
                starts.append(iterator.initializer)
                found = iterator.get_next()
            starts += graph.get_collection(tf.compat.v1.GraphKeys.TABLE_INITIALIZERS)
            if not isinstance(found, tuple) or len(found) != 2:
                found = found, None
            whole = [None if each is None else tf.nest.map_structure(tf.convert_to_tensor, each)
                     for each in found]
            flat = tf.nest.flatten([each for each in whole if each is not None])
        # Entered it would be the default of whoever takes batches.
        with contextlib.closing(tf.compat.v1.Session(graph=graph)) as session:
            session.run(starts)
            while True:
                try:
                    values = session.run(flat)
                except tf.errors.OutOfRangeError:
                    return
                taken = iter(values)
                features, labels = (None if each is None else tf.nest.map_structure(
                    lambda _, taken=taken: next(taken), each) for each in whole)
                yield features, labels


def _no_hooks(*given: Any) -> None:
    if any(given):
        raise ValueError("hooks must be left out: they work on a session, and there is none")


def _measured(function: Callable[..., Any], batches: list[Any]) -> dict[str, Any]:
    """Return the metrics of a function of eval_metrics for tensors of some batches."""
    with tf.Graph().as_default() as graph:
        kinds = [tf.compat.v1.placeholder(each.dtype, (None, *each.shape[1:]))
                 for each in tf.nest.flatten(batches[0])]
        given = tf.nest.pack_sequence_as(batches[0], kinds)
        made = function(**given) if isinstance(given, Mapping) else function(*given)
        found: dict[str, Any] = {}
        updates: list[Any] = []
        starts = []
        for name, metric in made.items():
            if isinstance(metric, tf.keras.metrics.Metric):
                raise ValueError(f"metric {name} must be of tf.compat.v1.metrics, a value and its "
                                 f"update, not {type(metric).__name__}: Keras has none in graphs")
            found[name], update = metric
            updates.append(update)
        starts += [tf.compat.v1.local_variables_initializer(),
                   tf.compat.v1.global_variables_initializer(),
                   tf.compat.v1.tables_initializer()]
    with tf.compat.v1.Session(graph=graph) as session:
        session.run(starts)
        for each in batches:
            session.run(updates, dict(zip(kinds, tf.nest.flatten(each), strict=True)))
        return session.run(found)
