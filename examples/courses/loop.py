"""A training that goes on where it was stopped, on whichever device JAX has.

Everything that a step depends on is in its state, or follows from its number. So a training that is
stopped, at any time, and started again ends with the same losses, to the last digit.
"""

import functools
import hashlib
import json
import os
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

#: Adam's means of gradients and of their squares keep so much in a step.
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
#: Seconds after which a state is written again.
EVERY = 120
#: The share of all steps in which the rate rises; then it falls to zero.
RISES = 0.1


def rate_at(network, step, steps):
    """Return what Adam moves by in a step, the corrections of its means (of step 0 on) included."""
    share, t = (step + 1) / steps, step + 1
    rate = network.rate * min(share / RISES, (1 - share) / (1 - RISES) + 1 / steps)
    return np.float32(rate * np.sqrt(1 - BETA2**t) / (1 - BETA1**t))


def new_state(network):
    """Return the state before the first step."""
    parameters = network.initial(np.random.default_rng(0))
    zeros = jax.tree.map(np.zeros_like, parameters)
    return {"parameters": parameters, "mean": zeros, "square": jax.tree.map(np.copy, zeros),
            "carried": dict(network.carried)}


def step_of(network):
    """Return a compiled step: state, batch, number, rate to the next state and the loss."""
    @functools.partial(jax.jit, donate_argnums=0)
    def step(state, batch, number, rate):
        key = jax.random.fold_in(jax.random.key(0), number)
        parameters = state["parameters"]
        (value, carried), slopes = jax.value_and_grad(network.loss, has_aux=True)(
            parameters, state["carried"], batch, key)
        mean = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, state["mean"], slopes)
        square = jax.tree.map(lambda s, g: BETA2 * s + (1 - BETA2) * g * g, state["square"],
                              slopes)
        parameters = jax.tree.map(lambda w, m, s: w - rate * m / (jnp.sqrt(s) + EPSILON),
                                  parameters, mean, square)
        return {"parameters": parameters, "mean": mean, "square": square,
                "carried": carried}, value

    return step


class Training:
    """A training in a file.

    Parameters
    ----------
    network
        With its data.
    file
        Where its state is.
    steps
        Of all of it.
    """

    def __init__(self, network, file, steps):
        self.network, self.file, self.steps = network, Path(file), steps
        self.key = self._key()
        self.state, self.losses = new_state(network), []
        #: Seconds of each step but those in which a program is compiled, and what one costs a chip.
        self.seconds, self.cost = [], {}
        self._load()

    @property
    def step_seconds(self):
        """The median of the seconds of a step; 0 where none has been timed."""
        return float(np.median(self.seconds)) if self.seconds else 0.0

    def _key(self):
        """Return what tells this training from others: a hash of its data, sizes and steps."""
        state = new_state(self.network)
        parts = [type(self.network).__module__, self.steps, self.network.batch, self.network.rate]
        found = hashlib.sha256(json.dumps(parts).encode())
        for array in (*jax.tree.leaves(state), *self.network.at(0), *self.network.at(
                self.steps - 1)):
            found.update(str(array.shape).encode() + array.tobytes())
        return found.hexdigest()

    def _load(self):
        if not self.file.is_file():
            return
        with np.load(self.file) as found:
            about = json.loads(str(found["about"]))
            if about.pop("key") != self.key:
                raise ValueError(f"{self.file} must be of this training, not of another with "
                                 f"other data, sizes or steps; --folder names another folder")
            leaves, tree = jax.tree.flatten(self.state)
            self.state = jax.tree.unflatten(tree, [found[f"leaf{i}"] for i in range(len(leaves))])
            self.losses = found["losses"].tolist()
            self.seconds = found["seconds"].tolist()
        self.cost = about["cost"]

    def save(self):
        """Write the state; a file is whole or not there."""
        about = {"key": self.key, "cost": self.cost}
        arrays = {f"leaf{i}": np.asarray(leaf)
                  for i, leaf in enumerate(jax.tree.leaves(self.state))}
        part = self.file.with_suffix(".part")
        with open(part, "wb") as file:
            np.savez(file, about=json.dumps(about), losses=np.array(self.losses, np.float32),
                     seconds=np.array(self.seconds), **arrays)
        os.replace(part, self.file)

    def run(self, until, say):
        """Go on to step ``until``; ``say`` is called with a step and its loss."""
        if len(self.losses) >= until:
            return
        step, network = step_of(self.network), self.network
        saved, fresh = time.monotonic(), True
        for number in range(len(self.losses), until):
            arguments = (self.state, network.at(number), np.int32(number),
                         rate_at(network, number, self.steps))
            if fresh:
                step = step.lower(*arguments).compile()
                cost = step.cost_analysis()
                self.cost = {name: cost[name] for name in ("flops", "cycles") if name in cost}
            begin = time.perf_counter()
            self.state, value = step(*arguments)
            self.losses.append(float(value))
            if not fresh:
                self.seconds.append(time.perf_counter() - begin)
            fresh = False
            say(number + 1, self.losses[-1])
            if ((number + 1) % network.steps_per_epoch == 0 or number + 1 == until
                    or time.monotonic() - saved > EVERY):
                self.save()
                saved = time.monotonic()
