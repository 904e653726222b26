"""TPUStrategy: what it runs becomes programs of the chips, one replica on each."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportAttributeAccessIssue=false

from __future__ import annotations

import functools
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

import tensorflow as tf
from tensorflow.python.autograph.core import ag_ctx
from tensorflow.python.autograph.impl import api as autograph
from tensorflow.python.distribute import (
    cross_device_ops,
    distribute_lib,
    distribute_utils,
    mirrored_strategy,
    reduce_util,
)

from celosia.tensorflow.cores import errors, noted, settings
from celosia.tensorflow.programs import CallArguments, Replicated, Shapes
from celosia.tensorflow.shards import sum_of_replicas
from celosia.tensorflow.variables import note_run, quietly, sync

__all__ = ["TPUStrategy", "in_program"]

_OURS = "_celosia_divides"
#: Functions whose programs a strategy keeps.
_MOST_STEPS = 128


class TPUStrategy(distribute_lib.Strategy):
    """Replicas on the chips of this process, in TensorFlow's terms; see `tf.distribute.Strategy`.

    Variables that are made in its scope have a copy for each replica, which stays on that
    replica's chip from one `run` to the next. What `run` is given is compiled: by itself, or
    within a `tf.function`.

    Parameters
    ----------
    tpu_cluster_resolver, experimental_device_assignment, experimental_spmd_xla_partitioning
        As of `tf.distribute.TPUStrategy`; the chips are those of the environment.

    Attributes
    ----------
    random_count
        A variable that counts what programs draw of random numbers without a seed.
    """

    _collective_key_base = 0  # MirroredExtended asks its strategy for it

    def __init__(self, tpu_cluster_resolver: Any = None, experimental_device_assignment: Any = None,
                 experimental_spmd_xla_partitioning: bool = False):
        if not isinstance(tpu_cluster_resolver, tf.distribute.cluster_resolver.ClusterResolver
                          | None):
            raise ValueError(f"tpu_cluster_resolver must be a TPUClusterResolver or None, not "
                             f"{tpu_cluster_resolver!r}")
        super().__init__(_Extended(self, tpu_cluster_resolver))
        with self.scope():
            # Not when it is first wanted: functions that are traced may not make variables twice.
            self.random_count = tf.Variable(
                tf.constant(0), trainable=False, name="random_count",
                aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)

    @property
    def cluster_resolver(self) -> Any:
        """The resolver that it was made with."""
        return self.extended._resolver

    @property
    def steps_per_run(self) -> int:
        """As of TensorFlow 1: a loop of several steps is the user's."""
        return 1

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """As of TensorFlow 1: a data set of arrays."""
        return tf.data.Dataset.from_tensor_slices(numpy_input)

    def experimental_assign_to_logical_device(self, tensor: Any, logical_device_id: int) -> Any:
        """Return a tensor as it is; ValueError for another device than the one of a replica."""
        if logical_device_id != 0:
            raise ValueError(f"logical_device_id must be 0, for a replica has one chip, not "
                             f"{logical_device_id!r}")
        return tensor

    def experimental_split_to_logical_devices(self, tensor: Any, partition_dimensions: Sequence[int]
                                              ) -> Any:
        """Return a tensor as it is; ValueError for parts, for which there are no devices."""
        if list(partition_dimensions) != [1] * tensor.shape.rank:
            raise ValueError(f"partition_dimensions must be 1 for each of {tensor.shape.rank} "
                             f"dimensions, for a replica has one chip, not "
                             f"{list(partition_dimensions)}")
        return tensor

    def experimental_replicate_to_logical_devices(self, tensor: Any) -> Any:
        """Return a tensor as it is: a replica has one chip."""
        return tensor

    def run(self, fn: Callable[..., Any], args: Sequence[Any] = (),
            kwargs: Mapping[str, Any] | None = None, options: Any = None) -> Any:
        """Run a function on each replica, as `tf.distribute.Strategy.run`.

        Raises
        ------
        tf.errors.OpError
            ResourceExhaustedError, UnimplementedError ..: what the chip says.
        """
        with self.scope():
            return self._extended._run(fn, tuple(args), dict(kwargs or {}))

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """Reduce values of all replicas to one, as `tf.distribute.Strategy.reduce`: on the host."""
        if axis is None:
            return super().reduce(reduce_op, value, axis)
        reduce_op = reduce_util.ReduceOp(getattr(reduce_op, "value", reduce_op).upper())
        parts = self.experimental_local_results(value)
        total = tf.add_n([tf.reduce_sum(each, axis) for each in parts])
        if reduce_op is reduce_util.ReduceOp.SUM:
            return total
        count = tf.add_n([tf.reduce_prod(tf.gather(tf.shape(each), axis)) for each in parts])
        return total / tf.cast(count, total.dtype)


