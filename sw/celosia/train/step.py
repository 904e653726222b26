"""A training step as a graph, and compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from celosia.arch.config import TpuConfig
from celosia.compiled import Compiled
from celosia.compiler.api import compile
from celosia.compiler.builder import Builder
from celosia.graph import DType, Graph, Source, TensorType, Value, parameter
from celosia.train.network import Adam, Classifier
from celosia.train.shares import OTHERS, WeightShares

__all__ = ["step_graph", "training_step", "weights_graph"]


def _dot(make: Builder, a: Value, b: Value, *contract: int) -> Value:
    """Return the product over a dimension of each, of operands in bf16."""
    a, b = (make.convert(value, DType.BF16) for value in (a, b))
    return make("dot", a, b, dtype=DType.F32, contract=[contract])


def _join(make: Builder, x: Value, reducer: str, dim: int) -> Value:
    return make("reduce", x, make.neutral(reducer, x.dtype), dims=[dim], reducer=reducer)


def _layer(make: Builder, x: Value, weights: Value, bias: Value) -> Value:
    sums = _dot(make, x, weights, 1, 1)
    return make("add", sums, make.broadcast(bias, sums.shape, (1,)))


def _loss(make: Builder, scores: Value, labels: Value, chips: int) -> tuple[Value, Value]:
    """Return the rows' part in the mean softmax cross entropy of all chips' batches, and its
    gradient by the scores.
    """
    def column(value: Value) -> Value:
        return make.broadcast(value, scores.shape, (0,))

    batch = scores.shape[0] * chips
    shifted = make("subtract", scores, column(_join(make, scores, "maximum", 1)))
    power = make("exp", shifted)
    total = _join(make, power, "add", 1)
    hot = make.compare("eq", make.iota(scores.shape, 1), column(labels))
    zero, mean = (make.full(value, scores.type) for value in (0, 1 / batch))
    chosen = _join(make, make("select", hot, shifted, zero), "add", 1)
    loss = make("subtract", *(_join(make, each, "add", 0) for each in (
        make("log", total), chosen)))
    share = make("divide", power, column(make("multiply", total, batch)))
    return (make("multiply", loss, 1 / batch),
            make("subtract", share, make("select", hot, mean, zero)))


def _optimiser(make: Builder, adam: Adam, rate: Value, old: Mapping[str, Value],
               slopes: Mapping[str, Value]) -> dict[str, Value]:
    """Return the new state of what there are gradients of."""
    betas = np.array([adam.beta1, adam.beta2])
    # 1 - beta**t of both, from those of the step before.
    correction = make("add", make("multiply", old["correction"], make.constant(betas, DType.F32)),
                      make.constant(1 - betas, DType.F32))
    first, second = (make.reshape(make.part(correction, 0, i, i + 1)) for i in range(2))
    root = make("sqrt", second)
    scale = make("divide", make("multiply", rate, root), first)
    epsilon = make("multiply", root, adam.epsilon)
    new: dict[str, Value] = {}
    for name, slope in slopes.items():
        def moment(which: str, value: Value, beta: float, name: str = name) -> Value:
            kept = make("multiply", old[f"{name}.{which}"], beta)
            found = new[f"{name}.{which}"] = make("add", kept, make("multiply", value, 1 - beta))
            return found

        mean = moment("mean", slope, adam.beta1)
        square = moment("square", make("multiply", slope, slope), adam.beta2)
        down = make("add", make("sqrt", square), make.like(epsilon, square.type))
        change = make("divide", make("multiply", make.like(scale, mean.type), mean), down)
        new[name] = make("subtract", old[name], change)
    new["correction"] = correction
    return new


def _longer(make: Builder, values: Sequence[Value], size: int, *last: Value) -> Value:
    """Return values behind one another, then zeros, then the last ones, ``size`` in all."""
    missing = size - sum(value.shape[0] for value in (*values, *last))
    zeros = make.full(0, TensorType(DType.F32, (missing, *values[0].shape[1:])))
    return make.concatenate([*values, *([zeros] if missing else []), *last], 0)


def _exchanged(shares: WeightShares, adam: Adam, rate: Value, old: Mapping[str, Value], loss: Value,
               slopes: Mapping[str, Value]) -> tuple[Value, dict[str, Value]]:
    """Return the loss of all chips and the new state, of which each chip makes its share.

    ``slopes``: by blocks of the first layer (`WeightShares.names`), and by the other parameters.
    """
    make = Builder(Source(name="exchange"))
    group = (tuple(range(shares.chips)),)
    flat = [make.reshape(slopes[name], stop - start)
            for name, (start, stop) in shares.parts.items()]
    given = {name: _longer(make, [slopes[name]], rows * shares.chips)
             for name, rows in zip(shares.names, shares.rows, strict=True)}
    given[OTHERS] = _longer(make, flat, shares.others, make.reshape(loss, 1))
    own = {name: make("reduce_scatter", value, groups=group, reducer="add", dim=0)
           for name, value in given.items()}
    new = _optimiser(Builder(Source(name="optimiser")), adam, rate, old, own)
    # The loss goes with the gradients, as the last of them; its sum comes back beside the others'
    # new values.
    chips, each = shares.chips, shares.others // shares.chips
    mine = make.concatenate([new[OTHERS], make.part(own[OTHERS], 0, each - 1, each)], 0)
    both = make.reshape(make("all_gather", mine, groups=group, dim=0), chips, each + 1)
    others = make.reshape(make.part(both, 1, 0, each), shares.others)
    for name, (start, stop) in shares.parts.items():
        new[name] = make.reshape(make.part(others, 0, start, stop), *shares.net.shapes[name])
    new |= {short: make.convert(new[name], DType.BF16)
            for short, name in zip(shares.rounded, shares.names, strict=True)}
    return make.reshape(make.slice(both, (chips - 1, each), (chips, each + 1))), new


def _weights(shares: WeightShares, own: Sequence[Value]) -> list[Value]:
    """Return the first layer's weights, a value for each block, of a chip's shares."""
    make = Builder(Source(name="weights"))
    group = (tuple(range(shares.chips)),)
    return [make.part(make("all_gather", each, groups=group, dim=0), 0, 0, stop - start)
            for each, (start, stop) in zip(own, shares.blocks, strict=True)]


def weights_graph(shares: WeightShares) -> Graph:
    """Return the graph that gathers the first layer's weights of all chips' shares."""
    own = [parameter(TensorType(DType.F32, shares.state[name]), name) for name in shares.names]
    return Graph(f"weights of {shares.net}", own, _weights(shares, own))


def step_graph(net: Classifier, adam: Adam, chips: int = 1) -> Graph:
    """Return a step as a graph; parameters and results as of `training_step`."""
    def given(name: str, dtype: DType, *shape: int, donated: bool = False) -> Value:
        return parameter(TensorType(dtype, shape), name, donated=donated)

    shares = WeightShares(net, chips)
    x = given("x", DType.BF16, net.batch, net.inputs)
    labels = given("labels", DType.I32, net.batch)
    rate = given("rate", DType.F32)
    old = {name: given(name, DType.BF16 if name in shares.rounded else DType.F32, *shape,
                       donated=True) for name, shape in shares.state.items()}

    make = Builder(Source(name="forward"))
    first = (_weights(shares, [old[name] for name in shares.rounded]) if shares.shared
             else [old["w1"]])
    second = [make.part(make.convert(old["w2"], DType.BF16), 1, *each) for each in shares.blocks]
    sums = [_layer(make, x, weights, make.part(old["b1"], 0, *each))
            for weights, each in zip(first, shares.blocks, strict=True)]
    hidden = [make.convert(make("maximum", each, 0), DType.BF16) for each in sums]
    scores = make.broadcast(old["b2"], (net.batch, net.classes), (1,))
    for each, weights in zip(hidden, second, strict=True):
        scores = make("add", scores, _dot(make, each, weights, 1, 1))
    loss, error = _loss(Builder(Source(name="loss")), scores, labels, chips)

    make = Builder(Source(name="backward"))
    back = [make("select", make.compare("gt", each, 0), _dot(make, error, weights, 1, 0),
                 make.full(0, each.type)) for each, weights in zip(sums, second, strict=True)]
    slopes = dict(zip(shares.names if shares.shared else ["w1"],
                      [_dot(make, each, x, 0, 0) for each in back], strict=True))
    slopes |= {"b1": make.concatenate([_join(make, each, "add", 0) for each in back], 0),
               "w2": make.concatenate([_dot(make, error, each, 0, 0) for each in hidden], 1),
               "b2": _join(make, error, "add", 0)}

    if shares.shared:
        loss, new = _exchanged(shares, adam, rate, old, loss, slopes)
    else:
        new = _optimiser(Builder(Source(name="optimiser")), adam, rate, old, slopes)
    return Graph(f"training {net} batch {net.batch}", (x, labels, rate, *old.values()),
                 (loss, *(new[name] for name in old)))


def training_step(config: TpuConfig, net: Classifier, adam: Adam | None = None,
                  chips: int = 1) -> Compiled:
    """Return one step of training, compiled.

    Forward, softmax cross entropy, backward and Adam: operands of the array are bf16, sums, loss
    and optimiser fp32; weights are fp32 in memory and rounded to bf16 where they are loaded for
    the array. The gradients of one step are computed from its bf16 operands.

    Parameters
    ----------
    config
        The chip; it must have bf16.
    net
        The sizes.
    adam
        Its constants; None: those of the paper.
    chips
        That train together, each with a batch of its own: losses and gradients are those of all
        their rows, and the state is that of `WeightShares`.

    Returns
    -------
    Compiled
        It takes ``x`` (batch, inputs) in bfloat16, ``labels`` (batch,) in int32, each from 0 to
        classes - 1, ``rate``, a float32, and the state (`Classifier.state`) in float32: the
        parameters, their moments, ``NAME.mean`` and ``NAME.square``, and ``correction``, all of
        these zero at first. It gives the mean loss of the batch before the update and the new
        state, which takes the place of the old one.

    Raises
    ------
    ValueError
        If the chip lacks bf16, or the step does not fit its memories (a CompileError).
    """
    if not config.bf16:
        raise ValueError(f"chip must have bf16 to train, {config.name} has "
                         f"{' and '.join(config.formats)} only")
    graph = step_graph(net, Adam() if adam is None else adam, chips)
    return compile(graph, config, strict=chips == 1)
