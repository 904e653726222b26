"""The routes of the protocol, on Starlette."""

from __future__ import annotations

import importlib.metadata
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

from celosia.driver.errors import needs
from celosia.serve.errors import Refusal
from celosia.serve.protocol import BINARY_HEADER, no_binary
from celosia.serve.service import Service

__all__ = ["make_app"]

_LOG = logging.getLogger("celosia.serve")


def make_app(service: Service) -> Callable[[Any, Any, Any], Awaitable[None]]:
    """Return the ASGI application of a service, which the caller enters and leaves.

    Raises
    ------
    DeviceError
        If a package of the extra "serve" is not installed.
    """
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.requests import ClientDisconnect, Request
        from starlette.responses import Response
        from starlette.routing import Route
    except ModuleNotFoundError as error:
        raise needs("celosia serve", error, "serve") from error
    model = service.model

    def reply(status: int, message: Any, headers: dict[str, str] | None = None) -> Response:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return Response(body, status, headers, "application/json")

    def refusal(_: Request, error: Exception) -> Response:
        assert isinstance(error, Refusal)
        return reply(error.status, {"error": error.message}, error.headers)

    def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        headers = dict(error.headers or {})
        message = f"{request.method} {request.url.path}: {error.detail}"
        if error.status_code == 405:
            headers["Allow"] = ", ".join(sorted(headers.get("Allow", "GET").split(", ")))
            message = (f"{request.url.path} must be asked with {headers['Allow']}, "
                       f"not {request.method}")
        elif error.status_code == 404:
            message = (f"the path must be /v2, /v2/health/live, /v2/health/ready, /metrics or "
                       f"/v2/models/{model.name}[/ready | /infer], not {request.url.path[:200]}")
        return reply(error.status_code, {"error": message}, headers)

    def known(request: Request) -> None:
        name = request.path_params["model"]
        if name != model.name:
            raise Refusal(404, f"the model must be {model.name}, not {name[:200]}")

    async def versions(request: Request) -> Response:
        known(request)
        raise Refusal(404, f"models have no versions here: the path must be "
                           f"/v2/models/{model.name}, without /versions")

    async def server(_: Request) -> Response:
        return reply(200, {"name": "celosia", "version": importlib.metadata.version("celosia"),
                           "extensions": []})

    async def live(_: Request) -> Response:
        return reply(200, {"live": True})

    async def ready(_: Request) -> Response:
        now = service.ready
        return reply(200 if now else 503, {"ready": now})

    async def metadata(request: Request) -> Response:
        known(request)
        return reply(200, model.metadata)

    async def model_ready(request: Request) -> Response:
        known(request)
        now = service.ready
        return reply(200 if now else 503, {"name": model.name, "ready": now})

    async def body(request: Request) -> AsyncIterator[bytes]:
        try:
            async for chunk in request.stream():
                yield chunk
        except ClientDisconnect:
            raise Refusal(499, "the client has gone") from None

    async def gone(request: Request) -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    async def infer(request: Request) -> Response:
        known(request)
        if BINARY_HEADER in request.headers:
            raise no_binary(f"header {BINARY_HEADER}")
        encoding = request.headers.get("content-encoding", "identity")
        if encoding != "identity":
            raise Refusal(415, f"content-encoding must be identity, not {encoding[:80]}")
        length = request.headers.get("content-length", "")
        try:
            return reply(200, await service.infer(
                body(request), int(length) if length.isdecimal() else None,
                request.client.host if request.client else "", partial(gone, request)))
        except Refusal as error:
            if error.__cause__ is not None:
                _LOG.error("%s", error.message)
            raise
        except Exception as error:
            _LOG.exception("a request failed")
            raise Refusal(500, f"internal error: {type(error).__name__}: {error}") from error

    async def metrics(_: Request) -> Response:
        text, kind = service.metrics.text()
        return Response(text, headers={"Content-Type": kind})

    at = "/v2/models/{model}"
    return Starlette(
        routes=[
            Route("/v2", server), Route("/v2/health/live", live), Route("/v2/health/ready", ready),
            Route(at, metadata), Route(f"{at}/ready", model_ready),
            Route(f"{at}/infer", infer, methods=["POST"]),
            Route(f"{at}/versions/{{rest:path}}", versions, methods=["GET", "POST"]),
            Route("/metrics", metrics)],
        exception_handlers={Refusal: refusal, HTTPException: http_error})
