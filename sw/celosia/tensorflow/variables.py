"""Where the newest value of a variable is: on the host, on a chip, or on both.

Programs leave what they make of a variable on the chip, and TensorFlow's own memory of it is old
until somebody looks. Everybody looks through a handle: Python code, and TensorFlow's own C++,
through the attribute ``_handle``, functions that were traced before through what they have
captured. Both are watched.
"""

# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportAttributeAccessIssue=false

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.eager.polymorphic_function import attributes, concrete_function
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_resource_variable_ops, resource_variable_ops

from celosia.pjrt.buffers import PjrtBuffer
from celosia.pjrt.chips import PjrtChip
from celosia.tensorflow.cores import errors, first_hand, upload

__all__ = ["VariableCell", "bare_handle", "cell_of", "note_run", "quietly", "sync", "watch"]

_CELL = "_celosia_cell"
#: Of functions: the numbers of handles that they look at, and whether they run programs.
_LOOKED_AT, _RUNS = "_celosia_looked_at", "_celosia_runs"


class _State(threading.local):
    quiet = False


_STATE = _State()
#: VariableCells by the number of the handle of their variable.
_CELLS: weakref.WeakValueDictionary[int, VariableCell] = weakref.WeakValueDictionary()
#: What the functions look at that run programs right now.
_RUNNING: list[set[int]] = []


def bare_handle(variable: Any) -> Any:
    """Return the handle of a variable without that anybody wants its value."""
    return variable.__dict__["_handle"]


@contextmanager
def quietly() -> Iterator[None]:
    """Trace what programs will do: values of the handles that are looked at are not wanted yet."""
    was, _STATE.quiet = _STATE.quiet, True
    try:
        yield
    finally:
        _STATE.quiet = was


class VariableCell:
    """A variable of one replica, and its value on that replica's chip.

    Attributes
    ----------
    copies
        How often a value went to the host.
    """

    copies = 0

    def __init__(self, variable: Any, chip: PjrtChip):
        self._variable = weakref.ref(variable)
        self._chip = chip
        self._buffer: PjrtBuffer | None = None
        self._behind = False  # the host
        self._touched = True  # what the host has may have changed since `_seen`
        self._seen: np.ndarray | None = None
        self._lock = threading.RLock()

    def argument(self) -> PjrtBuffer:
        """Return the newest value, for a program."""
        with self._lock:
            if self._buffer is None or self._touched:
                self._take()
            assert self._buffer is not None
            return self._buffer

    def _take(self) -> None:
        """Take over what the host has, if it is another value."""
        variable = self._variable()
        assert variable is not None, "a function that has a variable keeps it"
        self.sync()
        with tf.init_scope(), tf.device(bare_handle(variable).device):
            value = np.array(gen_resource_variable_ops.read_variable_op(
                bare_handle(variable), variable.dtype))
        same = (self._seen is not None and self._seen.dtype == value.dtype
                and self._seen.shape == value.shape and self._seen.tobytes() == value.tobytes())
        if not same or self._buffer is None:
            self._buffer, self._seen = upload(self._chip, value, variable.name), value
        self._touched = False

    def put(self, buffer: PjrtBuffer) -> None:
        """Take over a value that a program has left on the chip."""
        with self._lock:
            self._buffer, self._behind, self._touched = buffer, True, False

    def sync(self) -> None:
        """Bring the host up to date."""
        with self._lock:
            variable = self._variable()
            if not self._behind or variable is None:
                return
            assert self._buffer is not None
            with errors():
                value = self._buffer.read()
            value = value.astype(variable.dtype.as_numpy_dtype)
            with tf.init_scope(), tf.device(bare_handle(variable).device):
                gen_resource_variable_ops.assign_variable_op(
                    bare_handle(variable), tf.constant(value))
            self._behind, self._seen = False, value
            VariableCell.copies += 1

    def looked_at(self) -> None:
        """Be ready for somebody who reads the host's value or writes it."""
        self.sync()
        self._touched = True


