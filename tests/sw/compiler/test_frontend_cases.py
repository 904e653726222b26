"""Every case of the importer's tests, canonical: the same results."""

import jax
import numpy as np
import pytest
import test_operations
import through_jax

from celosia.compiler import CANONICAL, canonical
from celosia.graph import check, interpret

jax.config.update("jax_platforms", "cpu")

#: Of these the canonical graph says what the chip does, which the test does not ask for.
_OTHERS = {"test_dot_algorithms", "test_remat_keeps_its_barrier",
           "test_bits_of_the_random_generator"}
globals().update({name: test for name, test in vars(test_operations).items()
                  if name.startswith("test_") and name not in _OTHERS})


@pytest.fixture(autouse=True)
def _canonical_too(monkeypatch):
    def both(graph, inputs, precision=None):
        plain = interpret(graph, inputs)
        found = canonical(graph)
        check(found, CANONICAL)
        for a, b in zip(interpret(found, inputs), plain, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            a, b = (np.asarray(each, np.float64) for each in (a, b))
            # A bf16 that is rounded the other way is 2**-8 off.
            bf16 = plain and any(each.dtype.itemsize == 2 for each in plain)
            np.testing.assert_allclose(a, b, *((1e-2, 1e-2) if bf16 else (2e-4, 1e-4)))
        given[:] = interpret(graph, inputs, precision=precision)
        return given

    given: list[np.ndarray] = []
    monkeypatch.setattr(through_jax, "interpret", both)
    # What JAX gives, the importer's tests have asked: it takes longest.
    monkeypatch.setattr(through_jax, "by_jax", lambda lowered, args: given)
