"""A report from model folders to files, all of which appear complete or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple

from treetop.apps.comparing import Field, Wanted, line_up
from treetop.apps.report.gathering import DEPTH, gather
from treetop.apps.report.labelwise import write_labels
from treetop.apps.report.page import page_of
from treetop.errors import ConfigError
from treetop.runtime import Runtime
from treetop.store import whole_file

__all__ = ["Files", "write_report"]

_BASELINE = "linear-baseline"


class Files(NamedTuple):
    """Where a report goes."""

    page: Path
    json: Path | None = None
    labels: Path | None = None

    def check(self) -> None:
        """Refuse names that are taken twice, or that no browser would open."""
        if self.page.suffix.lower() not in (".html", ".htm"):
            raise ConfigError(f"--out is {self.page}; give a file that ends in .html, and see --json and --labels-csv")
        given = [path.resolve() for path in self if path is not None]
        if len(set(given)) < len(given):
            raise ConfigError("two parts of the report would go to the same file; give each a name of its own")


def write_report(
    models: Sequence[Path],
    wanted: Wanted,
    files: Files,
    runtime: Runtime,
    *,
    baseline: bool = False,
    benchmark: str | None = None,
) -> int:
    """Measure, describe and write; the characters of the page. Files are opened first: what cannot be written is told
    before anything is computed.
    """
    files.check()
    with ExitStack() as stack:
        page, figures, table = (None if path is None else stack.enter_context(whole_file(path)) for path in files)
        field = stack.enter_context(_lined_up(models, wanted, runtime, baseline=baseline))
        return _write(field, wanted.split, benchmark, page, figures, table)


def _write(
    field: Field,
    split: str,
    benchmark: str | None,
    page: IO[str] | None,
    figures: IO[str] | None,
    table: IO[str] | None,
) -> int:
    report = gather(field, split, benchmark=benchmark)
    if figures is not None:
        figures.write(json.dumps(report.flat(), ensure_ascii=False, indent=2) + "\n")
    if table is not None:
        write_labels(table, field, [part.labels for part in report.parts])
    return 0 if page is None else page.write(page_of(report))


@contextmanager
def _lined_up(models: Sequence[Path], wanted: Wanted, runtime: Runtime, *, baseline: bool) -> Iterator[Field]:
    """The contenders, with a linear model that learns from the same data's training texts if that is wished for."""
    if not baseline:
        yield line_up(models, wanted, DEPTH, runtime)
        return
    with TemporaryDirectory() as home:
        from treetop.methods.xr_linear import XRLinear

        linear = XRLinear(runtime=runtime).fit(wanted.training(runtime))
        linear.save(Path(home) / _BASELINE)
        yield line_up([*models, Path(home) / _BASELINE], wanted, DEPTH, runtime)
