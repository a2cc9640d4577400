"""Published settings as data: facts about datasets, hyper-parameters of papers."""

from __future__ import annotations
