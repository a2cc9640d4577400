"""Why labels are suggested, beside the suggestions: found in a thread, since one explanation takes milliseconds."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

from treetop.apps.serve.endpoint import Call, ClientGoneError
from treetop.apps.serve.messages import MOST_EXPLAINED, Suggested
from treetop.apps.serve.model import ServedModel
from treetop.apps.serve.problems import ProblemError
from treetop.errors import DataError

__all__ = ["explain"]


async def explain(call: Call, model: ServedModel, texts: Sequence[str], found: Sequence[Suggested]) -> None:
    """Give every suggestion its explanation; null for a text of which the model knows no word."""
    _check(model, sum(len(one.suggestions) for one in found))
    gone = threading.Event()
    left: asyncio.Future[Any] = asyncio.ensure_future(call.left())
    done: asyncio.Future[Any] = asyncio.ensure_future(asyncio.to_thread(_explain_all, model, texts, found, gone))
    try:
        await asyncio.wait({left, done}, return_when=asyncio.FIRST_COMPLETED)
        if not done.done():
            raise ClientGoneError
        done.result()
    finally:
        gone.set()
        left.cancel()


def _check(model: ServedModel, suggestions: int) -> None:
    if not model.explains:
        raise ProblemError(422, f"the model '{model.name}' cannot say why it suggests a label", field="explain")
    if suggestions > MOST_EXPLAINED:
        detail = f"{suggestions:,} explanations are too many at once; ask for {MOST_EXPLAINED} at most"
        raise ProblemError(422, detail, field="explain")


def _explain_all(model: ServedModel, texts: Sequence[str], found: Sequence[Suggested], gone: threading.Event) -> None:
    for text, one in zip(texts, found, strict=True):
        for suggestion in one.suggestions:
            if gone.is_set():
                return
            suggestion.explanation = _explanation(model, text, suggestion.label)


def _explanation(model: ServedModel, text: str, label: str) -> dict[str, Any] | None:
    try:
        return model.model.explain(text, label).to_dict()
    except DataError:
        return None
