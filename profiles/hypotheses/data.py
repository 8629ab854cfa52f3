"""Hypotheses about your data: whoever has them knows whether they hold."""

from profiles.hypotheses.kinds import Head, Hypothesis

FIXED_IN_ADVANCE = Hypothesis(
    "fixed-in-advance",
    "the declared range, the noise and all other parameters were fixed without looking at the data",
    Head.DATA,
    "A largest norm, a quantile, a number of clusters or a noise scale that was computed from the private data reveals something of "
    "it, and is not the same for a neighboring data set. Use public knowledge, or estimate it privately and add that epsilon.",
    brief="range, noise and all parameters were fixed without the data",
)
ONE_RECORD_EACH = Hypothesis(
    "one-record-each",
    "nobody has more than one record: epsilon is for one record, and k records of one person cost up to k times as much",
    Head.DATA,
    "The bound protects one row. If a person has several rows, merge them first, or multiply epsilon by their number.",
    brief="nobody has more than one record; k records cost up to k times",
)
ONE_USER = Hypothesis(
    "one-user",
    "all that a person contributes stands under one user",
    Head.DATA,
    "The bound protects one user with all records of that id. A person with two ids loses up to twice epsilon.",
)
FORGOTTEN_STAY_AWAY = Hypothesis(
    "forgotten-stay-away",
    "whoever's id a ledger was made to forget does not come back in its data, under whichever id",
    Head.DATA,
    "The account stays, but nobody can find it again. A person who comes back after that gets a second account with a budget of its "
    "own, and both add up.",
    "a ledger that never forgot an id",
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
    "then one record more changes the statistics of all. The same holds where this was done by hand beforehand: a run sees the "
    "rows, not how they were made.",
    "a mechanism of the catalogue that computes them itself",
    brief="{names}: computed from the record and public constants",
)
OWN_ENTRY = Hypothesis(
    "own-entry",
    "what stands for a user (or record) in the data was made from that user's own record and public constants alone, to the last bit",
    Head.DATA,
    "A table that was made from all users together, as by a matrix product, by a rank or by leaving out rare items, is not a table "
    "of users: entries then depend on other users, on how many they are, or on their order.",
    brief="what stands for a user was made from that user's record alone",
)
OWN_WEIGHTS = Hypothesis(
    "own-weights",
    "the weight that a record has by itself is computed from this record alone: not n/|S|, not scaled to a mean or total of the data set",
    Head.DATA,
    "Survey weights that were calibrated or normalised over the data set change for all records when one of them is removed. Such "
    "weights are "
    "not 1/q of a sample either: those are made by the sampler.",
    brief="a record's own weight is computed from this record alone",
)
RECORDS_KNOWN = Hypothesis(
    "records-known",
    "the data have {count} {unit}s, the one that is at stake among them, and this number is public",
    Head.DATA,
    "The share of the records that a batch takes is computed from this number; where users are protected, it is a number of users. It "
    "may be a lower bound for batches of a fixed size, where fewer records make the share larger; for truncated batches only exactly "
    "this number is covered.",
    brief="the data have {count} {unit}s, and this number is public",
)
OWN_ROWS = Hypothesis(
    "own-rows",
    "the rows of a {unit} in each file were made from what is this {unit}'s own, from what was released before and from public things "
    "alone: they would be the same to the last bit, and in the same order, if another {unit}'s rows had never been in any file",
    Head.DATA,
    "Files may change, and units may come, leave and react to what was published. The hypothesis is broken by imputing or calibrating "
    "a row from others, by totals of a household or neighborhood in a row, by removing duplicates between units, by ranks, by linkage "
    "that gives a row to the nearest unit, by a cap on the rows of all, by rows added because somebody looked at the raw file, by an "
    "order of rows or ids issued in sequence that reveal how many came before. For example, two rows copied from a row of somebody "
    "else, who is charged log 2 of a budget of 2 log 2, let this person's odds change by a factor of 32, not 4.",
    brief="rows of a {unit} come from its own, released and public things",
)
OWN_BUDGET = Hypothesis(
    "own-budget",
    "the budget of a unit is computed from public constants and from what that unit alone has in its columns",
    Head.DATA,
    "A budget that depends on other units, such as a share of what is left, or a mean, would let one person's data decide who takes part.",
    "a budget that is one number for all units",
    brief="a unit's budget is made of public things and its own columns",
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
    "A target that was computed from the data, for example to reach a sample size, is not the same for a neighboring data set. Typing "
    "it into another command does not make it public.",
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
    brief="the initial centres are public: made without the data",
)
FEW_RECORDS = Hypothesis("few-records", "there are at most {most}, or nobody learns that they were refused", Head.DATA)
WELL_FORMED = Hypothesis("well-formed", "{what}, or nobody learns that the data were refused", Head.DATA)
DATA_SETS = Hypothesis("universe", "{statement}", Head.DATA, discharged_by="whoever knows which data sets can occur")
UNIVERSE_ORDER = Hypothesis("universe-order", "{statement}", Head.DATA)
