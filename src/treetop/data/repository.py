"""Raw texts as the Extreme Classification Repository releases them: `trn.json.gz`, `tst.json.gz` and `lbl.json.gz`.

    {"uid": "B00001", "title": "A pen", "content": "It writes.", "target_ind": [12, 3], "target_rel": [1.0, 1.0]}
    {"uid": "B00002", "title": "Pens"}                                                 a line of lbl.json.gz

`target_ind` counts lines of the label file from 0. Labels are called by their uid, and their titles are their texts.
The text is title and content; in benchmarks that have Titles in their name, as their papers use them, the title alone.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

from treetop.data.dataset import LabelSpace
from treetop.data.fields import Fields, as_text
from treetop.data.jsonl import file_objects
from treetop.data.lines import Place
from treetop.errors import DataError

__all__ = ["check_lines", "number_space", "repository_fields", "repository_labels"]

_LABEL_FILES = ("lbl.json.gz", "lbl.json")
_TEXTS = ("title", "content")


def repository_fields(path: Path, fields: Fields) -> Fields:
    """The fields of this form, where others were not asked for."""
    usual = Fields()
    first: set[str] = set().union(*(record for _, record in islice(file_objects(path), 1)))
    wanted = _TEXTS[:1] if _titles_only(path) else _TEXTS
    found = tuple(name for name in wanted if name in first) or _TEXTS[:1]
    return replace(
        fields,
        text=(found if len(found) > 1 else found[0]) if fields.text == usual.text else fields.text,
        labels="target_ind" if fields.labels == usual.labels else fields.labels,
        weights="target_rel" if fields.weights is None and "target_rel" in first else fields.weights,
    )


def repository_labels(path: Path) -> LabelSpace:
    """The labels of the file beside the split, in its order."""
    file = next(path.with_name(name) for name in _LABEL_FILES if path.with_name(name).is_file())
    names: list[str] = []
    texts: list[str] = []
    with Place(file) as place:
        for place.line, record in file_objects(file):
            names.append(str(record.get("uid", len(names))))
            texts.append(as_text(record.get("title") or names[-1], "title"))
        if len(set(names)) < len(names):  # several editions of one thing: only the line tells them apart
            names = list(map(str, range(len(names))))
        return LabelSpace(names, texts)


def number_space(labels: LabelSpace) -> LabelSpace:
    """The labels by their lines, as `target_ind` calls them."""
    return LabelSpace(list(map(str, range(len(labels)))))


def check_lines(found: LabelSpace, labels: LabelSpace, path: Path) -> None:
    """Refuse numbers beyond the label file."""
    if len(found) > len(labels):
        problem = f"target_ind holds {found.names[len(labels)]}, but the label file has {len(labels)} lines"
        raise DataError(f"{problem}, counted from 0; do both come from one release?", path=path)


def _titles_only(path: Path) -> bool:
    """Whether the benchmark is one of titles, as its folder says: LF-AmazonTitles-131K."""
    return any("titles" in part.name.lower() for part in (path.resolve().parent, path.resolve().parent.parent))
