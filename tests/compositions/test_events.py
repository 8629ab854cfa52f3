"""Reading of compositions: numbers as they are written, and one sentence for whatever is no composition."""

from __future__ import annotations

from fractions import Fraction

import pytest

from accountant.calibration.events import find_most_uses
from accountant.compositions.events import MOST_EVENTS, Composition, Event, MechanismKind, make_event
from accountant.compositions.toml_format import read_composition, read_composition_file
from accountant.curves import PrivacyCurve, account, curve_of, curve_of_file, write_composition
from accountant.guarantees import Unit, change_neighbors, declare_directions, subsample
from accountant.guarantees import compose as compose_guarantees
from profiles import InvalidArgument, InvalidNumber, PDPError, UnreadableFile
from profiles.protection import Neighbors, Protection

HEAD = 'name = "n"\n[[event]]\n'
SECOND = '[[event]]\nmechanism = "pure"\nepsilon = 1\n'
PURE = f'name = "n"\n{SECOND}'


def test_decimals_and_fractions_are_the_numbers_that_are_written():
    text = HEAD + 'mechanism = "gaussian"\nnoise_multiplier = 1.1\nsampling_probability = "256/60000"\ncount = 14_000\n'
    (event,) = read_composition(text).composition.events
    assert event == Event(MechanismKind.GAUSSIAN, (("noise_multiplier", Fraction(11, 10)),), Fraction(256, 60000), 14000)


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        ("gaussian", {"noise_multiplier": "2"}),
        ("laplace", {"scale": "1/3"}),
        ("discrete-gaussian", {"noise_multiplier": "0.5"}),
        ("discrete-laplace", {"scale": "7"}),
        ("randomized-response", {"epsilon": "1"}),
        ("pure", {"epsilon": "0"}),
        ("approximate", {"epsilon": "1", "delta": "1e-6"}),
        ("zcdp", {"rho": "0.125"}),
    ],
)
def test_every_mechanism_of_the_issue_is_read(kind, numbers):
    text = HEAD + f'mechanism = "{kind}"\n' + "".join(f'{name} = "{value}"\n' for name, value in numbers.items())
    (event,) = read_composition(text).composition.events
    assert (event.mechanism.value, event.count, event.sampling_probability) == (kind, 1, 1)
    assert {name: Fraction(value) for name, value in numbers.items()} == dict(event.parameters)


