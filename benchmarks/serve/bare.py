"""The least that a service of this kind can be: `python -m benchmarks.serve.bare MODEL PORT`."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from treetop.methods import load
from treetop.runtime import Runtime


class Asked(msgspec.Struct):
    """Texts."""

    texts: list[str]
    k: int = 10


def main() -> None:
    model = load(sys.argv[1], runtime=Runtime(threads=1))
    decoder, encoder = msgspec.json.Decoder(Asked), msgspec.json.Encoder()

    async def suggest(request: Request) -> Response:
        asked = decoder.decode(await request.body())
        found: Any = list(model.predict(asked.texts, asked.k))
        return Response(encoder.encode(found), media_type="application/json")

    async def health(_request: Request) -> Response:
        return Response()

    app = Starlette(routes=[Route("/v1/suggest", suggest, methods=["POST"]), Route("/health", health)])
    uvicorn.run(app, port=int(sys.argv[2]), log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
