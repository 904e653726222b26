"""Networks that profiles are taken of."""

import jax
import jax.numpy as jnp
import numpy as np

from celosia.arch.config import preset
from celosia.profile import profile

CORE = preset("core")


def dense(batch=128, width=256, weights=jnp.bfloat16, layers=2):
    """Return layers without a bias, and their arguments."""
    def forward(x, *ws):
        for w in ws:
            x = jnp.maximum(jnp.dot(x.astype(w.dtype), w, preferred_element_type=jnp.float32), 0)
        return x
    return forward, [np.zeros((batch, width), np.float32),
                     *(np.zeros((width, width), weights) for _ in range(layers))]


def text(function, arguments):
    """Return a function of JAX as StableHLO, with its lines."""
    return jax.jit(function).lower(*arguments).as_text(debug_info=True)


def profiled(function, arguments, config=CORE, timing=None):
    return profile(text(function, arguments), config, timing=timing, name="net",
                   filename="net.mlir")
