"""Several models, or saved predictions, on the same texts: what `treetop compare` prints and `treetop report` draws."""

from __future__ import annotations

from treetop.apps.comparing.comparison import Comparison, Line, Verdict, compare
from treetop.apps.comparing.contenders import Contender, Field, Wanted, line_up

__all__ = ["Comparison", "Contender", "Field", "Line", "Verdict", "Wanted", "compare", "line_up"]
