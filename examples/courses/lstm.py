"""A character LSTM that keeps its state from batch to batch, and while it writes."""

import jax
import jax.numpy as jnp
import numpy as np
from text import Text, cross_entropy

#: Batches after which a stream begins with an empty state.
FORGETS = 16


class Network(Text):
    """256 units; each row of a batch is a stream of text that goes on in the next batch.

    In training each stream forgets all it knows after `FORGETS` batches, one after another: or else
    cells grow that are never empty, and the network does not know how a text begins.
    """

    title = "LSTM of 256 units, stateful"
    width, batch, length = 256, 64, 32
    epochs, rate = 4, 6e-3

    @property
    def carried(self):
        """Output and cell of each stream."""
        return {name: np.zeros((self.batch, self.width), np.float32) for name in ("h", "c")}

    def initial(self, rng):
        """Return the first parameters; the gates forget little at first."""
        letters, width = len(self.letters), self.width
        bias = np.zeros(4 * width, np.float32)
        bias[width:2 * width] = 1
        return {name: (rng.standard_normal(shape) / np.sqrt(width)).astype(np.float32)
                for name, shape in (("letters", (letters, 4 * width)),
                                    ("again", (width, 4 * width)),
                                    ("out", (width, letters)))} | {
            "bias": bias, "base": np.zeros(letters, np.float32)}

    def at(self, step):
        """Return what a step reads and what comes next, [length, batch], and who goes on."""
        streams = len(self.train) // self.batch
        place = step % self.steps_per_epoch * self.length
        rows = np.arange(self.batch) * streams + place
        tokens = self.train[np.minimum(np.arange(self.length + 1)[:, None] + rows,
                                       len(self.train) - 1)]
        goes_on = (np.arange(self.batch) + step) % FORGETS != 0
        return tokens[:-1], tokens[1:], goes_on[:, None].astype(np.float32)

    def next(self, p, state, token):
        """Return the state after a character of each stream."""
        h, c = state
        one = jax.nn.one_hot(token, len(self.letters))
        keep, forget, new, out = jnp.split(one @ p["letters"] + h @ p["again"] + p["bias"], 4, -1)
        c = jax.nn.sigmoid(forget) * c + jax.nn.sigmoid(keep) * jnp.tanh(new)
        return jax.nn.sigmoid(out) * jnp.tanh(c), c

    def loss(self, p, carried, batch, key):
        """Return nats a character of a batch, and the state of its streams."""
        tokens, following, goes_on = batch

        def body(state, token):
            state = self.next(p, state, token)
            return state, state[0]

        state = carried["h"] * goes_on, carried["c"] * goes_on
        (h, c), outputs = jax.lax.scan(body, state, tokens)
        value = cross_entropy(outputs @ p["out"] + p["base"], following).mean()
        return value, jax.lax.stop_gradient({"h": h, "c": c})

    def test(self, p, carried):
        """Return nats a character of the end of the text, read as streams, and that as text."""
        loss = jax.jit(self.loss)
        streams = len(self.tests) // self.batch
        state, found, goes_on = self.carried, [], np.ones((self.batch, 1), np.float32)
        for place in range(0, streams - self.length, self.length):
            rows = np.arange(self.batch) * streams + place
            tokens = self.tests[np.arange(self.length + 1)[:, None] + rows]
            value, state = loss(p, state, (tokens[:-1], tokens[1:], goes_on), None)
            found.append(float(value))
        nats = float(np.mean(found))
        return nats, (f"{nats:.3f} nats a character of {len(found) * self.units_per_step:,} at "
                      f"the end of the text")

    def sample(self, p, carried, count=400):
        """Return a text that it writes, character after character."""
        @jax.jit
        def write(p, state, token, key):
            key, now = jax.random.split(key)
            state = self.next(p, state, token)
            token = jax.random.categorical(now, state[0] @ p["out"] + p["base"])
            return state, token, key

        state = tuple(np.zeros((1, self.width), np.float32) for _ in "hc")
        token, key, said = jnp.zeros(1, jnp.int32), jax.random.key(0), []
        for _ in range(count):
            state, token, key = write(p, state, token, key)
            said.append(token[0])
        return self.spelt(said)
