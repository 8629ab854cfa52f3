"""Every hypothesis of every guarantee, once: an id, one sentence, what it means, and what discharges it.

A guarantee rests on its hypotheses. Each is open, or was discharged by a named step; none is ever dropped. The rules of
``accountant.guarantees`` name theirs by the objects of this module, so that nothing is matched by its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from profiles.errors import InvalidArgument
from profiles.numbers import exact_text

if TYPE_CHECKING:
    from profiles.profile import Profile


class Head(Enum):
    """Where somebody who wants to know whether a hypothesis holds has to look."""

    DATA = "your data"
    CODE = "your code"
    RELEASE = "this release"
    MACHINE = "the machine"


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One hypothesis of a guarantee. Two are equal if they have the same id and say the same.

    ``id`` is stable; ``sentence`` is what is printed; ``head`` groups it. ``meaning`` says more to whoever has to judge it, and
    ``discharged_by`` what can discharge it, "" for what no program can see. A sentence with gaps is a family: :meth:`about` fills them in.

    >>> IN_RANGE.about(ranges="z in [0, 1]").sentence
    'the declared range contains every record: z in [0, 1]'
    """

    id: str
    sentence: str
    head: Head = field(compare=False)
    meaning: str = field(default="", compare=False, repr=False)
    discharged_by: str = field(default="", compare=False, repr=False)

    def about(self, **details: object) -> Hypothesis:
        """Return the member of a family with these details in its sentence. Raises :class:`InvalidArgument` where one is missing."""
        try:
            return replace(self, sentence=self.sentence.format(**details))
        except (KeyError, IndexError, ValueError) as error:
            raise InvalidArgument(f"the hypothesis {self.id!r} needs the detail {error}; give it") from None

    @property
    def is_family(self) -> bool:
        """Whether the sentence has a gap to be filled."""
        return "{" in self.sentence and self in _FAMILIES

    def __str__(self) -> str:
        return self.sentence

    def __contains__(self, words: str) -> bool:
        """Whether the sentence has these words, for people who look for one; the package itself goes by ids."""
        return words in self.sentence


# --- your data -----------------------------------------------------------------------------------------------------------------------

