"""What an accepted file is about, as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from profiles import decimal_text, to_exact
from profiles.hypotheses import Head
from profiles.notions import ProfileNotion, to_notion

_LONG = 2_000  # of an expression that is printed


def shorten(text: str) -> str:
    """Return an expression as it is, or the beginning of one that is very long, such as one with a table spelled out."""
    return text if len(text) <= _LONG else f"{text[:_LONG]} ... ({len(text)} characters, see the file)"


def describe_profile(about: Mapping[str, Any]) -> Iterator[str]:
    """Yield the function that a certificate is about, its domain, and the target, the sampling rule and the bound that go with it."""
    profile = about["profile"]
    notion = to_notion(profile.get("notion", ProfileNotion.PURE))
    named = "" if notion is ProfileNotion.PURE else f'   (notion "{notion.value}": this is not an epsilon)'
    yield f"about: {notion.number}(w, x) = {shorten(profile[notion.number])}{named}"
    if "epsilon" in about:
        delta = f", delta <= {about['epsilon']['delta']}" if "delta" in about["epsilon"] else ""
        yield f"    one analysis of the sample: epsilon <= {about['epsilon']['upper']}{delta}"
    ranges = [f"{name} in [{lo}, {hi}]" for name, (lo, hi) in profile["record"].items()]
    yield f"    for all {', '.join([*ranges, 'w >= 1'])}"
    for name, value in profile["parameters"].items():
        yield f"    {name} > 0" if value == "positive" else f"    {name} {'=' if isinstance(value, str) else 'in'} {_show(value)}"
    if about["target_epsilon"] is not None:
        yield f"    target epsilon = {about['target_epsilon']}"
    if about["sampling"] is not None:
        yield f"    q(x) = {about['sampling']['q']}"
    yield from (f"    {line}" for line in about.get("weights", ()))
    yield from describe_open(about)


def describe_open(about: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is not checked: the ``premises`` that a file rests on, or else what its profile says of a mechanism."""
    if "premises" not in about:
        number = to_notion(about["profile"].get("notion", ProfileNotion.PURE)).number
        yield f"    not checked here: that your mechanism has this {number}(w, x)"
        return
    if not about["premises"]:
        yield "    no hypothesis is left open"
        return
    yield "    not checked here, and needed for every use of this epsilon:"
    for head in sorted({item["head"] for item in about["premises"]}, key=[item.value for item in Head].index):
        yield f"      {head}"
        yield from (f"        - {item['sentence']}" for item in about["premises"] if item["head"] == head)


def leave_out_open(about: Mapping[str, Any] | None, lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines about a file without those of :func:`describe_open`, for whoever shows its premises in another way."""
    if not about or not about.get("premises"):
        return tuple(lines)
    block, whole = tuple(describe_open(about)), tuple(lines)
    places = (place for place in range(len(whole)) if whole[place : place + len(block)] == block)
    place = next(places, len(whole))
    return (*whole[:place], *whole[place + len(block) :])


def describe_release(release: Mapping[str, Any], cost: str) -> str:
    """Say what was released, at which cost, with which noise."""
    adds, noise = (say(release[name]) for name in ("reach", "scale"))
    return f"      {release['what']}: cost {cost}, a record adds at most {adds}, noise of scale {noise}"


def say(number: str) -> str:
    """Return a number of a file with 6 digits, rounded down, for people."""
    return decimal_text(to_exact(number), 6, round_up=False)


def _show(value: object) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)
