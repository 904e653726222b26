"""Functions of the host that JAX's programs call: `jax.debug.print`, `jax.debug.callback`,
`jax.pure_callback`, `jax.experimental.io_callback`.

A call is a custom call with the number of a function of `celosia.graph.calls`, which the program
keeps. Order is the importer's business: JAX's tokens come in and go out as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from celosia.frontend.stablehlo.callbacks import CALLBACK
from celosia.graph.calls import HostFunction

__all__ = ["register"]

_Function = Callable[..., Any]


def _cpu() -> Any:
    """Return JAX's own device of the host, None where ``JAX_PLATFORMS`` leaves it out."""
    from jax._src import xla_bridge
    try:
        return xla_bridge.local_devices(backend="cpu")[0]
    except RuntimeError:
        return None


def called(function: _Function, *arrays: Any) -> list[Any]:
    """Call a function with arrays on JAX's CPU, those of NumPy where there is none."""
    import jax
    cpu = _cpu()
    if cpu is None:
        results = function(*map(np.asarray, arrays))
    else:
        with jax.default_device(cpu):
            results = function(*jax.device_put(arrays, cpu))
    return [_array(each) for each in jax.tree.leaves(results)]


def _array(value: Any) -> Any:
    """Return a result as JAX would take it: 64-bit numbers are wanted by nobody as such."""
    from jax._src import dtypes
    array = np.asarray(value)
    narrow = np.dtype(dtypes.canonicalize_dtype(array.dtype))
    return array if narrow == array.dtype else array.astype(narrow)


def _function(name: str, params: dict[str, Any]) -> _Function:
    """Return what a primitive of a name calls with its flat arguments."""
    from jax._src import debugging
    if name != "debug_print":
        return params["callback"]
    # As JAX's own lowering of it does; the last one came with a later release.
    values = {**params, "np_printoptions": dict(params["np_printoptions"])}
    names = ("fmt", "np_printoptions", "has_placeholders", "logging_record")
    told = partial(debugging._format_print_callback, *(
        values[each] for each in names if each in values))
    return debugging._make_flat_callback(params["in_tree"], told, params["static_args"])


def _lower(name: str, ctx: Any, *operands: Any, **params: Any) -> Sequence[Any]:
    from jax._src import core
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir  # pyright: ignore[reportPrivateImportUsage]
    from jax._src.lib.mlir.dialects import hlo

    avals_in, avals_out = (list(map(core.physical_aval, avals))
                           for avals in (ctx.avals_in, ctx.avals_out))
    pairs_in, pairs_out = ([aval.dtype == np.complex64 for aval in avals]
                           for avals in (avals_in, avals_out))
    held = HostFunction(_in_parts(partial(called, _function(name, params)), pairs_in, pairs_out))
    ctx.module_context.add_keepalive(held)
    flat = [part for x, pair in zip(operands, pairs_in, strict=True)
            for part in ((hlo.real(x), hlo.imag(x)) if pair else (x,))]
    types = [ir.RankedTensorType.get(
        aval.shape, mlir.dtype_to_ir_type(np.dtype(np.float32) if pair else aval.dtype))
        for aval, pair in zip(avals_out, pairs_out, strict=True) for _ in range(1 + pair)]
    call = hlo.CustomCallOp(
        types, flat, call_target_name=ir.StringAttr.get(CALLBACK),
        has_side_effect=ir.BoolAttr.get(name != "pure_callback"),
        backend_config=ir.StringAttr.get(str(held.number)))
    if ctx.tokens_in.effects():
        ctx.set_tokens_out(ctx.tokens_in)
    rest = iter(call.results)
    return [hlo.complex(next(rest), next(rest)) if pair else next(rest) for pair in pairs_out]


def _in_parts(function: _Function, pairs_in: Sequence[bool],
              pairs_out: Sequence[bool]) -> _Function:
    """Return a function of parts of complex numbers, of which two stand for an argument or result.

    That is how programs have them.
    """
    if not any((*pairs_in, *pairs_out)):
        return function

    def of_parts(*parts: Any) -> list[Any]:
        rest = iter(parts)
        results = function(*(next(rest) + np.complex64(1j) * next(rest) if pair else next(rest)
                             for pair in pairs_in))
        if len(results) != len(pairs_out):
            return results
        return [part for x, pair in zip(results, pairs_out, strict=True)
                for part in ((x.real, x.imag) if pair else (x,))]

    return of_parts


def _at_once(name: str, otherwise: _Function, *arrays: Any, **params: Any) -> Sequence[Any]:
    """Do an effect outside of programs, also where JAX has no device of the host."""
    if _cpu() is not None:
        return otherwise(*arrays, **params)
    called(_function(name, params), *arrays)
    return ()


def register(platform: str) -> None:
    """Have JAX's programs for the platform call functions of the host."""
    from jax._src import callback, debugging
    from jax._src.interpreters import mlir

    for module, name in ((callback, "pure_callback"), (callback, "io_callback"),
                         (debugging, "debug_callback"), (debugging, "debug_print")):
        primitive = getattr(module, f"{name}_p", None)
        if primitive is None:  # releases of JAX that print by debug_callback
            continue
        # Not cacheable: each function has a number of its own.
        mlir.register_lowering(primitive, partial(_lower, name), platform=platform,
                               cacheable=False)
        if module is debugging:
            primitive.def_impl(partial(_at_once, name, primitive.impl))
