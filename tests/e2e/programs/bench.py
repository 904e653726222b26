"""The programs of ``celosia bench compiled``, in JAX; scripts/bench-programs writes them down."""

import io

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from e2e.programs import gpt, mlp
from e2e.programs.cases import PROGRAMS
from e2e.programs.cnn import conv
from e2e.programs.layers import Random
from e2e.programs.optimizers import adam, past


def dense():
    """Inference of four layers of 512."""
    random = Random(5)
    params = [(random.normal(512, 512), random.normal(512)) for _ in range(4)]
    return mlp.forward, (params, random.normal(256, 512, scale=1))


def convolution():
    """One convolution of 3x3 with 64 channels, bias and ReLU."""
    def layer(x, w, bias):
        return jax.nn.relu(conv(x, w) + bias)

    random = Random(6)
    return layer, (random.normal(4, 28, 28, 64, scale=1), random.normal(3, 3, 64, 64),
                   random.normal(64))


def int8():
    """Inference of three dense layers of int8, a scale for each column."""
    def network(layers, x):
        for w, scale in layers:
            sums = lax.dot(x, w, preferred_element_type=jnp.int32)
            x = jnp.clip(jnp.round(sums.astype(jnp.float32) * scale), -128, 127).astype(jnp.int8)
        return x

    rng = np.random.default_rng(7)
    layers = [(rng.integers(-128, 128, (512, 512), np.int8),
               rng.uniform(1e-4, 1e-3, 512).astype(np.float32)) for _ in range(3)]
    return network, (layers, rng.integers(-128, 128, (256, 512), np.int8))


def training():
    """A step of Adam of a GPT of four layers."""
    params, batch = gpt.make("bench")
    return adam(gpt.loss), (params, past(adam, params), *batch)


#: By the name of the row, and of the file.
ROWS = {
    "mlp-adam": lambda: PROGRAMS["mlp adam f32"].make("bench"),
    "mlp-forward": dense,
    "convolution": convolution,
    "transformer-sgd": lambda: PROGRAMS["transformer sgd f32"].make("bench"),
    "lstm-sgd": lambda: PROGRAMS["lstm sgd f32"].make("bench"),
    "int8-forward": int8,
    "gpt-adam": training,
}


def text_of(name):
    """Return a row's program as StableHLO: without locations, which would name this machine."""
    function, args = ROWS[name]()
    lowered = jax.jit(function, keep_unused=True).lower(*args)
    text = io.StringIO()
    lowered.compiler_ir("stablehlo").operation.print(file=text, large_elements_limit=None,
                                                     enable_debug_info=False)
    return text.getvalue().rstrip() + "\n"