@pytest.mark.parametrize(
    ("lines", "error", "said"),
    [
        ("mechanism = 'gaussian'\nnoise_multiplier = 0", InvalidArgument, "above 0"),
        ("mechanism = 'gaussian'\nnoise_multiplier = -1", InvalidArgument, "above 0"),
        ("mechanism = 'gaussian'\nnoise_multiplier = nan", InvalidNumber, "finite"),
        ("mechanism = 'gaussian'\nnoise_multiplier = inf", InvalidNumber, "finite"),
        ("mechanism = 'gaussian'\nnoise_multiplier = true", InvalidNumber, "boolean"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1979-05-27", InvalidNumber, "number"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1e400", InvalidArgument, "1e12"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1e99999", InvalidNumber, "shorter"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1." + "1" * 200, InvalidArgument, "digits"),
        ("mechanism = 'gaussian'", InvalidArgument, "needs noise_multiplier"),
        ("mechanism = 'gaussian'\nnoise_multiplyer = 1", UnreadableFile, "did you mean 'noise_multiplier'?"),
        ("mechanism = 'gaussian'\nscale = 1", UnreadableFile, "unknown key 'scale'"),
        ("mechanism = 'gausian'\nnoise_multiplier = 1", InvalidArgument, "did you mean 'gaussian'?"),
        ("mechanism = 3\nnoise_multiplier = 1", InvalidArgument, "type int"),
        ("noise_multiplier = 1", UnreadableFile, "needs mechanism"),
        ("mechanism = 'two-sided'", InvalidArgument, "epsilon_remove"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\nneighbors = 'replace-one'", UnreadableFile, "unknown key 'neighbors'"),
        ("mechanism = 'pure'\nepsilon = 1\nneighbors = 'replaced'", InvalidArgument, "replace-one"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\nsampling_probability = 0", InvalidArgument, "(0, 1]"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\nsampling_probability = 1.0000001", InvalidArgument, "(0, 1]"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\nsampling_probability = '1/0'", InvalidNumber, "p/q"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\ncount = 0", InvalidArgument, "integer"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\ncount = 1.5", InvalidArgument, "integer"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\ncount = -3", InvalidArgument, "integer"),
        ("mechanism = 'gaussian'\nnoise_multiplier = 1\ncount = 10000000000", InvalidArgument, "integer"),
        ("mechanism = 'approximate'\nepsilon = 1\ndelta = 1", InvalidArgument, "[0, 1)"),
        ("mechanism = 'approximate'\nepsilon = 1\ndelta = -0.1", InvalidArgument, "[0, 1)"),
        ("mechanism = 'pure'\nepsilon = -1", InvalidArgument, "0 to 10000"),
        ("mechanism = 'zcdp'\nrho = 1\nsampling_probability = 0.5", InvalidArgument, "rho alone"),
    ],
)
def test_what_is_no_event_is_refused_in_one_sentence(lines, error, said):
    with pytest.raises(error) as found:
        read_composition(HEAD + lines + "\n", "here.toml")
    assert said in str(found.value)
    assert "event 1 of here.toml" in str(found.value) or isinstance(found.value, UnreadableFile)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "name"),
        ('name = "n"\n', "[[event]]"),
        ('name = "n"\nevent = []\n', "[[event]]"),
        ('name = "n"\n[event]\nmechanism = "gaussian"\n', "[[event]]"),
        ('name = "n"\nevents = 3\n', "did you mean 'event'?"),
        ("name = 3\n", "as text"),
        ('name = "n"\nunit = "person"\n[[event]]\nmechanism = "pure"\nepsilon = 1\n', '"user"'),
        ('name = "n"\nneighbors = "replace"\n[[event]]\nmechanism = "pure"\nepsilon = 1\n', '"replace-one"'),
        ('name = "n"\nneighbors = 3\n[[event]]\nmechanism = "pure"\nepsilon = 1\n', '"replace-one"'),
        (f'{PURE}neighbors = "replace-one"\n{SECOND}neighbors = "add-remove"\n', "add-remove and replace-one"),
        (f'{PURE}neighbors = "replace-one"\n{SECOND}', "nothing and replace-one"),
        (f'neighbors = "add-remove"\n{PURE}neighbors = "replace-one"\n', "add-remove and replace-one"),
        (f'{PURE}[[hypothesis]]\nid = "stated"\n', "sentence"),
        (f'{PURE}[[hypothesis]]\nsentence = "a\\nb"\n', "lines of text"),
        (f'{PURE}[[hypothesis]]\nsentence = "a"\nhead = "the moon"\n', "head"),
        (f'{PURE}[[hypothesis]]\nsentence = "a"\nsays = "b"\n', "unknown key 'says'"),
        (f'hypothesis = "a"\n{PURE}', "[[hypothesis]]"),
        ("name = ", "TOML"),
        ("x" * 200_000, "shorten"),
    ],
)
def test_what_is_no_composition_is_refused(text, said):
    with pytest.raises(UnreadableFile) as found:
        read_composition(text)
    assert said in str(found.value)


