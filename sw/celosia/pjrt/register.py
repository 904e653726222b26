"""Registration with JAX."""

from __future__ import annotations

import atexit
import ctypes
import threading
from typing import Any

from celosia.pjrt.settings import PLATFORM

__all__ = ["NEWEST", "OLDEST", "PRIORITY", "initialize"]

#: Releases of JAX that it was tried with: from the first to before the second.
OLDEST, NEWEST = (0, 8), (0, 13)
#: Below the CPU's, 0: another device is there for those who ask for it.
PRIORITY = -100
#: JAX's setting of how many calls a place in a program has, its default, and ours: an LSTM of Keras
#: is 30 calls below ``fit``.
_FRAMES, _FEW_FRAMES, _MANY_FRAMES = "jax_traceback_in_locations_limit", 10, 100
_lock = threading.Lock()
_table: Any = None


def initialize() -> None:
    """Make "celosia" a platform of JAX; called by JAX."""
    global _table
    with _lock:
        if _table is not None:
            return
        _table = _register()


def _register() -> Any:
    import jax
    from jax._src import xla_bridge
    try:
        if not OLDEST <= tuple(jax.__version_info__[:2]) < NEWEST:
            first, after = (".".join(map(str, each)) for each in (OLDEST, NEWEST))
            raise RuntimeError(f"jax must be at least {first} and before {after} for celosia, not "
                               f"{jax.__version__}: pip install 'celosia[jax]'")
        return _register_table()
    except (RuntimeError, ValueError) as error:
        # To be said to those who ask for the platform, and to nobody else.
        def refuse(problem: Exception = error) -> Any:
            raise problem

        xla_bridge.register_backend_factory(PLATFORM, refuse, priority=PRIORITY,
                                            fail_quietly=True)
        return error


def _profile(capsule: Any) -> None:
    """Have JAX's profiler ask the plugin, too; JAX does so by itself for plugins that are files."""
    from jax._src import lib
    register = getattr(getattr(lib, "_profiler", None), "register_plugin_profiler", None)
    if register is not None:
        register(capsule)


def _keep_frames() -> None:
    """Have programs say who called, as far as the user's file: frameworks are deep.

    Who has asked for another number of calls gets that.
    """
    import jax
    if getattr(jax.config, _FRAMES, None) == _FEW_FRAMES:
        jax.config.update(_FRAMES, _MANY_FRAMES)


def _register_table() -> Any:
    from jax._src import xla_bridge
    from jax._src.interpreters import mlir

    from celosia.pjrt import (  # noqa: F401  the calls fill the table
        callbacks,
        calls_buffers,
        calls_client,
        calls_devices,
        calls_executables,
        exchange,
        linalg,
        special,
    )
    from celosia.pjrt.calls_client import clients
    from celosia.pjrt.interrupts import watch
    from celosia.pjrt.native import native
    from celosia.pjrt.nodes import END, leave_alone
    from celosia.pjrt.profiler import extension
    from celosia.pjrt.table import CALLS, make_table

    table = make_table()
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = make(ctypes.addressof(table), b"pjrt_c_api", None)
    # Else JAX warns that the platform is experimental.
    getattr(xla_bridge, "_nonexperimental_plugins", set()).add(PLATFORM)
    table.extension_start = extension()
    xla_bridge.register_plugin(PLATFORM, priority=PRIORITY, c_api=capsule)
    _profile(capsule)
    linalg.register(PLATFORM)
    special.register(PLATFORM)
    callbacks.register(PLATFORM)
    exchange.register(PLATFORM)
    _keep_frames()
    donating = getattr(mlir, "_platforms_with_donation", None)
    if donating is not None and PLATFORM not in donating:
        donating.append(PLATFORM)

    unwatch = watch(CALLS, clients)

    @atexit.register
    def leave() -> None:
        unwatch()
        for client in tuple(clients):
            client.close()
            client.report()
            if client.processes is not None:
                client.processes.wait(END)
                if client.processes.gone:
                    leave_alone()
        # JAX drops its objects when Python has ended: what they call must be there, and no Python.
        native().silence()

    return table