FIXED_IN_ADVANCE = Hypothesis(
    "fixed-in-advance",
    "the declared range, the noise and all other parameters were fixed without looking at the data",
    Head.DATA,
    "A largest norm, a quantile, a number of clusters or a noise scale that was computed from the private data reveals something of it, "
    "and is not the same for a neighboring data set. Take public knowledge, or estimate it privately and add that epsilon.",
)
ONE_RECORD_EACH = Hypothesis(
    "one-record-each",
    "nobody has more than one record: epsilon is for one record, and k records of one person cost up to k times as much",
    Head.DATA,
    "What is protected is one row. Where a person has several, merge them first, or multiply.",
)
ONE_USER = Hypothesis(
    "one-user",
    "all that a person contributes stands under one user",
    Head.DATA,
    "What is protected is one user with all records of that id. A person with two ids is protected half as well.",
)
IN_RANGE = Hypothesis(
    "declared-range",
    "the declared range contains every record: {ranges}",
    Head.DATA,
    "A record outside the declared ranges is not covered by the bound. Clip or reject such records before anything else is done.",
    "a step that moves every record into the range by itself",
)
RECORD_STATISTICS = Hypothesis(
    "record-statistics",
    "{names}: computed from the record alone, and from public constants",
    Head.DATA,
    "A rank, a quantile, a norm after centring by the mean of the data or a value that was scaled by it depends on the other records, too: "
    "then one record more changes the statistics of all. It is the same where this was done by hand before the data were given: a run sees "
    "the rows, and not what they were made of.",
    "a mechanism of the catalogue that computes them itself",
)
OWN_ENTRY = Hypothesis(
    "own-entry",
    "what stands for a user (or record) in the data was made from that user's own record and public constants alone, to the last bit",
    Head.DATA,
    "A table that was made from all users together, as by a matrix product, by a rank or by leaving out rare items, is no table of users: "
    "entries then depend on other users, on how many they are, or on their order.",
)
OWN_WEIGHTS = Hypothesis(
    "own-weights",
    "the weight that a record has by itself is computed from this record alone: not n/|S|, not scaled to a mean or total of the data set",
    Head.DATA,
    "Survey weights that were calibrated or normalised over the data set change for all records when one of them goes. Such weights are "
    "not 1/q of a sample either: those are made by the sampler.",
)
RECORDS_KNOWN = Hypothesis(
    "records-known",
    "the data have {count} records, the one that is at stake among them, and this number is public",
    Head.DATA,
    "The part of the records that a batch takes comes from this number. It may be a lower bound for batches of a fixed size, where fewer "
    "records make a larger part; of truncated batches only this number is covered.",
)
OWN_ROWS = Hypothesis(
    "own-rows",
    "the rows of a {unit} in each file were made from what is this {unit}'s own, from what was released before and from public things "
    "alone: they would be the same to the last bit, and in the same order, if another {unit}'s rows had never been in any file",
    Head.DATA,
    "Files may change, and units may come, leave and answer to what was published. Broken by imputing or calibrating a row from others, by "
    "totals of a household or neighborhood in a row, by removing duplicates between units, by ranks, by linkage that gives a row to the "
    "nearest unit, by a cap on the rows of all, by rows added because somebody looked at the raw file, by an order of rows or ids issued "
    "in sequence that tell how many came before. Two rows that copy a row of somebody else, who is charged log 2 of 2 log 2, let this "
    "person's odds move by 32, not 4.",
)
OWN_BUDGET = Hypothesis(
    "own-budget",
    "the budget of a unit is computed from public constants and from what that unit alone has in its columns",
    Head.DATA,
    "A budget that depends on other units, such as a share of what is left, or a mean, would let one person's data decide who takes part.",
    "a budget that is one number for all units",
)
PUBLIC_CONSTANTS = Hypothesis(
    "public-constants",
    "{names} public",
    Head.DATA,
    "These constants must be fixed without looking at the private data, or published under a privacy guarantee of their own.",
    "a rule whose constants are numbers of the program",
)
PUBLIC_CENTRE = Hypothesis(
    "public-centre",
    "the data are centred by a public centre",
    Head.DATA,
    "A centre that was computed from the private data is not covered by the bound.",
)
IS_NORM = Hypothesis("is-norm", "the statistic is the {norm}", Head.DATA)
TARGET_FIXED = Hypothesis(
    "target-fixed",
    "the target epsilon was chosen without looking at the data",
    Head.DATA,
    "A target that was computed from the data, for example to reach a sample size, is not the same for a neighboring data set. That it is "
    "passed on by hand changes nothing.",
    "a target that the tool derives from public numbers",
)
TARGET_FROM_DATA = Hypothesis(
    "target-from-data",
    "the target epsilon would be the same for every neighboring data set, although it was computed from this one to reach the sample size",
    Head.DATA,
    "It is not public, and printing or using it needs an argument of its own (such as a public n and a public distribution of the "
    "statistics). Compute it from public or representative data, and give it as the target epsilon.",
)
SCALE_FROM_DATA = Hypothesis(
    "scale-from-data",
    "the scale of the weights would be the same for every neighboring data set, although it was computed from this one to reach the sample "
    "size",
    Head.DATA,
    "It is not public, and printing or using it needs an argument of its own (such as a public n and a public distribution of the "
    "statistics). Weights without a target size need no scale.",
)
NOISE_FROM_DATA = Hypothesis(
    "noise-from-data",
    "the noise scale would be the same for every neighboring data set, although it was computed from this one to reach the sample size",
    Head.DATA,
    "It is not public, and printing or using it needs an argument of its own (such as a public n and a public distribution of the "
    "statistics).",
)
SAME_STATISTICS = Hypothesis(
    "same-statistics", "a statistic of the same name is the same number of a record in each of the mechanisms", Head.DATA
)
PUBLIC_CENTRES = Hypothesis(
    "public-initial-centres",
    "The initial centres are public: they do not depend on the data set",
    Head.DATA,
    "Centres that were chosen among the records, or by k-means++ on them, are not private.",
    "centres that are drawn without the data",
)
FEW_RECORDS = Hypothesis("few-records", "there are at most {most}, or nobody learns that they were refused", Head.DATA)
WELL_FORMED = Hypothesis("well-formed", "{what}, or nobody learns that the data were refused", Head.DATA)
DATA_SETS = Hypothesis("universe", "{statement}", Head.DATA, discharged_by="whoever knows which data sets can occur")
UNIVERSE_ORDER = Hypothesis("universe-order", "{statement}", Head.DATA)

# --- your code -----------------------------------------------------------------------------------------------------------------------

