"""The command."""

from __future__ import annotations

from benchmarks.serve.run import main

if __name__ == "__main__":
    main()
