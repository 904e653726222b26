"""A PyTorch module through torchax: trained and asked on JAX's device.

JAX_PLATFORMS=celosia python examples/torch_module.py
"""

import argparse

import digits
import jax
import numpy as np
import optax
import torch
import torchax
from torchax import interop

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--mnist", metavar="DIR", help="MNIST's four files; else scikit-learn's digits")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--limit", type=int, help="use this many images only")
args = parser.parse_args()

(x_train, y_train), (x_test, y_test) = (
    (x[:args.limit].reshape(len(x[:args.limit]), -1), y[:args.limit])
    for x, y in digits.load(args.mnist))

torch.manual_seed(0)
module = torch.nn.Sequential(
    torch.nn.Linear(x_train.shape[1], 256),
    torch.nn.GELU(),
    torch.nn.Linear(256, 10),
)
weights, run = torchax.extract_jax(module)  # a pytree of JAX arrays and a function of JAX


def loss(weights, x, y):
    """Return the mean cross entropy, computed by PyTorch's function."""
    torch_loss = interop.jax_view(torch.nn.functional.cross_entropy)
    return torch_loss(run(weights, (x,)), y)


optimizer = optax.adam(1e-3)


@jax.jit
def step(weights, state, x, y):
    """Return weights and state of the optimiser after one step, and the loss before it."""
    value, slope = jax.value_and_grad(loss)(weights, x, y)
    update, state = optimizer.update(slope, state, weights)
    return optax.apply_updates(weights, update), state, value


state = jax.jit(optimizer.init)(weights)
rng = np.random.default_rng(0)
for epoch in range(1, args.epochs + 1):
    order = rng.permutation(len(x_train))
    losses = []
    for start in range(0, len(order) - args.batch + 1, args.batch):
        chosen = order[start:start + args.batch]
        weights, state, value = step(weights, state, x_train[chosen], y_train[chosen])
        losses.append(value)
    print(f"epoch {epoch}: loss {np.mean(jax.device_get(losses)):.4f}", flush=True)

answers = np.asarray(jax.jit(run)(weights, (x_test,))).argmax(1)
print(f"test accuracy {(answers == y_test).mean():.2%}")
