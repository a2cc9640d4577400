"""Charts as SVG that stands in a page: small, in the page's colours, told in words to those who cannot see them.

Written directly: what a report draws are lines, bars and points on two axes, which takes less than a drawing library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from math import log10

__all__ = ["Axis", "Chart", "in_columns"]

_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 38  # room around the axes
_COLOURS = 8


@dataclass(frozen=True)
class Axis:
    """The numbers along one side of a chart."""

    low: float
    high: float
    ticks: Sequence[float]
    name: str = ""
    form: Callable[[float], str] = "{:g}".format
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """From 0 to 1."""
        if self.logarithmic:
            return log10(max(value, self.low) / self.low) / max(log10(self.high / self.low), 1e-9)
        return (value - self.low) / max(self.high - self.low, 1e-9)


@dataclass
class Chart:
    """Two axes and what is drawn between them; `words` say what there is to see."""

    words: str
    x: Axis
    y: Axis
    width: int = 420
    height: int = 260
    _drawn: list[str] = field(default_factory=list)

    def line(self, points: Sequence[tuple[float, float]], colour: int = 0, kind: str = "") -> None:
        """A line through points."""
        path = " ".join(f"{self._x(x)},{self._y(y)}" for x, y in points)
        self._drawn.append(f'<polyline class="line c{colour % _COLOURS} {kind}" points="{path}"/>')

    def points(self, points: Sequence[tuple[float, float, float, str]], colour: int = 0) -> None:
        """Circles: x, y, radius, and what is said when one is pointed at."""
        for x, y, radius, told in points:
            place = f'cx="{self._x(x)}" cy="{self._y(y)}" r="{radius:.1f}"'
            self._drawn.append(
                f'<circle class="dot c{colour % _COLOURS}" {place}><title>{escape(told)}</title></circle>'
            )

    def bar(self, left: float, right: float, value: float, told: str, colour: int = 0, error: float = 0.0) -> None:
        """A bar from the ground up, with its standard error."""
        top, ground = self._y(value), self._y(self.y.low)
        size = f'x="{self._x(left)}" y="{top}" width="{self._x(right) - self._x(left):.1f}" height="{ground - top:.1f}"'
        self._drawn.append(f'<rect class="bar c{colour % _COLOURS}" {size} rx="2"><title>{escape(told)}</title></rect>')
        if error:
            middle, ends = self._x((left + right) / 2), (self._y(value - error), self._y(value + error))
            self._drawn.append(f'<path class="error" d="M{middle},{ends[0]}V{ends[1]}"/>')

    def note(self, x: float, y: float, words: str, anchor: str = "middle", lift: float = 0.0) -> None:
        """Words at a point, or so many pixels above it."""
        place = f'x="{self._x(x)}" y="{self._y(y) - lift:.1f}" text-anchor="{anchor}"'
        self._drawn.append(f'<text class="note" {place}>{escape(words)}</text>')

    def svg(self) -> str:
        """The chart."""
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{escape(self.words, quote=True)}">'
            f"{self._grid()}{''.join(self._drawn)}</svg>"
        )

    def _grid(self) -> str:
        left, right, ground = self._x(self.x.low), self._x(self.x.high), self._y(self.y.low)
        lines = [f'<path class="grid" d="M{left},{self._y(tick)}H{right}"/>' for tick in self.y.ticks]
        lines.append(f'<path class="axis" d="M{left},{ground}H{right}"/>')
        for tick in self.y.ticks:
            place = f'x="{left - 6}" y="{self._y(tick) + 4}" text-anchor="end"'
            lines.append(f"<text {place}>{escape(self.y.form(tick))}</text>")
        for tick in self.x.ticks:
            place = f'x="{self._x(tick)}" y="{ground + 16}" text-anchor="middle"'
            lines.append(f"<text {place}>{escape(self.x.form(tick))}</text>")
        place = f'x="{(left + right) / 2:.1f}" y="{self.height - 4}" text-anchor="middle"'
        lines.append(f'<text class="name" {place}>{escape(self.x.name)}</text>')
        return "".join(lines) + self._name_of_y()

    def _name_of_y(self) -> str:
        middle = _TOP + (self.height - _TOP - _BOTTOM) / 2
        place = f'transform="translate(11 {middle}) rotate(-90)" text-anchor="middle"'
        return f'<text class="name" {place}>{escape(self.y.name)}</text>' if self.y.name else ""

    def _x(self, value: float) -> float:
        return round(_LEFT + self.x.place(value) * (self.width - _LEFT - _RIGHT), 1)

    def _y(self, value: float) -> float:
        return round(self.height - _BOTTOM - self.y.place(value) * (self.height - _TOP - _BOTTOM), 1)


def in_columns(words: str, counts: dict[str, int], name: str, width: int = 420) -> str:
    """A histogram: a bar for each range, its count above it."""
    highest = max(counts.values(), default=1) * 1.12
    places = dict(enumerate(counts))
    x = Axis(0, len(counts), [place + 0.5 for place in places], name, lambda tick: places[int(tick)])
    chart = Chart(words, x, Axis(0, highest, ()), width, 200)
    for place, (range_, count) in enumerate(counts.items()):
        chart.bar(place + 0.12, place + 0.88, count, f"{range_}: {count:,}")
        chart.note(place + 0.5, count, f"{count:,}", lift=4)
    return chart.svg()
