"""Functions that JAX leaves to the platform, on the golden model."""

import numpy as np
import pytest

import celosia
from celosia.pjrt.special import mulhi

EDGES = np.array([0, 1, 2**16 - 1, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 0x89ABCDEF], np.uint32)


@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
def test_high_words_of_products(dtype):
    a, b = (np.ascontiguousarray(each.ravel()).view(dtype) for each in np.meshgrid(EDGES, EDGES))
    wide = a.astype(object) * b.astype(object)
    found = celosia.jit(mulhi, strict=True)(a, b)
    assert found.dtype == dtype
    assert [*map(int, found)] == [each >> 32 for each in wide]
