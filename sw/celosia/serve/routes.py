"""The routes of the protocol, on Starlette."""

from __future__ import annotations

import importlib.metadata
import json
import logging
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from celosia.serve.errors import Refusal
from celosia.serve.protocol import BINARY_HEADER, no_binary
from celosia.serve.rows import describe, status
from celosia.serve.service import Service

__all__ = ["Routes"]

_LOG = logging.getLogger("celosia.serve")


def _reply(status: int, message: Any, headers: dict[str, str] | None = None) -> Response:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return Response(body, status, headers, "application/json")


def _refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return _reply(error.status, {"error": error.message}, error.headers)


async def _body(request: Request) -> AsyncIterator[bytes]:
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect:
        raise Refusal(499, "the client has gone") from None


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class Routes:
    """What is answered to each request.

    Attributes
    ----------
    app
        The ASGI application.
    """

    def __init__(self, service: Service):
        self._service, self._model = service, service.model
        at = "/v2/models/{model}"
        self.app = Starlette(
            routes=[
                Route("/v2", self._server), Route("/v2/health/live", self._live),
                Route("/v2/health/ready", self._ready), Route(at, self._metadata),
                Route(f"{at}/ready", self._model_ready),
                Route(f"{at}/infer", self._infer, methods=["POST"]),
                Route(f"{at}/versions/{{rest:path}}", self._versions, methods=["GET", "POST"]),
                *self._tensorflow(), Route("/metrics", self._metrics)],
            exception_handlers={Refusal: _refusal, HTTPException: self._http_error})

    def _tensorflow(self) -> list[Route]:
        """Return the paths of TensorFlow Serving."""
        found = []
        for at in ("/v1/models/{model}", "/v1/models/{model}/versions/{version}"):
            found += [Route(f"{at}:{{verb}}", self._predict, methods=["POST"]),
                      Route(f"{at}/metadata", self._signature), Route(at, self._status)]
        return found

    def _servable(self, request: Request) -> None:
        """Refuse a model or version that is not there, in TensorFlow Serving's words."""
        name, only = request.path_params["model"], str(self._model.version)
        version = request.path_params.get("version", only)
        if name != self._model.name or version != only:
            which = (f"Specific({name[:200]}, {version[:20]})" if "version" in request.path_params
                     else f"Latest({name[:200]})")
            raise Refusal(404, f"Servable not found for request: {which}: the model must be "
                               f"{self._model.name}, version {only}")

    async def _status(self, request: Request) -> Response:
        self._servable(request)
        return _reply(200, status(self._model))

    async def _signature(self, request: Request) -> Response:
        self._servable(request)
        return _reply(200, describe(self._model))

    async def _predict(self, request: Request) -> Response:
        self._servable(request)
        verb = request.path_params["verb"]
        if verb != "predict":
            raise Refusal(400, f"a model must be asked to predict, not to {verb[:80]}")
        return await self._inferred(request, rows=True)

    def _http_error(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        headers = dict(error.headers or {})
        message = f"{request.method} {request.url.path}: {error.detail}"
        if error.status_code == 405:
            headers["Allow"] = ", ".join(sorted(headers.get("Allow", "GET").split(", ")))
            message = (f"{request.url.path} must be asked with {headers['Allow']}, "
                       f"not {request.method}")
        elif error.status_code == 404:
            name = self._model.name
            message = (f"the path must be /v2, /v2/health/live, /v2/health/ready, /metrics, "
                       f"/v2/models/{name}[/ready | /infer] or /v1/models/{name}[:predict], "
                       f"not {request.url.path[:200]}")
        return _reply(error.status_code, {"error": message}, headers)

    def _known(self, request: Request) -> None:
        name = request.path_params["model"]
        if name != self._model.name:
            raise Refusal(404, f"the model must be {self._model.name}, not {name[:200]}")

    async def _versions(self, request: Request) -> Response:
        self._known(request)
        raise Refusal(404, f"models have no versions here: the path must be "
                           f"/v2/models/{self._model.name}, without /versions")

    async def _server(self, _: Request) -> Response:
        return _reply(200, {"name": "celosia", "version": importlib.metadata.version("celosia"),
                            "extensions": []})

    async def _live(self, _: Request) -> Response:
        return _reply(200, {"live": True})

    async def _ready(self, _: Request) -> Response:
        now = self._service.ready
        return _reply(200 if now else 503, {"ready": now})

    async def _metadata(self, request: Request) -> Response:
        self._known(request)
        return _reply(200, self._model.metadata)

    async def _model_ready(self, request: Request) -> Response:
        self._known(request)
        now = self._service.ready
        return _reply(200 if now else 503, {"name": self._model.name, "ready": now})

    async def _infer(self, request: Request) -> Response:
        self._known(request)
        if BINARY_HEADER in request.headers:
            raise no_binary(f"header {BINARY_HEADER}")
        return await self._inferred(request)

    async def _inferred(self, request: Request, *, rows: bool = False) -> Response:
        encoding = request.headers.get("content-encoding", "identity")
        if encoding != "identity":
            raise Refusal(415, f"content-encoding must be identity, not {encoding[:80]}")
        length = request.headers.get("content-length", "")
        try:
            return _reply(200, await self._service.infer(
                _body(request), int(length) if length.isdecimal() else None,
                request.client.host if request.client else "", partial(_gone, request),
                rows=rows))
        except Refusal as error:
            if error.__cause__ is not None:
                _LOG.error("%s", error.message)
            raise
        except Exception as error:
            _LOG.exception("a request failed")
            raise Refusal(500, f"internal error: {type(error).__name__}: {error}") from error

    async def _metrics(self, _: Request) -> Response:
        text, kind = self._service.metrics.text()
        return Response(text, headers={"Content-Type": kind})
