"""`POST /v1/feedback`: what a person made of suggestions, kept for the next training."""

from __future__ import annotations

import asyncio
import uuid
from datetime import datetime, timezone

import msgspec

from treetop.apps.serve.endpoint import Call, Endpoint
from treetop.apps.serve.messages import Feedback, FeedbackKept
from treetop.apps.serve.problems import ProblemError

__all__ = ["ENDPOINT", "feedback"]


async def feedback(call: Call, given: Feedback) -> FeedbackKept:
    """Write the text with its labels, those accepted and those added, where `treetop train --data` reads them."""
    model = call.service.shelf[given.model]
    if call.service.keeper is None:
        raise ProblemError(403, "this service keeps no feedback; start it with --feedback FOLDER")
    name = uuid.uuid4().hex
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
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, call.service.keeper.keep, model.name, [msgspec.json.encode(line) + b"\n"])
    return FeedbackKept(name)


ENDPOINT = Endpoint(
    "POST", "/v1/feedback", feedback, "Keep a correction", gives=FeedbackKept, takes=Feedback, status=201
)
