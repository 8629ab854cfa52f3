"""All hypotheses, by their ids: the groups that go together, how sentences of files and users are read, and how gaps are filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from profiles.errors import InvalidArgument
from profiles.hypotheses import code, data, machine, release
from profiles.hypotheses.kinds import FAMILIES, Head, Hypothesis
from profiles.numbers import exact_text

if TYPE_CHECKING:
    from profiles.profile import Profile

#: Of every mechanism, however its promise is stated.
OF_MECHANISMS = (data.FIXED_IN_ADVANCE, release.ONLY_RELEASE, release.ONLY_OUTPUT, machine.RANDOMNESS)
#: Of every sample, however the weights come into it.
OF_SAMPLES = (release.INDEPENDENT, release.ONE_ANALYSIS, release.NOT_REDRAWN)
#: Of every sample whose records get the weight 1/q(x).
OF_WEIGHTED_SAMPLES = (data.IN_RANGE, data.RECORD_STATISTICS, code.WEIGHT_AS_GIVEN, *OF_SAMPLES)

#: Of what is read at each release of a ledger: its data may change.
OF_FILES = (data.OWN_ROWS, release.FILE_FROM_OUTPUTS)

#: What is true of a machine and of its surroundings or not, and no program can discharge: arithmetic of binary64, balls, random bits of
#: the operating system, and that nobody watches the run. A bound under these alone is unconditional.
PHYSICS = (machine.IEEE_ROUNDING, machine.ARITHMETIC, machine.BALLS_ENCLOSE, machine.SECURE_BITS, release.ONLY_OUTPUT)

#: All of them, in the order of the heads; families with their gaps.
REGISTRY: dict[str, Hypothesis] = {
    item.id: item
    for head in (data, code, release, machine)
    for item in vars(head).values()
    if isinstance(item, Hypothesis) and item is not release.INDEPENDENT_UNITS
}
#: What the same hypothesis says of units other than records.
_OF_UNITS = {release.INDEPENDENT_UNITS.id: release.INDEPENDENT_UNITS}
_ALL = (*REGISTRY.values(), *_OF_UNITS.values())
FAMILIES.update(item for item in _ALL if re.search(r"\{\w+(![rs])?\}", item.sentence))

#: Sentences of earlier releases, and what says the same now: files that have them are still read.
_EARLIER: dict[str, Hypothesis] = {
    "this is the only release about these records: the epsilons of several add up": release.ONLY_RELEASE,  # named no runs thrown away
    "0 < q(x) <= 1 for every record": code.PROBABILITY,  # said more than holds for a record of infinite weight, and than is needed
    "the statistics are functions of the record alone and of public constants (such as a public centre)": data.RECORD_STATISTICS.about(
        names="each statistic"
    ),
    "the declared range contains every record": data.IN_RANGE.about(ranges="no statistic is declared"),
    "one mechanism with the declared profile is run on the sample, once, and nothing else that is computed from the sample, its weights "
    "or its size is released": release.ONE_ANALYSIS,
    "binary64 arithmetic is that of IEEE 754, NumPy's functions keep the accuracy of docs/rounding.md, and the value of an entry of an "
    "array does not depend on the other entries": machine.ARITHMETIC,
    "The random numbers are independent and uniform, and nobody else knows them": machine.RANDOMNESS,
    "The seed is secret, unpredictable and serves one release only": machine.SEEDED_BITS,
    "the target epsilon would be the same for every neighbouring data set (it was computed from this one to reach the sample size; compute "
    "it from public or representative data, and give it as the target epsilon)": data.TARGET_FROM_DATA,
    "every release about these units is charged to this ledger before it is run, and its output is the only thing about them that leaves": (
        release.ALL_CHARGED  # named no ledger that is opened in view of outputs, which is a raise
    ),
    "nothing but the permutation is seen of a run: neither the sample nor its size, nor the running time": release.ONLY_OUTPUT,
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
    return data.IN_RANGE.about(ranges=ranges or "no statistic is declared")


def name_statistics(profile: Profile) -> Hypothesis:
    """Return the hypothesis that the statistics of ``profile`` are computed from the record alone, with their names."""
    written = {item.share: item.name for item in profile.shares}
    return data.RECORD_STATISTICS.about(names=", ".join(written.get(item.name, item.name) for item in profile.record) or "no statistic")


def fill_in(hypothesis: Hypothesis, subject: str) -> Hypothesis:
    """Return a hypothesis with its gaps filled for ``subject``, where nobody knows the details; one without gaps as it is.

    >>> fill_in(data.IN_RANGE, "sum").sentence, fill_in(release.ONE_ANALYSIS, "sum") == release.ONE_ANALYSIS
    ('the declared range contains every record: that of every statistic', True)
    """
    if not hypothesis.is_family:
        return hypothesis
    known = {"ranges": "that of every statistic", "names": "each statistic", "source": "", "name": subject, "what": subject}
    more = ("change", "carrier", "count", "digest", "most", "norm", "statement", "steps", "unit", "level", "k")
    of_matrices = ("apart", "bands", "event", "matrix", "noise", "ratio", "square")
    return hypothesis.about(**{**dict.fromkeys((*more, *of_matrices), "what the file says"), **known})


def attribute(source: str) -> str:
    """Return how a declared promise names its source: as an attribution, which discharges nothing."""
    line = "".join(letter if letter.isprintable() else "?" for letter in " ".join(source.split()))[:300]
    return f" (its source: {line}; not checked here)" if line else ""


def name_declaration(profile: Profile) -> Hypothesis:
    """Return the hypothesis that a mechanism has the profile that is declared for it."""
    return code.DECLARED_PROFILE.about(name=profile.name, source=attribute(profile.source))


def as_hypothesis(given: object, head: Head = Head.CODE) -> Hypothesis:
    """Return a hypothesis as it is, and a sentence as the one of :data:`REGISTRY` that says it, or else as one of the user's own.

    Raises :class:`InvalidArgument` for what is neither, or is not a line of text, which a print would distort and no file would hold.

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
    return _find(sentence) or replace(code.STATED, sentence=sentence, head=head)


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
    if head not in heads or (family != code.STATED and heads[head] is not family.head):
        return None
    return replace(_fill_as_read(family, sentence), head=heads[head])


