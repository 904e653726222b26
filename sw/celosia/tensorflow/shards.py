"""What replicas exchange, as collectives of the chips."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.tpu import tpu_function
from tensorflow.python.tpu.ops import tpu_ops

__all__ = ["cross_replica_sum", "put_cross_replica_sum", "sum_of_replicas"]


def sum_of_replicas(value: Any, replicas: int) -> Any:
    """Return the sum of the tensors that all replicas have, on each of them."""
    return tf.raw_ops.CollectiveReduceV2(
        input=value, group_size=replicas, group_key=1, instance_key=1, ordering_token=[],
        merge_op="Add", final_op="Id")


def cross_replica_sum(x: Any, group_assignment: Any = None, name: str | None = None) -> Any:
    """As of `tf.compat.v1.tpu.cross_replica_sum`, over all replicas."""
    replica = tf.distribute.get_replica_context() if tf.distribute.has_strategy() else None
    count = (replica.num_replicas_in_sync if replica
             else tpu_function.get_tpu_context().number_of_shards) or 1
    if group_assignment is not None and [sorted(each) for each in group_assignment] != [
            list(range(count))]:
        raise ValueError(f"group_assignment must be None or one group of all {count} replicas, "
                         f"not {group_assignment!r}")
    if count == 1:
        return tf.identity(x, name=name)

    @tf.custom_gradient
    def summed(value: Any) -> Any:
        return sum_of_replicas(value, count), lambda gradient: cross_replica_sum(gradient)

    return summed(tf.convert_to_tensor(x))


def put_cross_replica_sum() -> None:
    """Put it where `tf.compat.v1.tpu.CrossShardOptimizer` looks for it."""
    tpu_ops.cross_replica_sum = cross_replica_sum
    tf.compat.v1.tpu.cross_replica_sum = cross_replica_sum
