"""Faults that are planted by seed: the first finding names the plant, and what mending it gives."""

import random
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from celosia.arch.config import BANKS, preset
from celosia.compiled import Compiled
from celosia.compiled.steps import ChipStep
from celosia.model.timing import Timing
from celosia.profile.profile import Profile
from celosia.program.asm import assemble
from profiled import profiled

pytestmark = pytest.mark.extra(name="jax", default=True)


class Plant:
    """A network with a fault, and without it."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        #: Of how many times as much work the mended program is.
        self.times = 1
        self.fault = FAULTS[seed % len(FAULTS)]
        self.config = preset(self.rng.choice(("core", "core4")))
        self.wide = 64 if self.config.dim == 4 else 256
        getattr(self, self.fault)()

    def dense(self, batch=128, dtype=jnp.bfloat16, layers=2, width=None):
        """Layers without a bias."""
        width = width or self.wide

        def net(x, *ws):
            for w in ws:
                x = jnp.maximum(jnp.dot(x.astype(w.dtype), w,
                                        preferred_element_type=jnp.float32), 0)
            return x
        return net, [np.zeros((batch, width), dtype),
                     *(np.zeros((width, width), dtype) for _ in range(layers))]

    def convolution(self, batch=128):
        """A convolution and a dense layer."""
        channels = self.config.dim

        def net(x, w, v):
            x = jax.lax.conv_general_dilated(x.astype(w.dtype), w, (1, 1), "SAME",
                                             dimension_numbers=("NHWC", "HWIO", "NHWC"))
            return jnp.maximum(x, 0).reshape(x.shape[0], -1).astype(v.dtype) @ v
        return net, [np.zeros((batch, 8, 8, channels), jnp.bfloat16),
                     np.zeros((3, 3, channels, channels), jnp.bfloat16),
                     np.zeros((64 * channels, 16), jnp.bfloat16)]

    def attention(self, batch=128):
        """A head of attention."""
        width = self.wide // 4

        def net(x, q, k, v):
            scores = jnp.einsum("btd,bsd->bts", x @ q, x @ k) * 0.1
            return jax.nn.softmax(scores) @ (x @ v)
        return net, [np.zeros((batch, 8, width), jnp.bfloat16),
                     *(np.zeros((width, width), jnp.bfloat16) for _ in range(3))]

    def any(self):
        return self.rng.choice((self.dense, self.convolution, self.attention))()

    def chip(self, **small):
        """Plant a chip that has less of something."""
        net = self.any()
        self.wrong = net, replace(self.config, **small), Timing()
        self.right = net, self.config, Timing()

    def narrow_bus(self):
        self.kinds = ("bus_bytes",)
        self.chip(bus_bytes=4)

    def tiny_window(self):
        self.kinds = ("window",)
        self.chip(window=2)

    def slow_memory(self):
        self.kinds = ("read_latency",)
        net = self.any()
        self.wrong = net, self.config, Timing(read_latency=self.rng.choice((600, 1000)))
        self.right = net, self.config, Timing()

    def no_double_buffer(self):
        self.kinds = ("ub_rows",)
        layers = self.dense(batch=256, width=4 * self.wide)
        self.wrong = layers, replace(self.config, ub_rows=4 * self.config.dim), Timing()
        self.right = layers, self.config, Timing()

    def strided_load(self):
        self.kinds = ("layout",)
        self.wrong = self.dense_of(lambda x: x[:, ::2], 2), self.config, Timing()
        self.right = self.dense_of(lambda x: x, 1), self.config, Timing()

    def dense_of(self, view, times):
        def net(x, w):
            return jnp.maximum(view(x), 0) @ w
        return net, [np.zeros((128, self.wide * times), np.float32),
                     np.zeros((self.wide, self.wide // 4), np.float32)]

    def small_batch(self):
        self.kinds = ("batch",)
        batch = self.rng.choice((2, 4, 8))
        self.times = 128 // batch
        self.wrong = self.dense(batch), self.config, Timing()
        self.right = self.dense(128), self.config, Timing()

    def f32_weights(self):
        """Plant weights that are twice as long, where they are what everything waits for."""
        self.kinds = ("weights",)
        self.config = preset("core")  # core4 takes as long over half the bytes: no fault there

        def net(x, *ws):
            for w in ws:
                x = jnp.maximum(x @ w, 0)
            return x
        weights = [np.zeros((2 * self.wide, 2 * self.wide), np.float32)] * self.rng.choice((1, 2))
        self.wrong = (net, [np.zeros(2 * self.wide, np.float32), *weights]), self.config, Timing()

        def narrow(x, *ws):
            return net(x, *(w.astype(jnp.float32) for w in ws))
        self.right = (narrow, [self.wrong[0][1][0], *(w.astype(jnp.bfloat16) for w in weights)]
                      ), self.config, Timing()

    def host_step(self):
        self.kinds = ("host",)
        self.wrong = self.dense_of(lambda x: jnp.sort(x.reshape(-1)).reshape(x.shape), 1), \
            self.config, Timing()
        self.right = self.dense_of(lambda x: x, 1), self.config, Timing()

    def bank_conflict(self):
        self.kinds = ("bank_conflicts",)
        rows, first = self.rng.choice((32, 48, 64)), self.rng.randrange(4)
        self.wrong = self.rows(first, first, rows)
        self.right = self.rows(first, first + 1, rows)

    def rows(self, first, second, rows):
        """Sums of rows that are a multiple of the banks apart."""
        text = f"""
.chip {self.config.name}
        stride x1, {BANKS}
        mov r1, 20
loop r1, done
        vector iadd, acc[1024], acc[{first}, x1], acc[{BANKS * rows // 2 + second}, x1], n0={rows}
done:
        halt
"""
        return assemble(text), self.config, Timing()

    def profile(self, which):
        """Return the profile of "wrong" or "right"."""
        what, config, timing = getattr(self, which)
        if isinstance(what, tuple):
            return profiled(*what, config, timing)
        step = ChipStep((), what, (), (), (), ())
        return Profile(Compiled.of_chip(step, config, "rows"), None, timing)


FAULTS = ("narrow_bus", "tiny_window", "slow_memory", "no_double_buffer", "strided_load",
          "small_batch", "f32_weights", "host_step", "bank_conflict")


def found(plant):
    """Return whether the first finding names a plant, and what its what-if run says beside the
    mended program.
    """
    wrong, right = plant.profile("wrong"), plant.profile("right")
    first = wrong.findings[0] if wrong.findings else None
    named = first is not None and first.kind in plant.kinds
    return named, first.cycles * plant.times / right.cycles if named else None


def test_rows_that_meet_in_a_bank():
    plant = Plant(FAULTS.index("bank_conflict"))
    named, ratio = found(plant)
    assert named
    assert ratio == pytest.approx(1, abs=0.02)
    text = plant.profile("wrong").findings[0]
    assert text.what == "rows wait for one another in a bank of a memory on chip"
    assert plant.profile("right").what_if(bank_conflicts=0) == plant.profile("right").cycles


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_plants_are_found(fault):
    """Of a hundred plants ninety are to be named; each what-if is within 2 % of the mended one."""
    seeds = range(FAULTS.index(fault), 100, len(FAULTS))
    results = {seed: found(Plant(seed)) for seed in seeds}
    print(results)
    assert sum(named for named, _ in results.values()) >= 0.9 * len(results)
    assert all(ratio == pytest.approx(1, abs=0.02) for _, ratio in results.values() if ratio)
