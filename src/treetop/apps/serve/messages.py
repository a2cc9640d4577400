"""Every request and every answer as a type. Requests are checked by these, and the OpenAPI description is made of them.

The docstring of a field is its description for those who call the service.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

__all__ = [
    "MOST_EXPLAINED",
    "MOST_LABELS",
    "MOST_TEXTS",
    "Feedback",
    "FeedbackKept",
    "Health",
    "HealthOfModel",
    "Label",
    "LabelQuery",
    "Labels",
    "Model",
    "Models",
    "Node",
    "Problem",
    "SuggestRequest",
    "SuggestResponse",
    "Suggested",
    "Suggestion",
    "Tree",
    "TreeQuery",
]

MOST_TEXTS = 1000
"""Texts of one request."""
MOST_LABELS = 1000
"""Labels of one text, and labels to choose from or found in a search."""

MOST_EXPLAINED = 100
"""Suggestions of one request that can be explained."""

Kind: TypeAlias = Literal["probability", "score", "margin", "rank"]
K = Annotated[int, Meta(ge=1, le=MOST_LABELS, description="Labels per text, at most.")]
Texts = Annotated[list[str], Meta(max_length=MOST_TEXTS, description="The texts, at most 1,000 of them.")]
ModelName = Annotated[str | None, Meta(description="Name of the model; the first one served if absent.")]
Names = Annotated[list[str], Meta(max_length=MOST_LABELS)]
Short = Annotated[str, Meta(max_length=200)]
Threshold = Annotated[
    float | str | None,
    Meta(
        description="Leave out labels with a lower score: a number, or for a calibrated model an aim such as "
        "`auto` (the best F1), `f1-macro`, `precision:0.9`."
    ),
]


class SuggestRequest(Struct, forbid_unknown_fields=True):
    """Texts that labels are wanted for."""

    texts: Texts
    model: ModelName = None
    k: K = 10
    threshold: Threshold = None
    labels: Annotated[Names | None, Meta(description="Choose among these only.")] = None
    explain: Annotated[bool, Meta(description="Say for each label why it was suggested, at most 100 of them.")] = False


class Suggestion(Struct):
    """One label suggested for a text."""

    label: str
    text: Annotated[str | None, Meta(description="The label's own text, if it has one.")]
    score: Annotated[float, Meta(description="What labels are ranked by; `kind` says what it is.")]
    probability: Annotated[float | None, Meta(description="How often such a suggestion is right; null if not known.")]
    unseen: Annotated[bool, Meta(description="Whether no training text has this label.")] = False
    explanation: Annotated[
        Any, Meta(description="Why; null if it was not asked for, or the model knows no word of the text.")
    ] = None


class Suggested(Struct):
    """The labels suggested for one text, best first."""

    suggestions: list[Suggestion]


class SuggestResponse(Struct):
    """Suggestions for all texts, in their order."""

    model: str
    version: Annotated[str, Meta(description="Changes whenever the model does.")]
    kind: Annotated[Kind, Meta(description="What scores are: calibrated, 0 to 1, any number, or made of places.")]
    results: list[Suggested]


class Model(Struct):
    """A model that is served."""

    name: str
    version: str
    method: str
    labels: Annotated[int, Meta(description="How many labels it can suggest.")]
    trained_texts: int
    calibrated: bool
    kind: Kind
    thresholds: Annotated[bool, Meta(description="Whether a threshold can be asked for in words, as `auto`.")]
    explains: Annotated[bool, Meta(description="Whether it can say why it suggests a label.")]


class Models(Struct):
    """The models; the first one answers where no name is given."""

    models: list[Model]


class LabelQuery(Struct, forbid_unknown_fields=True):
    """Which labels are looked for."""

    model: ModelName = None
    query: Annotated[str, Meta(max_length=1000, description="Words in the label's name or text; none: all.")] = ""
    limit: Annotated[int, Meta(ge=1, le=MOST_LABELS)] = 20


class Label(Struct):
    """A label that can be suggested."""

    label: str
    text: str | None
    frequency: Annotated[int, Meta(description="How many training texts have it.")]


class Labels(Struct):
    """Labels that were found, best first."""

    labels: list[Label]


class TreeQuery(Struct, forbid_unknown_fields=True):
    """A place in the label tree."""

    model: ModelName = None
    node: Annotated[str | None, Meta(description="A node as this endpoint names them; the root if absent.")] = None
    limit: Annotated[int, Meta(ge=1, le=MOST_LABELS)] = 200
    offset: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0


class Node(Struct):
    """A node of the label tree, or at its end a label."""

    node: Annotated[str | None, Meta(description="To ask for its children; null if it is a label.")]
    labels: Annotated[int, Meta(description="How many labels are below it.")]
    examples: Annotated[list[Label], Meta(description="The most frequent labels below it; the label itself.")]


class Tree(Struct):
    """The children of a node."""

    node: str | None
    parent: Annotated[str | None, Meta(description="The node above; null at the root and right below it.")]
    total: Annotated[int, Meta(description="How many children there are.")]
    children: list[Node]


class Feedback(Struct, forbid_unknown_fields=True):
    """What a person made of the suggestions for a text."""

    text: str
    model: ModelName = None
    version: Short | None = None
    accepted: Annotated[Names, Meta(description="Suggested, and right.")] = []
    rejected: Annotated[Names, Meta(description="Suggested, and wrong.")] = []
    added: Annotated[Names, Meta(description="Right, but not suggested.")] = []
    user: Short | None = None


class FeedbackKept(Struct):
    """What was written, and will still be there after a power cut."""

    id: str


class HealthOfModel(Struct):
    """A model that answers."""

    name: str
    version: str
    seconds: Annotated[float, Meta(description="How long it has been served.")]


class Health(Struct):
    """Whether the service answers."""

    status: Literal["UP"]
    models: list[HealthOfModel]


class Problem(Struct):
    """What went wrong with a request (RFC 9457)."""

    title: str
    status: int
    detail: str
    type: str = "about:blank"
    field: Annotated[str | None, Meta(description="The field of the request that is meant, as `texts[0]`.")] = None