def _divide_slices() -> None:
    """Have Keras divide slices by a tensor without a search for its zeros; once.

    What it finds has a shape that is not known before the program runs. It would only add rows
    that are not among the slices: 0 / 0.
    """
    keras: Any = sys.modules.get("keras.src.backend.tensorflow.numpy")
    divide = getattr(keras, "divide", None)
    if divide is None or hasattr(divide, _OURS):
        return

    @functools.wraps(divide)
    def divided(x1: Any, x2: Any) -> Any:
        if (isinstance(x1, tf.IndexedSlices) and tf.is_tensor(x2) and x2.shape.rank
                and in_program()):
            return tf.IndexedSlices(x1.values / tf.gather(x2, x1.indices), x1.indices,
                                    x1.dense_shape)
        return divide(x1, x2)

    setattr(divided, _OURS, True)
    keras.divide = divided


class _Replica(distribute_lib.ReplicaContext):
    """The context in which the one program of all replicas is traced.

    It is replica 0 for whoever chooses among copies of variables, and no replica in particular
    for whoever computes with its number.
    """

    def __init__(self, strategy: TPUStrategy, shapes: Shapes, number: Any):
        super().__init__(strategy, 0)
        self._shapes, self._number = shapes, number

    @property
    def replica_id_in_sync_group(self) -> Any:
        return self._number

    def alike(self, value: Any) -> bool:
        """Return whether the value has the same shape on all replicas."""
        known = value.shape.is_fully_defined()
        self._shapes.wanted |= not known
        return known or self._shapes.alike

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """As of `tf.distribute.ReplicaContext`, of one shape on all replicas."""
        return tf.nest.map_structure(lambda each: self._gathered(each, axis), value)

    def _gathered(self, value: Any, axis: int) -> Any:
        """Return values of all replicas, one behind the other."""
        value = tf.convert_to_tensor(value)
        own = tf.range(self.num_replicas_in_sync) == self._number
        own = tf.reshape(own, [-1] + [1] * value.shape.rank)
        kind = tf.int32 if value.dtype.is_bool else value.dtype
        every = self.all_reduce(reduce_util.ReduceOp.SUM, tf.where(
            own, tf.cast(value, kind)[None], tf.zeros((), kind)))
        return tf.concat(tf.unstack(tf.cast(every, value.dtype)), axis)


def in_program() -> bool:
    """Return whether what replicas run is being traced."""
    return isinstance(distribute_lib.get_replica_context(), _Replica)


