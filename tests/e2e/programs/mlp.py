"""A network of dense layers."""

import jax

from e2e.programs.layers import Random, cross_entropy, dropout

#: Widths of the layers, inputs first, and rows of a batch.
SIZES = {"small": ((20, 24, 18, 5), 12), "bench": ((784, 512, 10), 128)}


def make(size, seed=1):
    """Return parameters and a batch."""
    (widths, rows), random = SIZES[size], Random(seed)
    params = [(random.normal(k, n, scale=(2 / k) ** 0.5), random.normal(n, scale=0.1))
              for k, n in zip(widths, widths[1:], strict=False)]
    batch = (random.normal(rows, widths[0], scale=1), random.labels(rows, classes=widths[-1]))
    return params, batch, random.key()


def forward(params, x, key=None):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
        if key is not None:
            x = dropout(x, key, 0.25)
    w, b = params[-1]
    return x @ w + b


def loss(params, x, labels, key=None):
    return cross_entropy(forward(params, x, key), labels, "one-hot")
