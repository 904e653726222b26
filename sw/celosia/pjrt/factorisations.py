"""Factorisations that XLA leaves to a platform's library, by custom calls.

TensorFlow's bridge makes them of `tf.linalg.inv`, `solve`, `qr`, `eigh`, `expm` and the like.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from celosia.frontend.stablehlo.library import replace_calls
from celosia.graph import DType, TensorType
from celosia.pjrt.linalg import eigh, geqrf, householder_product

__all__ = ["factorise"]

#: Custom calls to what makes functions of JAX of the first word of their configuration.
_FUNCTIONS: dict[str, Callable[[str], Callable[..., Any]]] = {
    "Qr": lambda _: geqrf,
    "ProductOfElementaryHouseholderReflectors": lambda _: householder_product,
    "Eigh": lambda lower: partial(eigh, lower=lower != "0"),
}


def factorise(module: Any) -> None:
    """Replace factorisations by operations that the chip has, in place.

    Those of other elements than f32 and c64 stay.

    Parameters
    ----------
    module
        A module of StableHLO, of jaxlib.
    """
    replace_calls(module, _FUNCTIONS, _written)


def _written(target: str, config: str, types: Sequence[TensorType]) -> str | None:
    import jax

    if any(each.dtype not in (DType.F32, DType.C64) for each in types):
        return None
    function = _FUNCTIONS[target](config.partition(",")[0])
    given = [jax.ShapeDtypeStruct(each.shape, each.dtype.numpy) for each in types]
    with jax.default_device(_cpu()):
        lowered = jax.jit(function).trace(*given).lower(lowering_platforms=("cpu",))
        return str(lowered.compiler_ir("stablehlo"))


@cache
def _cpu() -> Any:
    """Return a device to lower for: JAX would else make all of its backends, chips too."""
    from jax._src.lib import xla_client  # pyright: ignore[reportPrivateImportUsage]
    return xla_client.make_cpu_client().local_devices()[0]