class _Extended(mirrored_strategy.MirroredExtended):
    """Variables, data sets and reductions are those of MirroredStrategy.

    On the host all replicas are on its one device, for only there a function of TensorFlow may
    use the copies that all of them have of a variable.
    """

    def __init__(self, container: TPUStrategy, resolver: Any):
        count = settings().devices
        super().__init__(container, ["/cpu:0"], cross_device_ops.ReductionToOneDevice())
        self._devices = self._devices * count
        self._input_workers_devices = ((self._devices[0], self._devices),)
        self._resolver = resolver
        #: Functions that were run by themselves, not within one that was traced.
        self._steps: OrderedDict[Any, Replicated] = OrderedDict()

    @property
    def num_hosts(self) -> int:
        """How many machines there are: the one of this process."""
        return 1

    @property
    def num_replicas_per_host(self) -> int:
        """All of them."""
        return self._num_replicas_in_sync

    def _use_merge_call(self) -> bool:
        return False  # replicas are traced once and meet in collectives

    def _get_cross_device_ops(self, value: Any) -> Any:
        return self._cross_device_ops

    def _replica(self) -> Any:
        """Return the replica of the program that is traced, in its `merge_call` too; or None."""
        stack = tf.compat.v1.get_default_graph()._distribution_strategy_stack
        found = [mode.replica_context for mode in stack]
        return next((each for each in reversed(found) if isinstance(each, _Replica)), None)

    def _in_program(self) -> bool:
        return self._replica() is not None

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        if self._in_program() and callable(kwargs.get("initial_value")):
            # Of all replicas at once, before the first of the programs that use it.
            with tf.init_scope():
                return super()._create_variable(next_creator, **kwargs)
        return super()._create_variable(next_creator, **kwargs)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any) -> Any:
        if self._in_program():
            return self._replica_ctx_all_reduce(reduce_op, value, options)
        for each in tf.nest.flatten(value):
            shapes = {str(part.shape) for part in self._local_results(each) if tf.is_tensor(part)}
            if len(shapes) > 1:
                raise ValueError(
                    f"values of replicas must have one shape to be reduced without an axis, not "
                    f"{' and '.join(sorted(shapes))}")
        return super()._reduce_to(reduce_op, value, destinations, options)

    def _update(self, var: Any, fn: Any, args: Any, kwargs: Any, group: bool) -> Any:
        if self._in_program():  # each replica has its own copy
            return self._replica_ctx_update(var, fn, args, kwargs, group)
        return super()._update(var, fn, args, kwargs, group)

    def _replica_ctx_all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        count = self._num_replicas_in_sync
        share = count if reduce_op == reduce_util.ReduceOp.MEAN else 1

        def reduced(each: Any) -> Any:
            if isinstance(each, tf.IndexedSlices):
                # Slices are left apart, for optimisers square each of them. Only where replicas
                # have different numbers of them they are one sum.
                if count == 1 or self._replica().alike(each.values):
                    _divide_slices()
                    return self._joined(each, share)
                each = tf.convert_to_tensor(each)
            if count == 1:
                return each
            each = sum_of_replicas(each, count)
            return each / count if share > 1 else each

        return tf.nest.map_structure(reduced, value)

    def _joined(self, slices: Any, share: int) -> Any:
        """Return the slices of all replicas, one behind the other."""
        if self._num_replicas_in_sync == 1:
            return slices
        replica = self._replica()
        values = replica.all_gather(slices.values, 0)
        return tf.IndexedSlices(values / share if share > 1 else values,
                                replica.all_gather(slices.indices, 0), slices.dense_shape)

    def _call_for_each_replica(self, fn: Any, args: Any, kwargs: Any) -> Any:
        return self._run(fn, args, kwargs)

    def _run(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        calls = [CallArguments(*distribute_utils.select_replica(number, (args, kwargs)))
                 for number in range(self._num_replicas_in_sync)]
        step = self._step(fn)
        with quietly():
            traced = step.trace(calls)
        if tf.executing_eagerly():
            with errors():
                results = step.run(traced, [each.tensors for each in calls], [()] * len(traced))
        else:
            results = self._in_graph(step, traced, calls)
        return distribute_utils.regroup(tuple(
            _packed(traced[0].structured_outputs, each) for each in results))

    def _step(self, fn: Any) -> Replicated:
        """Return the programs of a function."""
        plain = getattr(fn, "python_function", fn)
        if plain is not fn:
            converts = fn._autograph
        else:
            converts = ag_ctx.control_status_ctx().status == ag_ctx.Status.ENABLED
        # In a function that is traced it is traced with that: what it sees may have changed.
        if not tf.executing_eagerly():
            return self._replicated(plain, converts)
        key = (plain, converts)
        if key not in self._steps:
            self._steps[key] = self._replicated(plain, converts)
        self._steps.move_to_end(key)
        while len(self._steps) > _MOST_STEPS:
            self._steps.popitem(last=False)
        return self._steps[key]

    def _replicated(self, plain: Any, converts: bool) -> Replicated:
        strategy: Any = self._container_strategy()
        called = autograph.tf_convert(
            plain, ag_ctx.ControlStatusCtx(ag_ctx.Status.ENABLED)) if converts else plain

        def replica(shapes: Shapes, number: Any, *args: Any, **kwargs: Any) -> Any:
            with _Replica(strategy, shapes, number):
                return called(*args, **kwargs)

        return Replicated(replica, getattr(plain, "__name__", "step"), self._num_replicas_in_sync)

    def _in_graph(self, step: Replicated, traced: Sequence[Any], calls: Sequence[CallArguments]
                  ) -> Any:
        """Return what a function under construction will get of the chips when it runs."""
        count, width = len(calls), len(calls[0].tensors)
        captured = [[tensor for tensor in each.captured_inputs
                     if not isinstance(tensor, tf.__internal__.EagerTensor)] for each in traced]
        note_run()
        given = [tensor for each in calls for tensor in each.tensors]
        outputs = traced[0].outputs
        kinds = [each.dtype for each in outputs]

        def work(*tensors: Any) -> Any:
            rows = [tensors[i * width:(i + 1) * width] for i in range(count)]
            rest = iter(tensors[count * width:])
            with noted():
                results = step.run(traced, rows, [list(islice(rest, len(each)))
                                                  for each in captured])
            sync()
            return [tensor for row in results for tensor in row]

        with tf.device("/cpu:0"), quietly():
            # With the handles of the variables it is in order with whatever else uses them.
            found = tf.py_function(work, [
                *given, *(tensor for each in captured for tensor in each),
                *(handle for each in traced for handle in step.handles(each))], kinds * count)
        found = list(found) if kinds else []
        for tensor, output in zip(found, outputs * count, strict=True):
            tensor.set_shape(output.shape)
        size = len(kinds)
        return [found[i * size:(i + 1) * size] for i in range(count)]


def _packed(structure: Any, tensors: Sequence[Any]) -> Any:
    """Return the results of a function, which has None where there is no tensor."""
    given = iter(tensors)
    return tf.nest.pack_sequence_as(
        structure, [None if each is None else next(given) for each
                    in tf.nest.flatten(structure, expand_composites=True)], expand_composites=True)
