"""The experiments of Fay et al. 2024 again: figures 2 to 5, table 1, certified bounds, and the authors' code beside ours.

    python -m benchmarks.study [--only NAME] [--seeds N] [--out DIR] [--quick | --full] [--authors DIR]

Every task writes one Parquet file, atomically, under ``DIR/parts``; a task whose file is there is not run again. Then the figures
(PNG) and the tables (``tables.md``) are made from the files. What each quantity is, and what came out: docs/study.md.
"""
