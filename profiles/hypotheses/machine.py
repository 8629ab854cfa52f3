"""Hypotheses about the machine: arithmetic, random numbers, and disks."""

from profiles.hypotheses.kinds import Head, Hypothesis

EXACT_REALS = Hypothesis(
    "exact-reals",
    "The mechanism computes in exact real arithmetic",
    Head.MACHINE,
    "The proof is about real numbers. Noise in floating point can reveal more than the proof allows, above all in its last bits. "
    "Find out whether outputs are rounded or the noise is drawn exactly; an audit with --bits looks for such leaks.",
    "a mechanism of the catalogue that releases correctly rounded values (arithmetic='exact'), under ieee-rounding and balls-enclose",
)
IEEE_ROUNDING = Hypothesis(
    "ieee-rounding",
    "the basic operations of binary64 (+, -, *, / and the square root) round to the nearest number, as IEEE 754 says",
    Head.MACHINE,
    "Exact noise is rounded, and exact choices are made, in binary64 where a proved bound of its errors decides, and that bound holds "
    "for these operations alone. A process in which something has set another rounding mode, flushes subnormal numbers to zero or "
    "keeps more digits is refused, with an error that names this, before noise is drawn and before choices are prepared; changes after "
    "that check are not noticed.",
    ordinary=True,
)
BALLS_ENCLOSE = Hypothesis(
    "balls-enclose",
    "the balls of Arb contain the exact values of the exponentials, logarithms, roots, sines and cosines",
    Head.MACHINE,
    "Where binary64 does not decide how exact noise is rounded, balls of Arb (python-flint) do, with as many digits as it takes; some "
    "exact counts are drawn by them alone. Its enclosures are proved on paper and tested by its authors; nothing of this is "
    "checked at start.",
    ordinary=True,
)
ARITHMETIC = Hypothesis(
    "ieee-arithmetic",
    "binary64 arithmetic is that of IEEE 754, and NumPy's functions are as accurate as docs/rounding.md says, each entry by itself",
    Head.MACHINE,
    ordinary=True,
)
STATISTICS = Hypothesis(
    "computed-statistics",
    "the statistics of a row, as computed in binary64, are those that the profile speaks of",
    Head.MACHINE,
    ordinary=True,
)
RANDOMNESS = Hypothesis(
    "randomness",
    "the random numbers of the mechanism are independent, have the law that it names, and nobody else knows or can guess them",
    Head.MACHINE,
    "Noise from a generator whose seed is in the program, or that was used before, can be subtracted again.",
    "a run that names its source of random numbers",
    ordinary=True,
)
DURABLE = Hypothesis(
    "durable-ledger",
    "what the disk says that it has written stays written, and the ledger and its anchor are not both set back to an earlier day",
    Head.MACHINE,
    "A charge counts because it is on disk before anything is run. A disk that loses what it confirmed, or a backup of ledger and anchor "
    "together that is put back, forgets charges; keep the anchor elsewhere, where nothing is taken from it.",
    ordinary=True,
)
SECURE_BITS = Hypothesis(
    "secure-bits",
    "the random bytes of the operating system are uniform, independent, and unknown to whoever sees the output",
    Head.MACHINE,
    ordinary=True,
)
SEEDED_BITS = Hypothesis(
    "seeded-bits",
    "the seeded generator gives uniform, independent bits, and whoever sees the output neither knows nor can guess its seed, nor has seen "
    "other numbers or samples drawn with it",
    Head.MACHINE,
    "A seed such as 0 or 42 is known to everybody: the noise can be computed, and subtracted. Seeds are for tests and studies.",
    brief="the seed is secret, unguessable and used for nothing else",
)
PSEUDORANDOM = Hypothesis(
    "pseudorandom",
    "BLAKE2b under a secret 256-bit key cannot be told from independent uniform values on the ids of the users (with the keyed sample the "
    "guarantee holds against whoever cannot break it)",
    Head.MACHINE,
)
