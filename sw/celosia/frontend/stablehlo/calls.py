"""Custom calls: those that say how values lie, and those whose meaning is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.callbacks import CALLBACK, callback
from celosia.frontend.stablehlo.regions import expressions_of
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import Value

__all__ = ["IDENTITIES", "REFUSED"]

#: Custom calls that only say how values lie on several devices.
IDENTITIES = ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
               "annotate_device_placement", "LayoutConstraint")
#: Those of them that change the shape of values.
_SHAPING = ("SPMDFullToShardShape", "SPMDShardToFullShape")


#: The greatest or least elements, of which XLA's TPUs may miss some.
_TOP_K = "ApproxTopK"


#: What no program of a chip has, and what it has instead.
REFUSED = {
    **dict.fromkeys(("infeed", "outfeed"), "data must be arguments and results of the program, "
                                           "not of a queue beside it"),
    **dict.fromkeys(("send", "recv"), "data of other programs must be arguments and results, and "
                                      "other devices' must come by collectives"),
    **dict.fromkeys(("async_start", "async_done"), "operations must be written without async: "
                                                   "what may overlap, the compiler finds"),
    **dict.fromkeys(("dynamic_broadcast_in_dim", "dynamic_conv", "dynamic_gather", "dynamic_iota",
                     "dynamic_pad", "dynamic_reshape", "real_dynamic_slice"),
                    "shapes must be constants of types that the static operation has"),
    "rng": "random numbers must come of a state, by rng_bit_generator (jax.random)",
    **dict.fromkeys(("tuple", "get_tuple_element"), "values must be tensors, one by one, not "
                                                    "tuples of them"),
    **dict.fromkeys(("uniform_quantize", "uniform_dequantize"),
                    "quantised numbers must be integers, with scales of their own"),
}


@translates(*(f"stablehlo.{name}" for name in REFUSED))
def _refuse(here: Here) -> Sequence[Value]:
    raise Unsupported(REFUSED[here.op.name.removeprefix("stablehlo.")])


@translates("stablehlo.custom_call")
def _custom_call(here: Here) -> Sequence[Value]:
    target = here["call_target_name"].value
    if target == CALLBACK:
        return callback(here)
    if target == _TOP_K:
        return _approximate_top_k(here)
    if target not in IDENTITIES:
        raise Unsupported(f"custom call must be one of {', '.join((*IDENTITIES, _TOP_K))}, not "
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
