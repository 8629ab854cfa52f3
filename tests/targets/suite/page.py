"""``python -m tests.targets.suite.page`` prints benchmarks/results/audit-suite.md; a test compares it with the file."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

from profiles.numbers import decimal_text, exact_text
from tests.targets.suite import standard_suite
from tests.targets.suite.case import Nats, SuiteCase

_FORMULA = r"$$\varepsilon(D, D') = \sup_S \left|\log \frac{P(M(D) \in S)}{P(M(D') \in S)}\right|, \qquad S \text{ an event}.$$"
_PAGE = """\
# The standard suite of audit targets

`tests.targets.suite.standard_suite()` returns the mechanisms of the audit literature and of this project, each with a pair of
data sets, the ε that is *claimed* for neighboring data sets, and the *truth* for this pair:

{formula}

An audit of a case where the claim holds must not refute it, at its level; an audit of any case must not report more than the truth. Where
the claim fails, the truth says how much there is to find. The
suite is not part of the installed package: run it in a checkout. This page is generated: `python -m tests.targets.suite.page`.

```python
import numpy as np
from tests.targets.suite import standard_suite

case = {{case.name: case for case in standard_suite()}}["svt-4"]
result = case.run(np.random.default_rng(1), samples=20_000, effort="fast")
assert result.epsilon_lower <= case.truth.upper
```

## How to read a truth

* It is about the **pair**, in both directions together (where the claim is one-sided, of adding the record), and a supremum over **all**
  events: some are so rare that no audit sees them.
  `parallel-laplace` shows all of its 0.1 in an event of probability 2⁻²⁰.
* It is about **exact real arithmetic**, except for `floating-point-laplace` and `snapping-laplace`. In doubles every continuous mechanism
  gives its input away in the last bits of x + noise, as `floating-point-laplace` shows. So that nothing is refuted for that by accident,
  numbers are rounded to multiples of 2⁻³⁰ when they are released. Rounding is post-processing, and lowers a finite ε by less than 10⁻⁸.
  Only where the truth is ∞ because of a pole are they left as they are.
* Both ends are rounded outward. `python -m tests.targets.suite.truths` computes them again from the mechanisms' parameters, in both
  directions: by formulas, by integrals of sums of exponentials in closed form, by finite tables, and where numbers are released by a
  branch-and-bound search that uses log-concavity; all in ball arithmetic.
* Where δ stands beside the claim, the truth is the smallest ε with P(S) ≤ e^ε P′(S) + δ for all events, in both directions.
* `statistic`, where a case has one, is the event that an expert would look at.

Where the data sets are answers of queries or single values, neighbors are what the publication says they are (`neighboring="stated"`): an
audit cannot look it up in them.

Parameters and pairs are those of DP-Sniper (Bichsel et al. 2021), where it has the mechanism: ε = 0.1, 5 or 10 queries, and of StatDP's
patterns a pair for which it reports its largest ε, or the worst of them where that is another one.

## The cases

{table}

## What the literature has differently

* **Truncated geometric.** Balcer and Vadhan's k = ⌈log(2/ε)⌉ is to base 2, as their own implementation has it. DP-Sniper reads ln: for
  ε = 0.1 this gives k = 3 and log(9/8) = 0.1177… > 0.1. DP-Sniper states log(1 + 2⁻ᵏ), which is right for its k.
* **Prefix sum.** ShadowDP proves ε for data sets in which one answer changes. DP-Sniper runs it on pairs in which all ten change, where
  the truth is 10·ε.
* **Smart sum.** At the end of a block CheckDP's files output the block's noisy total only and ShadowDP's add it to the running sum, which
  counts the block twice; the algorithm of Chan, Shi and Song adds up the totals. All three are bijections of each other, with the same ε.
* **SVT 4.** Lyu, Su and Li prove (1 + 6c)/4·ε = 0.175 for c = 1; the pair has 0.1724….
* **Report noisy max 3 and SVT 6** are unbounded only as the number of answers grows: 5 answers have 0.25, 10 queries 0.42….
* **RAPPOR.** h·log(…) needs two values with disjoint filters of h bits each, as the pair here has. DP-Sniper's hash function gives it
  other filters; its best results, 0.30 and 0.60, are three quarters of the bound, as for filters that share a bit.
* **Adaptive SVT.** CheckDP writes the gaps of both branches into one list; here the branch is released too, which its proof covers.
"""

_HEAD = "| case | claimed | truth | holds | why | remarks and source |\n| --- | --- | --- | --- | --- | --- |\n"


def _number(value: Nats, *, round_up: bool) -> str:
    if isinstance(value, float):
        return "∞" if math.isinf(value) else repr(value)
    short = exact_text(value)
    return short if len(short) <= 12 and "/" not in short else decimal_text(value, 9, round_up=round_up)


def _row(case: SuiteCase) -> str:
    ends = [_number(case.truth.lower, round_up=False), _number(case.truth.upper, round_up=True)]
    truth = ends[0] if ends[0] == ends[1] else f"[{ends[0]}, {ends[1]}]"
    claimed = _number(Fraction(case.claimed), round_up=True) + (f", δ = {_number(case.delta, round_up=True)}" if case.delta else "")
    remarks = "; ".join(text for text in (case.note, case.source) if text)
    cells = (f"`{case.name}`", claimed, truth, "yes" if case.correct else "**no**", case.truth.derivation, remarks)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def make_page() -> str:
    """Return the text of benchmarks/results/audit-suite.md."""
    return _PAGE.format(formula=_FORMULA, table=(_HEAD + "".join(map(_row, standard_suite()))).rstrip())


if __name__ == "__main__":
    sys.stdout.write(make_page())
