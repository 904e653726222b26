"""A ``model_fn`` of TensorFlow 1 as a step of replicas: its variables live between calls."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportAttributeAccessIssue=false

from __future__ import annotations

import collections
import contextlib
import inspect
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import wrap_function
from tensorflow.python.framework import func_graph, ops
from tensorflow.python.tpu import tpu_function

from celosia.tensorflow.cores import errors
from celosia.tensorflow.programs import CallArguments, Replicated

__all__ = ["ModelFunction", "accepted"]

#: Of Keras: how many objects have each name.
_COUNTS = "object_name_uids"


def accepted(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of some values that a function has parameters for."""
    parameters = inspect.signature(function).parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return dict(values)
    names = {each.name for each in parameters}
    return {name: value for name, value in values.items() if name in names}


class ModelFunction:
    """What a ``model_fn`` builds, as programs; and its variables, which all of them share.

    Parameters
    ----------
    called
        Given features, labels and a mode, returns a TPUEstimatorSpec.
    name
        What it is called.
    strategy
        Whose replicas run it; None: the host, alone.

    Attributes
    ----------
    variables
        By their names, as the first replica has them.
    initial
        Values that variables get when they are made, by name, in place of their own.
    """

    def __init__(self, called: Callable[..., Any], name: str, strategy: Any):
        self.variables: dict[str, Any] = {}
        self.initial: Mapping[str, Any] = {}
        self._called, self._name, self._strategy = called, name, strategy
        self.replicas = strategy.num_replicas_in_sync if strategy else 1
        self._steps: dict[str, Replicated] = {}
        self._made: dict[str, int] = {}
        self._graph: Any = None  # under construction
        self._copies: dict[str, Any] = {}
        self._containers: list[Any] = []  # their parts know them weakly
        #: What a mode gives beside tensors: functions of TPUEstimatorSpec.
        self.specs: dict[str, Any] = {}

    def run(self, mode: str, features: Any, labels: Any) -> list[Any]:
        """Run on a batch, which is cut into equal parts; return what each replica gives.

        Raises
        ------
        ValueError
            If the batch cannot be cut.
        """
        rows = {len(each) for each in tf.nest.flatten((features, labels)) if each is not None}
        if len(rows) != 1 or (size := rows.pop()) % self.replicas:
            raise ValueError(f"a batch must have a multiple of {self.replicas} rows, one part for "
                             f"each replica, not {size if not rows else sorted(rows)}: let the "
                             f"data set drop the remainder")
        part = size // self.replicas
        calls = [CallArguments(tf.nest.map_structure(
            lambda each, i=i: None if each is None else each[i * part:(i + 1) * part],
            (features, labels)), {}) for i in range(self.replicas)]
        step = self._steps.get(mode)
        if step is None:
            step = self._steps[mode] = Replicated(
                lambda shapes, number, *given: self._traced(mode, *given), self._name,
                self.replicas)
        with tf.variable_creator_scope(self._variable):
            traced = step.trace(calls)
        if self._strategy is None:
            return [traced[0](tf.constant(0), *calls[0].tensors)]
        with errors():
            results = step.run(traced, [each.tensors for each in calls], [()] * len(traced))
        return [tf.nest.pack_sequence_as(traced[0].structured_outputs, each) for each in results]

    def _traced(self, mode: str, features: Any, labels: Any) -> Any:
        def body(*given: Any) -> Any:
            features, labels = tf.nest.pack_sequence_as(whole, given)
            self._graph = ops.get_default_graph()
            tf.compat.v1.train.get_or_create_global_step()
            with tpu_function.tpu_shard_context(self.replicas), _fresh_names():
                spec = self._called(features, labels, mode)
            self.specs[mode] = spec
            if mode == "infer":
                return spec.predictions
            if mode == "train":
                with tf.control_dependencies([spec.train_op]):
                    return tf.identity(spec.loss), ()
            return spec.loss, spec.eval_metrics[1] if spec.eval_metrics else ()

        whole = features, labels
        self._made.clear()
        # A graph of what something asks for, as in a session: evaluation trains nothing.
        graph = func_graph.func_graph_from_py_func(
            self._name, body, tf.nest.flatten(whole), {}, collections={},
            add_control_dependencies=False)
        wrapped = wrap_function.WrappedFunction(graph, wrap_function.VariableHolder())
        own = graph.inputs[:len(graph.inputs) - len(graph.captures)]
        function = wrapped.prune(own, graph.structured_outputs)
        for variable in self.variables.values():  # those of optimizers are used by their handles
            ops.get_default_graph().watch_variable(variable)
        tensors = [each for each in tf.nest.flatten(whole) if each is not None]
        return function._call_flat(tensors, function.captured_inputs)

    def _variable(self, make: Callable[..., Any], **kwargs: Any) -> Any:
        """Return a variable of the function; a new one if it has none of that name yet."""
        with tf.name_scope(kwargs.get("name") or "Variable") as scope:
            name = scope.rstrip("/")
        count = self._made[name] = self._made.get(name, -1) + 1
        name = f"{name}_{count}" if count else name
        if name not in self.variables:
            self.variables[name] = self._make(name, kwargs)
        variable = self.variables[name]
        keys = list(kwargs.get("collections") or [tf.compat.v1.GraphKeys.GLOBAL_VARIABLES])
        if variable.trainable:
            keys.append(tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES)
        # Layers of Keras make theirs outside of the graph.
        self._graph.add_to_collections(dict.fromkeys(keys), variable)
        return variable

    def _make(self, name: str, kwargs: Mapping[str, Any]) -> Any:
        initial: Any = kwargs.get("initial_value")
        if tf.is_tensor(initial) and not isinstance(initial, ops.EagerTensor):
            initial = _evaluated(initial)
        trainable = kwargs.get("trainable")
        with tf.init_scope(), _without_creators():
            value: Any = initial() if callable(initial) else initial
            dtype = kwargs.get("dtype") or tf.convert_to_tensor(value).dtype
            if name in self.initial:
                value = self.initial[name]
            scope = self._strategy.scope() if self._strategy else contextlib.nullcontext()
            with scope, ops.name_scope(None, skip_on_eager=False):
                made = tf.Variable(value, trainable=trainable is None or trainable, name=name,
                                   dtype=dtype)
        self._copies[name] = getattr(made, "_values", [made])
        self._containers.append(made)
        first = self._copies[name][0]
        first.get = weakref.ref(first)  # optimizers ask a copy for that of their replica
        return first

    def assign(self, values: Mapping[str, Any]) -> None:
        """Give variables that there are other values, by name, on all replicas."""
        for name in self._copies.keys() & values.keys():
            for copy in self._copies[name]:
                copy.assign(values[name])


@contextlib.contextmanager
def _fresh_names() -> Iterator[None]:
    """Have Keras name layers as if they were the first, so that variables are found by name."""
    from keras.src.backend.common import global_state
    kept = global_state.get_global_attribute(_COUNTS)
    global_state.set_global_attribute(_COUNTS, collections.defaultdict(int))
    try:
        yield
    finally:
        global_state.set_global_attribute(_COUNTS, kept)


@contextlib.contextmanager
def _without_creators() -> Iterator[None]:
    graph = ops.get_default_graph()
    kept = graph._variable_creator_stack
    graph._variable_creator_stack = []
    try:
        yield
    finally:
        graph._variable_creator_stack = kept


def _evaluated(tensor: Any) -> np.ndarray:
    """Return the value of a tensor of a graph under construction that depends on no input."""
    definition = tensor.graph.as_graph_def()
    with tf.Graph().as_default() as graph:
        [found] = tf.import_graph_def(definition, return_elements=[tensor.name], name="")
        with tf.compat.v1.Session(graph=graph) as session:
            return session.run(found)

