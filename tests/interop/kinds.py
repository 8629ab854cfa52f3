"""One guarantee of each kind, under what it rests on: what the carriers are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from accountant import compose, derive_epsilon, subsample, training
from accountant.compositions.batches import draw_batches
from accountant.compositions.events import Composition, make_event
from accountant.curves import Participation, curve_of, declare_matrix
from accountant.guarantees import (
    Guarantee,
    Neighbors,
    Unit,
    amplify_by_importance_sampling,
    assume,
    change_neighbors,
    declare_add_dp,
    declare_directions,
    declare_events,
    derive_profile,
    group,
    post_processing,
    prove_run,
)
from accountant.guarantees.curves import point_of_curve
from accountant.guarantees.derive_gaussian import derive_delta
from accountant.interop.budgets import curve_of_budget
from accountant.interop.training import curve_of_opacus
from profiles import declare
from profiles.hypotheses import Head, Hypothesis
from profiles.mechanisms import LaplaceSum
from profiles.protection import Protection

_SHUFFLED = {"sampling": "shuffle", "steps_per_epoch": 8, "epochs": 1}
SUM = declare("a sum", "w*z/2", record={"z": [0, 1]}, source="somebody")
#: A hypothesis of the user's own: no carrier knows it, and none may drop it.
OWN = Hypothesis("stated", "n is the number of rows of the year before", Head.DATA)


def losses(remove: object = "0.5", add: object = "0.25", **changes: object) -> Guarantee:
    """Declared losses, with a hypothesis of the user's own."""
    return declare_directions("a count", remove, add, source="somebody", hypotheses=(OWN,), **changes)  # type: ignore[arg-type]


def curve(**changes: object) -> Guarantee:
    """The curve of two runs of Gaussian noise on Poisson samples, and of a known epsilon."""
    events = (make_event("gaussian", {"noise_multiplier": 2}, sampling_probability="1/10", count=2), make_event("pure", {"epsilon": "1/8"}))
    return declare_events(Composition("training", events), (OWN,), **{"unit": Unit.RECORD, "neighbors": Neighbors.ADD_REMOVE} | changes)  # type: ignore[arg-type]


def drawn(how: str, neighbors: str, count: int = 1, rate: object = 1, **sizes: int) -> Guarantee:
    """The curve of steps, or epochs, whose batches are drawn in some way, for the neighbors of these."""
    batches = draw_batches(how, neighbors, **sizes)
    step = make_event("gaussian", {"noise_multiplier": 2}, sampling_probability=rate, count=count, batches=batches)
    return declare_events(Composition("training", (step,)), (OWN,), unit=Unit.RECORD, neighbors=neighbors)


def trained(batches: object, **changes: object) -> Guarantee:
    """The curve of a loop with two epochs, in each of which two steps were run."""
    with training(noise_multiplier=2, batches=batches, delta="1e-5", **changes) as loop:  # type: ignore[arg-type]
        for _ in range(2):
            loop.epoch()
            loop.step(2)
    return loop.curve.guarantee


def _epsilon() -> Guarantee:
    return derive_epsilon(SUM, q="1/2").guarantee