DECLARED_PROFILE = Hypothesis(
    "declared-profile",
    "the mechanism {name!r} has the profile that is declared for it{source}",
    Head.CODE,
    "A source is an attribution, not a proof that this code does what was proved there. Everything below rests on it; an audit can only "
    "refute it.",
    "a mechanism of the catalogue, run by its own run method",
)
DECLARED_LOSSES = Hypothesis(
    "declared-losses",
    "the mechanism {name!r} has the losses that are declared for it{source}",
    Head.CODE,
    "A source is an attribution, not a proof that this code does what was proved there. An audit can only refute it.",
    "an algorithm of this project, with the theorem that is named",
)
DECLARED_EVENTS = Hypothesis(
    "declared-events",
    "{name!r} runs these mechanisms, and nothing else on the data, each with noise of exactly the law that is named: {what}",
    Head.CODE,
    "What is declared is believed. A step more, less noise in one layer, or a sample of fixed size where a Poisson sample is declared "
    "costs more than is printed; an audit can only refute it.",
)
SENSITIVITY_ONE = Hypothesis(
    "sensitivity-one",
    "{change} changes what each noise is added to by at most 1: {what}",
    Head.CODE,
    "The noise is counted in units of the sensitivity: clip each record to the norm 1, or divide by the norm that it is clipped to. A mean "
    "over the sample, or batch normalisation, does not have it.",
)
RECORD_NORM = Hypothesis(
    "record-norm",
    "each {unit} adds to the sum of a step a vector of norm at most 1, which may depend on the outputs before, but not on whether it was "
    "in earlier batches; an empty one adds nothing, and nothing else of a step depends on it",
    Head.CODE,
    "With batches that say how they are drawn, the noise is counted in units of the norm that each record is clipped to, whatever the "
    "neighbors are: a record in place of another moves a sum by 2. A state that is kept for each record, such as its earlier gradients, is "
    "no function of the outputs.",
)
PUBLIC_DIVISOR = Hypothesis(
    "public-divisor",
    "sums are divided by public numbers: an expected or a fixed batch size, never the number of records that a batch happens to have",
    Head.CODE,
    "The mean over the batch that came out tells its size, and moves all of the noise and of the sum with it.",
)
PARTS_RUN = Hypothesis(
    "parts-run",
    "{name!r} runs the parts that it was composed from, each as often as declared, and nothing else on the data",
    Head.CODE,
    discharged_by="a mechanism of the catalogue",
)
WHOLE_TIMES = Hypothesis("whole-times", "{name} is a positive integer, fixed in advance", Head.CODE)
DEFINED = Hypothesis(
    "epsilon-defined",
    "epsilon is defined and not negative on its domain",
    Head.CODE,
    "The loss must be a number that is not negative, at every record and weight. This derivation does not discharge it; the claim "
    "well-defined among the conditions says whether the kernel has proved it.",
    "the claim well-defined of a certificate",
)
PART_DEFINED = Hypothesis("part-defined", "epsilon of {name!r} is defined and not negative on its domain", Head.CODE)
PROBABILITY = Hypothesis(
    "probability",
    "0 < q(x) <= 1 for every record, or q(x) = 0 and it is never selected",
    Head.CODE,
    "The rule must give a probability to every record, and the weight 1/q(x) to every record that may be in the sample. A record of "
    "probability 0, such as one whose weight is infinite, is never in the sample and loses nothing. This derivation does not discharge it.",
    "the claim epsilon-upper of a certificate, or the numbers that are used",
)
CONDITION = Hypothesis(
    "condition",
    "{name} holds",
    Head.CODE,
    "It could be neither proved nor refuted. If it is false, some record breaks the target even with weight 1, and the bound is not one. A "
    "smaller range or a larger target may decide it.",
    "a proof that the kernel accepts",
)
FEASIBLE_WEIGHTS = Hypothesis(
    "feasible-weights",
    "every returned weight satisfies the constraint of Problem 7",
    Head.CODE,
    "The weights in use must be feasible. Those of pdp weights and pdp sample are, in exact arithmetic.",
    "the definition of the rule",
)
WEIGHT_AS_GIVEN = Hypothesis(
    "weight-as-given",
    "the mechanism gets the weight 1/q(x) of a record as it is: not rescaled, normalised or multiplied by another weight",
    Head.CODE,
    "Weights that are divided by their sum, by the size of the sample, or multiplied by a survey weight are other weights, with a larger "
    "epsilon(w, x), and may depend on who was selected.",
    "a run that takes the weights from the sampler",
)
ONLY_THROUGH_OUTPUT = Hypothesis("only-through-output", "{what} uses the data only through the output of the mechanism", Head.CODE)
MONOTONE_BOUNDED = Hypothesis(
    "monotone-bounded",
    "the function of every user is monotone, its values on any two sets of candidates differ by at most 1, and no other user enters it",
    Head.CODE,
    discharged_by="a function of this project",
)
EXACT_GAINS = Hypothesis(
    "exact-gains",
    "the marginal gains that are computed are those of the sum over the users of the sample, without rounding",
    Head.CODE,
    discharged_by="a function of this project",
)
CONTRIBUTIONS = Hypothesis(
    "contributions",
    "A user adds to each gain an integer of at least 0, to the gains along one run at most one unit in all, and to each total an integer "
    "from 0 to one unit",
    Head.CODE,
    discharged_by="an objective of this project",
)
RECORDWISE = Hypothesis("recordwise", "The value of a user depends on that user's record and on the set alone", Head.CODE)
JUDGED_TOGETHER = Hypothesis(
    "judged-together",
    "the value of a user does not depend on the other users that the function is given at the same time, to the last bit",
    Head.CODE,
    "The last bit of a row of a matrix product depends on how many rows the matrix has, and a step makes a whole unit of it.",
    "a function that is asked for one user at a time",
)
SUBMODULAR = Hypothesis("submodular", "Each user's function is monotone and submodular with values in [0, 1]", Head.CODE)
TRIANGLE = Hypothesis(
    "triangle-inequality",
    "The distances obey the triangle inequality, those of records to candidates as well",
    Head.DATA,
    discharged_by="points, a grid or a network, or the check of a matrix of distances",
)
AT_CANDIDATES = Hypothesis(
    "at-candidates",
    "Every record stands at a candidate; a point counts as the candidate that it is moved to",
    Head.DATA,
    meaning="moving a record by its distance to the nearest candidate changes what it costs by as much",
    discharged_by="records that are candidate numbers, multiplicities or rows of distances",
)
FEW_FREQUENT = Hypothesis(
    "few-frequent",
    "Every user has at most {k} pairs (time, item) that more than {level} users have",
    Head.DATA,
    meaning="users whose contributions are used up are not counted any more, so that an item which many of them have may be missed",
)
TWO_VALUES = Hypothesis("two-values", "the function of every user takes at most two values, one apart", Head.CODE)
MATROID_TESTED = Hypothesis(
    "matroid-tested", "The independence oracle satisfies the axioms of a matroid, which were tested on random sets only", Head.CODE
)
MATROID_UNTESTED = Hypothesis(
    "matroid-untested", "The independence oracle satisfies the axioms of a matroid, which nobody tested", Head.CODE
)
PURE_SELECT = Hypothesis(
    "pure-select",
    "what select returns is a function of the earlier outputs alone, and what a function that it returns computes is a finite number that "
    "depends on the data set it is given alone",
    Head.CODE,
)
ASSUMPTION_OF_SCORES = Hypothesis(
    "assumption-of-scores", "{statement}", Head.CODE, discharged_by="an exhaustive check of a declared universe"
)
WITHIN_BUDGET = Hypothesis(
    "within-budget",
    "whatever {name!r} has released, it stops before the costs of its releases exceed the budget at some record",
    Head.CODE,
    "Each release may be chosen by what was released before, and so may its cost; that all costs of every possible run are within one "
    "number, fixed in advance, is what makes this number an epsilon. The costs of one run say nothing of other runs.",
    "the account of private k-means, which refuses such a release",
)
CHECKED_FORM = Hypothesis("checked-form", "{statement}", Head.CODE)
STATED = Hypothesis("stated", "{statement}", Head.CODE)

