"""Custom calls: those that say how values lie, and those whose meaning is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.callbacks import CALLBACK, callback
from celosia.frontend.stablehlo.regions import expressions_of
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import Value

__all__ = []

#: Custom calls that only say how values lie on several devices.
_IDENTITIES = ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
               "annotate_device_placement", "LayoutConstraint")
#: Those of them that change the shape of values.
_SHAPING = ("SPMDFullToShardShape", "SPMDShardToFullShape")


#: The greatest or least elements, of which XLA's TPUs may miss some.
_TOP_K = "ApproxTopK"


@translates("stablehlo.custom_call")
def _custom_call(here: Here) -> Sequence[Value]:
    target = here["call_target_name"].value
    if target == CALLBACK:
        return callback(here)
    if target == _TOP_K:
        return _approximate_top_k(here)
    if target not in _IDENTITIES:
        raise Unsupported(f"custom call must be one of {', '.join((*_IDENTITIES, _TOP_K))}, not "
                          f"{target}")
    if here.importer.devices > 1 and target in _SHAPING:
        raise Unsupported(f"program for {here.importer.devices} devices must be of Shardy: "
                          f"jax.config.update('jax_use_shardy_partitioner', True)")
    return here.operands


def _approximate_top_k(here: Here) -> Sequence[Value]:
    """Return the greatest or least elements along a dimension and their indices, all of them."""
    x, places, *_ = here.operands
    config = here["mhlo.backend_config" if here.has("mhlo.backend_config") else "backend_config"]
    dim, last = int(config["reduction_dim"].value), x.type.rank - 1
    if not (places.node.op == "iota" and places.node.attrs["dim"] == dim):
        raise Unsupported(f"indices must be an iota of dimension {dim}, not {places.node.op}")
    [called] = here["called_computations"]
    better = expressions_of(here.importer.functions[called.value].regions[0])
    directions: dict[Any, str] = {(("compare", way, ("arg", 0), ("arg", 1)),): way
                                  for way in ("GT", "LT")}
    if better not in directions:
        raise Unsupported("comparator must be compare GT or LT of its first arguments")
    least = directions[better] == "LT"
    order = (*range(dim), *range(dim + 1, last + 1), dim)
    back = (*range(dim), last, *range(dim, last))
    if dim != last:
        x = here.emit("transpose", x, permutation=order)
    if least:
        x = here.emit("negate", x)
    values, indices = here.node("top_k", x, k=here.type.shape[dim])
    if least:
        values = here.emit("negate", values)
    found = (values, indices)
    return found if dim == last else [here.emit("transpose", each, permutation=back)
                                      for each in found]
