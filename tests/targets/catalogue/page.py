"""``python -m tests.targets.catalogue.page`` prints benchmarks/results/audit-catalogue.md; a test compares it with the file."""

from __future__ import annotations

import sys
from collections import Counter
from fractions import Fraction

from profiles.mechanisms import catalogue
from profiles.numbers import decimal_text
from tests.targets.catalogue.case import AuditCase, ClaimKind
from tests.targets.catalogue.correct import catalogue_cases
from tests.targets.catalogue.repeated import repeated_cases
from tests.targets.catalogue.twins import broken_twins

_PAGE = """\
# Audits of what the accountant claims

`tests.targets.catalogue` makes every kind of claim of the accountant about every mechanism of the catalogue (docs/mechanisms.md) one that
an audit (docs/audit.md) can refute: a mechanism that runs as the theorem assumes, a pair of data sets, and the ε that is claimed for that
very pair. Beside them stand *broken twins*: implementations or claims with one mistake each, which the audit has to find. They are not
part of the installed package: run them in a checkout. This page is generated: `python -m tests.targets.catalogue.page`.

```python
import numpy as np
from tests.targets.catalogue import broken_twins, catalogue_cases

case = {{case.name: case for case in catalogue_cases()}}["k-norm-p2-d2/coreset-l2-1"]
result = case.run(np.random.default_rng(1), samples=5_000, effort="fast", mode="fixed")
assert result.finding.value == "consistent" and result.epsilon_lower <= case.truth.upper

twin = {{case.name: case for case in broken_twins()}}["laplace/reused-sample"]
result = twin.run(np.random.default_rng(1), effort="fast", mode="fixed")
assert result.finding.value == "violated"
```

`make audit-suite` audits all of them and the standard suite ([audit-suite.md](audit-suite.md)), and fails where a correct claim is refuted
or a twin is not.

## Which claims

| claim | what runs | what is claimed for the added record |
| --- | --- | --- |
| {base} | the mechanism on a weighted data set | ε(w, x), rounded up, at extreme records of the domain, w = 1, 2, 10 |
| {sampled} | `PoissonSampled`: a fresh Poisson sample for each output, weights 1/q(x) | ψ(x) = log(1 + q(e^ε(1/q, x) − 1)), rounded up |
| {composed} | `repeat`, `Together`: several independent releases, each with its own sample | the sum of the ε or ψ |
| {worst} | as sampled, with the worst record added; privacy-constrained weights | the certified supremum of ψ; the target ε* |

The Gaussian mechanisms promise μ(w, x), and their claims are (ε, δ) with δ = 1/100, between ends that are certified; tables below show ε.
Their samples have q = 1/4, or the weights of `DPLloyd.fit_sampled`; DP-Lloyd shows the noisy counts and sums of all iterations.

Rules: uniform (q = 3/10), coreset-l1 and coreset-l2, privacy-constrained. The weights and probabilities that are drawn with are those of
`prepare_selection`, rounded down; that they do not cost more at the record than ψ of the exact q is checked (docs/sampling.md, section
4). Mechanisms run in exact arithmetic (docs/exact-noise.md). The cases called `bits` show their outputs as they are, and low bits are
looked at (`pdp audit --bits`): sums and counts, small ones, where noise in binary64 is refuted at once; those of DP-Lloyd before the
quotient, in which low bits do not show, and its centres. In the other cases outputs are rounded to multiples of 2⁻³⁰, which changes the
quotients of DP-Lloyd and nothing else.

{counts}

## What runs

An audit of a copy says nothing about the code that users run. Every case names the functions of the project that its outputs come from
(`case.ships`). A test checks that a run calls each of them, that each correct case has the class of its mechanism among them, and that
nothing in `tests/targets/catalogue` draws from a generator but the module of mistakes. When these functions are broken on purpose (noise
switched off or cut to a quarter, every record selected, weights doubled, choices without chance), the audits notice it.

{ships}

Where users call another function than an audit does, a test shows that both give the same output from the same random words, and leave
the generator in the same state:

| users call | audits call | because |
| --- | --- | --- |
| `mechanism.run` | `mechanism.sample`, many outputs at once | one output at a time would take hours |
| `draw_sample` or `pdp sample`, then `Sample.release` | `Selector.select`, `PoissonSampler.select`, `mechanism.sample` | a \
sample reads a file, and gives its records away once |
| `run` of `RepeatedExponential`, `RepeatedThreshold`, `SubsampledRepeated` | their `sample`, with exact draws as by default, and \
with floating point where it is asked for | outputs with the same beginning are drawn together |
| `WeightedLloyd` on n·k·d ≥ 2¹⁸ numbers: passes by threads | its way for small data | an output takes milliseconds there, and an \
audit needs 10⁵; equal where sums are exact |
| `DPLloyd.fit` | `WeightedLloyd` with `confine=True`, its `mechanism_` | the estimator checks the data again for every output |

The standard suite ([audit-suite.md](audit-suite.md)) is of mechanisms of the literature. Its Laplace noise is that of the catalogue's
noisy sum, its samples are drawn by `PoissonSampler`, its DP-Lloyd and K-norm cases are the catalogue's. The one-sided applications (greedy,
matroids, set cover, clustering, heavy hitters) are not audited here: their tests compare what ships with exact laws.

Each sum is audited where its claim is attained, or approached, so that the audit's bound shows how much of it was seen. For weighted
DP-Lloyd the claim covers all centres and only the last ones are released: what is left between the bound and the claim says nothing.

## The broken twins

`truth` is a lower bound of ε of the pair (∞: no finite ε holds); `outputs` are those on each data set with which the mistake is found at
confidence 0.99 (in 8 of 8 runs with other seeds). The last column says what is wrong.

{twins}

Noise that is 5 % too small is the least excess that is looked for. It is found with the exact log-likelihood ratio as the score at
ε = 2.2, where the fewest outputs show it: the excess is about ε/20, and its standard error is least there.

`lowest-bits` are the mechanisms of the catalogue with `arithmetic="binary64"`, on the data sets of the cases called `bits`. Their law is
right and their claim is false all the same, because doubles are not real numbers: this is what the hypothesis "the mechanism computes in
exact real arithmetic" is about, which guarantees keep for that arithmetic. Of vectors one column is shown. In exact arithmetic the same
audits find nothing, and a theorem says why.

## Private k-means as a whole

`pipeline.py` runs the pipeline of [private k-means](../../docs/private-kmeans.md) with the noise and the samples that ship, and shows an
audit all that it releases: the statistics, and every noisy count and sum. It is not refuted, with every record and on one sample.
Refuted are: n used
exactly, the radius from the data, centring and the spread not paid for, the same noise twice, cells that are chosen with exact counts,
and a sample that is reused: a record is drawn with the chance 1/10, and two releases about the sample are each charged as if it had its
own. That takes 8,000 runs on each side (2 ms each) and the exact likelihood ratio of the two releases as the score: ε is 3.52 there and 2
is claimed; the bound at 99 % was 2.35 after 6,000 runs and 1.55 after 3,000. It shows in the tenth of the runs that drew the record.

## How to read a result

* `consistent` says that this audit, with this many outputs, did not refute the claim. It never says that the claim is true.
* `violated` on a correct case is either the audit's error, of at most the stated chance, or a bug: repeat it with another seed.
* An audit is about one pair. That a claim fails at another record is not seen; the pairs are those where the catalogue's claims are tight.
"""


