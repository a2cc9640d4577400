"""Annif's REST API, so that its clients work unchanged: a model is a project, a label a subject.

The URI of a subject is the name of the label, its label the text of it. `learn` keeps documents as feedback; a model
learns from them when it is trained again.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from treetop.apps.serve.answering import predict
from treetop.apps.serve.corrections import keep
from treetop.apps.serve.endpoint import Call, Endpoint
from treetop.apps.serve.messages import MOST_LABELS, Feedback
from treetop.apps.serve.model import ServedModel
from treetop.methods.card import CARD
from treetop.predictions import Predictions
from treetop.version import __version__

__all__ = ["ENDPOINTS"]

_MOST_DOCUMENTS = 32
_LANGUAGE = "und"
Limit = Annotated[int, Meta(ge=0, le=MOST_LABELS)]
LowScore = Annotated[float, Meta(ge=0.0, le=1.0)]


class ApiInfo(Struct):
    """What answers."""

    title: str
    version: str


class Backend(Struct):
    """What an Annif project suggests with: the method of the model."""

    backend_id: str


class Vocabulary(Struct):
    """The labels of a model."""

    vocab_id: str
    languages: list[str]
    size: int
    loaded: bool = True


class Vocabularies(Struct):
    """All vocabularies."""

    vocabs: list[Vocabulary]


class Project(Struct):
    """A model."""

    project_id: str
    name: str
    language: str
    backend: Backend
    vocab: Vocabulary
    vocab_language: str
    is_trained: bool
    modification_time: str


class Projects(Struct):
    """All models."""

    projects: list[Project]


class Limits(Struct):
    """How much is suggested."""

    limit: Limit = 10
    threshold: LowScore = 0.0
    language: str | None = None


class TextForm(Limits, kw_only=True):
    """A text as a form."""

    text: str


class Document(Struct):
    """A text of a batch."""

    text: str
    document_id: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)


class Documents(Struct):
    """A batch."""

    documents: Annotated[list[Document], Meta(max_length=_MOST_DOCUMENTS)]


class Subject(Struct):
    """A label that is right for a text."""

    uri: str
    label: str | None = None


class IndexedDocument(Struct):
    """A text with its labels."""

    text: str
    subjects: Annotated[list[Subject], Meta(max_length=MOST_LABELS)] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)


class Result(Struct):
    """A suggested label."""

    uri: str
    label: str
    score: float
    notation: str | None = None


class Results(Struct):
    """The labels suggested for a text."""

    results: list[Result]


class DocumentResults(Struct):
    """The labels suggested for a text of a batch."""

    document_id: str | None
    results: list[Result]


async def info(_call: Call, _asked: None) -> ApiInfo:
    """What answers, and its version."""
    return ApiInfo("Annif REST API (treetop)", __version__)


async def vocabs(call: Call, _asked: None) -> Vocabularies:
    """The labels of each model as a vocabulary."""
    return Vocabularies([_vocabulary(model) for model in call.service.shelf])


async def projects(call: Call, _asked: None) -> Projects:
    """The models as projects."""
    return Projects([_project(model) for model in call.service.shelf])


async def project(call: Call, _asked: None) -> Project:
    """One model as a project."""
    return _project(_model(call))


async def suggest(call: Call, asked: TextForm) -> Results:
    """Subjects for a text."""
    model = _model(call)
    return Results((await _suggest(call, model, [asked.text], asked))[0])


async def suggest_batch(call: Call, asked: tuple[Documents, Limits]) -> list[DocumentResults]:
    """Subjects for at most 32 texts."""
    documents, limits = asked[0].documents, asked[1]
    found = await _suggest(call, _model(call), [one.text for one in documents], limits)
    return [DocumentResults(one.document_id, results) for one, results in zip(documents, found, strict=True)]


async def learn(call: Call, documents: list[IndexedDocument]) -> None:
    """Keep texts with their subjects for the next training."""
    model = _model(call)
    await keep(
        call, model, [Feedback(one.text, added=[_name(model, each) for each in one.subjects]) for one in documents]
    )


def _model(call: Call) -> ServedModel:
    return call.service.shelf[call.path["project_id"]]


async def _suggest(call: Call, model: ServedModel, texts: list[str], limits: Limits) -> list[list[Result]]:
    if not texts or not limits.limit:
        return [[] for _ in texts]
    return _results(model, model.cut(await predict(call, model, texts, limits.limit), limits.threshold or None))


def _results(model: ServedModel, found: Predictions) -> list[list[Result]]:
    names, texts = model.model.space.names, model.model.space.texts or model.model.space.names
    return [
        [
            Result(names[label], texts[label], round(score, 6))
            for label, score in zip(row, scores, strict=True)
            if label >= 0
        ]
        for row, scores in zip(found.labels.tolist(), found.scores.tolist(), strict=True)
    ]


def _name(model: ServedModel, subject: Subject) -> str:
    """The name of the label that a URI stands for; URIs may come in angle brackets."""
    bare = subject.uri.removeprefix("<").removesuffix(">")
    return bare if bare in model.model.space.index or subject.uri not in model.model.space.index else subject.uri


def _vocabulary(model: ServedModel) -> Vocabulary:
    return Vocabulary(model.name, [_LANGUAGE], len(model.model.space))


def _project(model: ServedModel) -> Project:
    changed = datetime.fromtimestamp((model.path / CARD).stat().st_mtime, timezone.utc).isoformat(timespec="seconds")
    backend = Backend(model.model.name)
    return Project(model.name, model.name, _LANGUAGE, backend, _vocabulary(model), _LANGUAGE, True, changed)


def _endpoint(method: Any, path: str, answer: Any, summary: str, **more: Any) -> Endpoint:
    return Endpoint(method, f"/v1/{path}", answer, summary, group="Annif's API", **more)


_ONE = "projects/{project_id}"
ENDPOINTS = (
    _endpoint("GET", "", info, "What answers", gives=ApiInfo),
    _endpoint("GET", "vocabs", vocabs, "List the vocabularies", gives=Vocabularies),
    _endpoint("GET", "projects", projects, "List the projects", gives=Projects),
    _endpoint("GET", _ONE, project, "One project", gives=Project),
    _endpoint("POST", f"{_ONE}/suggest", suggest, "Suggest subjects", gives=Results, takes=TextForm, form=True),
    _endpoint(
        "POST", f"{_ONE}/suggest-batch", suggest_batch, "Suggest subjects for several texts",
        gives=list[DocumentResults], takes=Documents, query=Limits,
    ),
    _endpoint("POST", f"{_ONE}/learn", learn, "Keep indexed texts", takes=list[IndexedDocument], status=204),
)  # fmt: skip
