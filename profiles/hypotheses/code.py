"""Hypotheses about your code: what runs, and how it uses data and weights."""

from profiles.hypotheses.kinds import Head, Hypothesis

DECLARED_PROFILE = Hypothesis(
    "declared-profile",
    "the mechanism {name!r} has the profile that is declared for it{source}",
    Head.CODE,
    "A source is an attribution, not a proof that this code does what was proved there. Every bound depends on it; an audit can only "
    "refute it.",
    "a mechanism of the catalogue, run by its own run method",
    brief="the mechanism {name!r} has its declared profile",
)
DECLARED_LOSSES = Hypothesis(
    "declared-losses",
    "the mechanism {name!r} has the losses that are declared for it{source}",
    Head.CODE,
    "A source is an attribution, not a proof that this code does what was proved there. An audit can only refute it.",
    "an algorithm of this project, with the theorem that is named",
    brief="the mechanism {name!r} has its declared losses",
)
DECLARED_EVENTS = Hypothesis(
    "declared-events",
    "{name!r} runs these mechanisms, and nothing else on the data, each with noise of exactly the law that is named: {what}",
    Head.CODE,
    "The declaration is not checked. One more step, less noise in one layer, or a sample of fixed size where a Poisson sample is declared "
    "costs more than is printed; an audit can only refute it.",
    brief="{name!r} runs the declared events, and nothing else",
)
SENSITIVITY_ONE = Hypothesis(
    "sensitivity-one",
    "{change} changes what each noise is added to by at most 1: {what}",
    Head.CODE,
    "The noise is counted in units of the sensitivity: clip each record to the norm 1, or divide by the norm that it is clipped to. A mean "
    "over the sample, or batch normalisation, does not have it.",
    brief="{change} moves what gets noise by at most 1",
)
RECORD_NORM = Hypothesis(
    "record-norm",
    "each {unit} adds to the sum of a step a vector of norm at most 1, which may depend on the outputs before, but not on whether it was "
    "in earlier batches; an empty one adds nothing, and nothing else of a step depends on it",
    Head.CODE,
    "With batches that say how they are drawn, the noise is counted in units of the norm that each record is clipped to, whatever the "
    "neighbors are: a record in place of another moves a sum by 2. A state that is kept for each record, such as its earlier "
    "gradients, is not a function of the outputs.",
    brief="each {unit} adds a vector of norm at most 1 to a step's sum",
)
PUBLIC_DIVISOR = Hypothesis(
    "public-divisor",
    "sums are divided by public numbers: an expected or a fixed batch size, never the number of records that a batch happens to have",
    Head.CODE,
    "The mean over the batch that was drawn reveals its size, and rescales all of the noise and of the sum with it.",
    brief="sums are divided by public numbers, not by a batch's size",
)
MATRIX_MECHANISM = Hypothesis(
    "matrix-mechanism",
    "the {event} with noise_multiplier {ratio} is one release of Cx + z, row after row, in units of s, {square}: row j of x is the sum of "
    "step j, which depends on the data and on earlier rows alone, z is fresh Gaussian noise of deviation {noise} in each entry, and C is "
    "{matrix}",
    Head.CODE,
    "Noise z times the inverse of C that is added to the sums is such a release, where C is exactly the inverse of the matrix that "
    "correlates the noise. C of another number of steps, with its columns scaled afterwards, or of rounded inverses, is another matrix. s "
    "was computed from C and from who takes part when; pdp account --matrix computes it again from the file, which its digest names.",
    brief="the {event} is Cx + z as a whole, with the named matrix C",
)
MATRIX_BOUNDED = Hypothesis(
    "matrix-bounded",
    "the {event} with noise_multiplier {ratio} is one release of Cx + z, row after row, in units of an upper end of s, {square}: row j of "
    "x is the sum of step j, which depends on the data and on earlier rows alone, z is fresh Gaussian noise of deviation {noise} in each "
    "entry, and C is {matrix}",
    Head.CODE,
    "Like matrix-mechanism, for a matrix of which s is only bounded: the bound holds for all data, but data that reach its lower end "
    "need not exist. pdp account --matrix prints both ends of s, and the loss of the data that attain the lower one.",
    brief="the {event} is Cx + z, in units of a bound, with the named C",
)
PARTS_RUN = Hypothesis(
    "parts-run",
    "{name!r} runs the parts that it was composed from, each as often as declared, and nothing else on the data",
    Head.CODE,
    discharged_by="a mechanism of the catalogue",
    brief="{name!r} runs its declared parts, and nothing else",
)
WHOLE_TIMES = Hypothesis("whole-times", "{name} is a positive integer, fixed in advance", Head.CODE)
DEFINED = Hypothesis(
    "epsilon-defined",
    "epsilon is defined and not negative on its domain",
    Head.CODE,
    "The loss must be a number that is not negative, at every record and weight. This derivation does not close it; the claim "
    "well-defined among the conditions says whether the kernel has proved it.",
    "the claim well-defined of a certificate",
)
PART_DEFINED = Hypothesis("part-defined", "epsilon of {name!r} is defined and not negative on its domain", Head.CODE)
PROBABILITY = Hypothesis(
    "probability",
    "0 < q(x) <= 1 for every record, or q(x) = 0 and it is never selected",
    Head.CODE,
    "The rule must give a probability to every record, and the weight 1/q(x) to every record that may be in the sample. A record of "
    "probability 0, such as one whose weight is infinite, is never in the sample and loses nothing. This derivation does not close it.",
    "the claim epsilon-upper of a certificate, or the numbers that are used",
    brief="0 <= q(x) <= 1, and at q(x) = 0 a record is never selected",
)
CONDITION = Hypothesis(
    "condition",
    "{name} holds",
    Head.CODE,
    "It could be neither proved nor refuted. If it is false, some record breaks the target even with weight 1, and the bound does "
    "not hold. A smaller range or a larger target may decide it.",
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
    brief="the mechanism gets the weight 1/q(x) as it is, not rescaled",
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
    "The last bit of a row of a matrix product depends on how many rows the matrix has, and a threshold turns it into a whole unit.",
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
    "number, fixed in advance, is what makes this number an epsilon. The costs of one run say nothing about other runs.",
    "the account of private k-means, which refuses such a release",
)
CHECKED_FORM = Hypothesis("checked-form", "{statement}", Head.CODE)
STATED = Hypothesis("stated", "{statement}", Head.CODE)
