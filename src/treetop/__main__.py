"""`python -m treetop` is the command line."""

from __future__ import annotations

from treetop.apps.cli import main

if __name__ == "__main__":  # workers of a service are started from this file, too, and have a job of their own
    main()
