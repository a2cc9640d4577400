"""The service as an ASGI application: endpoints, the page, and problems for whatever else is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from treetop.apps.serve.endpoint import Handler
from treetop.apps.serve.endpoints import ALL
from treetop.apps.serve.problems import ProblemError
from treetop.apps.serve.service import Service

__all__ = ["PAGE", "Application", "application"]

PAGE = Path(__file__).parent / "page"
_PAGE_HEADERS = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


class _Page(StaticFiles):
    """Files of the page, which may load nothing from elsewhere."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, or a problem if there is none, however it is asked for."""
        if self.lookup_path(path or "index.html")[1] is None:
            raise HTTPException(404)
        response = await super().get_response(path, scope)
        response.headers.update(_PAGE_HEADERS)
        return response


class _OtherMethod:
    """A path that exists, asked with a method that it does not have; the page at / would say that it does not exist."""

    def __init__(self, methods: Sequence[str]) -> None:
        self.allowed = ", ".join(methods)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse."""
        del scope, receive, send
        raise HTTPException(405, headers={"allow": self.allowed})


class Application:
    """Requests for paths without parts that vary go straight to their endpoint; the others take the router's way."""

    def __init__(self, router: ASGIApp, handlers: Mapping[tuple[str, str], Handler]) -> None:
        self.router, self.handlers = router, handlers
        self.short = {path.encode(): one for (_, path), one in handlers.items() if one.endpoint.at_once is not None}
        """Endpoints by the paths of requests that may need no waiting."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on."""
        handler = self.handlers.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        await (handler or self.router)(scope, receive, send)

    def at_once(self, path: bytes, headers: list[tuple[bytes, bytes]], body: bytes) -> bytes | None:
        """The answer to a POST, if there is one without waiting."""
        return self.short[path].at_once(headers, body)


def application(service: Service, lifespan: Lifespan[Starlette] | None = None) -> Application:
    """All endpoints, and the page at /."""
    handlers = {(one.method, one.path): Handler(one, service) for one in ALL}
    routes: list[BaseRoute] = [Route(path, handler, methods=[method]) for (method, path), handler in handlers.items()]
    paths: dict[str, list[str]] = {one.path: [] for one in ALL}
    for one in ALL:
        paths[one.path].append(one.method)
    routes += [Route(path, _OtherMethod(methods)) for path, methods in paths.items()]
    if service.settings.ui:
        routes.append(Mount("/", _Page(directory=PAGE, html=True)))
    refusals = {HTTPException: _problem}
    router = Starlette(routes=routes, exception_handlers=refusals, middleware=_cors(service), lifespan=lifespan)
    whole: dict[tuple[str, str], Handler] = {key: one for key, one in handlers.items() if "{" not in key[1]}
    if service.settings.origins:
        whole.clear()  # the headers for pages of other sites are the router's
    return Application(router, whole)


def _cors(service: Service) -> list[Middleware]:
    """Answers to pages of other sites, if any are allowed to ask."""
    if not service.settings.origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=service.settings.origins,
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type", "x-api-key"],
        )
    ]


async def _problem(request: Request, error: Any) -> Response:
    """What Starlette itself refuses: paths that do not exist, methods that a path does not have."""
    details = {404: "there is nothing at this path; see /docs", 405: f"{request.method} is not possible at this path"}
    refused = ProblemError(error.status_code, details.get(error.status_code, str(error.detail)))
    return Response(refused.body(), refused.status, error.headers, "application/problem+json")
