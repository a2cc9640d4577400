"""Label names as evidence: what a text says of a label by having its name, or a part of it."""

from __future__ import annotations

from treetop.naming.index import NameIndex, NamePart
from treetop.naming.naming import Naming

__all__ = ["NameIndex", "NamePart", "Naming"]
