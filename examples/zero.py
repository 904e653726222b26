"""ZeRO-1 in JAX: each chip has all weights, and a share of the optimiser.

The gradients of all chips are joined where the share of each is (`psum_scatter`), Adam works on
that share alone, and the new weights are gathered.

CELOSIA_DEVICES=4 CELOSIA_TOPOLOGY=2x2 JAX_PLATFORMS=celosia python examples/zero.py
"""

import argparse
import functools

import digits
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--mnist", metavar="DIR", help="MNIST's four files; else scikit-learn's digits")
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--batch", type=int, default=64, help="of all devices together")
parser.add_argument("--hidden", type=int, default=128, help="outputs of the first layer")
parser.add_argument("--limit", type=int, help="use this many images only")
args = parser.parse_args()

(x_train, y_train), (x_test, y_test) = (
    (x[:args.limit].reshape(len(x[:args.limit]), -1), y[:args.limit])
    for x, y in digits.load(args.mnist))
devices = jax.device_count()
mesh = jax.make_mesh((devices,), ("chips",))
SHAPES = {"w1": (x_train.shape[1], args.hidden), "b1": (args.hidden,),
          "w2": (args.hidden, 10), "b2": (10,)}
SIZES = {name: int(np.prod(shape)) for name, shape in SHAPES.items()}
#: Elements of all weights one after another, and of what makes that a multiple of the devices.
TOTAL = -(-sum(SIZES.values()) // (16 * devices)) * 16 * devices


def unpacked(flat):
    """Return the weights that stand one after another."""
    found, at = {}, 0
    for name, size in SIZES.items():
        found[name] = flat[at:at + size].reshape(SHAPES[name])
        at += size
    return found


def logits(flat, x):
    """Return the logits of images."""
    p = unpacked(flat)
    return jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]


def loss(flat, x, y):
    """Return the cross entropy, the part of it that this device has of the whole batch."""
    logp = jax.nn.log_softmax(logits(flat, x))
    return -jnp.take_along_axis(logp, y[:, None], axis=1).mean() / devices


def adam(w, mean, square, slope, turn):
    """Return weights and moments after a step of Adam."""
    mean = 0.9 * mean + 0.1 * slope
    square = 0.999 * square + 0.001 * slope * slope
    rate = 0.004 * jnp.sqrt(1 - 0.999 ** turn) / (1 - 0.9 ** turn)
    return w - rate * mean / (jnp.sqrt(square) + 1e-8), mean, square


@functools.partial(jax.jit, donate_argnums=(0, 1, 2, 3))
@functools.partial(jax.shard_map, mesh=mesh, check_vma=False,
                   in_specs=(P(), P("chips"), P("chips"), P("chips"), P(), P("chips"), P("chips")),
                   out_specs=(P(), P("chips"), P("chips"), P("chips"), P()))
def step(flat, share, mean, square, turn, x, y):
    """Return all weights, this device's share of them and of the moments, and the loss."""
    value, slope = jax.value_and_grad(loss)(flat, x, y)
    slope = jax.lax.psum_scatter(slope, "chips", tiled=True)
    share, mean, square = adam(share, mean, square, slope, turn)
    values = jax.lax.all_gather(value, "chips")
    return jax.lax.all_gather(share, "chips", tiled=True), share, mean, square, values.sum()


rng = np.random.default_rng(0)
first = np.zeros(TOTAL, np.float32)
first[:SIZES["w1"]] = rng.normal(0, 0.05, SIZES["w1"])
start = SIZES["w1"] + SIZES["b1"]
first[start:start + SIZES["w2"]] = rng.normal(0, 0.05, SIZES["w2"])
everywhere, shared = NamedSharding(mesh, P()), NamedSharding(mesh, P("chips"))
state = [jax.device_put(first, everywhere), *(
    jax.device_put(each, shared) for each in (first, np.zeros_like(first), np.zeros_like(first)))]
print(f"{devices} devices, each with {TOTAL // devices} of {TOTAL} weights to update")

turn = 0
for epoch in range(1, args.epochs + 1):
    order = rng.permutation(len(x_train))
    losses = []
    for at in range(0, len(order) - args.batch + 1, args.batch):
        chosen = order[at:at + args.batch]
        batch = jax.device_put((x_train[chosen], y_train[chosen]), shared)
        turn += 1
        *state, value = step(*state, np.float32(turn), *batch)
        losses.append(value)
    print(f"epoch {epoch}: loss {np.mean(losses):.6f}", flush=True)

one = jax.device_put(np.asarray(state[0]), jax.devices()[0])
answers = np.asarray(jax.jit(logits)(one, x_test)).argmax(1)
print(f"test accuracy {(answers == y_test).mean():.2%}")