# --- this release --------------------------------------------------------------------------------------------------------------------

ONLY_RELEASE = Hypothesis(
    "only-release",
    "this is the only release about these records, also of those that were looked at and thrown away: the epsilons of several add up",
    Head.RELEASE,
    "The best of ten runs costs ten of them: that it is the best reveals something of the other nine. Three fits in a row, the fits of a "
    "grid search, or a release of last year count as well, and so does a radius, a scaler or a center that was read off the records, "
    "and what is made of a model's answers about them (a score, a calibration, a threshold): "
    "compose their guarantees (accountant.compose, pdp compose).",
)
ONLY_OUTPUT = Hypothesis(
    "only-output",
    "nobody sees more of a run than its output: no running time, error message or intermediate result",
    Head.RELEASE,
    "A refusal that reveals a record outside of the range, a run that takes longer for some data, or a log file are outputs as well.",
)
INDEPENDENT = Hypothesis(
    "independent-draws",
    "the sampler selects each record independently with probability exactly q(x)",
    Head.RELEASE,
    "Every record must be drawn by a coin of its own with exactly this probability, by whatever software draws the sample, once: a lazy "
    "plan that is evaluated twice draws twice. pdp sample does so, and writes a certificate of it.",
    "a sampler of this project that draws exactly",
)
INDEPENDENT_UNITS = Hypothesis(
    "independent-draws",
    "each {unit} is selected by a coin of its own, with all of its records or none, independently and with probability exactly q",
    Head.RELEASE,
    "A coin for each record selects a user with k records with probability 1 − (1 − q)^k, and reveals users in part: that is another "
    "mechanism, with a larger epsilon. Draw by the id, once for each.",
    "a sampler of this project whose rows are the units",
)
ONE_ANALYSIS = Hypothesis(
    "one-analysis",
    "the sample, its weights and its size are used for one run of the declared mechanism, and for nothing else",
    Head.RELEASE,
    "Two analyses of one sample cost more than twice one of them: compose the mechanisms first and amplify once "
    "(plan_sample, amplify_once).",
    "a sample that gives its records away once, or a run that draws and drops its own",
)
NOT_REDRAWN = Hypothesis(
    "not-redrawn",
    "the sample is used as it is: it was not redrawn or chosen after its size or rows were seen",
    Head.RELEASE,
    "A sample that is drawn again until it has the wanted size, or is not empty, is no Poisson sample: an empty one is an answer as well.",
    "a run that draws its own sample and drops it",
)
FRESH_SAMPLES = Hypothesis(
    "fresh-samples",
    "each of the composed releases has a sample of its own, drawn anew",
    Head.RELEASE,
    "Two uses of one sample are no two samples: log 5 where log 4 would be printed. Compose the mechanisms first and amplify once.",
    "runs that draw and drop their own samples",
)
BATCHES_DRAWN = Hypothesis(
    "batches-drawn",
    "batches are drawn exactly so, independently of the data and of all outputs: {what}",
    Head.RELEASE,
    "A loader that shuffles once and uses the same order in each epoch, drops a last batch that is not full, or fills it up, draws by "
    "another law. Balls and bins is one line: order = numpy.random.default_rng().integers(steps, size=records), drawn anew in each epoch, "
    "and step j takes the records with order == j.",
)
BATCHES_SECRET = Hypothesis(
    "batches-secret",
    "nothing about which {unit} was in which batch is released: neither the batches, nor their order, nor how many each of them had",
    Head.RELEASE,
    "The amplification is that nobody knows in which step a record took part.",
)
STEPS_PUBLIC = Hypothesis(
    "steps-public",
    "the number of steps of an epoch is public, and does not follow the number of records",
    Head.RELEASE,
    "A loader that makes as many batches as the records fill has one more with one record more: whoever counts steps sees it.",
)
MOST_STEPS = Hypothesis(
    "most-steps",
    "at most {steps} steps are run in all, each on a fresh sample, and each has the declared mu whatever the earlier outputs were",
    Head.RELEASE,
    "The delta is that of all steps together. A step more, or a step that clips or scales records by what it has seen of the outputs so "
    "that their mu is larger than declared, is not covered.",
)
UNSEEN_MOMENT = Hypothesis(
    "unseen-moment",
    "nobody who sees the reports sees when a report appears, how many have appeared so far, or how long none did",
    Head.RELEASE,
    "A report appears when a record of a later time comes: that it appears tells that somebody had one, and that none does "
    "tells that nobody had.",
    "a public clock, or a run that returns all reports together",
)
KEPT_STATE = Hypothesis(
    "kept-state",
    "the state file of the pass was read by nobody else, and was not copied, changed or put back: no state of it was used twice",
    Head.RELEASE,
    "A state that is used twice makes the noise of the same reports twice.",
)
ARRIVAL = Hypothesis("arrival", "whether a record comes before its time step is over does not depend on other users", Head.RELEASE)
IN_TIME = Hypothesis(
    "in-time", "the work of each time step is done before the moment at which the clock lets its report leave", Head.RELEASE
)
ALL_CHARGED = Hypothesis(
    "all-charged",
    "every release about these units is charged to this ledger before it is run, its output is the only thing about them that leaves, and "
    "no other ledger is opened about them in view of outputs",
    Head.RELEASE,
    "A release that is made beside the ledger, such as a query by hand, a copy of the data elsewhere or an older report, is not in its "
    "accounts. Two ledgers about the same people are two budgets, which add up; one that is opened because of what was released is a raise "
    "of the first one's budget.",
)
FROM_OUTPUTS = Hypothesis(
    "chosen-from-outputs",
    "which release comes next, and when there is no other one, is decided from earlier outputs and public things alone",
    Head.RELEASE,
    "Whoever chooses the next release must not have seen the data, nor what is private in the ledger: spending, who has budget left, how "
    "many have. A release that is run only if the data suit it reveals something of the data by being run.",
)
FILE_FROM_OUTPUTS = Hypothesis(
    "file-from-outputs",
    "which file is read for a release, which of its columns, and when, is decided from outputs and public things alone",
    Head.RELEASE,
    "A file that is chosen by what is in another one tells of that by being read: where the file of the second date is chosen by whether "
    "somebody is in that of the first, this person is charged nothing, and moves the odds by 16.",
)
RAISES_FIXED = Hypothesis(
    "raises-fixed",
    "how far budgets are raised, and when, is decided from public things alone: not from outputs, reports or spending of the ledger",
    Head.RELEASE,
    "What is promised is the largest budget, as if it had been there from the beginning. A raise that answers to an output makes it a "
    "number that depends on what was released: randomised response of log 2 that is repeated, after a raise, where the first answer was 1 "
    "reports log 2 after the answer 0, and loses log 4. Decide beforehand on a cap, the largest budget of all.",
    "a ledger whose budgets were never raised, or were raised below a cap that was fixed when it was opened",
)
RAISES_FROM_OUTPUTS = Hypothesis(
    "raises-from-outputs",
    "how far budgets are raised, and when, is decided from outputs and public things alone: not from the data, nor from what the ledger "
    "keeps of single units",
    Head.RELEASE,
    "A raise may answer to what was released where a cap was fixed before, or where only an ex-post report is made. One that answers to "
    "accounts, such as to how many ran out, lets one person's data decide who else takes part.",
    "a ledger whose budgets were never raised",
)
RUN_ON_ACTIVE = Hypothesis(
    "run-on-active",
    "{name!r} was run once, on exactly the records that the ledger gave for it, and nobody learns which or how many they were",
    Head.RELEASE,
    "The ledger charges the units that have room for the cost, and leaves out the others. Records of a unit that was left out must not be "
    "used. The number of those that take part is a figure of the data: release it like every other, with noise and at a cost.",
    "a release that the ledger runs itself",
)
HYPOTHESES_UNKNOWN = Hypothesis(
    "hypotheses-unknown",
    "whatever else {name!r} rests on, which {carrier} does not say",
    Head.RELEASE,
    "A bound without its hypotheses is a number. What they were is to be asked where it was made.",
    "the guarantee itself, or a file that states its hypotheses",
)
NEIGHBORS_ASSUMED = Hypothesis(
    "neighbors-assumed",
    "what is known of {what} is about data sets that differ by one {unit} more or less, which nothing says",
    Head.RELEASE,
    "Many tools state epsilon, delta or rho for data sets in which a record is replaced by another. Such a number says nothing of a record "
    "more or less, and a Poisson sample does not lower it as it lowers the other. State the neighbors where the event is declared.",
    "a declaration that states the neighbors",
)
NULL_RECORD = Hypothesis(
    "null-record",
    "there is an empty {unit}, one of those that the neighbors compare, with which the output has exactly the law that it has without the "
    "{unit}, whatever the others are",
    Head.CODE,
    "Neighbors that are replaced, and neighbors that are added, are comparable only through such a value: a row of zeros in a sum, for "
    "example. A mechanism that publishes the number of records, or divides by it, has none.",
)
AT_MOST_RECORDS = Hypothesis(
    "at-most-records",
    "no user has more than {most} records",
    Head.DATA,
    "A bound for groups of k records is one for users as long as nobody has more than k. Records beyond k must be left out before, by a "
    "rule that looks at that user alone.",
    "a step that keeps at most k records of each user",
)
FILE_IS_RIGHT = Hypothesis(
    "file-is-right", "the file with the SHA-256 {digest} is right: the derivation that it states was not replayed", Head.RELEASE
)
WORD_OF_FILE = Hypothesis(
    "word-of-file",
    "on the word of the file, {name!r} has {what}, under no more hypotheses than it names (source: {source})",
    Head.CODE,
)

