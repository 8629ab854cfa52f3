"""The privacy of THRESHMONITOR over all add/remove neighbors of small universes, in rational numbers; broken variants are refuted."""

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import pytest

from profiles import InvalidArgument
from proofs_check.exact import Log, exact_epsilon, repeated_above_threshold_law
from tests.targets.laws.heavyhitters import report_law, sampled_report_law

Q = Fraction(1, 2)


def supports(domain_size):
    """All sets of items that a user may have at a time step."""
    return [frozenset(item for item in range(domain_size) if bits[item]) for bits in product((0, 1), repeat=domain_size)]


def neighbors(steps, domain_size, most):
    """All (D, D minus one user) of at most ``most`` users, as multisets of streams."""
    streams = list(product(supports(domain_size), repeat=steps))
    for size in range(1, most + 1):
        for users in combinations_with_replacement(streams, size):
            for gone in sorted({users.index(user) for user in users}):
                yield users, users[:gone] + users[gone + 1 :]


def ratio(law, other):
    """sup P/P' over outcomes; None if unbounded."""
    if any(probability and not other.get(outcome) for outcome, probability in law.items()):
        return None
    return max(probability / other[outcome] for outcome, probability in law.items() if probability)


def worst(law_of, steps, domain_size, most):
    """The exact e^eps_plus and e^eps_minus over all neighbors (None: unbounded)."""
    known = cache(law_of)
    remove, add = Fraction(1), Fraction(1)
    for users, fewer in neighbors(steps, domain_size, most):
        found = ratio(known(users), known(fewer)), ratio(known(fewer), known(users))
        remove = None if remove is None or found[0] is None else max(remove, found[0])
        add = None if add is None or found[1] is None else max(add, found[1])
    return remove, add


def test_law_by_hand():
    """One user with the item at both times, k = 1, threshold 2: report with q; after a report the user is gone, q^2, else q again."""
    law = report_law([[{0}, {0}]], k=1, threshold=2, steps=2, domain_size=1, tail=Q)
    assert law == {
        ((), ()): (1 - Q) * (1 - Q),
        ((), (0,)): (1 - Q) * Q,
        ((0,), ()): Q * (1 - Q**2),
        ((0,), (0,)): Q * Q**2,
    }


CASES = [(2, 2, 1, 1, 2), (2, 2, 1, 2, 2), (3, 1, 1, 2, 3), (3, 1, 2, 2, 3), (3, 1, 2, 3, 3), (1, 3, 2, 2, 2), (3, 1, 3, 1, 2)]


@pytest.mark.parametrize(("steps", "domain_size", "k", "threshold", "most"), CASES)
def test_all_neighbors(steps, domain_size, k, threshold, most):
    """eps_plus ≤ k log(1/q) = eps0; where a user can make k contributions below the threshold it is attained."""
    shape = {"steps": steps, "domain_size": domain_size, "k": k, "threshold": threshold, "tail": Q}
    remove, add = worst(lambda users: report_law(users, **shape), steps, domain_size, most)
    assert remove == Q**-k  # attained
    assert add is None  # one-sided: an item that reaches the threshold is surely reported


@pytest.mark.thorough(quick=7)
@pytest.mark.parametrize(("steps", "domain_size", "k", "threshold", "most"), CASES[:6])
@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(2, 3)])
def test_all_neighbors_sampled(steps, domain_size, k, threshold, most, p):
    """psi_plus = log(1 + p(q^-k − 1)), psi_minus = −log(1 − p): never exceeded, the first attained, the second too at threshold 1."""
    shape = {"steps": steps, "domain_size": domain_size, "k": k, "threshold": threshold, "tail": Q, "p": p}
    remove, add = worst(lambda users: sampled_report_law(users, **shape), steps, domain_size, min(most, 2))
    assert remove == 1 + p * (Q**-k - 1)
    assert add is not None
    assert add <= 1 / (1 - p)
    assert add == 1 / (1 - p) or threshold > 1


def twin(users, *, k, threshold, steps, domain_size, drop_at=0, per_item=False, per_step=False, late=False, silent=False, twice=False):
    """THRESHMONITOR with one thing broken."""
    laws = {(): (Fraction(1), {})}
    users = [tuple(map(tuple, user)) for user in users]
    for time, item in product(range(steps), range(domain_size)):
        following = {}
        for made, (probability, used) in laws.items():

            def key(number, time=time, item=item):
                return (number, item) if per_item else (number, time) if per_step else number

            def spent(number, used=used, time=time, key=key):
                return (
                    used.get(key(number), 0)
                    if not late
                    else sum(count for (who, when), count in used.items() if who == number and when < time)
                )

            active = [number for number, user in enumerate(users) if item in user[time] and spent(number) < k + drop_at]
            count = sum(users[number][time].count(item) if twice else 1 for number in active)
            passing = Q ** max(0, threshold - count) if count or not silent else Fraction(0)
            more = dict(used)
            for number in active:
                at = (number, time) if late else key(number)
                more[at] = more.get(at, 0) + 1
            following[*made, 1] = probability * passing, more
            following[*made, 0] = probability * (1 - passing), used
        laws = following
    return {made: probability for made, (probability, _) in laws.items() if probability}


