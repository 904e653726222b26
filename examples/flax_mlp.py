"""Flax and optax: a network with batch normalisation, trained by AdamW.

JAX_PLATFORMS=celosia python examples/flax_mlp.py [--mnist DIR]
"""

import argparse

import digits
import jax
import numpy as np
import optax
from flax import nnx

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--mnist", metavar="DIR", help="MNIST's four files; else scikit-learn's digits")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--limit", type=int, help="use this many images only")
args = parser.parse_args()

(x_train, y_train), (x_test, y_test) = (
    (x[:args.limit].reshape(len(x[:args.limit]), -1), y[:args.limit])
    for x, y in digits.load(args.mnist))


class Network(nnx.Module):
    """Two dense layers with batch normalisation between them."""

    def __init__(self, pixels, rngs):
        self.first = nnx.Linear(pixels, 256, use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(256, rngs=rngs)
        self.last = nnx.Linear(256, 10, rngs=rngs)

    def __call__(self, x):
        """Return the logits of images."""
        return self.last(nnx.silu(self.norm(self.first(x))))


def loss(model, x, y):
    """Return the mean cross entropy."""
    return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()


@nnx.jit
def step(model, optimizer, x, y):
    """Train on one batch; return the loss."""
    value, slope = nnx.value_and_grad(loss)(model, x, y)
    optimizer.update(model, slope)
    return value


model = Network(x_train.shape[1], nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adamw(3e-3), wrt=nnx.Param)
rng = np.random.default_rng(0)
for epoch in range(1, args.epochs + 1):
    order = rng.permutation(len(x_train))
    losses = []
    for start in range(0, len(order) - args.batch + 1, args.batch):
        chosen = order[start:start + args.batch]
        losses.append(step(model, optimizer, x_train[chosen], y_train[chosen]))
    print(f"epoch {epoch}: loss {np.mean(jax.device_get(losses)):.4f}", flush=True)

model.eval()
answers = np.asarray(nnx.jit(lambda model, x: model(x))(model, x_test)).argmax(1)
print(f"test accuracy {(answers == y_test).mean():.2%}")