# --- the machine ---------------------------------------------------------------------------------------------------------------------

EXACT_REALS = Hypothesis(
    "exact-reals",
    "The mechanism computes in exact real arithmetic",
    Head.MACHINE,
    "The proof is about real numbers. Noise in floating point can give away more than it says, above all in its last bits. Ask whether "
    "outputs are rounded or the noise is drawn exactly; an audit with --bits looks for such leaks.",
    "a mechanism of the catalogue that releases correctly rounded values (arithmetic='exact'), under ieee-rounding and balls-enclose",
)
IEEE_ROUNDING = Hypothesis(
    "ieee-rounding",
    "the basic operations of binary64 (+, -, *, / and the square root) round to the nearest number, as IEEE 754 says",
    Head.MACHINE,
    "Exact noise is rounded, and exact choices are made, in binary64 where a proved bound of its errors decides, and the bound is one for "
    "these operations alone. A process in which something has set another rounding mode, flushes subnormal numbers to zero or keeps more "
    "digits is refused by name before noise is drawn and before choices are prepared; what happens between is not seen.",
)
BALLS_ENCLOSE = Hypothesis(
    "balls-enclose",
    "the balls of Arb contain the exact values of the exponentials, logarithms, roots, sines and cosines",
    Head.MACHINE,
    "Where binary64 does not decide how exact noise is rounded, balls of Arb (python-flint) do, with as many digits as it takes; some "
    "exact counts are drawn by them alone. Its enclosures are proved on paper and tested by its authors; none of it is checked at a start.",
)
ARITHMETIC = Hypothesis(
    "ieee-arithmetic",
    "binary64 arithmetic is that of IEEE 754, and NumPy's functions are as accurate as docs/rounding.md says, each entry by itself",
    Head.MACHINE,
)
STATISTICS = Hypothesis(
    "computed-statistics", "the statistics of a row, as computed in binary64, are those that the profile speaks of", Head.MACHINE
)
RANDOMNESS = Hypothesis(
    "randomness",
    "the random numbers of the mechanism are independent, have the law that it names, and nobody else knows or can guess them",
    Head.MACHINE,
    "Noise from a generator whose seed is in the program, or that was used before, can be subtracted again.",
    "a run that names its source of random numbers",
)
DURABLE = Hypothesis(
    "durable-ledger",
    "what the disk says that it has written stays written, and the ledger and its anchor are not both set back to an earlier day",
    Head.MACHINE,
    "A charge counts because it is on disk before anything is run. A disk that loses what it confirmed, or a backup of ledger and anchor "
    "together that is put back, forgets charges; keep the anchor elsewhere, where nothing is taken from it.",
)
SECURE_BITS = Hypothesis(
    "secure-bits",
    "the random bytes of the operating system are uniform, independent, and unknown to whoever sees the output",
    Head.MACHINE,
)
SEEDED_BITS = Hypothesis(
    "seeded-bits",
    "the seeded generator gives uniform, independent bits, and whoever sees the output neither knows nor can guess its seed, nor has seen "
    "other numbers or samples drawn with it",
    Head.MACHINE,
    "A seed such as 0 or 42 is known to everybody: the noise can be computed, and subtracted. Seeds are for tests and studies.",
)
PSEUDORANDOM = Hypothesis(
    "pseudorandom",
    "BLAKE2b under a secret 256-bit key cannot be told from independent uniform values on the ids of the users (with the keyed sample the "
    "guarantee holds against whoever cannot break it)",
    Head.MACHINE,
)

