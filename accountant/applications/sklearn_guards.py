"""What an estimator of scikit-learn usually offers and a private one does not: refused by name, in one sentence, before anything runs. And
what scikit-learn's checks say of records, without the records: some of its messages print the array, or the first text in it.

A fit that anything of scikit-learn asks for is refused, unless it is known to be one fit on records that nothing was fitted on before; and
so is one that an estimator of another package asks for which has estimators among its parameters. What is new in scikit-learn is refused.

A refusal here is a courtesy to those who follow habits; no guarantee rests on it. Whatever is not noticed (a scaler that was fitted by
hand, a loop of fits) is a hypothesis of every fit: :mod:`profiles.hypotheses`. So is that nobody knows the seed of a ``random_state``.
"""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags

from profiles import InvalidData, NotOffered, NotPrivate
from profiles.hypotheses import Hypothesis
from profiles.private import TEXT
from profiles.randomness.system import open_generator

_SEARCHES = "sklearn.model_selection"
_PIPELINES = "sklearn.pipeline"
#: What stands between a caller and a fit and fits nothing for ends of its own: wrappers of methods, parallel loops, checks of estimators.
_BETWEEN = ("sklearn.base", "sklearn.utils")
#: Messages that tell of types, columns and kinds of faults only.
_SAFE = re.compile(
    r"X has |Found array with dim |The feature names should match|X does not (have|contain)|Feature names |"
    r"Input (X |sample_weight )?contains (NaN|infinity)|(Sparse|A sparse matrix)|float\(\) argument must be|"
    r"setting an array element|DPKMeans |DPLloyd |DPSGDClassifier |Sample weights must |Unsupported|"
    r"Unknown label type: (continuous|multilabel|multiclass|unknown|binary)"
)


class Withheld:
    """An attribute that is not there, for a reason: ``hasattr`` is False, and whoever asks for it is told why.

    Raises :class:`NotOffered`, an AttributeError, as scikit-learn's protocol wants it; :class:`NotPrivate` where a search asks.
    """

    def __init__(self, reason: str) -> None:
        self._reason = reason
        self._name = "it"

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember the name for the sentence."""
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if self._name == "score":
            refuse_search(type(instance).__name__)
        raise NotOffered(f"{type(instance).__name__} has no {self._name}: {self._reason}")


class WithheldOutputs:
    """The outputs about training records that no ε of the centres covers."""

    score = Withheld(
        "a score of private records is not private, and each fit that a search scores is a release; score public records from "
        "cluster_centers_, and choose parameters without these records"
    )
    labels_ = Withheld(
        "the label of each fitted record is a function of that record and not private; publish cluster_centers_, and use predict where "
        "the labels stay with you"
    )
    inertia_ = Withheld("it would be a sum over the records without noise, and not private; score public records with transform")
    fit_predict = Withheld(
        "it would return the label of each fitted record, which is not private; use fit, publish cluster_centers_, and use predict where "
        "the labels stay with you"
    )
    fit_transform = Withheld(
        "it would return the distances of each fitted record, which are not private; use fit, publish cluster_centers_, and use transform "
        "where the distances stay with you"
    )


def refuse_search(name: str) -> None:
    """Refuse to give a score inside one of scikit-learn's searches or cross-validations. Raises :class:`NotPrivate`."""
    if any(_module(frame).startswith(_SEARCHES) for frame in _callers()):
        raise _refuse(name)


def refuse_nested(estimator: object) -> None:
    """Refuse a fit that a meta-estimator, a search or a pipeline asks for, where it would be one of several, on rows that were prepared by
    what was fitted on the same records, or one whose outputs about each of them are used.

    Raises :class:`NotPrivate`.
    """
    name = type(estimator).__name__
    for frame in _callers():
        module = _module(frame)
        if module.startswith(_PIPELINES):
            _refuse_pipeline(name, frame)
        elif (module.startswith("sklearn.") and not module.startswith(_BETWEEN)) or _is_fit_of_another(frame, estimator):
            raise _refuse(name)


def _refuse(name: str) -> NotPrivate:
    return NotPrivate(
        f"{name} was to be fitted by {_name_asker()}, but every fit there is a separate release, their epsilons add up, and what "
        "is made of scores and labels of private records is not private; choose parameters on public records in a loop of your own, "
        "fit once, and pass on the fitted model as a FrozenEstimator, for records that are public or stay with you"
    )


def _name_asker() -> str:
    """Return what the user called: the outermost estimator or public function with such a fit inside, where its name is on the stack."""
    asker = "a meta-estimator or a search"
    for frame in _callers():
        owner = frame.f_locals.get("self")
        inside = _module(frame).startswith("sklearn.") and not _module(frame).startswith(_BETWEEN)
        if inside and isinstance(owner, BaseEstimator):
            asker = type(owner).__name__
        elif (inside and not frame.f_code.co_name.startswith(("_", "<"))) or _is_fit_of_another(frame, None):
            asker = frame.f_code.co_name if owner is None else type(owner).__name__
    return asker


