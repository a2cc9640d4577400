"""What serving costs: throughput and latency over HTTP beside the same model in process, and beside Annif.

    python -m benchmarks.serve --model MODEL --texts FILE [--encoder-model MODEL] [--annif HOME --annif-python PYTHON]

Server and load generator have a core each. On a machine that others use at once, wall times tell little; the CPU time
that the server spends on a request is told beside them, and its reciprocal as requests per second and core.
"""
