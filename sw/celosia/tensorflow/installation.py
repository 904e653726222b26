"""Puts the chips where TensorFlow's programs look for TPUs."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.autograph.core import config
from tensorflow.python.eager.context import LogicalDevice

from celosia.tensorflow.contrib import put_contrib, refuse
from celosia.tensorflow.cores import settings
from celosia.tensorflow.datasets import take_local_mnist
from celosia.tensorflow.images import put_projections, put_resizing
from celosia.tensorflow.inputs import share_iterators
from celosia.tensorflow.keras_models import know_replicas
from celosia.tensorflow.precision import put_mixed_precision
from celosia.tensorflow.random_numbers import put_random_numbers
from celosia.tensorflow.resolver import (
    TPUClusterResolver,
    connect_to_cluster,
    initialize_tpu_system,
    no_operation,
)
from celosia.tensorflow.strategy import TPUStrategy, in_program
from celosia.tensorflow.variables import watch

__all__ = ["install"]


def install() -> None:
    """Take the place of what TensorFlow has for TPUs; once."""
    if tf.distribute.TPUStrategy is TPUStrategy:
        return
    count = settings().devices
    watch()
    # Autograph converts the user's functions, not TensorFlow's own and not these.
    config.CONVERSION_RULES = (config.DoNotConvert("celosia"), *config.CONVERSION_RULES)
    put_mixed_precision()
    know_replicas()
    put_projections(in_program)
    put_resizing(in_program)
    put_random_numbers(in_program)
    share_iterators()
    take_local_mnist()
    tf.distribute.TPUStrategy = TPUStrategy
    tf.distribute.experimental.TPUStrategy = TPUStrategy
    tf.distribute.cluster_resolver.TPUClusterResolver = TPUClusterResolver
    tf.config.experimental_connect_to_cluster = connect_to_cluster
    tf.tpu.experimental_initialize_tpu_system = initialize_tpu_system
    for tpu in (tf.tpu, tf.compat.v1.tpu):
        tpu.experimental.initialize_tpu_system = initialize_tpu_system
        tpu.experimental.shutdown_tpu_system = initialize_tpu_system
    old = tf.compat.v1
    old.distribute.experimental.TPUStrategy = TPUStrategy
    old.distribute.cluster_resolver.TPUClusterResolver = TPUClusterResolver
    old.tpu.initialize_system = old.tpu.shutdown_system = no_operation
    logical = tf.config.list_logical_devices

    def list_logical_devices(device_type: Any = None) -> Any:
        """As of `tf.config.list_logical_devices`."""
        found = logical(device_type) if device_type != "TPU" else []
        if device_type in ("TPU", None):
            found += [LogicalDevice(f"/device:TPU:{number}", "TPU") for number in range(count)]
        return found

    tf.config.list_logical_devices = list_logical_devices
    tf.config.experimental.list_logical_devices = list_logical_devices
    put_contrib()
    refuse()
