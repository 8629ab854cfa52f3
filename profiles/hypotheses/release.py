"""Hypotheses about this release: what else leaves, how samples are drawn and used, and what a ledger charged."""

from profiles.hypotheses.kinds import Head, Hypothesis

ONLY_RELEASE = Hypothesis(
    "only-release",
    "this is the only release about these records, also of those that were looked at and thrown away: the epsilons of several add up",
    Head.RELEASE,
    "The best of ten runs costs ten of them: that it is the best reveals something of the other nine. Three fits in a row, the fits of a "
    "grid search, or a release of last year count as well, and so does a radius, a scaler or a center that was read off the records, "
    "and what is made of a model's answers about them (a score, a calibration, a threshold): "
    "compose their guarantees (accountant.compose, pdp compose).",
    brief="the only release about these records, also of runs thrown away",
)
ONLY_OUTPUT = Hypothesis(
    "only-output",
    "nobody sees more of a run than its output: no running time, error message or intermediate result",
    Head.RELEASE,
    "A refusal that reveals a record outside of the range, a run that takes longer for some data, or a log file are outputs as well.",
    brief="nobody sees more of a run than its output",
)
INDEPENDENT = Hypothesis(
    "independent-draws",
    "the sampler selects each record independently with probability exactly q(x)",
    Head.RELEASE,
    "Every record must be selected independently, with exactly this probability, and once, whatever software draws the sample: a lazy "
    "plan that is evaluated twice draws twice. pdp sample does so, and writes a certificate of it.",
    "a sampler of this project that draws exactly",
    ordinary=True,
)
INDEPENDENT_UNITS = Hypothesis(
    "independent-draws",
    "each {unit} is selected by a coin of its own, with all of its records or none, independently and with probability exactly q",
    Head.RELEASE,
    "A coin for each record selects a user with k records with probability 1 − (1 − q)^k, and reveals users in part: that is another "
    "mechanism, with a larger epsilon. Draw by the id, once for each.",
    "a sampler of this project whose rows are the units",
    ordinary=True,
)
ONE_ANALYSIS = Hypothesis(
    "one-analysis",
    "the sample, its weights and its size are used for one run of the declared mechanism, and for nothing else",
    Head.RELEASE,
    "Two analyses of one sample cost more than twice one of them: compose the mechanisms first and amplify once "
    "(plan_sample, amplify_once).",
    "a sample that gives its records away once, or a run that draws and drops its own",
    brief="the sample, its weights and its size are used for one run",
)
NOT_REDRAWN = Hypothesis(
    "not-redrawn",
    "the sample is used as it is: it was not redrawn or chosen after its size or rows were seen",
    Head.RELEASE,
    "A sample that is drawn again until it has the wanted size, or is not empty, is not a Poisson sample: an empty one is a valid "
    "outcome as well.",
    "a run that draws its own sample and drops it",
    brief="the sample was not redrawn or chosen after it was seen",
)
FRESH_SAMPLES = Hypothesis(
    "fresh-samples",
    "each of the composed releases has a sample of its own, drawn anew",
    Head.RELEASE,
    "Two uses of one sample are not two samples: they can cost log 5 where log 4 would be printed. Compose the mechanisms first "
    "and amplify once.",
    "runs that draw and drop their own samples",
    brief="each composed release has a sample of its own, drawn anew",
)
BATCHES_DRAWN = Hypothesis(
    "batches-drawn",
    "batches are drawn exactly so, independently of the data and of all outputs: {what}",
    Head.RELEASE,
    "A loader that shuffles once and uses the same order in each epoch, drops a last batch that is not full, or fills it up, draws by "
    "another law. Balls and bins is one line: order = numpy.random.default_rng().integers(steps, size=records), drawn anew in each epoch, "
    "and step j takes the records with order == j.",
    brief="batches are drawn so: {what}",
)
BATCHES_SECRET = Hypothesis(
    "batches-secret",
    "nothing about which {unit} was in which batch is released: neither the batches, nor their order, nor how many each of them had",
    Head.RELEASE,
    "The amplification comes from nobody knowing in which step a record took part.",
    brief="nobody learns which {unit} was in which batch, or how many",
)
STEPS_PUBLIC = Hypothesis(
    "steps-public",
    "the number of steps of an epoch is public, and does not follow the number of records",
    Head.RELEASE,
    "A loader that makes as many batches as the records fill may have one more with one more record: whoever counts steps sees it.",
    brief="the steps of an epoch are public and do not follow the data",
)
STEPS_APART = Hypothesis(
    "steps-apart",
    "each {unit} takes part in at most {most} of {steps} steps, any two of them at least {apart} apart, and while one goes, comes or "
    "changes, all others stay in their steps",
    Head.RELEASE,
    "One order of the records that is kept in all epochs has the steps of an epoch between two participations. A loader that shuffles anew "
    "in each epoch lets a record come last in one epoch and first in the next, one step later; and where later records move up when "
    "one is removed, others do not stay in their steps.",
    brief="each {unit} is in at most {most} steps, {apart} steps apart",
)
FIXED_ORDER = Hypothesis(
    "fixed-order",
    "each {unit} takes part, if at all, in steps that are whole multiples of {apart} steps apart, of {steps} in all, and while one goes, "
    "comes or changes, all others stay in their steps",
    Head.RELEASE,
    "Batches have one order, which is the same in all epochs. A loader that shuffles in each epoch, or whose later records move up "
    "when one is removed, has none.",
    brief="each {unit} takes part in every {apart}-th step alone",
)
BANDS_GROUPED = Hypothesis(
    "bands-grouped",
    "each {unit} is in one of {bands} groups, by itself alone, such as by a hash of its id, and a step draws from one group, the groups in "
    "turn: one of {steps} steps is {bands} steps after another one of its group",
    Head.RELEASE,
    "Groups that are cut from a shuffled list, or made equally large, move other records when one is added or removed; for "
    "neighbors in which a record becomes empty they are allowed. A sample from all records in each step lets a record take part in "
    "two steps whose noise is correlated.",
    brief="each {unit} is in one of {bands} groups, by itself, in turn",
)
WHOLE_EPOCHS = Hypothesis(
    "whole-epochs",
    "each pass over the batches was run to its end before the next one was begun",
    Head.RELEASE,
    "Only steps were counted, and epochs follow from them. A pass that is left in the middle, after which the loader draws anew, is "
    "one more epoch than was counted.",
    "a trainer that counts the epochs as they begin",
    brief="passes over the batches were run to their end",
)
MOST_STEPS = Hypothesis(
    "most-steps",
    "at most {steps} steps are run in all, each on a fresh sample, and each has the declared mu whatever the earlier outputs were",
    Head.RELEASE,
    "The delta is that of all steps together. One more step, or a step that clips or scales records by what it has seen of the outputs so "
    "that their mu is larger than declared, is not covered.",
)
UNSEEN_MOMENT = Hypothesis(
    "unseen-moment",
    "nobody who sees the reports sees when a report appears, how many have appeared so far, or how long none did",
    Head.RELEASE,
    "A report appears when a record of a later time comes: that it appears reveals that somebody had one, and that none appears "
    "reveals that nobody had.",
    "a public clock, or a run that returns all reports together",
)
KEPT_STATE = Hypothesis(
    "kept-state",
    "the state file of the pass was read by nobody else, and was not copied, changed or put back: no state of it was used twice",
    Head.RELEASE,
    "A state that is used twice draws the noise of the same reports twice.",
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
    "accounts. Two ledgers about the same people are two budgets, which add up; opening one because of what was released amounts to "
    "raising the first one's budget.",
    brief="every release about these units is in this ledger alone",
)
FROM_OUTPUTS = Hypothesis(
    "chosen-from-outputs",
    "which release comes next, and when there is no other one, is decided from earlier outputs and public things alone",
    Head.RELEASE,
    "Whoever chooses the next release must not have seen the data, nor what is private in the ledger: spending, who has budget left, how "
    "many have. A release that is run only if the data suit it reveals something of the data by being run.",
    brief="what comes next is decided from outputs and public things",
)
FILE_FROM_OUTPUTS = Hypothesis(
    "file-from-outputs",
    "which file is read for a release, which of its columns, and when, is decided from outputs and public things alone",
    Head.RELEASE,
    "A file that is chosen by what is in another one reveals that by being read: where the file of the second date is chosen by whether "
    "somebody is in that of the first, this person is charged nothing, and changes the odds by a factor of 16.",
    brief="which file is read is decided from outputs and public things",
)
RAISES_FIXED = Hypothesis(
    "raises-fixed",
    "how far budgets are raised, and when, is decided from public things alone: not from outputs, reports or spending of the ledger",
    Head.RELEASE,
    "The promise is the largest budget, as if it had been in force from the beginning. A raise that depends on an output makes this "
    "number depend on what was released: if randomised response of log 2 is repeated, after a raise, only where the first answer was "
    "1, the ledger reports log 2 after the answer 0, and loses log 4. Fix a cap in advance: the largest budget that there will ever be.",
    "a ledger whose budgets were never raised, or were raised below a cap that was fixed when it was opened",
)
RAISES_FROM_OUTPUTS = Hypothesis(
    "raises-from-outputs",
    "how far budgets are raised, and when, is decided from outputs and public things alone: not from the data, nor from what the ledger "
    "keeps of single units",
    Head.RELEASE,
    "A raise may depend on what was released if a cap was fixed before, or if only an ex-post report is made. A raise that depends on "
    "accounts, such as on how many ran out, lets one person's data decide who else takes part.",
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
    "A bound without its hypotheses protects nobody. Ask whoever made the bound for them.",
    "the guarantee itself, or a file that states its hypotheses",
)
NEIGHBORS_ASSUMED = Hypothesis(
    "neighbors-assumed",
    "what is known of {what} is about data sets that differ by one {unit} more or less, which nothing says",
    Head.RELEASE,
    "Many tools state epsilon, delta or rho for data sets in which a record is replaced by another. Such a number says nothing "
    "about adding or removing a record, and a Poisson sample does not lower it in the same way. State the neighbors where the event "
    "is declared.",
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
    "file-is-right",
    "the file with the SHA-256 {digest} is right: the derivation that it states was not replayed",
    Head.RELEASE,
    brief="the file it was read from is right: it was not replayed",
)
WORD_OF_FILE = Hypothesis(
    "word-of-file",
    "on the word of the file, {name!r} has {what}, under no more hypotheses than it names (source: {source})",
    Head.CODE,
)
