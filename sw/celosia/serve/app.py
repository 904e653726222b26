"""The ASGI application of a service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from celosia.driver.errors import needs
from celosia.serve.service import Service

__all__ = ["make_app"]


def make_app(service: Service) -> Callable[[Any, Any, Any], Awaitable[None]]:
    """Return the ASGI application of a service, which the caller enters and leaves.

    Raises
    ------
    DeviceError
        If a package of the extra "serve" is not installed.
    """
    try:
        from celosia.serve.routes import Routes
    except ModuleNotFoundError as error:
        raise needs("celosia serve", error, "serve") from error
    return Routes(service).app
