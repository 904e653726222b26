"""Data of replicas: all of it is on the host, where they take turns at one iterator."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.data.ops import iterator_ops
from tensorflow.python.distribute import input_lib
from tensorflow.python.framework import composite_tensor

__all__ = ["share_iterators"]

_OURS = "_celosia_shares"


def _prepared(dataset: Any, ahead: int) -> Any:
    """Return a data set that makes some elements ahead; tuned only where the user says so.

    TensorFlow's thread that tunes sleeps longer and longer, and whoever leaves an epoch waits for
    it: 35 s where the iterator was there for 6 s.
    """
    if ahead:
        dataset = dataset.prefetch(ahead)
    if dataset.options().autotune.enabled is not None:
        return dataset
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)


class _Turns(composite_tensor.CompositeTensor):
    """An iterator of which replicas take one element after the other.

    Parameters
    ----------
    iterator
        Of a data set.
    count
        How many replicas there are.
    """

    def __init__(self, iterator: Any, count: int):
        self.iterator, self.count = iterator, count

    @property
    def _type_spec(self) -> Any:
        return _TurnsSpec(self.count, self.iterator.element_spec)

    def get_next(self) -> list[Any]:
        """Return an element for each replica; OutOfRangeError if there are not that many."""
        return [self.iterator.get_next() for _ in range(self.count)]

    def get_next_as_optional(self) -> list[Any]:
        """Return an element for each replica, or none where there are no more."""
        return [self.iterator.get_next_as_optional() for _ in range(self.count)]


class _TurnsSpec(tf.TypeSpec):
    """What a function of TensorFlow knows of it when it is traced."""

    __slots__ = ("_count", "_elements")

    def __init__(self, count: int, elements: Any):
        self._count, self._elements = count, elements

    @property
    def value_type(self) -> Any:
        return _Turns

    def _serialize(self) -> Any:
        return self._count, self._elements

    @property
    def _component_specs(self) -> Any:
        return [iterator_ops.IteratorSpec(self._elements)]

    def _to_components(self, value: Any) -> Any:
        return [value.iterator]

    def _from_components(self, components: Any) -> Any:
        return _Turns(components[0], self._count)


def _on_host(devices: Any) -> bool:
    return all("CPU" in each.upper() for each in devices)


def share_iterators() -> None:
    """Have replicas whose data is on the host take turns at one iterator; once.

    TensorFlow's iterator for several devices makes half a dozen functions for each device and
    epoch, a second for eight of them. And it lets go of its data set before its thread has ended,
    which looks at it after each element: a process could be ended by a segmentation fault when it
    left an epoch.
    """
    iterators, specs = (input_lib._SingleWorkerOwnedDatasetIterator,
                        input_lib._SingleWorkerDatasetIteratorSpec)
    if hasattr(iterators, _OURS):
        return
    make, describe = iterators._create_owned_multi_device_iterator, (
        specs._get_multi_device_iterator_spec)

    def create(self: Any) -> None:
        if not _on_host(self._devices):
            make(self)
            return
        options, count = self._options, len(self._devices)
        ahead = 1 if options is None else options.experimental_per_replica_buffer_size
        with tf.device(self._worker):
            self._iterator = _Turns(iter(_prepared(self._dataset, ahead * count)), count)

    def specify(self: Any, found: list[Any]) -> None:
        if _on_host(self._devices):
            found.append(_TurnsSpec(len(self._devices), self._element_spec))
        else:
            describe(self, found)

    iterators._create_owned_multi_device_iterator = create
    specs._get_multi_device_iterator_spec = specify
    setattr(iterators, _OURS, True)
