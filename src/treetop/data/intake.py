"""Where records of every format arrive: texts and rows of labels are gathered, and nulls counted, in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from treetop.data.dataset import LabelRows, LabelSpace
from treetop.data.fields import Fields, absent, as_name, as_names, as_text, as_weights, is_null, joined
from treetop.data.lines import Place
from treetop.data.separators import SAMPLE, Splitter, splitter
from treetop.data.tally import Tally

__all__ = ["Intake", "text_of"]


class Intake:
    """The texts and labels that have come in so far, and how to take more."""

    def __init__(self, fields: Fields, space: LabelSpace | None = None, tally: Tally | None = None) -> None:
        self.fields = fields
        self.rows = LabelRows(space)
        self.tally = Tally() if tally is None else tally
        self.texts: list[str] = []
        self._split: Splitter | None = None

    def splitter(self, cells: Sequence[str]) -> Splitter:
        """What cuts a cell into names: chosen by the first cells that come, and kept."""
        if self._split is None:
            self._split = splitter(self.fields.separator, cells, self.rows.space, self.tally)
        return self._split

    def take(self, objects: Iterable[tuple[int, Mapping[str, Any]]], place: Place) -> None:
        """Numbered records of field names and values; a field that some lack is null there."""
        source = iter(objects)
        first = list(islice(source, SAMPLE))
        place.line = first[0][0] if first else 0
        self._check_fields([record for _, record in first])
        values = (record.get(self.fields.labels) for _, record in first)
        if cells := [value for value in values if isinstance(value, str)]:
            self.splitter(cells)
        add, keep, fields, tally = self.rows.add, self.texts.append, self.fields, self.tally
        for place.line, record in chain(first, source):
            keep(text_of(record, fields, tally))
            value = record.get(fields.labels)
            if isinstance(value, list) and fields.weights is None:  # as a rule, and the quickest way
                names = as_names(value, fields.labels)
                tally.null_labels += len(value) - len(names)
                add(names)
            else:
                add(*self._labels(value, record))

    def _check_fields(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Every field must be in one of the first records at least."""
        there = dict.fromkeys(name for record in records for name in record)
        for name in self.fields.wanted if records else ():
            if name not in there:
                raise absent("field", name, there)

    def _labels(self, value: Any, record: Mapping[str, Any]) -> tuple[Sequence[str], Sequence[float] | None]:
        """Names and weights of the labels of one record."""
        fields = self.fields
        if isinstance(value, Mapping):
            return list(value), as_weights(list(value.values()), fields.labels)
        names = self._names(value)
        if fields.weights is None:
            return names, None
        weights = record.get(fields.weights)
        return names, [] if is_null(weights) else as_weights(weights, fields.weights)

    def _names(self, value: Any) -> Sequence[str]:
        if isinstance(value, str):
            return self.splitter([value])(value)
        if is_null(value):
            self.tally.null_labels += 1
            return ()
        if isinstance(value, int | float):
            return [as_name(value, self.fields.labels)]
        names = as_names(value, self.fields.labels)
        self.tally.null_labels += len(value) - len(names)
        return names


def text_of(record: Mapping[str, Any], fields: Fields, tally: Tally) -> str:
    """The text of a record, joined if it is in several fields; null and absent are empty, and counted."""
    if isinstance(fields.text, str):
        text = record.get(fields.text)
        return text if isinstance(text, str) else _part(text, fields.text, tally)
    return joined(_part(record.get(name), name, tally) for name in fields.texts)


def _part(value: Any, name: str, tally: Tally) -> str:
    if isinstance(value, str):
        return value
    if is_null(value):
        tally.null_texts += 1
        return ""
    return as_text(value, name)
