"""Tables that are in memory already: pandas, polars, pyarrow, Hugging Face datasets, or plain dictionaries.

None of those packages is needed. What speaks Arrow (the PyCapsule protocol) is read without copying its texts twice; a
pandas DataFrame, whose columns may hold any Python object, is read row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from treetop.data.fields import absent
from treetop.data.intake import Intake
from treetop.data.layout import canonical_split
from treetop.data.lines import Place
from treetop.errors import DataError

__all__ = ["take_given"]

_KINDS = "a file, a DataFrame (pandas, polars), an Arrow table, a Hugging Face dataset or an iterable of dictionaries"


def take_given(table: Any, split: str, intake: Intake) -> str:
    """The texts and labels of a table, or of one split of several; the answer is what to call it."""
    if isinstance(table, Mapping):
        if _columns_of(table):
            return _take_objects(_rows(table, list(table), intake), "the columns", intake)
        table = _chosen_split(table, split)
    kind = f"the {type(table).__module__.partition('.')[0]} {type(table).__name__}"
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        return _take_objects(_rows(table, list(table.columns), intake), kind, intake)
    if hasattr(table, "with_format") and hasattr(table, "__len__"):
        return _take_frames(_hugging_face(table, intake), kind, intake)
    if hasattr(table, "collect_schema") or hasattr(table, "__arrow_c_stream__"):
        return _take_frames(_arrow(table, intake), kind, intake)
    if isinstance(table, bytes) or not isinstance(table, Iterable):
        raise DataError(f"cannot read {kind}; give {_KINDS}")
    return _take_objects(table, "the records", intake)


def _columns_of(table: Mapping[Any, Any]) -> bool:
    """Whether the values are columns rather than tables."""
    return bool(table) and all(
        isinstance(column, list | tuple) or hasattr(column, "tolist") for column in table.values()
    )


def _chosen_split(tables: Mapping[str, Any], split: str) -> Any:
    named = {canonical_split(str(name)): table for name, table in tables.items()}
    if (name := canonical_split(split)) not in named:
        raise DataError(f"no split {split!r} among these tables; there are: {', '.join(map(str, tables)) or 'none'}")
    return named[name]


def _take_objects(records: Iterable[Any], kind: str, intake: Intake) -> str:
    with Place(kind, unit="row") as place:
        intake.take(_numbered(records), place)
    return kind


def _numbered(records: Iterable[Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, record in enumerate(records, 1):
        if not isinstance(record, Mapping):
            shown = repr(record)[:40]
            raise DataError(f"row {number} is {shown}, expected a dictionary of fields; or give {_KINDS}")
        yield number, record


def _rows(table: Any, names: list[Any], intake: Intake) -> Iterator[dict[str, Any]]:
    """The wanted columns of a table, row by row, as dictionaries."""
    wanted = intake.fields.wanted
    for name in wanted:
        if name not in names:
            raise absent("column", name, map(str, names))
    columns = [table[name].tolist() if hasattr(table[name], "tolist") else table[name] for name in wanted]
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise DataError(f"columns of {' and '.join(map(str, sorted(lengths)))} rows; all need one row per text")
    return (dict(zip(wanted, values, strict=True)) for values in zip(*columns, strict=True))


def _take_frames(source: Iterable[Any], kind: str, intake: Intake) -> str:
    from treetop.data.frames import take_frames

    with Place(kind, unit="row") as place:
        take_frames(source, intake, place)
    return kind


def _arrow(table: Any, intake: Intake) -> Iterator[Any]:
    import polars as pl

    from treetop.data.frames import slices

    if not isinstance(table, pl.LazyFrame):
        table = (table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)).lazy()
    yield from slices(table, intake.fields.wanted)


def _hugging_face(table: Any, intake: Intake) -> Iterator[Any]:
    """The rows in the order the dataset has them, also after a shuffle; numbers of classes become their names."""
    import polars as pl

    for name in intake.fields.wanted:
        if name not in table.column_names:
            raise absent("column", name, table.column_names)
    names = _class_names(table.features[intake.fields.labels])
    column = pl.col(intake.fields.labels)
    for batch in table.select_columns(list(dict.fromkeys(intake.fields.wanted))).with_format("arrow").iter(4096):
        frame = pl.DataFrame(batch)
        if names:
            classes = pl.Enum(list(dict.fromkeys(names)))
            named = dict(enumerate(names))
            single = frame.schema[intake.fields.labels].is_integer()
            told = pl.element() if not single else column
            told = told.replace_strict(named, default=None, return_dtype=classes)
            frame = frame.with_columns(told if single else column.list.eval(told))
        yield frame


def _class_names(feature: Any) -> list[str]:
    """The names of a `ClassLabel`, or of a list of them; none for other features."""
    inner = getattr(feature, "feature", feature)
    return list(getattr(inner, "names", None) or ())
