"""JAX functions as graphs, and both on the same inputs; needs jax."""

import io

import jax
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from celosia.frontend import import_stablehlo
from celosia.graph import Graph, interpret, parse, to_text


def text_of(function, *args):
    """Return the StableHLO text of a function, with sources."""
    module = jax.jit(function).lower(*args).compiler_ir("stablehlo")
    return module.operation.get_asm(enable_debug_info=True)


def bytecode(lowered):
    data = io.BytesIO()
    lowered.compiler_ir("stablehlo").operation.write_bytecode(data)
    return data.getvalue()


def graph_of(function, *args) -> Graph:
    """Return the graph of a function; it reads back from its text."""
    graph = import_stablehlo(bytecode(jax.jit(function).lower(*args)))
    text = to_text(graph)
    assert to_text(parse(text)) == text
    return graph


def rounded(function):
    """Return the function with the float32 operands of every product rounded to bf16.

    XLA computes such products on a CPU in float32, whatever precision they ask for.
    """
    def evaluate(closed, *args):
        values = dict(zip(closed.jaxpr.invars, args, strict=True))
        values.update(zip(closed.jaxpr.constvars, closed.consts, strict=True))
        for eqn in closed.jaxpr.eqns:
            inputs = [each.val if hasattr(each, "val") else values[each] for each in eqn.invars]
            if eqn.primitive.name in ("dot_general", "conv_general_dilated"):
                inputs = [lax.reduce_precision(x, 8, 7) if x.dtype == np.float32 else x
                          for x in inputs]
            if "call_jaxpr" in eqn.params:
                results = evaluate(eqn.params["call_jaxpr"], *inputs)
            else:
                params = {name: inner(value) for name, value in eqn.params.items()}
                results = eqn.primitive.bind(*inputs, **params)
                results = results if eqn.primitive.multiple_results else [results]
            values.update(zip(eqn.outvars, results, strict=True))
        return [each.val if hasattr(each, "val") else values[each]
                for each in closed.jaxpr.outvars]

    def inner(value):
        if isinstance(value, ClosedJaxpr):
            return jax.make_jaxpr(lambda *args: evaluate(value, *args))(*value.in_avals)
        if isinstance(value, tuple) and any(isinstance(each, ClosedJaxpr) for each in value):
            return tuple(map(inner, value))
        return value

    def new(*args):
        closed, shape = jax.make_jaxpr(function, return_shape=True)(*args)
        results = jaxpr_as_fun(inner(closed))(*jax.tree.leaves(args))
        return jax.tree.unflatten(jax.tree.structure(shape), results)

    return new


def by_jax(lowered, args):
    """Return what JAX on CPU gives, flattened."""
    return [np.asarray(each) for each in jax.tree.leaves(lowered.compile()(*args))]


def both(function, *args, precision="highest", reference=None):
    """Return the outputs of the interpreter and of JAX on CPU, flattened.

    JAX runs ``reference`` where that is given.

    Of ``args`` that the program does not use JAX keeps none.
    """
    lowered = jax.jit(function).lower(*args)
    graph = import_stablehlo(bytecode(lowered))
    flat = [np.asarray(each) for each in jax.tree.leaves(args)]
    kept = lowered._lowering.compile_args["kept_var_idx"]
    found = interpret(graph, [flat[i] for i in sorted(kept)], precision=precision)
    wanted = by_jax(jax.jit(reference).lower(*args) if reference else lowered, args)
    assert [(each.dtype, each.shape) for each in found] == [
        (each.dtype, each.shape) for each in wanted]
    return found, wanted


def agree(function, *args, rtol=2e-6, atol=1e-6, precision="highest"):
    """Assert that the interpreter gives what JAX on CPU gives."""
    found, wanted = both(function, *args, precision=precision)
    for a, b in zip(found, wanted, strict=True):
        if a.dtype.kind in "iub":
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol, atol)
