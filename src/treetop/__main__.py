"""`python -m treetop` is the command line."""

from __future__ import annotations

from treetop.apps.cli import main

main()