def cell_of(variable: Any, chip: PjrtChip) -> VariableCell:
    """Return the cell of a variable of TensorFlow, not one of several replicas."""
    found = getattr(variable, _CELL, None)
    if found is None:
        found = VariableCell(variable, chip)
        setattr(variable, _CELL, found)
        _CELLS[bare_handle(variable)._id] = found
    return found


def _graphs() -> Iterator[Any]:
    """Yield the functions under construction, the innermost first."""
    graph: Any = ops.get_default_graph()
    while hasattr(graph, "capture"):
        yield graph
        graph = graph.outer_graph


def _looked_at(graph: Any) -> set[int]:
    if not hasattr(graph, _LOOKED_AT):
        setattr(graph, _LOOKED_AT, set())
    return getattr(graph, _LOOKED_AT)


def note_run() -> None:
    """Note that the functions under construction run programs."""
    for graph in _graphs():
        setattr(graph, _RUNS, True)


def sync() -> None:
    """Bring the variables up to date on the host that the functions which run now look at.

    Nobody in them asks for a value: after each program those are brought.
    """
    for handles in tuple(_RUNNING):
        _sync(handles)


def _sync(handles: Iterable[int]) -> None:
    for number in tuple(handles):
        if cell := _CELLS.get(number):
            cell.looked_at()


def _get_handle(self: Any) -> Any:
    handle = self.__dict__.get("_handle", self)
    if handle is self:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute '_handle'")
    if context.executing_eagerly():
        if _CELLS and (cell := _CELLS.get(handle._id)):
            cell.looked_at()
    elif not _STATE.quiet:
        for graph in _graphs():
            _looked_at(graph).add(handle._id)
    return handle


def _set_handle(self: Any, handle: Any) -> None:
    self.__dict__["_handle"] = handle


def _resources(captured: Iterable[Any]) -> Iterator[int]:
    """Yield the numbers of the handles of variables among what a function has captured."""
    for handle in captured:
        if handle.dtype is tf.resource and isinstance(handle, ops.EagerTensor):
            yield handle._id


@contextmanager
def _looking(graph: Any, captured: Iterable[Any]) -> Iterator[None]:
    """Take note that a function is called, with what it has captured."""
    runs = getattr(graph, _RUNS, False)
    looked_at = _looked_at(graph) if runs else set(_resources(captured))
    if not context.executing_eagerly():
        if runs:
            note_run()
        if not _STATE.quiet:
            for outer in _graphs():
                _looked_at(outer).update(looked_at)
        with quietly():  # TensorFlow looks at all variables of a function that is called
            yield
        return
    _sync(looked_at)
    if not runs:
        yield
        return
    _RUNNING.append(looked_at)
    try:
        yield
    finally:
        _RUNNING.remove(looked_at)


def watch() -> None:
    """Watch over whoever looks at variables; once."""
    variable = resource_variable_ops.BaseResourceVariable
    if hasattr(variable, "_handle"):
        return
    variable._handle = property(_get_handle, _set_handle)
    # Who asks where it is does not look at its value.
    variable.device = property(lambda self: bare_handle(self).device)
    call = concrete_function.ConcreteFunction._call_flat

    def _call_flat(self: Any, tensor_inputs: Any, captured_inputs: Any) -> Any:
        with first_hand(), _looking(self.graph, captured_inputs):
            return call(self, tensor_inputs, captured_inputs)

    concrete_function.ConcreteFunction._call_flat = _call_flat
    make = concrete_function.ConcreteFunction.from_func_graph

    def from_func_graph(graph: Any, function_type: Any, attrs: Any, *args: Any, **kwargs: Any
                        ) -> Any:
        # What runs programs is no program of the host's XLA, whatever `jit_compile` says.
        if getattr(graph, _RUNS, False):
            attrs = {name: value for name, value in attrs.items()
                     if name != attributes.XLA_COMPILE}
        return make(graph, function_type, attrs, *args, **kwargs)

    concrete_function.ConcreteFunction.from_func_graph = from_func_graph
