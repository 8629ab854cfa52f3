"""Proof trees rearranged, and proofs of one claim or profile put under another: judged by whether what is claimed is false."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache

from tests.mutants.corpus import Json, Mutant, certificate, changed, is_tree, places, texts, write

_LEAVES = [
    {"rule": "zero"}, {"rule": "manifest"}, {"rule": "boxes", "budget": 300}, {"rule": "boxes", "budget": 300, "form": "centred"},
    {"rule": "boxes", "budget": 1}, {"rule": "boxes", "budget": 200, "precision": 300},
]  # fmt: skip
_PROFILES = (
    "({})/1000", "({})*1000", "-({})", "({}) - 1", "({}) - 1e-30", "({}) + 100", "log(1 + ({}))", "exp({})", "sqrt({})", "Min({}, 5)",
    "({})/w",
    "({}) + Abs(w - 6)/9", "({}) - w", "({})*(1 + sin(50*w)/2)", "0*({})", "Max({}, 3)", "({}) + exp(-w)", "({}) + 0/(w - 2)",
    "({}) + log(w - 1)*0", "Piecewise(({}, w < 2), (({})/2, True))", "Abs(({}) - 3)", "({})*(2 - w)", "({})**(1/3)", "1/(1 + ({}))",
    "({}) + tan(w)*0", "({})*cos(w)", "1 - exp(-({}))",
)  # fmt: skip


@cache
def _pool() -> tuple[Json, ...]:
    found = {write(value): value for name in texts() for _, value in places(certificate(name)) if is_tree(value)}
    return tuple(found[key] for key in sorted(found))


def rearranged(name: str, whole: Json, source: random.Random) -> Iterator[Mutant]:
    """Children swapped or in their parent's place; a direction or a form flipped; another leaf; a tree from another certificate."""
    flips = {"increasing": "decreasing", "decreasing": "increasing", "log": "exp", "exp": "log", "natural": "centred", "centred": "natural"}
    for path, value in places(whole):
        if isinstance(value, str) and path[-1] in ("direction", "form"):
            yield Mutant(name, f"flipped {path}", write(changed(whole, path, flips[value])), certain=False)
        if not is_tree(value):
            continue
        children = [key for key, child in value.items() if is_tree(child)]
        for key in children:
            yield Mutant(name, f"{key} for its parent at {path}", write(changed(whole, path, value[key])), certain=False)
            for other in children:
                if key < other:
                    swapped = {**value, key: value[other], other: value[key]}
                    yield Mutant(name, f"{key} and {other} swapped at {path}", write(changed(whole, path, swapped)), certain=False)
        for tree in (*_LEAVES[:3], *source.sample(_pool(), 2)):
            yield Mutant(name, f"{write(tree)[:80]} at {path}", write(changed(whole, path, tree)), certain=False)


def claimed(name: str, whole: Json, _: random.Random) -> Iterator[Mutant]:
    """Another claim's name over the proof of this one, and the proof of another claim under this one."""
    claims = whole["claims"]
    for i, claim in enumerate(claims):
        for other in (
            "assumption-8",
            "assumption-9",
            "assumption-9-nonzero",
            "assumption-11",
            "proposition-16",
            "proposition-17",
            "strong-convexity",
        ):
            if other != claim["claim"]:
                new = changed(whole, ("claims", i, "claim"), other)
                yield Mutant(
                    name, f"{other} at {i}", write(new if "target_epsilon" in new else {**new, "target_epsilon": "1"}), certain=False
                )
        for j, another in enumerate(claims):
            if i != j:
                yield Mutant(name, f"proof {j} at {i}", write(changed(whole, ("claims", i, "proof"), another["proof"])), certain=False)


def profiled(name: str, whole: Json, _: random.Random) -> Iterator[Mutant]:
    """Another profile under the unchanged claims: ε changed, a range widened, a parameter scaled, the sampling rule changed."""
    profile = whole["profile"]
    for pattern in _PROFILES:
        epsilon = pattern.replace("{}", profile["epsilon"])
        yield Mutant(name, f"epsilon {pattern}", write(changed(whole, ("profile", "epsilon"), epsilon)), certain=False)
    for kind in ("record", "parameters"):
        for v, ends in profile[kind].items():
            new: list[Json] = (
                [["1e-9", "1e9"], "1e-9", "1e9"] if kind == "parameters" else [["-5", "5"], ["0", "1e6"], ["0", "0"], ["1e3", "1e6"]]
            )
            for value in [*new, "positive"][: 4 if isinstance(ends, list) or kind == "parameters" else 0]:
                yield Mutant(name, f"{v} in {value}", write(changed(whole, ("profile", kind, v), value)), certain=False)
    if "sampling" in whole:
        for pattern in ("({})/100", "2*({})", "-({})", "1 - ({})", "({}) + 1", "1", "0", "1e-9", "({})**2"):
            q = pattern.replace("{}", whole["sampling"]["q"])
            yield Mutant(name, f"q {pattern}", write(changed(whole, ("sampling", "q"), q)), certain=False)


def exchanged(name: str, whole: Json, source: random.Random) -> Iterator[Mutant]:
    """The claims of this certificate under the profile of another."""
    for other in source.sample(sorted(texts()), 25):
        if other != name:
            own = certificate(other)
            mixed = {**whole, **{key: own[key] for key in ("profile", "target_epsilon", "sampling") if key in own}}
            names = own["profile"]["record"] | {
                v: q for v, q in own["profile"]["parameters"].items() if isinstance(q, list) or q == "positive"
            }
            for at in [path for path, value in places(mixed) if path[-1:] == ("at",) and isinstance(value, dict)]:
                point = {v: ends[0] if isinstance(ends, list) else "1" for v, ends in names.items()}
                old = mixed["claims"][at[1]]["proof"].get("at", {})
                mixed = changed(mixed, at, point | ({"w": old["w"]} if "w" in old else {}))
            yield Mutant(name, f"profile of {other}", write(mixed), certain=False)


def grafted(name: str, whole: Json, source: random.Random) -> Iterator[Mutant]:
    """False claims under proofs from anywhere: ε, target, bound, floor or threshold changed, and every tree replaced by one of a pool."""
    changes = [m for family in (profiled, exchanged) for m in family(name, whole, source)]
    for mutant in source.sample(changes, min(12, len(changes))):
        made = _rewritten(mutant.text, source)
        yield Mutant(name, f"{mutant.what}, other trees", write(made), certain=False)


def _rewritten(text: str, source: random.Random) -> Json:
    made = json.loads(text)
    for i, claim in enumerate(made["claims"]):
        for key, value in claim["proof"].items():
            if is_tree(value):
                pool = _LEAVES if source.random() < 0.6 else _pool()
                made = changed(made, ("claims", i, "proof", key), source.choice(pool))
    return made


FAMILIES = {f.__name__: f for f in (rearranged, claimed, profiled, exchanged, grafted)}
