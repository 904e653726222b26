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
#: Integers that programs have as two words each.
_WIDE = (np.dtype(np.int64), np.dtype(np.uint64))


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


def _with_types(wide: bool, function: _Function, *arrays: Any) -> list[Any]:
    """Call a function where JAX has the types of 64 bits that it had where the program was made."""
    from jax._src import config
    with config.enable_x64(wide):
        return called(function, *arrays)


def _array(value: Any) -> Any:
    """Return a result as JAX would take it: in 32 bits where it has no types of 64."""
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
    from jax._src import config, core
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir  # pyright: ignore[reportPrivateImportUsage]
    from jax._src.lib.mlir.dialects import hlo

    avals_in, avals_out = (list(map(core.physical_aval, avals))
                           for avals in (ctx.avals_in, ctx.avals_out))
    function = partial(_with_types, config.enable_x64.value, _function(name, params))
    held = HostFunction(_in_parts(function, avals_in, avals_out))
    ctx.module_context.add_keepalive(held)

    def type_of(dtype: Any, shape: Sequence[int]) -> Any:
        return ir.RankedTensorType.get(shape, mlir.dtype_to_ir_type(np.dtype(dtype)))

    flat, types = [], []
    for x, aval in zip(operands, avals_in, strict=True):
        if aval.dtype == np.complex64:
            flat += [hlo.real(x), hlo.imag(x)]
        elif aval.dtype in _WIDE:
            flat.append(hlo.bitcast_convert(type_of(np.uint32, (*aval.shape, 2)), x))
        else:
            flat.append(x)
    for aval in avals_out:
        if aval.dtype == np.complex64:
            types += [type_of(np.float32, aval.shape)] * 2
        elif aval.dtype in _WIDE:
            types.append(type_of(np.uint32, (*aval.shape, 2)))
        else:
            types.append(type_of(aval.dtype, aval.shape))
    call = hlo.CustomCallOp(
        types, flat, call_target_name=ir.StringAttr.get(CALLBACK),
        has_side_effect=ir.BoolAttr.get(name != "pure_callback"),
        backend_config=ir.StringAttr.get(str(held.number)))
    if ctx.tokens_in.effects():
        ctx.set_tokens_out(ctx.tokens_in)
    rest = iter(call.results)
    return [hlo.complex(next(rest), next(rest)) if aval.dtype == np.complex64
            else hlo.bitcast_convert(type_of(aval.dtype, aval.shape), next(rest))
            if aval.dtype in _WIDE else next(rest) for aval in avals_out]


def _in_parts(function: _Function, avals_in: Sequence[Any], avals_out: Sequence[Any]) -> _Function:
    """Return a function of what stands for its arguments and results.

    For a complex array these are two, its parts; for integers of 64 bits their words. That is how
    programs have them.
    """
    def of_parts(*parts: Any) -> list[Any]:
        rest = iter(parts)
        results = function(*(
            next(rest) + np.complex64(1j) * next(rest) if aval.dtype == np.complex64
            else _bits(next(rest), aval.dtype, aval.shape) if aval.dtype in _WIDE
            else next(rest) for aval in avals_in))
        if len(results) != len(avals_out):
            return results
        return [part for x, aval in zip(results, avals_out, strict=True) for part in (
            (x.real, x.imag) if aval.dtype == np.complex64
            else (_bits(x, np.uint32, (*x.shape, 2)),) if aval.dtype in _WIDE else (x,))]

    return of_parts


def _bits(x: Any, dtype: Any, shape: Sequence[int]) -> Any:
    return np.frombuffer(np.ascontiguousarray(x).tobytes(), dtype).reshape(shape)


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
