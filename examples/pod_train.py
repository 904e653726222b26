"""Training on the chips of one process or of several, which goes on where it was ended.

Each chip has all weights, a part of the batch and a share of Adam (see zero.py). After every few
steps process 0 writes a file; all go on from the last one, with the numbers of a run that nobody
has ended.

CELOSIA_DEVICES=2 JAX_PLATFORMS=celosia python examples/pod_train.py --processes 2 --process 0 &
CELOSIA_DEVICES=2 JAX_PLATFORMS=celosia python examples/pod_train.py --processes 2 --process 1
"""

import argparse
import functools
import os
from pathlib import Path

import digits
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--processes", type=int, default=1)
parser.add_argument("--process", type=int, default=0, help="which one this is")
parser.add_argument("--coordinator", default="127.0.0.1:8476", help="where process 0 is")
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--batch", type=int, default=64, help="of all devices together")
parser.add_argument("--keep", type=Path, help="a folder for the state, which process 0 writes")
parser.add_argument("--every", type=int, default=5, help="steps from one file to the next")
args = parser.parse_args()
if args.processes > 1:
    jax.distributed.initialize(args.coordinator, args.processes, args.process)

(x_train, y_train), (x_test, y_test) = (
    (x.reshape(len(x), -1), y) for x, y in digits.load(None))
devices, first = jax.device_count(), jax.process_index() == 0
mesh = jax.make_mesh((devices,), ("chips",))
everywhere, shared = NamedSharding(mesh, P()), NamedSharding(mesh, P("chips"))
SHAPES = ((x_train.shape[1], 128), (128,), (128, 10), (10,))
SIZES = [int(np.prod(shape)) for shape in SHAPES]
#: Elements of all weights one after another, and of what makes that a multiple of the devices.
TOTAL = -(-sum(SIZES) // (16 * devices)) * 16 * devices


def logits(flat, x):
    """Return the logits of images; the weights stand one after another."""
    parts = jnp.split(flat, np.cumsum(SIZES))
    w1, b1, w2, b2 = (part.reshape(shape) for part, shape in zip(parts, SHAPES, strict=False))
    return jax.nn.relu(x @ w1 + b1) @ w2 + b2


def loss(flat, x, y):
    """Return the cross entropy, the part of it that this device has of the whole batch."""
    logp = jax.nn.log_softmax(logits(flat, x))
    return -jnp.take_along_axis(logp, y[:, None], axis=1).mean() / devices


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
@functools.partial(jax.shard_map, mesh=mesh, check_vma=False,
                   in_specs=(P("chips"), P("chips"), P("chips"), P(), P("chips"), P("chips")),
                   out_specs=(P("chips"), P("chips"), P("chips"), P()))
def step(share, mean, square, turn, x, y):
    """Return this device's share of weights and moments after a step of Adam, and the loss."""
    flat = jax.lax.all_gather(share, "chips", tiled=True)
    value, slope = jax.value_and_grad(loss)(flat, x, y)
    slope = jax.lax.psum_scatter(slope, "chips", tiled=True)
    mean = 0.9 * mean + 0.1 * slope
    square = 0.999 * square + 0.001 * slope * slope
    rate = 0.004 * jnp.sqrt(1 - 0.999 ** turn) / (1 - 0.9 ** turn)
    share = share - rate * mean / (jnp.sqrt(square) + 1e-8)
    return share, mean, square, jax.lax.psum(value, "chips")


def cut(array):
    """Return an array of which each device has a part; every process has the whole one."""
    return jax.make_array_from_callback(array.shape, shared, lambda index: array[index])


def start():
    """Return the state to begin with, and how many steps it has seen."""
    rng = np.random.default_rng(0)
    whole = np.zeros((3, TOTAL), np.float32)
    for at, size in zip((0, sum(SIZES[:2])), (SIZES[0], SIZES[2]), strict=True):
        whole[0, at:at + size] = rng.normal(0, 0.05, size)
    turn = np.int32(0)
    if first and args.keep and (args.keep / "state.npz").exists():
        with np.load(args.keep / "state.npz") as kept:
            whole, turn = kept["whole"], kept["turn"]
    whole, turn = multihost_utils.broadcast_one_to_all((whole, turn))
    return [cut(each) for each in np.asarray(whole)], int(turn)


def keep(state, turn):
    """Write the state; whoever is killed in here leaves the file of before."""
    whole = multihost_utils.process_allgather(state, tiled=True)
    if first:
        args.keep.mkdir(parents=True, exist_ok=True)
        with open(args.keep / "new.npz", "wb") as file:
            np.savez(file, whole=np.stack(whole), turn=np.int32(turn))
        os.replace(args.keep / "new.npz", args.keep / "state.npz")


state, done = start()
if first:
    print(f"{jax.process_count()} processes, {devices} devices, after {done} steps", flush=True)
for turn in range(done + 1, args.steps + 1):
    chosen = np.random.default_rng(turn).choice(len(x_train), args.batch, replace=False)
    *state, value = step(*state, np.float32(turn), cut(x_train[chosen]), cut(y_train[chosen]))
    if first:
        print(f"step {turn}: loss {float(value):.6f}", flush=True)
    if args.keep and turn % args.every == 0:
        keep(state, turn)
[flat] = multihost_utils.process_allgather(state[:1], tiled=True)
if first:
    answers = np.asarray(jax.jit(logits)(flat, x_test)).argmax(1)
    print(f"test accuracy {(answers == y_test).mean():.2%}")