#: Of every mechanism, however its promise is stated.
OF_MECHANISMS = (FIXED_IN_ADVANCE, ONLY_RELEASE, ONLY_OUTPUT, RANDOMNESS)
#: Of every sample, however the weights come into it.
OF_SAMPLES = (INDEPENDENT, ONE_ANALYSIS, NOT_REDRAWN)
#: Of every sample whose records get the weight 1/q(x).
OF_WEIGHTED_SAMPLES = (IN_RANGE, RECORD_STATISTICS, WEIGHT_AS_GIVEN, *OF_SAMPLES)

#: Of what is read at each release of a ledger: its data may change.
OF_FILES = (OWN_ROWS, FILE_FROM_OUTPUTS)

#: What is true of a machine and of its surroundings or not, and no program can discharge: arithmetic of binary64, balls, random bits of
#: the operating system, and that nobody watches the run. A bound under these alone is unconditional.
PHYSICS = (IEEE_ROUNDING, ARITHMETIC, BALLS_ENCLOSE, SECURE_BITS, ONLY_OUTPUT)

#: All of them, in the order of the heads; families with their gaps.
REGISTRY: dict[str, Hypothesis] = {
    item.id: item for item in list(globals().values()) if isinstance(item, Hypothesis) and item is not INDEPENDENT_UNITS
}
#: What the same hypothesis says of units other than records.
_OF_UNITS = {INDEPENDENT_UNITS.id: INDEPENDENT_UNITS}
_ALL = (*REGISTRY.values(), *_OF_UNITS.values())
_FAMILIES = frozenset(item for item in _ALL if re.search(r"\{\w+(![rs])?\}", item.sentence))

