"""Label Studio's ML backend: suggestions as pre-annotations, annotations as feedback.

Connect it in Label Studio under Settings, Model, with the address of this service; keys go into its basic
authentication or a proxy. Requests carry more than is read here, and may carry more still in later versions.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct, field

from treetop.apps.serve.answering import predict
from treetop.apps.serve.corrections import keep
from treetop.apps.serve.endpoint import Call, Endpoint
from treetop.apps.serve.labelconfig import LabelConfig, read_config
from treetop.apps.serve.messages import MOST_TEXTS, Feedback
from treetop.apps.serve.model import ServedModel
from treetop.apps.serve.problems import ProblemError
from treetop.predictions import Suggestion

__all__ = ["ENDPOINTS"]

_K = 10
_ANNOTATED = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED")


class Task(Struct):
    """A task of Label Studio."""

    data: dict[str, Any]
    id: int | str | None = None


class PredictRequest(Struct):
    """Tasks that want predictions."""

    tasks: Annotated[list[Task], Meta(max_length=MOST_TEXTS)]
    label_config: str


class Prediction(Struct):
    """The suggestions for a task."""

    result: list[dict[str, Any]]
    score: float
    model_version: str


class PredictResponse(Struct):
    """The suggestions for all tasks."""

    results: list[Prediction]


class SetupRequest(Struct):
    """Label Studio connects."""

    schema: str = ""


class SetupResponse(Struct):
    """What answers."""

    model_version: str


class Annotation(Struct):
    """What a person chose."""

    result: list[Any] = field(default_factory=list)
    completed_by: Any = None


class LabelledProject(Struct):
    """Where it was chosen."""

    label_config: str = ""


class WebhookRequest(Struct):
    """Something happened in Label Studio."""

    action: str
    task: Task | None = None
    annotation: Annotation | None = None
    project: LabelledProject | None = None


class WebhookResponse(Struct):
    """It was heard."""

    status: str
    kept: int


async def predictions(call: Call, asked: PredictRequest) -> PredictResponse:
    """Suggestions for tasks, by the first model that is served."""
    model, config = call.service.shelf[None], read_config(asked.label_config)
    texts = [_text(task, config) for task in asked.tasks]
    known = [choice for choice in config.choices if choice in model.model.space.index] or None
    found = model.cut(await predict(call, model, texts, 1 if config.single else _K, known), _threshold(model))
    return PredictResponse([_prediction(config, suggestions, model.version) for suggestions in found])


async def setup(call: Call, asked: SetupRequest) -> SetupResponse:
    """Say which model answers; refuse a configuration that it cannot work with."""
    if asked.schema:
        read_config(asked.schema)
    return SetupResponse(call.service.shelf[None].version)


async def webhook(call: Call, event: WebhookRequest) -> WebhookResponse:
    """Keep an annotation as feedback; other events are heard and no more."""
    if event.action not in _ANNOTATED or event.task is None or event.annotation is None or event.project is None:
        return WebhookResponse("ok", 0)
    config = read_config(event.project.label_config)
    chosen = config.chosen(event.annotation.result)
    user = None if event.annotation.completed_by is None else str(event.annotation.completed_by)[:200]
    given = Feedback(_text(event.task, config), added=chosen, user=user)
    return WebhookResponse("ok", len(await keep(call, call.service.shelf[None], [given])))


def _threshold(model: ServedModel) -> str | None:
    """Calibrated models suggest what is probably right, others a fixed number."""
    return "auto" if model.kind == "probability" else None


def _text(task: Task, config: LabelConfig) -> str:
    text = task.data.get(config.field)
    if not isinstance(text, str):
        raise ProblemError(422, f"a task has no text in its field '{config.field}'", field=f"tasks.data.{config.field}")
    return text


def _prediction(config: LabelConfig, suggestions: list[Suggestion], version: str) -> Prediction:
    """One entry with all choices, as Label Studio expects of a tag."""
    if not suggestions:
        return Prediction([], 0.0, version)
    scores = [round(one.score, 6) for one in suggestions]
    return Prediction([config.result([one.label for one in suggestions], scores[0])], scores[0], version)


_GROUP = "Label Studio's ML backend"
ENDPOINTS = (
    Endpoint("POST", "/predict", predictions, "Annotate tasks", PredictResponse, takes=PredictRequest, group=_GROUP),
    Endpoint("POST", "/setup", setup, "Connect", SetupResponse, takes=SetupRequest, group=_GROUP),
    Endpoint(
        "POST", "/webhook", webhook, "Hear of annotations", WebhookResponse,
        takes=WebhookRequest, status=201, group=_GROUP,
    ),
)  # fmt: skip
