"""The survey: every place in what ships that draws random numbers, what it decides, and the theorem that covers it.

The section "Everything that draws" of docs/exact-noise.md is made of it: ``python -m tests.randomness.survey`` writes it anew. A test holds
the table against the code (:mod:`tests.randomness.drawing`): a place without a line fails, and so does a line without its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tests.randomness.drawing import ROOT

PAGE = ROOT / "docs" / "exact-noise.md"
BEGIN, END = "<!-- survey: made by python -m tests.randomness.survey -->", "<!-- end of survey -->"


class Kind(Enum):
    """What a place is to privacy."""

    SOURCE = "source"
    EXACT = "exact"
    BINARY64 = "binary64"
    PUBLIC = "public"
    NOTHING = "not a release"


MEANING = {
    Kind.SOURCE: "gives bits and decides nothing; what has to be true of the bits is a hypothesis of the guarantee",
    Kind.EXACT: "decides what is released, with exactly the law of the theorem",
    Kind.BINARY64: 'runs only where `arithmetic="binary64"` was asked for: the guarantee keeps the hypothesis of exact reals',
    Kind.PUBLIC: "the law of these draws is no part of the privacy proof, which holds for each of their values",
    Kind.NOTHING: "draws for a check, a test or a name of a file; nothing of the data is released by it",
}


@dataclass(frozen=True, slots=True)
class Line:
    """``names``: functions of ``file`` that draw. ``decides``: what. ``by``: the statement that covers them, or why none is needed."""

    file: str
    names: tuple[str, ...]
    kind: Kind
    decides: str
    by: str


_R, _M, _A = "profiles/randomness", "profiles/mechanisms", "accountant/applications"
_EXACT_SUMS = "exact mode: `OpenedRelease.draw_sums`"
_SUB = f"{_A}/submodular"
_D = "Theorem D of [repeated mechanisms](one-sided.md#repeated-mechanisms)"
_DRAWS = "section 13 of [repeated mechanisms](one-sided.md#repeated-mechanisms)"
_GIVEN = "uniform, independent, secret bits: a hypothesis"

SURVEY: tuple[Line, ...] = (
    Line(
        f"{_R}/bits.py", ("SecureBits.block", "SecureBits.digit", "SecureBits.words"), Kind.SOURCE, "the operating system's bits", _GIVEN,
    ),
    Line(
        f"{_R}/bits.py",
        ("GeneratorBits.block", "GeneratorBits.digit", "GeneratorBits.words", "open_bits", "read_block", "read_words", "repeats"),
        Kind.SOURCE,
        "bits of a generator with a seed, for tests and studies", "that nobody knows the seed: a hypothesis",
    ),
    Line(
        f"{_R}/system.py", ("_draw_words", "SystemBits.__init__", "system_generator"), Kind.SOURCE,
        "the operating system's bits as a NumPy generator", _GIVEN,
    ),
    Line(
        f"{_A}/answers/releasing.py", ("draw_part", "run_plan"), Kind.EXACT,
        "noisy counts, sums, means and variances of a table, and its quantiles",
        "Theorems 1 to 3 of this page; [releases](release.md) for quantiles",
    ),
    Line(f"{_A}/running.py", ("seed_public",), Kind.SOURCE, "a seed for draws that need not be secret", "bits of their own"),
    Line(
        "accountant/engines/samples.py", ("spawn_generator",), Kind.SOURCE, "the generator of one partition of Spark",
        "that nobody knows the seed: a hypothesis",
    ),
    Line(
        f"{_R}/bernoulli.py", ("PoissonSampler._select", "PoissonSampler._select_all"), Kind.EXACT, "which records are in a sample",
        "Theorem 7 of [the sampler](sampling.md#the-poisson-sampler)",
    ),
    Line(
        f"{_R}/rounded/rounding.py", ("draw_rounded", "draw_rounded_integers", "_draw_units", "_draw", "_decide_row"), Kind.EXACT,
        "correctly rounded noise: Laplace, K-norm for p = 1, 2 and ∞, normal, one-sided exponential", "Theorems 2 and 3 of this page",
    ),
    Line(
        f"{_M}/exact.py", ("OpenedRelease.draw", "OpenedRelease.draw_counts", "OpenedRelease.draw_sums"), Kind.EXACT,
        "noisy sums and counts of records",
        "Theorems 1 to 3 of this page",
    ),
    Line(
        f"{_M}/weighted_sum.py", ("WeightedSum.sample",), Kind.EXACT,
        "weighted sums with Laplace noise, K-norm noise for p = 1, 2 and ∞, and normal noise; in binary64 on request",
        "Theorems 1 to 3 of this page",
    ),
    Line(
        f"{_M}/weighted_count.py", ("WeightedCount.sample",), Kind.EXACT, "the weighted count; in binary64 on request",
        "Theorems 1 to 3 of this page",
    ),
    Line(
        f"{_M}/lloyd_runs.py", ("LloydRelease.draw", "LloydRuns.follow_exactly"), Kind.EXACT, "counts and sums of DP-Lloyd, of either law",
        "Theorems 1 to 3 of this page, Theorem 4 of [DP k-means](private-kmeans.md#dp-lloyd-with-public-constants), "
        "Theorem 14 of [Gaussian mechanisms](gaussian-weights.md#gaussian-mechanisms-of-the-catalogue)",
    ),
    Line(
        f"{_M}/lloyd.py", ("WeightedLloyd.draw_scaled",), Kind.BINARY64, "noise of DP-Lloyd in doubles",
        "exact mode: `LloydRuns.follow_exactly`",
    ),
    Line(
        f"{_M}/gaussian_lloyd.py", ("GaussianLloyd.draw_scaled",), Kind.BINARY64,
        "noise of Gaussian DP-Lloyd in doubles", "exact mode: `LloydRuns.follow_exactly`",
    ),
    Line(
        f"{_M}/lloyd_runs.py", ("LloydRuns.follow_rounded", "LloydMechanism.sample", "LloydMechanism.draw_noise"), Kind.BINARY64,
        "noise of DP-Lloyd in doubles, of either law", "exact mode: `LloydRuns.follow_exactly`",
    ),
    Line(f"{_M}/laplace_sum.py", ("LaplaceSum.draw_noise",), Kind.BINARY64, "Laplace noise in doubles", _EXACT_SUMS),
    Line(f"{_M}/gaussian_sum.py", ("GaussianSum.draw_noise",), Kind.BINARY64, "normal noise in doubles", _EXACT_SUMS),
    Line(
        f"{_M}/k_norm_sum.py", ("KNormSum.draw_noise", "draw_k_norm", "draw_directions"), Kind.BINARY64,
        "K-norm noise in doubles, any p; also directions of public initial centres", _EXACT_SUMS,
    ),
    Line(f"{_R}/bits.py", ("draw_below",), Kind.EXACT, "a uniform integer, by rejection", "its docstring; equal shares of the words"),
    Line(
        "accountant/interop/loaders.py", ("AllocatedBatches.__iter__", "_draw_steps"), Kind.EXACT, "the step of each record in an epoch",
        "uniform, by rejection; Theorem 5 of [batches](batches.md#4-random-allocation)",
    ),
    Line(
        f"{_R}/exponentials.py", ("draw_exp", "draw_geometric", "draw_discrete_laplace"), Kind.EXACT,
        "events of probability e^−x, geometric and discrete Laplace noise", _DRAWS,
    ),
    Line(
        f"{_R}/geometric.py", ("draw_geometrics", "_draw_events", "_decide"), Kind.EXACT, "many geometric numbers at once, digit by digit",
        "Theorem E of [repeated mechanisms](one-sided.md#repeated-mechanisms)",
    ),
    Line(
        f"{_R}/choice.py",
        ("ExponentialChoice.draw", "ExponentialDraws.among", "ExponentialDraws.levels", "ExponentialDraws.uniform", "_draw_enclosed",
         "_draw_entry"), Kind.EXACT, "the choice of the exponential mechanism", _D,
    ),
    Line(f"{_M}/repeated/rounds.py", ("Repeated.run", "Repeated.sample"), Kind.EXACT, "outputs of repeated mechanisms, round by round", _D),
    Line(f"{_M}/repeated/exponential.py", ("RepeatedExponential.draw",), Kind.EXACT, "the selected candidates", _D),
    Line(
        f"{_M}/repeated/threshold.py", ("RepeatedThreshold.draw",), Kind.EXACT,
        "answers of above-threshold (one-sided exponential noise)", _DRAWS,
    ),
    Line(
        f"{_M}/repeated/exponential.py", ("draw_gumbel",), Kind.BINARY64,
        "Gumbel noise in place of an exact choice", f"exact mode: {_D}",
    ),
    Line(
        f"{_M}/repeated/threshold.py", ("_draw_noisy",), Kind.BINARY64, "exponential noise in place of an exact answer",
        "exact mode: `draw_exp`",
    ),
    Line(
        f"{_A}/clustering/private.py", ("PrivateMetricClustering._select", "PrivateMetricClustering._weigh"), Kind.EXACT,
        "noisy sizes and histograms, integers", "Theorems 2 and 3 of [metric clustering](metric-clustering.md)",
    ),
    Line(
        f"{_A}/clustering/solver.py", ("solve_weighted", "seed_facilities"), Kind.PUBLIC, "where a search on released weights starts",
        "post-processing, a fixed seed",
    ),
    Line(
        f"{_A}/heavyhitters/draws.py", ("TailDraws._settle", "TailDraws._take", "TailDraws.failures"), Kind.EXACT,
        "which items are reported", "Theorem 3 of [heavy hitters](heavy-hitters.md)",
    ),
    Line(
        f"{_A}/heavyhitters/users.py", ("KeyedDecision.__init__",), Kind.EXACT, "the key of a hashed sample of users",
        "exact where the hash is a random function: a hypothesis of that mode",
    ),
    Line(
        f"{_A}/setcover/private.py", ("_run_group",), Kind.EXACT, "geometric noise of counts, by exact coins",
        "*Noise without rounding* of [set cover](submodular.md#set-cover)",
    ),
    Line(
        f"{_A}/setcover/partial.py", ("PrivatePartialCover.choose",), Kind.EXACT, "number of elements, order and moment to stop",
        "Theorem E of [repeated mechanisms](one-sided.md#repeated-mechanisms); Theorem 19 of [set cover](submodular.md#set-cover)",
    ),
    Line(
        f"{_A}/budget/records.py",
        ("PrivateRecords._add", "PrivateRecords.count", "PrivateRecords.release"),
        Kind.EXACT,
        "noise of counts and sums of private k-means",
        "Theorem 2 of [private k-means](private-kmeans.md) with exact sums",
    ),
    Line(
        f"{_A}/kmeans/sampling.py", ("SampledRecords.release",), Kind.EXACT, "the sample of private k-means, and its noise",
        "Theorem 3 of [private k-means](private-kmeans.md)",
    ),
    Line(
        f"{_A}/kmeans/method/merging.py", ("_spread",), Kind.PUBLIC, "starts of k-means++ on released means",
        "post-processing of what was released",
    ),
    Line(
        f"{_A}/kmeans/method/rounds.py", ("run_lloyd",), Kind.PUBLIC, "random directions of the first cells",
        "Theorem 1 of [private k-means](private-kmeans.md) holds given them",
    ),
    Line(f"{_A}/kmeans/private.py", ("DPKMeans.fit",), Kind.PUBLIC, "the seed of those two", "as above"),
    Line("accountant/cli/kmeans.py", ("run",), Kind.PUBLIC, "the seed of those two", "as above"),
    Line(
        "accountant/ledger/backup.py", ("_Renaming.of", "_Renaming.rename"), Kind.NOTHING,
        "a new secret of a ledger, and the hash of a unit that was erased", "no noise",
    ),
    Line("accountant/ledger/ledger.py", ("Ledger.create",), Kind.NOTHING, "the secret of a ledger, which hashes ids", "no noise"),
    Line(
        "accountant/ledger/tables/versions.py", ("Folder.scratch", "VersionWriter.__init__"), Kind.NOTHING,
        "names of folders, so that two runs never write into one", "no noise",
    ),
    Line("accountant/ledger/settings.py", ("make_token",), Kind.NOTHING, "the name of a ledger", "no noise"),
    Line(f"{_A}/heavyhitters/state.py", ("KeptPass.__init__",), Kind.NOTHING, "a name of a run of the noise, in its state", "no noise"),
    Line("accountant/cli/answers.py", ("open_seeds",), Kind.SOURCE, "the generators of a seed on the command line", "a hypothesis"),
    Line(f"{_A}/setcover/private.py", ("PrivateSetCover.run",), Kind.PUBLIC, "the order of sets that breaks ties", "no data in it"),
    Line(f"{_SUB}/greedy.py", ("OneSidedGreedy.select",), Kind.EXACT, "the selected candidate", _D),
    Line(
        "accountant/engines/samples.py", ("select_rows",), Kind.EXACT, "which rows of a partition are in a sample",
        "Theorem 7 of [the sampler](sampling.md#the-poisson-sampler)",
    ),
    Line(
        f"{_SUB}/coverage.py", ("CoverageRounds.draw", "CoverageRounds._draw_member"), Kind.EXACT, "the selected candidate",
        "Theorems 3 and 4 of [greedy selection](submodular.md)",
    ),
    Line(
        f"{_SUB}/matroids/mechanism.py", ("PrivateMatroidGreedy.run_on_sample", "draw_bins"), Kind.PUBLIC, "the points z of the extension",
        "Theorem 11 of [matroids](submodular.md#matroid-constraints) holds for each z; the choices are exact",
    ),
    Line(
        f"{_SUB}/matroids/rounding.py",
        ("_merge",),
        Kind.PUBLIC,
        "swap rounding",
        "Theorem 12 of [matroids](submodular.md#matroid-constraints)",
    ),
    Line(
        f"{_SUB}/functions.py", ("find_violation", "_find_mixing", "_orders"), Kind.NOTHING, "where a function is checked", "a check",
    ),
    Line(f"{_SUB}/matroids/oracle.py", ("probe_axioms",), Kind.NOTHING, "on which sets an oracle is checked", "a check, a fixed seed"),
    Line(
        f"{_SUB}/matroids/per_user.py", ("PerUser.evaluate", "PerUser.read", "_choose_parts", "find_mixing", "judge_together"),
        Kind.NOTHING, "on which parts a function of users is checked", "a check; a failure is an error of the caller's function",
    ),
    Line(
        f"{_A}/sklearn_guards.py", ("make_generator",), Kind.SOURCE, "bits for scikit-learn's `random_state`",
        "that nobody knows the seed: a hypothesis; None is the operating system's source",
    ),
    Line(
        f"{_A}/dpsgd/training.py", ("ExactNoise.__call__",), Kind.EXACT, "noisy sums of DP-SGD",
        "Theorem 7 of [DP-SGD](dp-sgd.md)",
    ),
    Line(f"{_A}/dpsgd/training.py", ("BinaryNoise.__call__",), Kind.BINARY64, "noisy sums of DP-SGD", "Theorem 3 of [DP-SGD](dp-sgd.md)"),
    Line(f"{_A}/kmeans/estimator.py", ("DPLloyd._prepare",), Kind.PUBLIC, "the seed of the initial centres", "bits of their own"),
    Line(f"{_A}/kmeans/planning.py", ("pack_centres",), Kind.PUBLIC, "initial centres", "drawn without the data"),
    Line(
        "accountant/weights/fast/fingerprint.py", ("fingerprint", "probe_records"), Kind.NOTHING, "where two solvers are compared",
        "a fixed seed",
    ),
    Line("accountant/files.py", ("replace_files",), Kind.NOTHING, "the name of a temporary file", "no data"),
    Line("accountant/cli/audit.py", ("run",), Kind.NOTHING, "the seed of an audit", "an audit is of a mechanism, not a release"),
    Line("accountant/cli/report.py", ("run", "_audit"), Kind.NOTHING, "the seed of an audit in a report", "as above"),
    Line(
        "proofs_check/exact/sampling.py", ("TableSampler.__call__", "TableSampler._refine", "_draw_words"), Kind.NOTHING,
        "outputs of a table, for audits with known ε", "exact by its docstring; for tests",
    ),
    Line(
        "proofs_check/exact/repeated/searching.py", ("search_violation", "_follow"), Kind.NOTHING, "where a witness is searched",
        "a witness is checked exactly",
    ),
)  # fmt: skip

#: Uses of a name that is also one of a generator's methods: (file, function) → why it draws nothing.
INNOCENT = {
    ("profiles/randomness/forks.py", "require_home"): "makes a generator in its example",
    ("proofs_check/kernel/procedures/boxes.py", "_operation"): "`power` of an interval",
    ("proofs_check/kernel/theories/compositions/bounds.py", "compose"): "`power` of a law of losses",
    ("proofs_check/kernel/theories/compositions/allocations.py", "Linear.all_steps"): "`power` of laws of a sum",
    ("accountant/compositions/trajectories.py", "_compose_by_blocks"): "`power` of a law of losses",
    ("proofs_check/coq/syntax.py", "Syntax.translate"): "`power` of a term",
    ("proofs_check/coq/encoding.py", "_Writer.product"): "`power` of a term",
    ("proofs_check/coq/encoding.py", "_Writer._monomial"): "`power` of a term",
    ("proofs_check/coq/encoding.py", "_Writer._exponential"): "`power` of a term",
    ("accountant/applications/kmeans/estimator.py", "<module>"): "a type that may be a generator",
    ("proofs_check/exact/repeated/searching.py", "<module>"): "a type that may be a generator",
    ("accountant/interop/dp_events.py", "declare_uses"): "says how batches are drawn",
    ("accountant/ledger/locks.py", "_acquire"): "how long somebody waits for a lock",
    ("accountant/ledger/pages.py", "_draw_budgets"): "draws a chart",
    ("accountant/ledger/pages.py", "report_page"): "draws a chart",
    ("accountant/cli/account.py", "run"): "draws a picture",
    ("accountant/cli/answers.py", "tell_answer"): "draws a picture",
    ("accountant/cli/calibrate.py", "run"): "draws a picture",
    ("accountant/cli/epsilon.py", "run"): "draws a picture",
    ("accountant/cli/kmeans.py", "_draw"): "draws a picture",
    ("accountant/cli/ledger_verbs/reporting.py", "_report"): "draws a picture",
    ("accountant/cli/pictures.py", "draw_to"): "draws a picture",
    ("accountant/cli/release.py", "_write"): "draws a picture",
    ("accountant/cli/sample.py", "_run"): "draws a picture",
    ("accountant/cli/verify.py", "run"): "draws a picture",
    ("accountant/cli/weight.py", "run"): "draws a picture",
    ("accountant/cli/weights.py", "run"): "draws a picture",
    ("accountant/presenting/bounds.py", "plot_derived"): "draws a picture",
    ("accountant/presenting/bounds.py", "plot_weight"): "draws a picture",
    ("accountant/report/findings.py", "_trace"): "draws a picture",
    ("accountant/report/plots.py", "_figure"): "draws a picture",
    ("accountant/report/plots.py", "_sizes_figure"): "draws a picture",
}


def render() -> str:
    """Return the section of the page."""
    lines = ["| kind | what it is to privacy |", "| --- | --- |"]
    lines += [f"| {kind.value} | {MEANING[kind]} |" for kind in Kind]
    for kind in Kind:
        found = [line for line in SURVEY if line.kind is kind]
        if not found:
            continue
        lines += ["", f"**{kind.value[0].upper()}{kind.value[1:]}**", "", "| place | decides | covered by |", "| --- | --- | --- |"]
        for line in found:
            names = ", ".join(f"`{name}`" for name in line.names)
            lines.append(f"| `{line.file}`: {names} | {line.decides} | {line.by} |")
    return "\n".join(lines)


def main() -> None:
    """Write the section."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{render()}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