#: Sentences of earlier releases, and what says the same now: files that have them are still read.
_EARLIER: dict[str, Hypothesis] = {
    "this is the only release about these records: the epsilons of several add up": ONLY_RELEASE,  # named no runs that were thrown away
    "0 < q(x) <= 1 for every record": PROBABILITY,  # said more than holds for a record of infinite weight, and than is needed
    "the statistics are functions of the record alone and of public constants (such as a public centre)": RECORD_STATISTICS.about(
        names="each statistic"
    ),
    "the declared range contains every record": IN_RANGE.about(ranges="no statistic is declared"),
    "one mechanism with the declared profile is run on the sample, once, and nothing else that is computed from the sample, its weights "
    "or its size is released": ONE_ANALYSIS,
    "binary64 arithmetic is that of IEEE 754, NumPy's functions keep the accuracy of docs/rounding.md, and the value of an entry of an "
    "array does not depend on the other entries": ARITHMETIC,
    "The random numbers are independent and uniform, and nobody else knows them": RANDOMNESS,
    "The seed is secret, unpredictable and serves one release only": SEEDED_BITS,
    "the target epsilon would be the same for every neighbouring data set (it was computed from this one to reach the sample size; compute "
    "it from public or representative data, and give it as the target epsilon)": TARGET_FROM_DATA,
    "every release about these units is charged to this ledger before it is run, and its output is the only thing about them that leaves": (
        ALL_CHARGED  # named no ledger that is opened in view of outputs, which is a raise
    ),
    "nothing but the permutation is seen of a run: neither the sample nor its size, nor the running time": ONLY_OUTPUT,
}


def count_assumptions(count: int, which: str = "unverified") -> str:
    """Return how many assumptions there are, in words.

    >>> count_assumptions(1), count_assumptions(3, "settled")
    ('1 unverified assumption', '3 settled assumptions')
    """
    return f"{count} {which} assumption{'' if count == 1 else 's'}"


def name_range(profile: Profile) -> Hypothesis:
    """Return the hypothesis that every record lies in the declared ranges of ``profile``, with these ranges.

    >>> from profiles import declare
    >>> name_range(declare("sum", "w*z", record={"z": [0, "1.5"]})).sentence
    'the declared range contains every record: z in [0, 1.5]'
    """
    written = {item.share: f"{item.name} in {item.text}" for item in profile.shares}
    shown = (written.get(item.name, f"{item.name} in [{exact_text(item.lo)}, {exact_text(item.hi)}]") for item in profile.record)
    ranges = ", ".join(shown)
    return IN_RANGE.about(ranges=ranges or "no statistic is declared")


def name_statistics(profile: Profile) -> Hypothesis:
    """Return the hypothesis that the statistics of ``profile`` are computed from the record alone, with their names."""
    written = {item.share: item.name for item in profile.shares}
    return RECORD_STATISTICS.about(names=", ".join(written.get(item.name, item.name) for item in profile.record) or "no statistic")


