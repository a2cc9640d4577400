"""A correction, however it was sent, becomes a line that the next training reads."""

from __future__ import annotations

import asyncio
import uuid
from datetime import datetime, timezone

import msgspec

from treetop.apps.serve.endpoint import Call
from treetop.apps.serve.messages import Feedback
from treetop.apps.serve.model import ServedModel
from treetop.apps.serve.problems import ProblemError

__all__ = ["keep"]


async def keep(call: Call, model: ServedModel, given: list[Feedback]) -> list[str]:
    """Write corrections for a model; their ids. They are on the disk when this returns."""
    keeper = call.service.keeper
    if keeper is None:
        raise ProblemError(403, "this service keeps no feedback; start it with --feedback FOLDER")
    names = [uuid.uuid4().hex for _ in given]
    lines = [_line(model, one, name) for one, name in zip(given, names, strict=True)]
    if lines:
        await asyncio.get_running_loop().run_in_executor(None, keeper.keep, model.name, lines)
    return names


def _line(model: ServedModel, given: Feedback, name: str) -> bytes:
    """The text with its labels, those accepted and those added, and who said so when of which model."""
    line = {
        "id": name,
        "text": given.text,
        "labels": list(dict.fromkeys([*given.accepted, *given.added])),
        "accepted": given.accepted,
        "rejected": given.rejected,
        "added": given.added,
        "model": model.name,
        "version": given.version or model.version,
        "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        "user": given.user,
    }
    return msgspec.json.encode(line) + b"\n"
