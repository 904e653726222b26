"""What a program must give: by the graph's interpreter, and by JAX on the CPU."""

import io

import jax
import numpy as np

from celosia.frontend import import_stablehlo
from celosia.graph import interpret
from sw.frontend.through_jax import rounded

jax.config.update("jax_platforms", "cpu")


def graph_of(function, args):
    """Return the graph of a function; it keeps arguments that are not used."""
    module = jax.jit(function, keep_unused=True).lower(*args).compiler_ir("stablehlo")
    code = io.BytesIO()
    module.operation.write_bytecode(code)
    return import_stablehlo(code.getvalue())


def by_graph(function, args):
    """Return the results of the interpreter, flattened: NumPy in float32, each operation alone."""
    return interpret(graph_of(function, args), [np.asarray(x) for x in jax.tree.leaves(args)])


def by_jax(function, args):
    """Return the results of JAX, flattened; nothing of the project is involved.

    XLA for CPUs computes products of float32 in float32: their operands are rounded to bf16 by
    hand. It keeps bf16 in more bits than it must where it can; that is forbidden here.
    """
    lowered = jax.jit(rounded(function)).lower(*args)
    compiled = lowered.compile(compiler_options={"xla_allow_excess_precision": False})
    return [np.asarray(x) for x in jax.tree.leaves(compiled(*args))]


def distance(found, wanted):
    """Return how far an array is from another, as a share of the other's norm.

    Arrays of integers and bools must be equal: anything else is infinitely far.
    """
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if found.dtype.kind in "iub":
        return 0.0 if np.array_equal(found, wanted) else np.inf
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    if not np.isfinite(found).all() or not np.isfinite(wanted).all():
        return 0.0 if np.array_equal(found, wanted, equal_nan=True) else np.inf
    norm = np.linalg.norm(wanted)
    return np.linalg.norm(found - wanted) / norm if norm else float(np.abs(found).max(initial=0))


def distances(found, wanted):
    """Return the distance of each array of a tree to those of a list."""
    return [distance(a, b) for a, b in zip(jax.tree.leaves(found), wanted, strict=True)]
