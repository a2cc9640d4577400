"""What Label Studio labels a text with: the one place of its labelling configuration that asks for choices."""

from __future__ import annotations

from typing import Any, NamedTuple
from xml.etree import ElementTree

from treetop.apps.serve.problems import ProblemError

__all__ = ["LabelConfig", "read_config"]

_CHOOSING = ("Choices", "Taxonomy")


class LabelConfig(NamedTuple):
    """Which tag asks for choices, about which field of a task."""

    from_name: str
    to_name: str
    field: str
    """The field of a task's data that holds the text."""
    kind: str
    """`choices` or `taxonomy`."""
    single: bool
    """Whether one choice is all that may be made."""
    choices: tuple[str, ...]
    """Those that the configuration lists; none where tasks bring them."""

    def result(self, label: str | list[str], score: float) -> dict[str, Any]:
        """Choices as an entry of a prediction."""
        labels = [label] if isinstance(label, str) else label
        value: list[Any] = [[one] for one in labels] if self.kind == "taxonomy" else labels
        about = {"from_name": self.from_name, "to_name": self.to_name, "type": self.kind, "score": score}
        return about | {"value": {self.kind: value}}

    def chosen(self, entries: list[Any]) -> list[str]:
        """The labels that an annotation has for this tag; of a taxonomy's paths the last part."""
        found: list[str] = []
        for entry in entries:
            if isinstance(entry, dict) and entry.get("from_name") == self.from_name:
                value = entry.get("value")
                made = value.get(self.kind) if isinstance(value, dict) else None
                found += [one[-1] if isinstance(one, list) and one else one for one in _listed(made)]
        return [one for one in found if isinstance(one, str)]


def _listed(made: Any) -> list[Any]:
    return made if isinstance(made, list) else []


def read_config(xml: str) -> LabelConfig:
    """The first tag of a labelling configuration that asks for choices about a text."""
    try:
        root = ElementTree.fromstring(xml)
    except (ElementTree.ParseError, ValueError):
        raise ProblemError(422, "the labelling configuration is not valid XML", field="label_config") from None
    fields = {tag.get("name"): (tag.get("value") or "").removeprefix("$") for tag in root.iter()}
    for tag in root.iter():
        to_name = tag.get("toName", "")
        if tag.tag in _CHOOSING and fields.get(to_name):
            choices = tuple(choice.get("value") or choice.get("alias") or "" for choice in tag.iter("Choice"))
            single = tag.tag == "Choices" and tag.get("choice", "single").startswith("single")
            return LabelConfig(tag.get("name", ""), to_name, fields[to_name], tag.tag.lower(), single, choices)
    detail = "the labelling configuration has no <Choices> or <Taxonomy> about a field of the tasks"
    raise ProblemError(422, detail, field="label_config")