def _is_fit_of_another(frame: FrameType, estimator: object) -> bool:
    """Whether a frame is the fit of another estimator with estimators among its parameters, of whatever package."""
    owner = frame.f_locals.get("self") if frame.f_code.co_name.lstrip("_").startswith(("fit", "partial_fit")) else None
    if owner is None or owner is estimator or not isinstance(owner, BaseEstimator):
        return False
    return any(_is_estimator(item) for value in owner.get_params(deep=False).values() for item in _flatten(value))


def _flatten(value: object) -> Iterator[object]:
    yield value
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _flatten(item)


def _is_estimator(value: object) -> bool:
    return hasattr(value, "fit") and hasattr(value, "get_params") and not isinstance(value, type)


def _refuse_pipeline(name: str, frame: FrameType) -> None:
    if frame.f_code.co_name.startswith(("fit_transform", "_fit_transform_one")):
        raise NotPrivate(
            f"{name} was to pass on the distances of each fitted record within a pipeline or union, but these are not private; fit it "
            "as the last step, and transform records that are public or stay with you"
        )
    if frame.f_code.co_name == "fit":
        for step in _fitted_before(frame.f_locals.get("self")):
            raise NotPrivate(
                f"{name} was to be fitted after {step} had been fitted on the same records, but then each row depends on all of them, "
                "and no epsilon covers that; transform by public constants (a FunctionTransformer), or fit the records as they are"
            )


def _fitted_before(pipeline: object) -> Iterator[str]:
    """Yield the kinds of the steps before the last one that learn from the data."""
    if isinstance(pipeline, Pipeline):
        for _, step in pipeline.steps[:-1]:
            if step is not None and not isinstance(step, str) and get_tags(step).requires_fit:
                yield type(step).__name__


def _callers() -> Iterator[FrameType]:
    frame = inspect.currentframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


@contextlib.contextmanager
def release_of(estimator: object) -> Iterator[None]:
    """Refuse callers that would make a fit public in other ways than by what it releases; a fit that fails leaves the last one whole.

    Raises :class:`NotPrivate`.
    """
    refuse_nested(estimator)
    before = dict(vars(estimator))
    try:
        with np.errstate(all="ignore"):  # a flag that one record raises would be an output of its own
            yield
    except BaseException:
        estimator.__dict__ = before
        raise


def describe_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator that decide the law of its output: all but where its random numbers come from.

    One that came later (``_later``) is told where it is not None: what was stored before is then still served.
    """
    later = getattr(type(estimator), "_later", ())
    given = estimator.get_params(deep=False).items()
    return {name: value for name, value in given if name != "random_state" and not (name in later and value is None)}


@contextlib.contextmanager
def without_quotes() -> Iterator[None]:
    """Raise what the block raises as ValueError or TypeError, of the same kind, with a message that quotes nothing.

    A message that is not known to be safe is left out: the check fails as before, and says so. Raises :class:`InvalidData` for a number
    that is too large for a float, which the check lets through.
    """
    try:
        yield
    except OverflowError:
        raise InvalidData("records and weights must be within the range of floats, but a larger number was found; correct it") from None
    except (ValueError, TypeError) as error:
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(_say(str(error))) from None


def _say(text: str) -> str:
    if _SAFE.match(text):
        return text
    if "Reshape your data" in text:
        match = re.match(r"Expected 2D [^,]*, got \w+ array", text)
        return f"{match[0] if match else 'Expected 2D array'} instead. Reshape your data: one row per record, one column per feature"
    if text.startswith("Complex data not supported"):
        return "Complex data not supported; give real numbers"
    if text.startswith("could not convert string to float"):
        return f"could not convert string to float: {TEXT}; encode it as a number"
    if text.startswith("Found array with 0 "):
        return re.sub(r" \(shape=[^)]*\)", "", text)
    return "scikit-learn's check of the records failed; its message may quote them, and is left out: see sklearn.utils.check_array(X)"


def make_generator(random_state: object) -> tuple[np.random.Generator, Hypothesis]:
    """Return a generator for scikit-learn's ``random_state``, and what has to be true of it; None is the operating system's secure source.

    Raises ValueError like scikit-learn for anything else.
    """
    if random_state is None or isinstance(random_state, np.random.Generator):
        return open_generator(random_state)
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and random_state >= 0:
        return open_generator(np.random.default_rng(int(random_state)))
    return open_generator(np.random.default_rng(check_random_state(random_state).randint(0, 2**32, size=8, dtype=np.uint32)))
