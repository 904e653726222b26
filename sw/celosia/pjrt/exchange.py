"""Arrays of the chip for other libraries, by DLPack, as copies on the host.

DLPack knows no chip of this kind, and JAX asks a plugin nothing: what it says of arrays of a GPU
is said of ours here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["register"]

#: The host, as DLPack calls it.
_HOST = 1, 0


def register(platform: str) -> None:
    """Have JAX hand out copies of arrays of the platform where it would refuse."""
    from jax._src import array, dlpack

    of_device, export = array.ArrayImpl.__dlpack_device__, dlpack.to_dlpack

    def is_ours(x: Any) -> bool:
        return all(device.platform == platform for device in x.sharding.device_set)

    def device_of(self: Any) -> Any:
        return _HOST if is_ours(self) else of_device(self)

    def to_dlpack(x: Any, *args: Any, **options: Any) -> Any:
        if not is_ours(x):
            return export(x, *args, **options)
        version = options.get("max_version")
        # Contents never change, and who gets them may write: so a copy.
        return np.array(x).__dlpack__(**({} if version is None else {"max_version": version}))

    array.ArrayImpl.__dlpack_device__ = device_of
    dlpack.to_dlpack = to_dlpack
