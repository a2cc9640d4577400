"""`POST /v1/feedback`: what a person made of suggestions, kept for the next training."""

from __future__ import annotations

from treetop.apps.serve.corrections import keep
from treetop.apps.serve.endpoint import Call, Endpoint
from treetop.apps.serve.messages import Feedback, FeedbackKept

__all__ = ["ENDPOINT", "feedback"]


async def feedback(call: Call, given: Feedback) -> FeedbackKept:
    """Keep the text with its labels, those accepted and those added, where `treetop train --data` reads them."""
    (name,) = await keep(call, call.service.shelf[given.model], [given])
    return FeedbackKept(name)


ENDPOINT = Endpoint(
    "POST", "/v1/feedback", feedback, "Keep a correction", gives=FeedbackKept, takes=Feedback, status=201
)