def test_a_file_says_whom_it_protects(tmp_path):
    path = tmp_path / "c.toml"
    text = 'name = "n"\nunit = "user"\n[[event]]\nmechanism = "zcdp"\nrho = 1\n'
    path.write_text(text)
    found = account(curve_of_file(path), delta="1e-6")
    assert found.guarantee.unit is Unit.USER
    assert found.to_json()["unit"] == "user"
    shown = found.render()
    assert "add/remove of one user" in shown
    assert "remove (a user goes)" in shown
    assert "of one record" not in shown
    for event, said in (
        ('mechanism = "gaussian"\nnoise_multiplier = 2', "one user more or less changes what each noise is added to"),
        ('mechanism = "pure"\nepsilon = 1\nsampling_probability = "1/2"', "each user is selected by a coin of its own"),
    ):
        path.write_text(f"{text}[[event]]\n{event}\n")
        assert any(item.sentence.startswith(said) for item in curve_of_file(path).hypotheses)
    path.write_text(text.replace("user", "record"))
    assert curve_of_file(path).guarantee.unit is Unit.RECORD


def _told(text: str) -> PrivacyCurve:
    return curve_of(read_composition(text))


@pytest.mark.parametrize(
    "event",
    [
        'mechanism = "approximate"\nepsilon = 1\ndelta = "1e-6"',
        'mechanism = "zcdp"\nrho = 1',
        'mechanism = "randomized-response"\nepsilon = 1',
        'mechanism = "pure"\nepsilon = 1',
    ],
)
def test_numbers_of_another_tool_say_their_neighbors_or_leave_them_open(event):
    text = f'name = "n"\n[[event]]\n{event}\n'
    open_one = _told(text)
    assert [item.id for item in open_one.hypotheses if item.id == "neighbors-assumed"]
    assert open_one.guarantee.protection.neighbors is Neighbors.ADD_REMOVE
    own = f'{text}neighbors = "replace-one"\n'
    for said in (f'neighbors = "replace-one"\n{text}', own, f'neighbors = "replace-one"\n{own}'):
        found = _told(said)
        assert found.guarantee.protection.neighbors is Neighbors.REPLACE_ONE
        assert not [item for item in found.hypotheses if item.id == "neighbors-assumed"]
        shown = account(read_composition(said), delta="1e-6")
        assert "one record is replaced by another" in shown.render()
        assert "(a record goes)" not in shown.render()
        assert shown.to_json()["neighbors"] == "replace-one"
    if "zcdp" not in event:
        with pytest.raises(InvalidArgument, match=r"Poisson samples .* replaced by another"):
            _told(f"{text}neighbors = 'replace-one'\nsampling_probability = 0.01\n")
        sampled = _told(f"{text}sampling_probability = 0.01\n")
        assert [item.id for item in sampled.hypotheses if item.id == "neighbors-assumed"]


def test_noise_between_replaced_records_says_what_it_is_counted_in():
    text = f'neighbors = "replace-one"\nunit = "user"\n{HEAD}mechanism = "gaussian"\nnoise_multiplier = 2\n'
    with pytest.raises(UnreadableFile, match='sampling = "none"'):  # in earlier releases a replaced record moved a sum by 1
        read_composition(text)
    other = '[[event]]\nmechanism = "pure"\nepsilon = 1\nneighbors = "replace-one"\n'  # an event may say the neighbors of all others
    with pytest.raises(UnreadableFile, match='sampling = "none"'):
        read_composition(f'{HEAD}mechanism = "gaussian"\nnoise_multiplier = 2\n{other}')
    found = _told(f'{text}sampling = "none"\n')
    assert any(item.sentence.startswith("each user adds to the sum of a step a vector of norm at most 1") for item in found.hypotheses)
    laplace = text.replace("gaussian", "laplace").replace("noise_multiplier", "scale")
    assert any(item.sentence.startswith("one user in place of another changes what each noise") for item in _told(laplace).hypotheses)


