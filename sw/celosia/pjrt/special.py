"""Functions that the chip has, and that JAX would write out before a plugin sees them."""

from __future__ import annotations

from functools import partial
from typing import Any

from celosia.frontend.stablehlo.elementwise import CLIENT_FUNCTIONS

__all__ = ["register"]


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
