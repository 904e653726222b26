"""Tensor-parallel training of a transformer in JAX: Megatron's split, with `shard_map`.

Chips along "model" share the heads and the hidden units of each layer, chips along "data" the
batch. Two sums forward and two backward bring together what a layer's chips computed; weights stay
where they are.

CELOSIA_DEVICES=4 CELOSIA_TOPOLOGY=2x2 JAX_PLATFORMS=celosia python examples/tensor_parallel.py
"""

import argparse
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

WIDTH, HEADS, LENGTH, LETTERS = 64, 4, 16, 32

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--batch", type=int, default=16, help="of all devices together")
parser.add_argument("--save", metavar="FILE", help="write the weights after the last step here")
args = parser.parse_args()

mesh = jax.make_mesh((jax.device_count() // 2, 2), ("data", "model"))
#: How each weight is cut: by columns where a layer's chips begin, by rows where they end.
SPLIT = {"letters": P(), "places": P(), "qkv": P(None, None, "model"), "mix": P("model"),
         "up": P(None, "model"), "down": P("model"), "out": P()}


def new_weights(rng):
    """Return random weights: embeddings, one block, and a way back to letters."""
    shapes = {"letters": (LETTERS, WIDTH), "places": (LENGTH, WIDTH), "qkv": (WIDTH, 3, WIDTH),
              "mix": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH),
              "out": (WIDTH, LETTERS)}
    return {name: np.float32(rng.normal(size=shape) / np.sqrt(WIDTH))
            for name, shape in shapes.items()}


@jax.custom_vjp
def enter(x):
    """Return x, which all chips of a layer have; its gradient is the sum of theirs."""
    return x


@jax.custom_vjp
def leave(x):
    """Return the sum of what the chips of a layer have; each gets its gradient."""
    return jax.lax.psum(x, "model")


enter.defvjp(lambda x: (x, None), lambda _, g: (jax.lax.psum(g, "model"),))
leave.defvjp(lambda x: (leave(x), None), lambda _, g: (g,))


def normal(x):
    """Return rows of mean 0 and variance 1."""
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def attention(w, x):
    """Return what a chip's heads add to x [batch, LENGTH, WIDTH]."""
    q, k, v = (jnp.einsum("blw,wd->bld", x, w["qkv"][:, i]).reshape(
        *x.shape[:2], -1, WIDTH // HEADS).transpose(0, 2, 1, 3) for i in range(3))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(WIDTH // HEADS)
    scores = jnp.where(jnp.tri(LENGTH, dtype=bool), scores, -1e9)
    heads = jax.nn.softmax(scores) @ v
    return heads.transpose(0, 2, 1, 3).reshape(*x.shape[:2], -1) @ w["mix"]


def loss(w, tokens):
    """Return the cross entropy of each next letter of tokens [batch, LENGTH + 1]."""
    x = jax.nn.one_hot(tokens[:, :-1], LETTERS) @ w["letters"] + w["places"]
    x = x + leave(attention(w, enter(normal(x))))
    x = x + leave(jax.nn.gelu(enter(normal(x)) @ w["up"]) @ w["down"])
    logp = jax.nn.log_softmax(normal(x) @ w["out"])
    return -(logp * jax.nn.one_hot(tokens[:, 1:], LETTERS)).sum(-1).mean()


@jax.jit
@functools.partial(jax.shard_map, mesh=mesh, in_specs=(SPLIT, P("data")), out_specs=(SPLIT, P()),
                   check_vma=False)
def step(w, tokens):
    """Return the weights after a step of SGD, and the loss before it; runs on each device."""
    value, slope = jax.lax.pmean(jax.value_and_grad(loss)(w, tokens), "data")
    return jax.tree.map(lambda w, g: w - 0.2 * g, w, slope), value


rng = np.random.default_rng(0)
weights = {name: jax.device_put(each, NamedSharding(mesh, SPLIT[name]))
           for name, each in new_weights(rng).items()}
print(f"{mesh.shape['data']} x {mesh.shape['model']} devices")
for number in range(1, args.steps + 1):
    # Letters that follow each other, from anywhere on.
    tokens = np.int32((rng.integers(0, LETTERS, (args.batch, 1)) + np.arange(LENGTH + 1)) % LETTERS)
    weights, value = step(weights, jax.device_put(tokens, NamedSharding(mesh, P("data"))))
    print(f"step {number}: loss {value:.6f}", flush=True)
if args.save:
    np.savez(args.save, **{name: np.asarray(each) for name, each in weights.items()})
