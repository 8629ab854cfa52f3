"""Fields and items dropped, added, duplicated, or of a wrong type; unknown words; broken text. All are wrong for certain."""

from __future__ import annotations

import random
from collections.abc import Iterator

from proofs_check.kernel.procedures.rules import RULES
from proofs_check.kernel.theories.profiles.claims import CLAIMS
from proofs_check.kernel.untrusted.proofs import fields_of
from tests.mutants.corpus import Json, Mutant, Place, changed, get, is_tree, places, texts, without, write

_OPTIONAL = {"form", "precision", "open", "obligations", "closed"}  # without these, a proof may still be one
_OTHER_TYPES: dict[type, list[Json]] = {
    dict: [[], "x", None, 0],
    list: [{}, "x", None, 7],
    str: [None, True, 7, [], {}, 1.5, [["z"]]],
    int: ["1", None, True, [], 1.5, 10**30, float("nan"), float("-inf")],
}
_USES = {"target_epsilon": "assumption-", "sampling": "epsilon-"}


def dropped(name: str, whole: Json, _: random.Random) -> Iterator[Mutant]:
    """A field or an item left out."""
    for path, _value in places(whole):
        if path and _is_needed(whole, path):
            yield Mutant(name, f"without {path}", write(without(whole, path)))


def _is_needed(whole: Json, path: Place) -> bool:
    key, parent = path[-1], path[-2] if len(path) > 1 else None
    if key in _USES and parent is None:
        named = [str(claim["claim"]) for claim in whole["claims"]]
        return any(
            n in ("assumption-8", "assumption-9", "assumption-9-nonzero") if key == "target_epsilon" else n.startswith("epsilon-")
            for n in named
        )
    if parent in ("record", "parameters") and len(path) == 3:
        return False  # a name that is not used may go; see the changes of profiles
    if parent == "claims":
        return key == 0
    return (
        parent != "obligations"
        and (key not in _OPTIONAL or not isinstance(get(whole, path[:-1]), dict) or "q-positive" in path)
        and key != "obligations"
    )


def added(name: str, whole: Json, _: random.Random) -> Iterator[Mutant]:
    """A field that does not belong there."""
    for path, value in places(whole):
        if isinstance(value, dict) and path[-1:] != ("parameters",):
            for key in ("extra", "rule ", "Rule", "session"):
                yield Mutant(name, f"{key} at {path}", write(changed(whole, path, {**value, key: "1"})))


def retyped(name: str, whole: Json, _: random.Random) -> Iterator[Mutant]:
    """A value of another type."""
    for path, value in places(whole):
        if path[-1:] == ("open",):
            continue  # that it is there is what counts
        for other in _OTHER_TYPES.get(type(value), ()):
            yield Mutant(name, f"{other!r} at {path}", write(changed(whole, path, other)))


def ruled(name: str, whole: Json, _: random.Random) -> Iterator[Mutant]:
    """Another rule's name over the fields of this one, or no rule's name."""
    for path, value in places(whole):
        if is_tree(value):
            given = value.keys() - {"rule"}
            for rule, function in RULES.items():
                if not fields_of(function)[1] <= given <= fields_of(function)[0].keys():
                    yield Mutant(name, f"{rule} at {path}", write(changed(whole, path, {**value, "rule": rule})))
            for rule in ("trust-me", "", "Manifest", "zero ", "sum_", "__init__"):
                yield Mutant(name, f"{rule} at {path}", write(changed(whole, path, {**value, "rule": rule})))
            for other in value.keys() & {"slope", "end", "below", "above", "positive", "product", "lower", "proof", "rest"}:
                moved = {**{k: v for k, v in value.items() if k != other}, f"{other}s": value[other]}
                yield Mutant(name, f"{other} moved at {path}", write(changed(whole, path, moved)))


def renamed(name: str, whole: Json, _: random.Random) -> Iterator[Mutant]:
    """A claim with the opposite verdict, or with a name that is no claim's; no first claim, or another one first."""
    for i, claim in enumerate(whole["claims"]):
        verdict = "refuted" if claim["verdict"] == "proved" else "proved"
        for change in (
            {"verdict": verdict},
            {"verdict": "unknown"},
            {"claim": "assumption-10"},
            {"claim": ""},
            {"claim": f"{claim['claim']} "},
        ):
            yield Mutant(name, f"{change} at {i}", write(changed(whole, ("claims", i), {**claim, **change})))
        for key in CLAIMS:
            if " ".join(key.split(" ")[:2]) != key:
                yield Mutant(name, f"{key} at {i}", write(changed(whole, ("claims", i, "claim"), key)))
    claims = whole["claims"]
    for i in range(1, len(claims)):
        yield Mutant(name, f"claim {i} first", write({**whole, "claims": [claims[i], *claims[:i], *claims[i + 1 :]]}))
    yield Mutant(name, "no claims", write({**whole, "claims": []}))


def broken(name: str, whole: Json, source: random.Random) -> Iterator[Mutant]:
    """Text that is cut, doubled, or not JSON, or in which a key comes twice."""
    text = texts()[name]
    for at in sorted(source.sample(range(len(text)), 12)):
        yield Mutant(name, f"cut at {at}", text[:at])
    for at in sorted(source.sample([i for i, c in enumerate(text) if c in '{}[]"'], 12)):
        yield Mutant(name, f"without character {at}", text[:at] + text[at + 1 :])
    for what in (text + text, f"{text},", f"[{text}]", f"\ufeff{text}", f"{text}\x00", text.replace('"', "'"), text.replace(":", "=")):
        yield Mutant(name, "broken", what)
    for path, value in places(whole):
        if isinstance(value, dict) and value:
            key = next(iter(value))
            twice = write(changed(whole, path, {"\x01": value[key], **value})).replace('"\\u0001"', f'"{key}"')
            yield Mutant(name, f"{key} twice at {path}", twice)


FAMILIES = {f.__name__: f for f in (dropped, added, retyped, ruled, renamed, broken)}