def test_a_composition_is_written_with_its_protection_and_its_hypotheses():
    made = declare_directions(
        "counts", "0.5", "1/3", source="me", delta_remove="1e-9", unit="user", hypotheses=("n is public", "mine alone")
    )
    both = compose_guarantees(made, declare_directions("sums", 1, 1, source="me", unit="user"))
    for curve in (curve_of(both), curve_of(change_neighbors(both, "replace-one")), curve_of(subsample(made, "0.1"))):
        text = write_composition(curve.declared)
        again = curve_of(read_composition(text))
        assert again.guarantee.protection == curve.guarantee.protection
        assert set(curve.hypotheses) <= set(again.hypotheses)
        assert {(item.id, item.head) for item in curve.hypotheses} <= {(item.id, item.head) for item in again.hypotheses}
        assert again.composition == curve.composition
        assert curve_of(read_composition(write_composition(again.declared))).hypotheses == again.hypotheses
    told = read_composition(f'neighbors = "add-remove"\n{PURE}[[hypothesis]]\nid = "of another tool"\nsentence = "the moon is full"\n')
    assert [(item.id, item.sentence) for item in told.hypotheses] == [("stated", "the moon is full")]
    assert told.hypotheses[0] in curve_of(told).hypotheses
    with pytest.raises(InvalidArgument, match="brings its own"):
        curve_of(told, neighbors="replace-one")


def test_what_is_calibrated_protects_what_the_file_says():
    text = f'neighbors = "replace-one"\nunit = "user"\n{HEAD}mechanism = "pure"\nepsilon = "1/10"\n[[hypothesis]]\nsentence = "a"\n'
    found = find_most_uses(read_composition(text), 1, "1e-6").account.guarantee
    assert found.protection == Protection(Unit.USER, Neighbors.REPLACE_ONE)
    assert "a" in [item.sentence for item in found.hypotheses]


def test_too_many_different_events_and_too_many_uses_are_refused():
    def event(sigma: int, count: int = 1) -> Event:
        return make_event("gaussian", {"noise_multiplier": sigma}, count=count)

    assert len(Composition("n", tuple(event(k) for k in range(1, MOST_EVENTS + 1))).events) == MOST_EVENTS
    with pytest.raises(InvalidArgument, match="different events"):
        Composition("n", tuple(event(k) for k in range(1, MOST_EVENTS + 2)))
    with pytest.raises(InvalidArgument, match="uses"):
        Composition("n", (event(1, 10**9), event(2)))
    with pytest.raises(InvalidArgument, match="uses"):
        Composition("n", (event(1, 10**9), event(1)))
    with pytest.raises(InvalidArgument, match="no event"):
        Composition("n", ())


def test_events_made_by_hand_keep_the_same_limits():
    with pytest.raises(PDPError):
        Event(MechanismKind.GAUSSIAN, (("noise_multiplier", Fraction(0)),))
    with pytest.raises(PDPError):
        Event(MechanismKind.GAUSSIAN, (("noise_multiplier", 1.0),))  # type: ignore[arg-type]
    with pytest.raises(PDPError):
        Event(MechanismKind.GAUSSIAN, ())
    with pytest.raises(PDPError):
        Event(MechanismKind.APPROXIMATE, (("delta", Fraction(0)), ("epsilon", Fraction(1))))
    with pytest.raises(PDPError):
        Event(MechanismKind.GAUSSIAN, (("noise_multiplier", Fraction(1)),), count=True)
    unbounded = Event(MechanismKind.TWO_SIDED, (("epsilon_remove", Fraction(1)), ("delta_remove", Fraction(0)), ("delta_add", Fraction(0))))
    with pytest.raises(InvalidArgument, match="epsilon_remove"):
        unbounded["epsilon_add"]


def test_a_missing_file_names_what_is_near(tmp_path):
    (tmp_path / "steps.toml").write_text(HEAD + 'mechanism = "pure"\nepsilon = 1\n')
    assert read_composition_file(tmp_path / "steps.toml").composition.name == "n"
    with pytest.raises(UnreadableFile, match=r"steps\.toml"):
        read_composition_file(tmp_path / "step.toml")
