"""A server on a socket, from start to a clean end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from celosia.driver.errors import needs
from celosia.serve.app import make_app
from celosia.serve.service import Service

__all__ = ["listen", "make_server", "run"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: Connections that wait to be accepted.
_BACKLOG = 1024
#: Open files besides connections.
_FILES = 256


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Parameters
    ----------
    host
        Name or address.
    port
        0: any that is free.

    Raises
    ------
    ValueError
        If the port is none.
    OSError
        If the address cannot be used; the message names it.
    """
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise ValueError(f"port must be from 0 to 65535, not {port!r}")
    made = None
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        # asyncio sends at once (TCP_NODELAY) only where the protocol is named.
        made = socket.socket(family, kind, socket.IPPROTO_TCP)
        if os.name == "posix":  # elsewhere it would allow two servers on one port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(_BACKLOG)
        return made
    except OSError as error:
        if made is not None:
            made.close()
        raise OSError(f"{host}:{port} must be an address that is free: "
                      f"{error.strerror or error}") from None


def run(service: Service, made: socket.socket, started: Callable[[], None] = lambda: None) -> int:
    """Serve until SIGINT or SIGTERM; requests that are in the server are answered then.

    A second SIGINT ends it at once.

    Parameters
    ----------
    service
        What answers.
    made
        A socket that listens; closed in the end.
    started
        Called when requests are answered.

    Returns
    -------
    int
        0, or 1 if not everything ended well in the time that a request may take.
    """
    try:
        return asyncio.run(_serve(service, made, started))
    finally:
        made.close()


@contextmanager
def _survived() -> Iterator[None]:
    """Let the signals be nothing but a request to stop: uvicorn raises them again in the end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, lambda number, frame: None) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def make_server(service: Service) -> Any:
    """Return the HTTP server of a service, which the caller enters and leaves."""
    try:
        import uvicorn
    except ModuleNotFoundError as error:
        raise needs("celosia serve", error, "serve") from error
    from celosia.serve.connection import protocol
    limits = service.limits
    return uvicorn.Server(uvicorn.Config(
        make_app(service), http=protocol(limits, service.unfinished), lifespan="off", ws="none",
        log_config=None, access_log=False, server_header=False, proxy_headers=False,
        timeout_keep_alive=limits.idle, backlog=_BACKLOG,
        timeout_graceful_shutdown=int(limits.timeout) + 1))


def _allow_files(count: int) -> None:
    """Let the process have some open files, where the system has a limit that may be raised."""
    try:
        import resource
    except ModuleNotFoundError:  # not on Windows, which has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


async def _serve(service: Service, made: socket.socket, started: Callable[[], None]) -> int:
    server = make_server(service)
    _allow_files(service.limits.open_connections + _BACKLOG + _FILES)
    async with service:
        started()
        with _survived():
            await server.serve(sockets=[made])
        forced = server.force_exit
    return 0 if service.ended and not forced else 1