@pytest.mark.parametrize(
    ("broken", "steps", "domain_size"),
    [
        ({"drop_at": 1}, 2, 1),
        ({"per_item": True}, 1, 2),
        ({"per_step": True}, 2, 1),
        ({"late": True}, 1, 2),
        ({"silent": True}, 1, 1),
    ],
)
def test_broken_variants_are_refuted(broken, steps, domain_size):
    """Dropped one report too late, counted per item or per step, dropped only after the step, no noise for items that nobody has."""
    shape = {"k": 1, "threshold": 3, "steps": steps, "domain_size": domain_size}
    sound, _ = worst(lambda users: twin(users, **shape), steps, domain_size, 1)
    remove, _ = worst(lambda users: twin(users, **shape, **broken), steps, domain_size, 1)
    assert sound == Q**-1
    assert remove is None or remove > Q**-1


def test_items_counted_twice_are_refuted():
    """A user whose duplicates count has twice the sensitivity."""
    shape = {"k": 1, "threshold": 3, "steps": 1, "domain_size": 1}
    assert ratio(twin([[(0, 0)]], **shape, twice=True), twin([], **shape)) == Q**-2


def test_one_noise_for_all_steps_is_refuted():
    """With the noise drawn once for an item, (report, none) is possible for counts (1, 0) and impossible for (0, 0)."""

    def law(counts, threshold=3):
        gaps = [threshold - count for count in counts]  # reported iff G ≥ gap, with P[G ≥ j] = q^j
        found = {}
        for noise in range(threshold + 1):
            chance = Q**noise - Q ** (noise + 1) if noise < threshold else Q**threshold
            outcome = tuple(noise >= gap for gap in gaps)
            found[outcome] = found.get(outcome, 0) + chance
        return found

    assert ratio(law([1, 0]), law([0, 0])) is None


def test_membership_drawn_at_every_step_is_refuted():
    """If a user is sampled anew at each of two steps, the loss −log(1 − p) is paid twice."""
    p, shape = Fraction(1, 2), {"k": 2, "threshold": 1, "domain_size": 1, "tail": Q}
    step = {1: sampled_report_law([[{0}]], p=p, steps=1, **shape), 0: sampled_report_law([], p=p, steps=1, **shape)}
    none = step[0][((),)] / step[1][((),)]
    assert none == 1 / (1 - p)
    assert none**2 > 1 / (1 - p)
    once = [sampled_report_law(users, p=p, steps=2, **shape) for users in ([], [[{0}, {0}]])]
    assert ratio(*once) == 1 / (1 - p)


def test_refuses_large_instances():
    with pytest.raises(InvalidArgument, match="at most 16"):
        report_law([], k=1, threshold=1, steps=17, domain_size=1, tail=Q)
    with pytest.raises(InvalidArgument, match="between 0 and 1"):
        report_law([], k=1, threshold=1, steps=1, domain_size=1, tail=1)


def test_exact_epsilon_on_both_laws():
    """The public exact check finds eps0 one way and the target both ways after sampling."""
    streams = list(product(supports(2), repeat=2))
    shape = {"k": 1, "threshold": 2, "steps": 2, "domain_size": 2, "tail": Q}
    one_sided = exact_epsilon(lambda users: report_law(users, **shape), streams, max_size=2)
    assert one_sided.remove.ratio == 2
    assert one_sided.add.ratio is None
    sampled = exact_epsilon(lambda users: sampled_report_law(users, p=Q, **shape), streams, max_size=2)
    assert sampled.remove.ratio == Fraction(3, 2)
    assert sampled.add.ratio <= 2


def test_it_is_the_repeated_above_threshold_mechanism():
    """With h as in the proof of Theorem 1, a function of the data and of the answers before, and sensitivity k."""
    users, k, threshold = (({0, 1}, {1}), ({0}, {0, 1}), ({1}, {1})), 2, 3
    pairs = list(product(range(2), range(2)))

    def select(answers):
        if len(answers) == len(pairs):
            return None
        time, item = pairs[len(answers)]
        reported = [pair for pair, answer in zip(pairs, answers, strict=False) if answer]

        def count(dataset):
            return sum(item in user[time] and sum(what in user[when] for when, what in reported) < k for user in dataset)

        return count, threshold

    general = repeated_above_threshold_law(select, users, Log(4), k)
    law = report_law(users, k=k, threshold=threshold, steps=2, domain_size=2, tail=Q)
    named = {tuple(item in outcome[time] for time, item in pairs): chance for outcome, chance in law.items()}
    assert named == {answers: chance for answers, chance in general.items() if chance}
