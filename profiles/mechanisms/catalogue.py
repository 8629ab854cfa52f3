"""The list of the mechanisms that come with the project."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from profiles.errors import InvalidArgument
from profiles.hypotheses import Hypothesis
from profiles.mechanisms import gaussian_lloyd, gaussian_sum, k_norm_sum, laplace_sum, lloyd, weighted_count
from profiles.mechanisms.interface import Arithmetic, Mechanism
from profiles.notions import ProfileNotion
from profiles.profile import Profile
from profiles.randomness.rounded import k_norm_law
from profiles.terms import to_text


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One mechanism of the catalogue.

    ``profile`` has every parameter ``"positive"`` and record norms in [0, 4]: what holds for it holds for all constants.
    ``reference`` names a mechanism with numbers that can be run and audited; ``profiles.load`` accepts it.
    """

    name: str
    summary: str
    source: str
    hypotheses: tuple[Hypothesis, ...]
    profile: Profile
    reference: str

    @property
    def promise(self) -> str:
        """What the profile promises, as a formula: ε(w, x), or the number of its notion with the name of this number before it.

        >>> [entry.promise for entry in catalogue()][:5:4]
        ['w*z/b', 'mu = w*z/sigma']
        """
        said = to_text(self.profile.promise)
        return said if self.profile.notion is ProfileNotion.PURE else f"{self.profile.notion.number} = {said}"


def catalogue() -> tuple[CatalogueEntry, ...]:
    """Return the entries of the catalogue, those with a pure ε first, and simple ones before others.

    >>> [entry.name for entry in catalogue()]
    ['Laplace weighted sum', 'weighted count', 'K-norm weighted sum', 'weighted DP-Lloyd', 'Gaussian weighted sum', 'Gaussian DP-Lloyd']
    """
    general: tuple[tuple[str, Mechanism], ...] = (
        (laplace_sum.__name__, laplace_sum.general),
        (weighted_count.__name__, weighted_count.general),
        (k_norm_sum.__name__, k_norm_sum.general),
        (lloyd.__name__, lloyd.general),
        (gaussian_sum.__name__, gaussian_sum.general),
        (gaussian_lloyd.__name__, gaussian_lloyd.general),
    )
    return tuple(
        CatalogueEntry(mechanism.name, mechanism.summary, mechanism.source, mechanism.hypotheses, mechanism.profile, f"{module}:default")
        for module, mechanism in general
    )


#: The types whose run method has the profile that they declare; a subclass may run something else.
_PROVED = (
    gaussian_lloyd.GaussianLloyd,
    gaussian_sum.GaussianSum,
    k_norm_sum.KNormSum,
    laplace_sum.LaplaceSum,
    lloyd.WeightedLloyd,
    weighted_count.WeightedCount,
)


def _say_exact(kind: type) -> str:
    return f"{kind.__name__} releases correctly rounded values: docs/exact-noise.md, Theorems 1 to 3"


def describe_proof(mechanism: object) -> str | None:
    """Return why the run method of a mechanism has its declared profile; None where it is not exactly of a type of the catalogue.

    >>> describe_proof(laplace_sum.LaplaceSum(b=1, radius=1))
    'the run method of LaplaceSum: docs/mechanisms.md'
    """
    return f"the run method of {type(mechanism).__name__}: docs/mechanisms.md" if type(mechanism) in _PROVED else None


#: What is said of each of them in exact mode, and of nothing else.
_EXACT_NOISE = frozenset(_say_exact(kind) for kind in _PROVED)


def describe_exactness(mechanism: object) -> str | None:
    """Return why a mechanism need not compute in exact real arithmetic; None for all but the types of the catalogue in exact mode.

    >>> describe_exactness(laplace_sum.LaplaceSum(b=1))
    'LaplaceSum releases correctly rounded values: docs/exact-noise.md, Theorems 1 to 3'
    >>> describe_exactness(laplace_sum.LaplaceSum(b=1, arithmetic="binary64")) is None
    True
    """
    if type(mechanism) not in _PROVED or getattr(mechanism, "arithmetic", None) is not Arithmetic.EXACT:
        return None
    try:
        k_norm_law(getattr(mechanism, "p", 1))
    except InvalidArgument:  # no exact sampler for this norm: such a mechanism refuses to run
        return None
    return _say_exact(type(mechanism))


def says_exact(evidence: str) -> bool:
    """Tell whether a text is what :func:`describe_exactness` says, of one mechanism or of several."""
    return _EXACT_NOISE.issuperset(evidence.strip().split("; "))


_READ_ALIKE = tuple("".join(text.casefold().split()) for text in _EXACT_NOISE)


def resembles_exact(evidence: str) -> bool:
    """Tell whether a reader could take a part of a text for what :func:`describe_exactness` says: the same but for white space, case,
    compatible forms, and letters of other alphabets or signs without a shape, which may stand for anything short.

    >>> resembles_exact("laplacesum releases correctly rounded values: docs/exact-noise.md, theorems 1 to 3; checked")
    True
    >>> resembles_exact("LaplaceSum was read by me: docs/exact-noise.md")
    False
    """
    words = "".join(unicodedata.normalize("NFKC", evidence).casefold().split())
    patterns = (".{0,9}".join(map(re.escape, re.split("[^!-~]+", part))) for part in words.split(";"))
    return any(re.fullmatch(pattern, text) for pattern in patterns for text in _READ_ALIKE)
