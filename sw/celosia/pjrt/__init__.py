"""A plugin that makes the chip a device of JAX, through the PJRT C API.

JAX finds it by the entry point group ``jax_plugins`` and calls `initialize`. In the order in which
a call comes in: structs (the C structures as data), native (functions of C), handles (objects known
by numbers), table (the way into Python), calls_client, calls_devices, calls_executables and
calls_buffers (what is called), client (all chips), programs (what they run), chips (a device and
its thread), buffers (arrays), events (what happens later).
"""

from celosia.pjrt.register import initialize

__all__ = ["initialize"]
