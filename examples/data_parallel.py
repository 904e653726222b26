"""Data-parallel training in JAX: each chip has a part of the batch, gradients are averaged.

CELOSIA_DEVICES=4 JAX_PLATFORMS=celosia python examples/data_parallel.py
"""

import argparse

import digits
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--mnist", metavar="DIR", help="MNIST's four files; else scikit-learn's digits")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--batch", type=int, default=64, help="of all devices together")
parser.add_argument("--limit", type=int, help="use this many images only")
args = parser.parse_args()

(x_train, y_train), (x_test, y_test) = (
    (x[:args.limit].reshape(len(x[:args.limit]), -1), y[:args.limit])
    for x, y in digits.load(args.mnist))
mesh = jax.make_mesh((jax.device_count(),), ("batch",))
everywhere, shared = PartitionSpec(), PartitionSpec("batch")


def logits(p, x):
    """Return the logits of images."""
    return jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]


def loss(p, x, y):
    """Return the mean cross entropy."""
    logp = jax.nn.log_softmax(logits(p, x))
    return -jnp.take_along_axis(logp, y[:, None], axis=1).mean()


def step(p, x, y):
    """Return parameters after a step of SGD and the loss; runs on each device."""
    value, slope = jax.value_and_grad(loss)(p, x, y)
    value, slope = jax.lax.pmean((value, slope), "batch")
    return jax.tree.map(lambda w, g: w - 0.2 * g, p, slope), value


step = jax.jit(jax.shard_map(step, mesh=mesh, in_specs=(everywhere, shared, shared),
                             out_specs=(everywhere, everywhere), check_vma=False))
rng = np.random.default_rng(0)
p = {"w1": rng.normal(0, 0.05, (x_train.shape[1], 128)), "b1": np.zeros(128),
     "w2": rng.normal(0, 0.05, (128, 10)), "b2": np.zeros(10)}
p = jax.device_put(jax.tree.map(np.float32, p), NamedSharding(mesh, everywhere))
print(f"{jax.device_count()} devices, {args.batch // jax.device_count()} images each")

for epoch in range(1, args.epochs + 1):
    order = rng.permutation(len(x_train))
    losses = []
    for start in range(0, len(order) - args.batch + 1, args.batch):
        chosen = order[start:start + args.batch]
        batch = jax.device_put((x_train[chosen], y_train[chosen]), NamedSharding(mesh, shared))
        p, value = step(p, *batch)
        losses.append(value)
    print(f"epoch {epoch}: loss {np.mean(losses):.6f}", flush=True)

one = jax.device_put(jax.tree.map(np.asarray, p), jax.devices()[0])
answers = np.asarray(jax.jit(logits)(one, x_test)).argmax(1)
print(f"test accuracy {(answers == y_test).mean():.2%}")
