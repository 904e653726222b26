"""The programs: every model, forward and in training, in float32 and in mixed precision."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from e2e.programs import cnn, lstm, mlp, transformer
from e2e.programs.layers import narrow
from e2e.programs.optimizers import adam, past, sgd

MODELS = {"mlp": mlp, "cnn": cnn, "lstm": lstm, "transformer": transformer}
OPTIMIZERS = {"sgd": sgd, "adam": adam}


@dataclass(frozen=True)
class Tolerance:
    """How far a result may be from what it must be, as a share of its norm.

    Attributes
    ----------
    graph
        From the interpreter of the graph, by size.
    jax
        From JAX on the CPU, under the same rules.
    """

    graph: dict[str, float]
    jax: float


#: In float32 all operands of products are rounded to bf16, on all sides, and products are exact.
#: Functions of the chip are off by up to 2 ULP and sums are made in another order (1e-7 of the
#: whole); where that takes a value across the middle between two bf16, it is rounded the other
#: way, and one operand of a later product is 2**-8 off. Among the few hundred operands of the
#: small programs there is such a one at times, among the many of the large ones there always are.
_F32 = Tolerance({"small": 1e-3, "bench": 1e-3}, 1e-3)
#: What goes through an attention or a scan is rounded and multiplied again and again.
_DEEP = Tolerance({"small": 1e-3, "bench": 5e-3}, 1e-3)
#: In mixed precision all that is between two operations is rounded to bf16: a flip moves not one
#: product but every result that hangs on it. JAX, unlike the graph, rounds each partial sum of
#: gradients in bf16, of which some have as many terms as the batch has rows.
_MIXED = Tolerance({"small": 5e-3, "bench": 2e-2}, 2e-2)


def tolerance(model, mixed):
    """Return the tolerance of the programs of a model."""
    if mixed:
        return _MIXED
    return _DEEP if model in ("lstm", "transformer") else _F32


@dataclass(frozen=True)
class Program:
    """A function of JAX with arguments: model, what is done with it, and precision.

    Attributes
    ----------
    name
        Such as "mlp adam bf16".
    make
        Returns function and arguments for a size, "small" or "bench".
    tolerance
        How exact it must be.
    """

    name: str
    model: str
    mixed: bool
    tolerance: Tolerance
    make: Callable[[str], tuple[Callable[..., Any], tuple[Any, ...]]]


def _program(model, what, mixed, options):
    module = MODELS[model]

    def make(size):
        params, batch, key = module.make(size)
        keywords = dict(options)
        if keywords.pop("dropout", False):
            batch = (*batch, key)
        inner = module.forward if what == "forward" else module.loss
        inner = functools.partial(inner, **keywords)
        if what == "forward" and len(batch) > 1:
            batch = (batch[0], *batch[2:])

        def called(params, *batch):
            if mixed:
                params, batch = narrow(params), narrow(batch)
            found = inner(params, *batch)
            return found.astype(jnp.float32) if mixed else found

        if what == "forward":
            return called, (params, *batch)
        optimizer = OPTIMIZERS[what]
        return optimizer(called), (params, past(optimizer, params), *batch)

    words = [model, what, "bf16" if mixed else "f32", *map(_word, options.items())]
    return Program(" ".join(words), model, mixed, tolerance(model, mixed), make)


def _word(option):
    name, value = option
    return name if value is True else f"{name}={value}"


def _programs():
    for model in MODELS:
        for what in ("forward", *OPTIMIZERS):
            for mixed in (False, True):
                yield _program(model, what, mixed, {})
    for optimizer in OPTIMIZERS:
        yield _program("mlp", optimizer, False, {"dropout": True})
        yield _program("transformer", optimizer, True, {"dropout": True})
    yield _program("transformer", "sgd", False, {"dropout": True})
    # The exact gelu, and the label's element as a product with a one-hot row.
    yield _program("transformer", "sgd", False, {"approximate": False, "form": "one-hot"})


#: By name.
PROGRAMS = {each.name: each for each in _programs()}
