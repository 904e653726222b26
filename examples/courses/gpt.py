"""A GPT of four layers; it writes with a cache of keys and values."""

import jax
import jax.numpy as jnp
import numpy as np
from text import Text, cross_entropy

LAYERS, HEADS = 4, 4


class Network(Text):
    """Four layers of width 128, four heads, 128 characters of context."""

    title = "GPT: 4 layers, d = 128, 4 heads, 128 characters"
    width, batch, length = 128, 8, 128
    epochs, rate = 2, 3e-3
    carried = {}

    def initial(self, rng):
        """Return the first parameters."""
        letters, width = len(self.letters), self.width
        shapes = {"letters": (letters, width), "places": (self.length, width),
                  "qkv": (LAYERS, width, 3 * width), "mix": (LAYERS, width, width),
                  "up": (LAYERS, width, 4 * width), "down": (LAYERS, 4 * width, width),
                  "out": (width, letters)}
        # What is added to the stream is small at first: it is added in every layer.
        small = {"mix": 1 / np.sqrt(2 * LAYERS), "down": 1 / np.sqrt(8 * LAYERS),
                 "letters": np.sqrt(width) * 0.5, "places": np.sqrt(width) * 0.5}
        return {name: (rng.standard_normal(shape) * small.get(name, 1) / np.sqrt(width)).astype(
            np.float32) for name, shape in shapes.items()}

    def at(self, step):
        """Return what a step reads and what comes next, [batch, length]."""
        rng = np.random.default_rng((2, step))
        starts = rng.integers(0, len(self.train) - self.length, self.batch)
        tokens = self.train[starts[:, None] + np.arange(self.length + 1)]
        return tokens[:, :-1], tokens[:, 1:]

    def scores(self, p, tokens):
        """Return what follows each of ``tokens`` [batch, length], as scores."""
        length = tokens.shape[1]
        x = jax.nn.one_hot(tokens, len(self.letters)) @ p["letters"] + p["places"]
        seen = jnp.tri(length, dtype=bool)
        for i in range(LAYERS):
            q, k, v = (t.reshape(*t.shape[:2], HEADS, -1).transpose(0, 2, 1, 3)
                       for t in jnp.split(normal(x) @ p["qkv"][i], 3, axis=-1))
            heads = attention(q, k, v, seen)
            x = x + heads.transpose(0, 2, 1, 3).reshape(x.shape) @ p["mix"][i]
            x = x + jax.nn.gelu(normal(x) @ p["up"][i]) @ p["down"][i]
        return normal(x) @ p["out"]

    def loss(self, p, carried, batch, key):
        """Return nats a character of a batch."""
        tokens, following = batch
        return cross_entropy(self.scores(p, tokens), following).mean(), carried

    def test(self, p, carried):
        """Return nats a character of the end of the text, in windows, and that as text."""
        loss = jax.jit(self.loss)
        count = (len(self.tests) - 1) // self.units_per_step or 1
        found = []
        for i in range(count):
            rows = i * self.units_per_step + np.arange(self.batch) * self.length
            tokens = self.tests[np.minimum(rows[:, None] + np.arange(self.length + 1),
                                           len(self.tests) - 1)]
            found.append(float(loss(p, carried, (tokens[:, :-1], tokens[:, 1:]), None)[0]))
        nats = float(np.mean(found))
        return nats, (f"{nats:.3f} nats a character of {count * self.units_per_step:,} at the "
                      f"end of the text, in windows of {self.length}")

    def next(self, p, cache, token, place):
        """Return scores after one more character, and the keys and values seen so far."""
        x = p["letters"][token] + p["places"][place]
        seen = jnp.arange(self.length) <= place
        for i in range(LAYERS):
            q, k, v = (t.reshape(HEADS, 1, -1) for t in jnp.split(normal(x) @ p["qkv"][i], 3))
            cache = jax.lax.dynamic_update_slice(cache, jnp.stack((k, v))[None],
                                                 (i, 0, 0, place, 0))
            x = x + attention(q, cache[i, 0], cache[i, 1], seen).reshape(-1) @ p["mix"][i]
            x = x + jax.nn.gelu(normal(x) @ p["up"][i]) @ p["down"][i]
        return normal(x) @ p["out"], cache

    def sample(self, p, carried):
        """Return a text that it writes, as long as what it can see."""
        def write(p, cache, token, place, key):
            key, now = jax.random.split(key)
            scores, cache = self.next(p, cache, token, place)
            return cache, jax.random.categorical(now, scores), place + 1, key

        write = jax.jit(write, donate_argnums=1)
        cache = jnp.zeros((LAYERS, 2, HEADS, self.length, self.width // HEADS), jnp.float32)
        token, place, key, said = jnp.int32(0), jnp.int32(0), jax.random.key(0), []
        for _ in range(self.length):
            cache, token, place, key = write(p, cache, token, place, key)
            said.append(token)
        return self.spelt(said)


def attention(q, k, v, seen):
    """Return what each query sees of the values."""
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    return jax.nn.softmax(jnp.where(seen, scores, -1e9)) @ v


def normal(x):
    """Return rows of mean 0 and variance 1."""
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)
