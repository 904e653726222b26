"""Data of replicas: iterators that end when they are left."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf
from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.data.ops import multi_device_iterator_ops as iterators

__all__ = ["end_at_once"]

_OURS = "_celosia_ends"


def _untuned(dataset: Any) -> Any:
    if dataset.options().autotune.enabled is not None:
        return dataset
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)


class _Lasting(dataset_ops.UnaryUnchangedStructureDataset):
    """A data set whose iterators keep it, with options too.

    TensorFlow's iterator for several devices lets go of its data set before its thread has ended,
    which looks at it after each element: a process could be ended by a segmentation fault when it
    left an epoch. Iterators keep what they iterate over, but not the options around it.
    """

    def __init__(self, dataset: Any):
        self._input_dataset = dataset
        super().__init__(dataset, dataset._variant_tensor)

    def with_options(self, options: Any, name: Any = None) -> Any:
        return self._input_dataset.with_options(options, name).take(-1)


def end_at_once() -> None:
    """Have the data sets that replicas share tuned only where the user says so; once.

    A thread for each of their iterators would, which sleeps longer and longer, and whoever leaves
    an epoch waits for it: 35 s with 8 replicas where the iterator was there for 6 s. And have them
    there until that thread has ended.
    """
    if hasattr(iterators, _OURS):
        return
    of_replica = iterators._create_device_dataset
    start = iterators.OwnedMultiDeviceIterator.__init__

    def create_device_dataset(*args: Any, **kwargs: Any) -> Any:
        return _untuned(of_replica(*args, **kwargs))

    @functools.wraps(start)
    def init(self: Any, dataset: Any = None, *args: Any, **kwargs: Any) -> None:
        start(self, None if dataset is None else _Lasting(_untuned(dataset)), *args, **kwargs)

    iterators._create_device_dataset = create_device_dataset
    iterators.OwnedMultiDeviceIterator.__init__ = init
    setattr(iterators, _OURS, True)