def recall(identifier: str, sentence: str, head: str | None = None) -> Hypothesis:
    """Return the hypothesis that a carrier names: of the registry, or else one of the user's own, so that none is dropped.

    ``head``: where the carrier says it. Raises :class:`InvalidArgument` for a sentence that is not a line of text, and an unknown head.

    >>> recall("of another tool", "the moon is full").id, recall("one-user", data.ONE_USER.sentence) == data.ONE_USER
    ('stated', True)
    """
    stands = REGISTRY.get(identifier, code.STATED).head.value if head is None else head
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
    for item in FAMILIES:
        if len(item.sentence) > len("{statement}") and re.fullmatch(_pattern(item), sentence):
            return _fill_as_read(item, sentence)
    return None


def _fill_as_read(item: Hypothesis, sentence: str) -> Hypothesis:
    """Return the member of a family that has this sentence, or what has it without gaps.

    What was read may say more in a gap than we do: so it has no short form that leaves out a gap, but for a source, and is never ordinary.
    """
    if item not in FAMILIES:
        return replace(item, sentence=sentence)
    gaps = re.compile(r"\{(\w+)(?:![rs])?\}")
    parts = gaps.split(item.sentence)
    made = "".join(re.escape(part) if place % 2 == 0 else _GAPS.get(part, "(.+)") for place, part in enumerate(parts))
    match = re.fullmatch(made, sentence)
    kept = set(gaps.findall(item.brief)) | set(_GAPS)
    if match is None or not item.brief or not kept.issuperset(parts[1::2]) or len(set(parts[1::2])) < len(parts[1::2]):
        return replace(item, sentence=sentence, brief="", ordinary=False)
    said = dict(zip(parts[1::2], match.groups(), strict=True))
    return replace(item, sentence=sentence, brief=gaps.sub(lambda gap: said[gap[1]], item.brief), ordinary=False)


#: Gaps that a short form leaves out, and what may stand there.
_GAPS = {"source": r"((?: \(its source: [^;]*; not checked here\))?)"}


@cache
def _pattern(item: Hypothesis) -> str:
    if item not in FAMILIES:
        return re.escape(item.sentence)
    return ".+".join(re.escape(part) for part in re.split(r"\{\w+(?:![rs])?\}", item.sentence)).replace("for\\ it.+", "for\\ it.*")
