"""Programs that copy, in place of the compiler's own; JAX on the CPU."""

import jax
import pytest

import copy_build

jax.config.update("jax_platforms", "cpu")


@pytest.fixture
def copying(monkeypatch, tmp_path):
    copy_build.use(monkeypatch, tmp_path / "cache")
    return copy_build
