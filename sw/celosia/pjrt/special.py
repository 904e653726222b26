"""Functions that the chip has, and that JAX would write out before a plugin sees them."""

from __future__ import annotations

from functools import partial
from typing import Any

from celosia.frontend.stablehlo.elementwise import CLIENT_FUNCTIONS

__all__ = ["mulhi", "register"]


def mulhi(x: Any, y: Any) -> Any:
    """Return the high words of products of 32-bit integers, from their halves."""
    import jax.numpy as jnp
    from jax import lax

    def word(x: Any) -> Any:
        return lax.bitcast_convert_type(x, jnp.uint32)

    a, b = word(x), word(y)
    half, mask = lax.full_like(a, 16), lax.full_like(a, 0xFFFF)
    (al, ah), (bl, bh) = ((each & mask, lax.shift_right_logical(each, half)) for each in (a, b))
    # None of these sums needs more than 32 bits.
    middle = ah * bl + lax.shift_right_logical(al * bl, half)
    other = al * bh + (middle & mask)
    high = ah * bh + lax.shift_right_logical(middle, half) + lax.shift_right_logical(other, half)
    if x.dtype == jnp.int32:
        # A negative number is 2**32 more without its sign.
        none = lax.full_like(a, 0)
        high -= lax.select(x < 0, b, none) + lax.select(y < 0, a, none)
    return lax.bitcast_convert_type(high, x.dtype)


def _lower(name: str, ctx: Any, x: Any) -> list[Any]:
    """Return an operation of the client dialect as a composite of its name.

    A plugin is given StableHLO without that dialect: the function that the composite names, the
    operation itself here, is polynomials then, and `celosia.frontend` has no need of it.
    """
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir  # pyright: ignore[reportPrivateImportUsage]
    from jax._src.lib.mlir.dialects import chlo, func, hlo

    operation, [aval] = getattr(chlo, name.removeprefix("chlo.")), ctx.avals_out
    module, key = ctx.module_context, (name, x.type)
    # Shapes that `jax.export` leaves open are not refined inside of composites.
    if not ir.RankedTensorType(x.type).has_static_shape:
        return [mlir.lower_with_sharding_in_types(ctx, operation(x), aval)]
    function = module.cached_primitive_lowerings.get(key)
    if function is None:
        with ir.InsertionPoint(module.module.body):
            function = func.FuncOp(name, ((x.type,), (x.type,)), visibility="private")
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            func.ReturnOp([operation(block.arguments[0])])
        # Another one of this name gets a number.
        module.symbol_table.insert(function)
        module.cached_primitive_lowerings[key] = function
    [result] = hlo.CompositeOp(
        [x.type], [x], name=ir.StringAttr.get(name),
        decomposition=ir.FlatSymbolRefAttr.get(function.name.value)).results
    return [mlir.lower_with_sharding_in_types(ctx, result, aval)]


def register(platform: str) -> None:
    """Have JAX leave these functions to the compiler."""
    from jax._src.interpreters import mlir
    from jax._src.lax import lax, special

    for name in CLIENT_FUNCTIONS:
        primitive = f"{name.removeprefix('chlo.')}_p"
        primitive = getattr(special if hasattr(special, primitive) else lax, primitive)
        mlir.register_lowering(primitive, partial(_lower, name), platform=platform)
    primitive = getattr(lax, "mulhi_p", None)
    if primitive is not None and primitive in mlir._lowerings:
        of_words = mlir.lower_fun(mulhi, multiple_results=False)
        otherwise = mlir._lowerings[primitive].rule

        def rule(ctx: Any, *operands: Any) -> Any:
            words = ctx.avals_in[0].dtype.itemsize == 4
            return (of_words if words else otherwise)(ctx, *operands)

        mlir.register_lowering(primitive, rule, platform=platform)
