"""Whoever chooses the proofs: a prover that returns whatever it likes can lose a proof, and make none."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from proofs_check.kernel import checker
from proofs_check.kernel.core import terms
from proofs_check.kernel.core.documents import Rejected
from proofs_check.kernel.core.rules import Case
from proofs_check.kernel.core.theorems import Choice, Goal, Identity, Proof, Range, Theorem, settle
from proofs_check.kernel.procedures.rules import RULES
from proofs_check.kernel.reading import read_term, variables
from proofs_check.kernel.theories.profiles.claims import CLAIMS, Restated, by_statistic, restated
from proofs_check.kernel.theories.profiles.statements import Claim
from proofs_check.kernel.untrusted.proofs import Session
from proofs_check.kernel.untrusted.upgrade import Searcher

M = {"rule": "manifest"}
TREE = Proof(M)


def test_only_rules_make_theorems_and_each_takes_theorems_of_just_its_premises():
    goal, other = Goal(terms.num(1), {}), Goal(terms.num(2), {})
    with pytest.raises(Rejected, match="made by a rule only"):
        Theorem(goal, "zero", (), object())
    with pytest.raises(TypeError):
        Theorem(goal, "zero", ())
    session = Session()
    found = session.follow(goal, M)
    assert (found.statement, found.rule, found.parts) == (goal, "manifest", ())
    with pytest.raises(AttributeError):
        found.statement = Goal(terms.num(-1), {})

    class Forger(Session):
        def prove(self, premise):
            return answers.pop()

    class Kept(Session):
        def prove(self, premise):
            return [theorems.append(Session.prove(self, premise)), theorems[-1]][-1]

    scaled = {"factor": terms.num(2), "positive": TREE, "product": TREE}
    needed, theorems = [Goal(terms.num(2), {}, strict=True), other], []
    for given in ([None], [goal], needed, [session.follow(other, M)], [session.follow(needed[0], M)]):
        answers = list(given)
        with pytest.raises(Rejected, match="not of the premise"):
            RULES["scale"](goal, Forger(), **scaled)
    assert RULES["scale"](goal, Kept(), **scaled).parts == tuple(theorems)
    assert [theorem.statement for theorem in theorems] == needed


def test_a_rule_proves_no_other_statement_than_its_own():
    name, session = "assumption-8", Session()
    profile = Claim(terms.var("w"), {}, terms.num(1), None, "pure", frozenset(), name=name, verdict="proved")
    for rule in ("homogeneous proved", "assumption-8 refuted", "well-defined proved"):
        with pytest.raises(Rejected, match="about another claim"):
            CLAIMS[rule](profile, session)
    for rule in ("manifest", "boxes"):  # of what is not 0
        with pytest.raises(Rejected, match="about other statements"):
            RULES[rule](Identity(terms.num(1), {}), session, **({"budget": 1} if rule == "boxes" else {}))


@pytest.mark.parametrize(
    ("rule", "parameters"),
    [
        ("scale", {"factor": 2, "positive": TREE, "product": TREE}),
        ("boxes", {"budget": 1.0}),
        ("boxes", {"budget": 1, "form": "quick"}),
        ("split", {"variable": terms.num(1), "at": Fraction(1), "below": TREE, "above": TREE}),
        ("split", {"variable": "z", "at": 1.5, "below": TREE, "above": TREE}),
        ("split", {"variable": "z", "at": Fraction(1), "below": M, "above": TREE}),
        ("sum", {"parts": (), "proofs": []}),
        ("sum", {"parts": [Fraction(1)], "proofs": [TREE]}),
        ("sum", {"parts": [], "proofs": [], "strict": "0"}),
        ("branches", {"cases": [{"value": terms.num(1), "proof": TREE}]}),
        ("branches", {"cases": [Case(value=terms.num(1), proof=TREE, share=1)]}),
    ],
)
def test_a_rule_takes_parameters_of_its_types_only(rule, parameters):
    with pytest.raises(Rejected, match="has other parameters"):
        RULES[rule](Goal(terms.num(1), {}), Session(), **parameters)


def test_a_way_is_taken_of_the_choice_that_is_asked_for():
    class Forger(Session):
        def choose(self, ways, step):
            return answers.pop()

    theorem = Session().choose([lambda: settle(asked(), Session())[1][0]], "")
    for answer in (None, theorem, Session().follow(Goal(terms.num(1), {}), M)):
        answers = [answer]
        with pytest.raises(Rejected, match="not of the premise"):
            settle(asked(), Forger())


def test_an_accepted_claim_is_a_theorem_of_what_stands_in_the_text(make):
    class Forger(Session):
        find = None

        def begin(self, claim, fields):
            return self.find(claim)

    class Pretended:
        def __init__(self, statement):
            self.statement = statement

    text = json.dumps({**make(nonnegative={"rule": "zero"}), "version": 2})  # it is not 0
    other = Session().follow(Goal(terms.num(1), {}), M)
    for find in (lambda _: None, lambda claim: claim, Pretended, lambda _: other):
        forger = Forger()
        forger.find = find
        report = checker.check(text, forger)
        assert (report.accepted, report.theorems, report.step, report.reason) == (False, (), "claims[0].proof", "a claim is not a theorem")


class Agreeable(dict):
    """A box that says that it is every other one."""

    def __eq__(self, other):
        return True

    __hash__ = None


def test_a_statement_that_only_compares_as_equal_is_not_the_premise():
    class Forger(Session):
        def prove(self, premise):
            return self.follow(replace(premise.statement, box=Agreeable(z=Range(Fraction(3), Fraction(4)))), M)

    terms.forget()
    false = Goal(terms.var("z") - terms.num(2), {"z": Range(Fraction(0), Fraction(4))})
    with pytest.raises(Rejected, match="not of the premise"):
        RULES["scale"](false, Forger(), factor=terms.num(1), positive=TREE, product=TREE)


def test_a_subclass_of_what_is_sealed_is_no_theorem(make):
    class Unsealed(Theorem):
        def __post_init__(self, seal):
            pass

    class Forger(Session):
        def prove(self, premise):
            return Unsealed(premise.statement, "zero", (), None)

        def begin(self, claim, fields):
            return Unsealed(claim, "well_defined", (), None)

    with pytest.raises(Rejected, match="not of the premise"):
        RULES["scale"](Goal(terms.num(-1), {}), Forger(), factor=terms.num(1), positive=TREE, product=TREE)
    text = json.dumps({**make(nonnegative={"rule": "zero"}), "version": 2})  # it is not 0
    assert checker.check(text, Forger()).reason == "a claim is not a theorem"


class Increasing(str):
    """A direction that is each of the two, when it is asked for the second time."""

    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Half(Fraction):
    """A number that is in no order with others."""

    def __lt__(self, other):
        return True

    __gt__ = __le__ = __ge__ = __lt__


@pytest.mark.parametrize(
    ("rule", "parameters"),
    [
        ("monotone", {"variable": "z", "direction": Increasing("x"), "slope": TREE, "end": TREE}),
        ("split", {"variable": "z", "at": Half(1, 2), "below": TREE, "above": TREE}),
        ("boxes", {"budget": True}),
        ("sum", {"parts": type("Parts", (list,), {})(), "proofs": []}),
    ],
)
def test_parameters_are_of_the_very_types(rule, parameters):
    with pytest.raises(Rejected, match="has other parameters"):
        RULES[rule](Goal(terms.var("z"), {"z": Range(Fraction(0), Fraction(1))}), Session(), **parameters)


def _claim(text, name, verdict, **more):
    box = {"z": Range(Fraction(0), Fraction(4))}
    epsilon = read_term(text, variables({"w": 0, **box}))
    return Claim(epsilon, box, terms.num(1), None, "pure", {}, name=name, verdict=verdict, **more)


def test_a_term_at_one_record_says_nothing_about_all_of_them():
    # epsilon(1) = z <= 1 holds at the record z = 1, and not for all; who reads certificates is not believed to ask for that
    terms.forget()
    given = {"at": {"z": terms.num(1)}, "proof": Proof({"bound": M})}
    claim = _claim("w*z", "assumption-8", "proved")
    with pytest.raises(Rejected, match="about all records"):
        restated(claim, Searcher(), restated=Restated(term=claim.epsilon), **given)


def test_a_range_with_a_kink_ends():
    # the argument of Abs has a zero between 0 and 1, and none from 1 on: epsilon is smooth for all weights
    terms.forget()
    claim = _claim("1 + abs(w**2 - w/2 - 1/10)", "proposition-17", "refuted")
    for between in (Range(Fraction(1)), Range(Fraction(1), Fraction(1)), Range(Fraction(1, 2), Fraction(2))):
        with pytest.raises(Rejected, match="strictly inside a range"):
            CLAIMS["proposition-17 refuted at a kink"](claim, Searcher(), at={"z": terms.num(1)}, kink=between)


OUTSIDE = [("z", Decimal(at), None) for at in ("0", "4", "-1", "5", "NaN", "Infinity")]


@pytest.mark.parametrize("answer", [None, ("z", None, None), ("y", Decimal(1), None), *OUTSIDE])
def test_a_piece_is_cut_inside_of_it(answer):
    class Forger(Session):
        def advise(self, question):
            return answer

    z = terms.var("z")
    goal = Goal(z * z - z + terms.num(1), {"z": Range(Fraction(0), Fraction(4))})
    assert RULES["boxes"](goal, Session(), budget=100).statement == goal
    with pytest.raises((Rejected, TypeError, KeyError, ArithmeticError)):
        RULES["boxes"](goal, Forger(), budget=100)


def asked():
    """The premises of what needs one of one way."""

    def nothing():
        yield from ()

    yield Choice((nothing,))


def test_a_floor_is_the_one_that_the_claim_states():
    terms.forget()
    given = {"positive": TREE, "form": "log", "curvature": [TREE]}
    for stated, fine in ((None, True), (terms.num(Fraction(1, 2)), True), (terms.num(1), False)):
        claim = _claim("w", "strong-convexity", "proved", bound=stated)
        floor = terms.num(Fraction(1, 2))
        if fine:
            assert CLAIMS["strong-convexity proved"](claim, Searcher(), floor=floor, **given).statement is claim
            continue
        with pytest.raises(Rejected, match="not the one of the claim"):
            CLAIMS["strong-convexity proved"](claim, Searcher(), floor=floor, **given)


@pytest.mark.parametrize(
    ("name", "variable", "reason"),
    [
        ("proposition-17", "w", "the name is not new"),  # z does not grow with w, a function w of a weight would
        ("proposition-17", "z", "the name is not new"),
        ("epsilon-upper", "y", "not shown by a statistic"),
        ("strong-convexity", "y", "not shown by a statistic"),
    ],
)
def test_a_statistic_has_a_name_of_its_own_and_says_enough(name, variable, reason):
    terms.forget()
    z, y = terms.var("z"), terms.var(variable)
    given = {"term": z, "low": Fraction(0), "lower": TREE, "high": Fraction(4), "upper": TREE, "proof": Proof({"bound": M})}
    with pytest.raises(Rejected, match=reason):
        by_statistic(_claim("z", name, "proved"), Searcher(), name=variable, epsilon=y, **given)
