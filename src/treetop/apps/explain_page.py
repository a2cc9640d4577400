"""An explanation, as a page in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from treetop.apps.bars import bar
from treetop.explanation import BIAS, READING, REST, TFIDF, Explanation, Neighbour, Word

__all__ = ["show_explanation"]

_BAR = 12  # characters of the longest bar
_FOR, _AGAINST = "green", "red"
_STRONG, _CLEAR = 0.5, 0.15  # share of the strongest word's contribution
_LONG, _AROUND = 1200, 50  # characters of a text that is shown whole; and around a strong word of a longer one
_NEIGHBOUR = 150
_NEGLIGIBLE = 5e-4
_TOO_LITTLE = 5e-3  # to be seen in two digits
_PLAINLY = {TFIDF: "words (tf-idf)", BIAS: "without any word (bias)"}


def show_explanation(found: Explanation, *, words: int = 10, console: Console | None = None) -> None:
    """The text with its words marked, the words in a table, sources, path, what to remove, and texts alike."""
    console = console or Console()
    for part in _parts(found, words):
        console.print(part)
        console.print()
    for note in found.notes:
        console.print(Text(f"! {note}", style="yellow"))


def _parts(found: Explanation, words: int) -> Iterable[RenderableType]:
    yield _head(found)
    yield Padding(_marked(found), (0, 0, 0, 2))
    adds = _titled("what each word adds", _table(found, words))
    yield Columns([adds, _titled("where it comes from", _sources(found))], padding=(0, 6))
    if found.path:
        yield _titled("how it was found: groups of labels, from large to small", _path(found))
    if found.members:
        yield _titled("members", _members(found))
    if found.removal is not None:
        yield _removal(found)
    if found.nearest:
        yield _titled("training texts with this label", _nearest(found.nearest))


def _head(found: Explanation) -> Text:
    head = Text(found.label, style="bold")
    if found.label_text:
        head.append(f" · {found.label_text}", style="bold")
    place = "not among the first fifty" if found.rank is None else f"suggestion {found.rank}"
    return head.append(f"\n{found.kind} {found.score:.3f}, {place}, by {found.method}", style="dim not bold")


def _marked(found: Explanation) -> Text:
    """The text with the words that speak for and against the label in their colours."""
    text, largest = Text(found.text), _largest(found)
    for word in found.words:
        style = _style(word.contribution / largest)
        if style:
            text.stylize(style, word.start, word.end)
    return text if len(found.text) <= _LONG else _cut(text, found)


def _cut(text: Text, found: Explanation) -> Text:
    """Only what is around the strongest words of a long text."""
    strong = {word.word.casefold() for word in found.strongest(12)}
    shown, last = Text(), -1
    for word in found.words:
        if word.word.casefold() not in strong or word.end + _AROUND <= last or len(shown) > _LONG:
            continue
        start, end = max(_word_start(found.text, word.start - _AROUND), last), word.end + _AROUND
        shown.append("" if start <= last or not start else " … ", style="dim")
        last = max(word.end, _word_start(found.text, end)) if end < len(text) else len(text)
        shown.append_text(text[start:last])
    shown.append("" if last >= len(text) else " …", style="dim")
    return Text(" ").join(shown.split())


def _word_start(text: str, at: int) -> int:
    """Where the word at a place begins, or the next if there is none."""
    return max(text.rfind(" ", 0, max(at, 0)) + 1, 0)


def _style(share: float) -> str:
    colour = _FOR if share > 0 else _AGAINST
    if abs(share) >= _STRONG:
        return f"bold white on dark_{colour}"
    return colour if abs(share) >= _CLEAR else ""


def _largest(found: Explanation) -> float:
    return max((abs(word.contribution) for word in found.words), default=0.0) or 1.0


def _table(found: Explanation, count: int) -> Table:
    table = _small(header=False)
    strongest = [word for word in found.strongest(count) if abs(word.contribution) >= _TOO_LITTLE]
    largest = max((abs(word.contribution) for word in strongest), default=0.0) or 1.0
    sources = _sources_of(found.words)
    table.show_header = len(sources) > 1
    for name in ("", "adds", "", *sources):
        table.add_column(name, justify="right" if name else "left", header_style="dim", no_wrap=True)
    for word in strongest:
        own = [Text(_number(word.parts.get(name, 0.0)), style="dim") for name in sources]
        length = bar(abs(word.contribution) / largest, _BAR)
        style = _FOR if word.contribution > 0 else _AGAINST
        table.add_row(Text(word.word), _number(word.contribution), Text(length, style=style), *own)
    return table


def _sources_of(words: Sequence[Word]) -> list[str]:
    """The sources of what words add, if there are several."""
    names = list(dict.fromkeys(name for word in words for name in word.parts))
    return names if len(names) > 1 else []


def _sources(found: Explanation) -> Table:
    table = _small(header=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for name, value in _shown(found.parts).items():
        table.add_row(_PLAINLY.get(name, name), _number(value))
    table.add_row("together (margin)", Text(_number(found.margin), style="bold"))
    return table


def _shown(parts: Mapping[str, float]) -> dict[str, float]:
    """All but what is only rounding."""
    return {name: value for name, value in parts.items() if name not in (READING, REST) or abs(value) >= _NEGLIGIBLE}


def _path(found: Explanation) -> Table:
    several = len({step.tree for step in found.path}) > 1
    table = _small()
    table.expand = True
    for name in ("level", "labels", "margin"):
        table.add_column(name, justify="right", header_style="dim", no_wrap=True)
    table.add_column("among them", header_style="dim", no_wrap=True, overflow="ellipsis", ratio=2)
    table.add_column("strongest words", header_style="dim", ratio=3)
    for step in found.path:
        level = f"{step.tree + 1}.{step.level}" if several else str(step.level)
        names = Text(" · ".join(step.examples[: 1 if step.labels == 1 else 3]), style="cyan")
        table.add_row(level, f"{step.labels:,}", _number(step.margin), names, _strongest(found.words, step.words))
    return table


def _strongest(words: Sequence[Word], adds: Sequence[float]) -> Text:
    sums: dict[str, float] = {}
    for word, value in zip(words, adds, strict=True):
        sums[word.word.casefold()] = sums.get(word.word.casefold(), 0.0) + value
    best = sorted(sums.items(), key=lambda one: -abs(one[1]))[:4]
    return Text(", ".join(f"{word} {_number(value)}" for word, value in best if abs(value) >= _NEGLIGIBLE))


def _members(found: Explanation) -> Table:
    table = _small()
    for name, justify in (("", "left"), ("vote", "right"), ("margin", "right"), ("strongest words", "left")):
        table.add_column(name, justify=justify, header_style="dim")  # type: ignore[arg-type]
    for member in found.members:
        own = member.explanation
        words = ", ".join(f"{word.word} {_number(word.contribution)}" for word in own.strongest(5))
        table.add_row(own.method, f"{100 * member.weight:.0f} %", _number(own.margin), Text(words))
    return table


def _removal(found: Explanation) -> Text:
    gone = found.removal
    assert gone is not None
    if not gone.words:
        return Text(f"No word speaks for the label; its {found.kind} is {gone.before:.3f} without any.")
    words = Text(", ").join(Text(word, style="bold") for word in gone.words[:15])
    words.append(f" and {len(gone.words) - 15} more" if len(gone.words) > 15 else "")
    begin, end = ("the word ", "") if len(gone.words) == 1 else (f"{len(gone.words)} words (", ")")
    without, where = ("Without", "below") if gone.enough else ("Even without", "not below")
    after = f" its {found.kind} would be {gone.after:.3f}, {where} the threshold of {gone.threshold:.3f}."
    return Text.assemble(f"{without} {begin}", words, end + after)


def _nearest(nearest: Sequence[Neighbour]) -> Table:
    table = _small(header=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(ratio=1)
    for near in nearest:
        squeezed = " ".join(near.text.split())
        shown = Text(squeezed if len(squeezed) <= _NEIGHBOUR else squeezed[: _NEIGHBOUR - 1] + "…")
        shown.append("\nboth have: " + ", ".join(near.words), style="dim")
        table.add_row(f"{near.similarity:.2f}", shown)
    return table


def _number(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _small(*, header: bool = True) -> Table:
    return Table(box=None, padding=(0, 2, 0, 0), show_header=header)


def _titled(title: str, table: Table) -> Group:
    return Group(Text(title, style="bold"), table)