def fill_in(hypothesis: Hypothesis, subject: str) -> Hypothesis:
    """Return a hypothesis with its gaps filled for ``subject``, where nobody knows the details; one without gaps as it is.

    >>> fill_in(IN_RANGE, "sum").sentence, fill_in(ONE_ANALYSIS, "sum") == ONE_ANALYSIS
    ('the declared range contains every record: that of every statistic', True)
    """
    if not hypothesis.is_family:
        return hypothesis
    known = {"ranges": "that of every statistic", "names": "each statistic", "source": "", "name": subject, "what": subject}
    more = ("change", "carrier", "count", "digest", "most", "norm", "statement", "steps", "unit", "level", "k")
    return hypothesis.about(**{**dict.fromkeys(more, "what the file says"), **known})


def attribute(source: str) -> str:
    """Return how a declared promise names its source: as an attribution, which discharges nothing."""
    line = "".join(letter if letter.isprintable() else "?" for letter in " ".join(source.split()))[:300]
    return f" (its source: {line}; not checked here)" if line else ""


def name_declaration(profile: Profile) -> Hypothesis:
    """Return the hypothesis that a mechanism has the profile that is declared for it."""
    return DECLARED_PROFILE.about(name=profile.name, source=attribute(profile.source))


def as_hypothesis(given: object, head: Head = Head.CODE) -> Hypothesis:
    """Return a hypothesis as it is, and a sentence as the one of :data:`REGISTRY` that says it, or else as one of the user's own.

    Raises :class:`InvalidArgument` for what is neither, or is no line of text, which a print would distort and no file would hold.

    >>> as_hypothesis("0 < q(x) <= 1 for every record").id, as_hypothesis("n is public").id, as_hypothesis("my own").id
    ('probability', 'public-constants', 'stated')
    """
    if not isinstance(given, (Hypothesis, str)):
        raise InvalidArgument(f"a hypothesis is a Hypothesis or a sentence, but {type(given).__name__} was found; give one")
    sentence = str(given)
    if not sentence.strip() or not sentence.isprintable():
        raise InvalidArgument(f"subject and hypotheses of a guarantee are lines of text, but {sentence[:60]!r} was found; reword it")
    if isinstance(given, Hypothesis):
        return given
    return _find(sentence) or replace(STATED, sentence=sentence, head=head)


def as_hypotheses(given: Iterable[object], whose: str) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of a sequence of them or of sentences. Raises :class:`InvalidArgument`, also for one text instead."""
    if isinstance(given, (str, Hypothesis)) or not isinstance(given, Iterable):
        raise InvalidArgument(f"the hypotheses of {whose} are a sequence of texts, but one text was found; put it in a list")
    return tuple(as_hypothesis(item) for item in given)


@lru_cache(maxsize=4096)
def restore(identifier: str, sentence: str, head: str) -> Hypothesis | None:
    """Return the hypothesis that a file names, None where the id says something else, is unknown, or stands under another head.

    What users state themselves, and what an application states about its data, may stand under any head. An earlier sentence of the
    same id is read as the one of now.
    """
    sentence = _say_now(identifier, sentence)
    known = [item for item in (REGISTRY.get(identifier), _OF_UNITS.get(identifier)) if item is not None]
    family = next((item for item in known if re.fullmatch(_pattern(item), sentence)), None)
    if family is None:
        return None
    heads = {item.value: item for item in Head}
    if head not in heads or (family != STATED and heads[head] is not family.head):
        return None
    return replace(family, sentence=sentence, head=heads[head])


def recall(identifier: str, sentence: str, head: str | None = None) -> Hypothesis:
    """Return the hypothesis that a carrier names: of the registry, or else one of the user's own, so that none is dropped.

    ``head``: where the carrier says it. Raises :class:`InvalidArgument` for a sentence that is no line of text, and an unknown head.

    >>> recall("of another tool", "the moon is full").id, recall("one-user", ONE_USER.sentence) == ONE_USER
    ('stated', True)
    """
    stands = REGISTRY.get(identifier, STATED).head.value if head is None else head
    if stands not in [item.value for item in Head]:
        raise InvalidArgument(f"a hypothesis stands under {', '.join(item.value for item in Head)}, but another head was found; name one")
    return restore(identifier, sentence, stands) or as_hypothesis(sentence, Head(stands))


def _say_now(identifier: str, sentence: str) -> str:
    earlier = _EARLIER.get(sentence)
    return sentence if earlier is None or earlier != REGISTRY.get(identifier) else earlier.sentence


def _find(sentence: str) -> Hypothesis | None:
    if sentence in _EARLIER:
        return _EARLIER[sentence]
    for item in REGISTRY.values():
        if item.sentence == sentence:
            return item
    for item in _FAMILIES:
        if len(item.sentence) > len("{statement}") and re.fullmatch(_pattern(item), sentence):
            return replace(item, sentence=sentence)
    return None


@cache
def _pattern(item: Hypothesis) -> str:
    if item not in _FAMILIES:
        return re.escape(item.sentence)
    return ".+".join(re.escape(part) for part in re.split(r"\{\w+(?:![rs])?\}", item.sentence)).replace("for\\ it.+", "for\\ it.*")
