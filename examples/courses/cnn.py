"""Two convolutions with pooling, and dropout before the last layer."""

import jax
import numpy as np
from images import CLASSES, Images, convolution, dropped, he, pooled


class Network(Images):
    """28 x 28 - 24 x 24 x 16 - 12 x 12 x 16 - 8 x 8 x 32 - 4 x 4 x 32 - 10."""

    title = "CNN: two convolutions of 5 x 5, pooling, dropout"
    width = 16

    def initial(self, rng):
        """Return the first parameters."""
        one, two = self.width, 2 * self.width
        return {"w1": he(rng, 5, 5, 1, one), "b1": np.zeros(one, np.float32),
                "w2": he(rng, 5, 5, one, two), "b2": np.zeros(two, np.float32),
                "w3": he(rng, 16 * two, CLASSES), "b3": np.zeros(CLASSES, np.float32)}

    def scores(self, p, carried, x, key):
        """Return the scores of each class; ``key``: of the dropout in training, else None."""
        x = pooled(jax.nn.relu(convolution(x, p["w1"], "VALID") + p["b1"]))
        x = pooled(jax.nn.relu(convolution(x, p["w2"], "VALID") + p["b2"]))
        x = dropped(x.reshape(len(x), -1), key, 0.25)
        return x @ p["w3"] + p["b3"], carried