def _counts() -> str:
    found = Counter((case.entry, case.kind) for case in catalogue_cases())
    twins = Counter(case.entry for case in broken_twins())
    lines = ["| mechanism | " + " | ".join(kind.value for kind in ClaimKind) + " | twins |", "| --- |" + " --- |" * (len(ClaimKind) + 1)]
    for entry in catalogue():
        cells = [str(found[entry.name, kind]) for kind in ClaimKind]
        lines.append(f"| {entry.name} | " + " | ".join(cells) + f" | {twins[entry.name]} |")
    return "\n".join(lines)


def _ships() -> str:
    found: dict[str, set[str]] = {}
    for case in (*catalogue_cases(), *repeated_cases()):
        for name in case.ships:
            found.setdefault(name, set()).add(case.name)
    lines = ["| function | cases that go through it |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| `{name.replace(':', '.')}` | {len(cases)} |" for name, cases in sorted(found.items()))])


def _row(case: AuditCase) -> str:
    lower = "∞" if not isinstance(case.truth.lower, Fraction) else decimal_text(case.truth.lower, 4, round_up=False)
    cells = (f"`{case.name}`", decimal_text(case.claim.epsilon, 4, round_up=True), lower, f"{case.samples:,}", case.derivation)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def make_page() -> str:
    """Return the text of benchmarks/results/audit-catalogue.md."""
    head = "| twin | claimed | truth | outputs | what is wrong |\n| --- | --- | --- | --- | --- |\n"
    base, sampled, composed, worst = (kind.value for kind in ClaimKind)
    twins = head + "\n".join(map(_row, broken_twins()))
    return _PAGE.format(base=base, sampled=sampled, composed=composed, worst=worst, counts=_counts(), ships=_ships(), twins=twins)


if __name__ == "__main__":
    sys.stdout.write(make_page())
