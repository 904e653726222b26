"""Several processes with chips each, as `jax.distributed.initialize` has made them known.

JAX gives a plugin the number of this process, how many there are, and a key-value store in its
coordinator. By that they meet, see `celosia.collectives.meet`.
"""

from __future__ import annotations

import ctypes
from importlib.metadata import version
from itertools import count
from typing import Any

from celosia.collectives.meet import address_towards, meet
from celosia.collectives.processes import ProcessError, Processes, ProcessName
from celosia.pjrt.handles import Text, bytes_at
from celosia.pjrt.settings import Settings
from celosia.pjrt.structs import structure
from celosia.pjrt.table import CALLS

__all__ = ["END", "KeyValueStore", "join", "leave_alone"]

#: Seconds that a process waits at its end for the others; so many does JAX, then, too.
END = 300.0
_NAMED, _PUT, _GET = structure("NamedValue"), structure("KeyValuePut"), structure("KeyValueGet")
_INT64 = 1
#: What the store says where a value has not come in time.
_DEADLINE_EXCEEDED = 4
_CALL = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_size_t)
_DELETE = ctypes.CFUNCTYPE(None, ctypes.c_size_t)
#: Makes an error of a code and a text; what it returns is returned by the call that failed.
_FAIL = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int32, ctypes.c_size_t, ctypes.c_size_t)
#: Clients were made before; their keys are not to be used again.
_clients = count()


class KeyValueStore:
    """JAX's key-value store, by the functions that it gives to a plugin.

    Parameters
    ----------
    args
        Those of the creation of a client.
    prefix
        Before all keys.
    """

    def __init__(self, args: Any, prefix: str):
        self._args, self._prefix = args, prefix

    def put(self, key: str, value: str) -> None:
        """Write a value under a new key; ProcessError if it cannot be."""
        name, text = Text(self._prefix + key), Text(value)
        args = _PUT(ctypes.sizeof(_PUT), 0, name.address, name.size, text.address, text.size)
        code, message = self._call(self._args.kv_put_callback, self._args.kv_put_user_arg, args)
        if code:
            raise ProcessError(f"JAX's key-value store must take {self._prefix}{key}: {message}")

    def get(self, key: str, seconds: float) -> str | None:
        """Return a value; None if it is not there after some seconds."""
        if CALLS.error is not None:  # an interrupt waits for the end of this call
            raise KeyboardInterrupt
        name = Text(self._prefix + key)
        args = _GET(ctypes.sizeof(_GET), 0, name.address, name.size, int(seconds * 1000))
        code, message = self._call(self._args.kv_get_callback, self._args.kv_get_user_arg, args)
        if code == _DEADLINE_EXCEEDED:
            return None
        if code:
            raise ProcessError(f"JAX's key-value store must give {self._prefix}{key}: {message}")
        try:
            return bytes_at(args.value, args.value_size).decode()
        finally:
            if args.deleter:
                _DELETE(args.deleter)(args.value)

    def _call(self, function: int, argument: int, args: Any) -> tuple[int, str]:
        """Return the code of an error, 0 if there was none, and its text."""
        found = [(0, "")]

        def fail(code: int, message: int, size: int) -> int:
            found.append((code, bytes_at(message, size).decode(errors="replace")))
            return 1

        made = _FAIL(fail)
        pointer = ctypes.c_size_t(ctypes.cast(made, ctypes.c_void_p).value or 0)
        args.callback_error, args.user_arg = ctypes.addressof(pointer), argument
        failed = _CALL(function)(ctypes.addressof(args))
        return found[-1] if failed else (0, "")


def _options(args: Any) -> dict[str, int]:
    """Return the whole numbers among the options of a client."""
    if not args.num_options:
        return {}
    values = (_NAMED * args.num_options).from_address(args.create_options)
    return {bytes_at(each.name, each.name_size).decode(): each.value
            for each in values if each.type == _INT64}


def join(args: Any) -> tuple[Settings, Processes | None]:
    """Return the settings, and meet the other processes; None: there are none.

    Parameters
    ----------
    args
        Those of the creation of a client.

    Raises
    ------
    celosia.pjrt.errors.PjrtError
        If the environment is wrong.
    ProcessError
        If they do not come, or have other chips or another version.
    """
    options = _options(args)
    nodes, node = options.get("num_nodes", 1), options.get("node_id", 0)
    if nodes < 2 or not args.kv_get_callback or not args.kv_put_callback:
        return Settings.read(), None
    settings = Settings.read(processes=nodes)
    from jax._src import distributed
    coordinator = getattr(distributed.global_state, "coordinator_address", None)
    facts = {
        "the version of celosia": version("celosia"),
        "CELOSIA_DEVICES": settings.devices,
        "CELOSIA_TOPOLOGY": str(settings.topology or ""),
        "CELOSIA_PRESET": settings.config.name,
        "the chip's fingerprint": settings.config.fingerprint,
        "CELOSIA_BACKEND": settings.backend,
        "CELOSIA_STRICT": settings.strict,
        "CELOSIA_FAST": settings.fast,
    }
    processes = meet(
        KeyValueStore(args, f"celosia/{next(_clients)}/"), ProcessName.own(node), nodes, facts,
        host=address_towards(coordinator) if coordinator else "127.0.0.1",
        lines=settings.topology is not None)
    return settings, processes


def leave_alone() -> None:
    """Have JAX end without a word to its coordinator.

    It would wait there for a process that is gone, until that is given up: 100 s.
    """
    from jax._src import distributed
    state = distributed.global_state
    for name in ("preemption_sync_manager", "client", "service"):
        # Dropped they would wait as well.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(getattr(state, name)))
        setattr(state, name, None)
