"""A release as one HTML page: answers with their errors, what each part cost, what is open, how it is derived, and the certificate."""

from __future__ import annotations

from fractions import Fraction

from accountant.applications.answers.errors import ReleasedAnswer
from accountant.applications.answers.laws import PartNoise
from accountant.applications.answers.releasing import Released
from accountant.report.page import lay_out
from accountant.report.sections import download, draw_derivation, list_hypotheses
from accountant.report.wording import down, exactly, facts, section, table, up
from accountant.report.writing import today
from profiles.presenting.elements import Element, make
from proofs_check.certificates import check_text, to_file_text

#: Answers that are listed; all of them are in the file of the answers.
_SHOWN = 1000


def render_release(released: Released) -> str:
    """Return the page; nothing on it tells more of the data than what was released."""
    certificate = to_file_text(dict(released.plan.certificate()))
    parts = [
        _result(released, certificate),
        _answers(released),
        list_hypotheses(released.guarantee),
        _parts(released),
        draw_derivation(released.guarantee),
        _certificate(certificate),
    ]
    return lay_out(parts, title="Answers from a table", date=today())


def _result(released: Released, certificate: str) -> Element:
    plan, accepted = released.plan, "accepted" if check_text(certificate).accepted else "rejected"
    delta = "" if plan.delta is None else f", δ ≤ {up(plan.delta)}"
    rows = "all rows" if plan.where is None else f"rows with {plan.where.text}"
    return section(
        "result",
        "Result",
        make("p", f"ε ≤ {up(plan.epsilon)} nats{delta}", class_="headline"),
        facts(
            [
                ("About", plan.name),
                ("Of", rows),
                ("Protects", released.guarantee.unit.value),
                ("Rests on", "the hypotheses below"),
                ("The certificate below", f"{accepted} while this page was written"),
            ]
        ),
    )


def _answers(released: Released) -> Element:
    listed = [item for place, item in enumerate(released) if place < _SHOWN]
    more = released.plan.count_answers() - len(listed)
    return section(
        "answers",
        "The answers, and the error of their noise",
        make("p", "The interval holds the value without noise with a probability of 95 %. It says nothing about who was asked."),
        table("Answers", ("answer", "value", "standard error", "from", "to"), [_row(item) for item in listed], numeric=True),
        [make("p", f"{more} more are in the file of the answers.")] if more else [],
    )


def _row(item: ReleasedAnswer) -> tuple[str, ...]:
    named = (*item.group, *(() if item.category is None else (item.category,)))
    name = " ".join([item.name, *(f"[{word}]" for word in named)])
    low, high = (Fraction(end) for end in item.interval)
    if item.standard_error is None:
        return name, repr(item.value), "", f"{up(low)} in rank", f"{up(high)} in rank"
    return name, repr(item.value), up(Fraction(item.standard_error), 4), down(low, 8), up(high, 8)


def _parts(released: Released) -> Element:
    kind = "ε" if released.plan.delta is None else "μ²"
    rows = [_tell(noise) for noise in released.plan.noises]
    columns = ("part", f"cost ({kind})", "a row adds at most", "scale of the noise", "event")
    return section(
        "parts",
        "What was paid for",
        make("p", "Every row costs the same. Groups and categories are disjoint, so that all of them together cost what one does."),
        table("Parts in their order", columns, rows),
    )


def _tell(noise: PartNoise) -> tuple[str, ...]:
    return noise.part.describe(), up(noise.cost, 6), exactly(noise.part.reach), up(noise.scale, 6), noise.event.describe()


def _certificate(text: str) -> Element:
    return section(
        "certificate",
        "Certificate",
        make("p", "Download it and run ", make("code", "pdp check FILE"), ": the kernel computes the bound from the events alone."),
        make("p", download(text, "certificate.json", "application/json")),
    )
