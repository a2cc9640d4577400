from __future__ import annotations

from treetop.presets.papers import PAPERS

REPORTED = """
x-transformer Eurlex-4K     9 models          87.22 75.12 62.90  -     -     -      7.5
x-transformer Wiki10-31K    9 models          88.51 78.71 69.62  -     -     -     14.1
x-transformer AmazonCat-13K 9 models          96.70 83.85 68.58  -     -     -    147.6
x-transformer Wiki-500K     9 models          77.28 57.47 45.31  -     -     -    557.1
x-transformer Eurlex-4K     1 model           85.51 72.95 60.83  -     -     -      -
x-transformer Wiki10-31K    1 model           87.5  77.2  67.1   -     -     -      3.5
x-transformer Wiki-500K     1 model           74.68 53.64 41.50  -     -     -      -
lightxml Eurlex-4K          3 models          87.63 75.89 63.36  -     -     -     16.9
lightxml AmazonCat-13K      3 models          96.77 84.02 68.70  -     -     -    310.6
lightxml Wiki10-31K         3 models          89.45 78.96 69.85  -     -     -     26.9
lightxml Wiki-500K          3 models          77.78 58.85 45.57  -     -     -    271.3
lightxml Amazon-670K        3 models          49.10 43.83 39.85  -     -     -    159.0
lightxml Wiki10-31K         1 model           87.8  77.3  68.0   -     -     -      6.7
lightxml Wiki-500K          1 model           76.19 57.22 44.12  -     -     -     34.33
lightxml Amazon-670K        1 model           47.14 42.02 38.23  -     -     -     28.75
xr-transformer Eurlex-4K    3 models          88.41 75.97 63.18  -     -     -      0.8
xr-transformer Wiki10-31K   3 models          88.69 80.17 70.91 12.25 15.00 16.75   1.5
xr-transformer AmazonCat-13K 3 models         96.79 83.66 68.04 50.72 65.66 75.95  13.2
xr-transformer Wiki-500K    3 models          79.40 59.02 46.25 35.76 42.22 46.36  38.0
xr-transformer Amazon-670K  3 models          50.11 44.56 40.64 36.16 38.39 40.99  10.5
xr-transformer Amazon-3M    3 models          54.20 50.81 48.26 20.52 23.64 25.79  29.3
xr-transformer Wiki10-31K   1 model           88.0  78.7  69.1   -     -     -      0.5
xr-transformer Wiki-500K    1 model           78.1  57.6  45.0   -     -     -     12.5
xr-transformer Amazon-670K  1 model           49.1  43.8  40.0   -     -     -      3.4
xr-transformer Amazon-3M    1 model           52.6  49.4  46.9   -     -     -      -
cascadexml Wiki10-31K       3 models          89.74 80.13 70.75 13.36 15.06 16.56   0.4
cascadexml AmazonCat-13K    3 models          96.90 84.13 68.78 52.68 68.50 77.52   9.8
cascadexml Wiki-500K        3 models          78.39 59.86 46.49 32.60 42.03 46.66  21.6
cascadexml Amazon-670K      3 models          50.22 45.20 41.45 31.19 36.07 40.15   9.0
cascadexml Amazon-3M        3 models          52.75 50.83 48.90  -     -     -     30.0
cascadexml Wiki10-31K       3 models, tf-idf  89.18 79.71 71.19 13.32 15.35 17.45   -
cascadexml AmazonCat-13K    3 models, tf-idf  96.71 84.07 68.69 51.39 66.81 77.58   -
cascadexml Wiki-500K        3 models, tf-idf  81.13 62.43 49.12 32.12 43.15 49.37   -
cascadexml Amazon-670K      3 models, tf-idf  52.15 46.54 42.44 30.77 35.78 40.52   -
cascadexml Amazon-3M        3 models, tf-idf  53.91 51.24 49.52  -     -     -      -
cascadexml Wiki10-31K       1 model           88.4  78.3  68.9  13.22 14.70 16.10   0.1
cascadexml Wiki-500K        1 model           77.0  58.3  45.1  31.25 39.35 43.29   7.2
cascadexml Amazon-670K      1 model           48.5  43.7  40.0  30.23 34.93 38.79   3.0
cascadexml Amazon-3M        1 model           51.3  49.0  46.9   -     -     -      -
"""
"""Results: P@1/3/5, PSP@1/3/5 and hours, of all tables that report them for these models."""


def reported() -> dict[tuple[str, str, str], list[float | None]]:
    rows = {}
    for line in REPORTED.strip().splitlines():
        method, dataset, *rest = line.split()
        numbers = [None if value == "-" else float(value) for value in rest[-7:]]
        rows[method, dataset, " ".join(rest[:-7])] = numbers
    return rows


def test_every_published_number_is_that_of_the_table() -> None:
    found = {
        (p.method, str(p.dataset), row.models): [*row.precision, *(row.psp or (None,) * 3), row.hours]
        for p in PAPERS
        for row in p.published
    }
    assert found == reported()
