"""JAX for the tests here: on the CPU, in one process."""

import sys
from pathlib import Path

import jax

# Tests import what they share by name, whatever pytest's import mode is.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "graph")]
jax.config.update("jax_platforms", "cpu")