KINDS: Mapping[str, Callable[[], Guarantee]] = {
    "profile": lambda: derive_profile(SUM),
    "sampled profile": lambda: amplify_by_importance_sampling(derive_profile(SUM), derive_epsilon(SUM, q="1/2").rule),
    "worst case with a proof": _epsilon,
    "worst case with own hypotheses": lambda: assume(_epsilon(), (OWN,)),
    "one-sided losses": lambda: declare_add_dp("a noisy maximum", 1, source="somebody", hypotheses=(OWN,)),
    "losses in each direction": losses,
    "losses with delta": lambda: losses(delta_remove="1e-6", delta_add="1e-7"),
    "equal losses": lambda: losses("0.5", "0.5"),
    "privacy curve": curve,
    "curve of events of unknown neighbors": lambda: curve(neighbors=None),
    "curve of users": lambda: curve(unit=Unit.USER),
    "losses of users": lambda: losses(unit=Unit.USER),
    "losses of events": lambda: losses(unit=Unit.EVENT),
    "losses of users and periods": lambda: losses(unit=Unit.USER_PERIOD),
    "losses where one is replaced": lambda: losses("0.5", "0.5", neighbors=Neighbors.REPLACE_ONE),
    "losses where one is emptied": lambda: losses(neighbors=Neighbors.ZERO_OUT),
    "curve where one is replaced": lambda: declare_events(
        Composition("a survey", (make_event("randomized-response", {"epsilon": 1}),)), (OWN,), unit=Unit.RECORD, neighbors="replace-one"
    ),
    "curve of a matrix mechanism": lambda: (
        curve_of(declare_matrix([[3, 0], [4, 2]], 10, Participation(1, 2), neighbors=Neighbors.ADD_REMOVE)).guarantee
    ),
    "curve of allocated epochs": lambda: drawn("random-allocation", "add-remove", 2, steps_per_epoch=10),
    "curve of allocated epochs where one is replaced": lambda: drawn(
        "random-allocation", "replace-one", steps_per_epoch=20, participations=3
    ),
    "curve of fixed batches where one is replaced": lambda: drawn("fixed-size", "replace-one", 3, records=100, batch_size=10),
    "curve of truncated batches where one is emptied": lambda: drawn("truncated-poisson", "zero-out", records=50, batch_size=5, limit=9),
    "curve of samples where one is replaced": lambda: drawn("poisson", "replace-one", 2, "1/10"),
    "curve of all records where one is replaced": lambda: drawn("none", "replace-one", 2),
    "curve of shuffled batches": lambda: drawn("shuffle", "add-remove", steps_per_epoch=10),
    "curve of a training loop": lambda: trained("1/10"),
    "curve of a training loop in epochs": lambda: trained({"sampling": "random-allocation", "steps_per_epoch": 5}),
    "curve of a training loop where a user is replaced": lambda: trained(
        {"sampling": "shuffle", "steps_per_epoch": 5}, protection=Protection(Unit.USER, Neighbors.REPLACE_ONE)
    ),
    "losses of a training loop": lambda: point_of_curve(trained("1/10"), at_delta="1e-5"),
    "curve of steps of Opacus": lambda: curve_of_opacus([(2, "1/8", 3), (2, "1/8", 3, _SHUFFLED)], hypotheses=(OWN,)).guarantee,
    "curve of a budget": lambda: curve_of_budget([("0.5", 0), ("0.5", "1e-6")], hypotheses=(OWN,)).guarantee,
    "curve of a budget of which nothing is said": lambda: curve_of_budget([("0.5", 0)]).guarantee,
    "losses after a change of neighbors": lambda: change_neighbors(losses(), Neighbors.REPLACE_ONE),
    "mechanism of the catalogue": lambda: prove_run(
        derive_epsilon(LaplaceSum(b=4, radius=1), q="1/2").guarantee, LaplaceSum(b=4, radius=1)
    ),
    "losses of a sample": lambda: subsample(losses(), "1/4"),
    "composed losses": lambda: compose(losses(), losses("1", "1"), assume(losses(), ("a second one of mine",))),
    "composed losses and curve": lambda: compose(losses(), curve()),
    "two uses of one sample": lambda: compose(_epsilon(), _epsilon()),
    "post-processed": lambda: post_processing(_epsilon(), "a table with rounded cells"),
    "grouped": lambda: group(losses(), 3),
    "worst case under Gaussian noise": lambda: (
        derive_delta(declare("a norm", notion="gaussian", mu="w*z/4", record={"z": [0, 1]}), "1e-6", q="1/2").guarantee
    ),
}


@cache
def make(kind: str) -> Guarantee:
    """Return the guarantee of a kind."""
    return KINDS[kind]()
