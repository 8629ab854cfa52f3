"""What audits and exact checks are made of: mechanisms with known ε, broken twins, exact laws of the applications, streams that are hard.

Nothing here is in the wheel; it runs from a checkout (benchmarks/results/audit-suite.md, benchmarks/results/audit-catalogue.md).
"""
