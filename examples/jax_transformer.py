"""A transformer block in plain JAX learns the letters of a poem, and recites.

JAX_PLATFORMS=celosia python examples/jax_transformer.py
"""

import argparse
import functools

import jax
import jax.numpy as jnp
import numpy as np

TEXT = """Tyger Tyger, burning bright,
In the forests of the night;
What immortal hand or eye,
Could frame thy fearful symmetry?

In what distant deeps or skies
Burnt the fire of thine eyes?
On what wings dare he aspire?
What the hand, dare seize the fire?

And what shoulder, and what art,
Could twist the sinews of thy heart?
And when thy heart began to beat,
What dread hand? and what dread feet?
"""
LETTERS = sorted(set(TEXT))
WIDTH, HEADS, LENGTH = 64, 4, 32


def new_parameters(key):
    """Return random weights: embeddings, one block, and a way back to letters."""
    shapes = {"letters": (len(LETTERS), WIDTH), "places": (LENGTH, WIDTH),
              "qkv": (WIDTH, 3 * WIDTH), "mix": (WIDTH, WIDTH),
              "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH), "out": (WIDTH, len(LETTERS))}
    keys = jax.random.split(key, len(shapes))
    return {name: jax.random.normal(key, shape) / np.sqrt(WIDTH)
            for key, (name, shape) in zip(keys, shapes.items(), strict=True)}


def normal(x):
    """Return rows of mean 0 and variance 1."""
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def logits(p, tokens):
    """Return what follows each letter of ``tokens`` [batch, LENGTH], as logits."""
    x = p["letters"][tokens] + p["places"]
    q, k, v = (t.reshape(*t.shape[:2], HEADS, -1).transpose(0, 2, 1, 3)
               for t in jnp.split(normal(x) @ p["qkv"], 3, axis=-1))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(WIDTH // HEADS)
    scores = jnp.where(jnp.tri(LENGTH, dtype=bool), scores, -1e9)
    heads = jax.nn.softmax(scores) @ v
    x = x + heads.transpose(0, 2, 1, 3).reshape(x.shape) @ p["mix"]
    x = x + jax.nn.gelu(normal(x) @ p["up"]) @ p["down"]
    return normal(x) @ p["out"]


def loss(p, tokens):
    """Return the cross entropy of each next letter of ``tokens`` [batch, LENGTH + 1]."""
    logp = jax.nn.log_softmax(logits(p, tokens[:, :-1]))
    return -jnp.take_along_axis(logp, tokens[:, 1:, None], axis=-1).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1))
def step(p, momentum, tokens):
    """Return parameters and momentum after one step of SGD, and the loss before it."""
    value, slope = jax.value_and_grad(loss)(p, tokens)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, slope)
    p = jax.tree.map(lambda w, m: w - 0.1 * m, p, momentum)
    return p, momentum, value


@jax.jit
def next_letter(p, tokens, last):
    """Return the likeliest letter after ``tokens[last]``."""
    return logits(p, tokens[None])[0, last].argmax()


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=300)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--letters", type=int, default=120, help="how many to recite")
args = parser.parse_args()

poem = np.array([LETTERS.index(letter) for letter in TEXT], np.int32)
rng = np.random.default_rng(0)
p = new_parameters(jax.random.key(0))
momentum = jax.tree.map(jnp.zeros_like, p)
for i in range(1, args.steps + 1):
    starts = rng.integers(0, len(poem) - LENGTH, args.batch)
    batch = np.stack([poem[start:start + LENGTH + 1] for start in starts])
    p, momentum, value = step(p, momentum, batch)
    if i == 1 or i % 50 == 0 or i == args.steps:
        print(f"step {i}: loss {value:.3f}", flush=True)

window = np.zeros(LENGTH, np.int32)
said = list(poem[:6])
for _ in range(args.letters):
    seen = said[-LENGTH:]
    window[:len(seen)] = seen
    said.append(int(next_letter(p, window, len(seen) - 1)))
print("".join(LETTERS[token] for token in said))
