"""Two convolutions with batch normalisation and a hidden layer, as for Fashion-MNIST."""

import jax
import jax.numpy as jnp
import numpy as np
from images import CLASSES, Images, convolution, dropped, he, pooled

#: Of the running means and variances that a step keeps.
KEPT = 0.9


class Network(Images):
    """28 x 28 x 16 - 14 x 14 x 32 - 7 x 7 x 32 - 64 - 10."""

    title = "CNN with batch normalisation: two convolutions of 3 x 3, pooling, a hidden layer"
    width = 16

    @property
    def carried(self):
        """Means and variances of each channel, as they run."""
        return {f"{what}{i}": np.full(i * self.width, what == "variance", np.float32)
                for i in (1, 2) for what in ("mean", "variance")}

    def initial(self, rng):
        """Return the first parameters."""
        one, two, hidden = self.width, 2 * self.width, 4 * self.width
        found = {"w1": he(rng, 3, 3, 1, one), "w2": he(rng, 3, 3, one, two),
                 "w3": he(rng, 49 * two, hidden), "b3": np.zeros(hidden, np.float32),
                 "w4": he(rng, hidden, CLASSES), "b4": np.zeros(CLASSES, np.float32)}
        for i, channels in ((1, one), (2, two)):
            found[f"scale{i}"] = np.ones(channels, np.float32)
            found[f"shift{i}"] = np.zeros(channels, np.float32)
        return found

    def scores(self, p, carried, x, key):
        """Return the scores of each class; ``key``: of the dropout in training, else None."""
        kept = {}
        for i in (1, 2):
            x = convolution(x, p[f"w{i}"], "SAME")
            mean, variance = carried[f"mean{i}"], carried[f"variance{i}"]
            if key is not None:
                running = mean, variance
                mean = x.mean((0, 1, 2))
                variance = jnp.square(x - mean).mean((0, 1, 2))
                for name, old, new in zip(("mean", "variance"), running, (mean, variance),
                                          strict=True):
                    kept[f"{name}{i}"] = KEPT * old + (1 - KEPT) * new
            x = (x - mean) * (jax.lax.rsqrt(variance + 1e-3) * p[f"scale{i}"]) + p[f"shift{i}"]
            x = pooled(jax.nn.relu(x))
        x = jax.nn.relu(x.reshape(len(x), -1) @ p["w3"] + p["b3"])
        x = dropped(x, key, 0.25)
        return x @ p["w4"] + p["b4"], kept or carried
