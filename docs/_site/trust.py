"""docs/trust.md, what a user of certificates has to believe, made from the kernel: ``python docs/_site/trust.py > docs/trust.md``."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from proofs_check import kernel
from proofs_check.archive import checker_digest, make_checker
from proofs_check.explain.trust import COMPOSED_RULES, MARK_OF_COMPOSITIONS, mark_rule, state_axiom
from proofs_check.kernel.core.rules import SIDE_CONDITIONS
from proofs_check.kernel.procedures.normal import IDENTITIES
from proofs_check.kernel.procedures.rules import RULES
from proofs_check.kernel.theories.profiles.claims import CLAIMS
from proofs_check.kernel.untrusted.proofs import fields_of

#: The last part of the page: why the verdict is the same on every interpreter.
INTERPRETERS = Path(__file__).with_name("interpreters.md")

_HEAD = """# What you have to believe

*This page is generated: `python docs/_site/trust.py > docs/trust.md`.*

When `pdp check`, or `python -m proofs_check.kernel FILE`, accepts a certificate, its claims are theorems about the function ε that is
written in it, or about δ of the events that are listed in it. For that you have to believe what this page states and nothing else: not
the prover, not SymPy, not python-flint, not the command line. The kernel is {lines:,} lines of code ({texts} more are docstrings) in
{modules} modules, of which {core} lines are the core. No certificate needs all of them: one of a profile is judged by {of_profiles:,}
lines, one of a composition by {of_compositions:,}. The kernel reads the profile, or the events, from the certificate's text and
derives every goal by itself. `pdp check --axioms` prints which of the axioms below a certificate used.

What a certificate does **not** say: that a mechanism has the declared profile, that a sampler selects with the declared probabilities, that
records lie in the declared ranges, or that noise is drawn in exact real arithmetic. Every guarantee lists those that it rests on
as hypotheses; some are discharged, each with a recorded reason (for mechanisms of the catalogue in exact mode also the last one:
[exact-noise.md](exact-noise.md)).

## The interpreter and its standard library

Python 3.11 or newer, and from its standard library {library}.

What is trusted: that `decimal` rounds sums, products, quotients and roots as documented, that its `exp` and `ln` are off by at most one
unit in the last place, and that a product is exact if there is room for all of its digits; that `fractions` and integers are exact; that
`json` and `re` read what the text says.
Nothing is evaluated or executed: expressions are read word by word, by the kernel itself.
Why the verdict is the same on every interpreter: [below](#one-verdict-on-every-interpreter).

## The kernel as one file

`pdp check --export checker.pyz` writes the kernel as one file of {size:,} bytes, which any Python from 3.11 on runs:
`python -I -O checker.pyz FILE`. It holds the modules below as they are, and some that need not be trusted, which are
[listed after them](#what-only-helps). `pdp check` can be stricter: it lists the events of a composition with their assumptions, and
refuses those that it does not account for, such as a sample that takes a record with probability 10⁻¹⁶.
The same sources give the same bytes on every machine; this page is about the ones with the SHA-256

`{digest}`.

## The kernel's modules
"""

_HELPS = """
## What only helps

{lines} more lines ({texts} of docstrings) are shipped with the kernel and need not be trusted. Nothing in this folder makes a
theorem, or writes a verdict other than a rejection (a test ensures this): the report is that of `checker.check`, with explanations
added. Whatever theorem a prover returns, a rule checks that it is one, sealed, of the very premise that it asked for, and that its own
parameters have their types. `untrusted/upgrade` finds for a certificate of version 1 the `choices` with which the kernel then checks it
([certificates.md](certificates.md#1-file)).
"""

_RULES = """
## Rules

A goal is t ≥ 0, or t > 0 if it is strict, for all points of a box; t is defined everywhere on the box. Trees of these rules prove goals.
Fields in brackets are optional.

The last column says whether the axiom itself is proved formally, by which theorems of `proofs_check/coq/rules.v`, or on paper,
and where. A theorem is about the rule as it is stated here, over Coq's real numbers; that the kernel's program applies the rule as
stated is not proved.
"""

_IDENTITIES = """
## Identities of normal forms

A normal form is the term itself, rewritten by these, wherever both sides are defined. `zero`, `manifest` and every comparison of terms use
them.
"""

_SIDE = """
## Side conditions

They are goals themselves, shown by `manifest`, `zero`, `boxes` or a tree that the certificate brings, whichever it says;
the kernel tries nothing.
"""

_CLAIMS = """
## Claims

The last column says what an accepted claim of that name and verdict states; its proof brings trees for the goals. A claim "proved" that is
about all records may also be proved for the records on either side of a number in the range of one variable; `assumption-9-nonzero`
also for the records at, above and below a number, each by itself, where beside it the distance from the number takes the place of the
variable. E is exp(target) − 1, K is
ε″ + ε′², the second derivative of exp∘ε divided by exp∘ε.
"""

_COMPOSITIONS = """
## Claims about compositions

A certificate with a `composition` in place of a profile lists events: a mechanism, its noise, the probability of Poisson sampling, a count.
Its claims bring no proofs: the kernel computes δ from the events, on the `grid` that the claim names, with every rounding to the claim's
side. What makes that a bound are the theorems of [composition-bounds.md](composition-bounds.md): dominating pairs compose (Theorem 2) and
are sampled (Theorem 6), and each step from a law of losses to the next one is to one side (Theorems 4, 5, 7, 8, section 12), with the error
of every number bounded (section 11). Above the largest loss δ is what is lost wholly, below it δ is positive (Theorem 10).
They are {mark}.
"""

_COMPOSED = (
    (
        "`delta-upper proved`",
        "`direction`, `epsilon`, `bound`, [`grid`], [`order`], [`parts`]",
        "In this direction, delta at epsilon is at most the bound.",
    ),
    (
        "`delta-lower proved`",
        "`direction`, `epsilon`, `bound`, [`grid`], [`parts`]",
        "In this direction, some mechanism that is what the events say has a delta at epsilon of at least the bound.",
    ),
    (
        "`delta-positive proved`",
        "`direction`, `epsilon`, `bound`",
        "In this direction, some mechanism that is what the events say has a delta above the bound, which is 0, at every smaller epsilon.",
    ),
)

_STEPS = """
Each of these claims is a theorem by one rule, which the last lines of `pdp check` and `--json` name beside it:
"""
_ARITHMETIC = """
What `computed` does with laws of losses, each in a function of `theories/compositions` that does nothing else; a Coq theorem is about
finitely many losses or outputs, over the real numbers; the rest is proved on paper, in the section of composition-bounds.md:
"""
#: The functions that compute, what each of them keeps, and where that is proved.
ARITHMETIC = {
    "curves.sampled": ("H of a sample is that of the mechanism at another slope", "on paper, section 6"),
    "curves.gaussian": ("the pair of a Gaussian mechanism, as its tails", "on paper, section 7"),
    "curves.laplace": ("the pair of Laplace noise", "on paper, section 8"),
    "curves.discrete_gaussian": ("the pair of discrete Gaussian noise, as its tails", "on paper, section 9"),
    "curves.two_sided": ("the largest curve with a point in each direction is a polygon", "on paper, section 10"),
    "curves.renyi": ("a Rényi divergence bounds the curve", "on paper, section 10"),
    "lattices.Lattice.discretise": (
        "points above, or outcomes below, the curve",
        "`lower_side`; on paper, sections 4 and 5",
    ),
    "lattices.Lattice.units": ("a mass is moved to its side by more than its error", "on paper, section 11"),
    "lattices.Lattice.multiply": (
        "the convolution is the law of a sum",
        "`curve_is_divergence`, `convolve_below`; on paper, section 2",
    ),
    "lattices.Lattice.lift": ("masses on a coarser lattice are to the side", "on paper, section 12"),
    "lattices.Lattice.trim": ("what is cut off is moved up, or is lost", "on paper, section 3"),
    "lattices.Lattice.power": ("squares and products by the bits of a count", "on paper, section 12"),
    "lattices.Lattice.delta": ("δ is the sum of what is positive of p − exp(ε − w) q", "`curve_is_divergence`; on paper, sections 1 and 5"),
    "bounds.closed_form": ("δ of one use from its curve", "on paper, section 1"),
    "bounds.find_end": ("the largest losses add up, and at most the masses at infinity", "on paper, section 13"),
}


def trust_text() -> str:
    """Return the page."""
    folder = Path(inspect.getfile(kernel)).parent
    places = sorted((path.relative_to(folder) for path in folder.rglob("*.py")), key=_reading_order)
    counts = {place: count_lines((folder / place).read_text(encoding="utf-8")) for place in places}
    helping = [place for place in places if place.parts[0] == "untrusted"]
    believed = [place for place in places if place not in helping]
    lines, texts = (sum(column) for column in zip(*(counts[place] for place in believed), strict=True))

    def code(chosen: Iterable[Path]) -> int:
        return sum(counts[place][0] - counts[place][1] for place in chosen)

    def modules(chosen: Iterable[Path]) -> list[tuple[str, str, str]]:
        return [
            (f"`{place.with_suffix('').as_posix()}`", str(code([place])), _purpose(folder / place))
            for place in chosen
            if place.name != "__init__.py" or len(place.parts) == 1
        ]

    library = ", ".join(f"`{name}`" for name in sorted({name for place in believed for name in _imports(folder / place)}))
    rules = [(f"`{name}`", _fields(rule), state_axiom(rule), mark_rule(name)) for name, rule in RULES.items()]
    claims = [(f"`{name}`", _fields(claim), state_axiom(claim)) for name, claim in CLAIMS.items()]
    return "".join(
        (
            _HEAD.format(
                lines=lines - texts,
                texts=texts,
                modules=len(believed),
                of_profiles=code(place for place in believed if "compositions" not in place.parts),
                of_compositions=code(needed_for_compositions(folder, believed)),
                core=code(place for place in believed if place.parts[0] == "core"),
                library=library,
                size=len(make_checker()),
                digest=checker_digest(),
            ),
            _table(("module", "lines", "what it does"), modules(believed)),
            _HELPS.format(lines=code(helping), texts=sum(counts[place][1] for place in helping)),
            _table(("module", "lines", "what it does"), modules(helping)),
            _RULES,
            _table(("rule", "fields", "axiom", "proof"), rules),
            _IDENTITIES,
            _table(("name", "identity", "proof"), ((name, identity, mark_rule(name)) for name, identity in IDENTITIES.items())),
            _SIDE,
            _table(("side condition", "axiom", "proof"), ((name, axiom, mark_rule(name)) for name, axiom in SIDE_CONDITIONS.items())),
            _CLAIMS,
            _table(("claim", "fields of its proof", "states"), claims),
            _COMPOSITIONS.format(mark=MARK_OF_COMPOSITIONS),
            _table(("claim", "fields", "states"), _COMPOSED),
            _STEPS,
            _table(("rule", "axiom"), [(f"`{name}`", state_axiom(each)) for name, each in COMPOSED_RULES.items()]),
            _ARITHMETIC,
            _table(("function", "what it keeps", "proof"), [(f"`{name}`", kept, proof) for name, (kept, proof) in ARITHMETIC.items()]),
            "\n",
            INTERPRETERS.read_text(encoding="utf-8"),
        )
    )


def needed_for_compositions(folder: Path, believed: Sequence[Path]) -> set[Path]:
    """Return the modules that a certificate of a composition needs: its theory, all that it imports, and those that read and ask."""
    found = {place for place in believed if len(place.parts) == 1}
    waiting = [place for place in believed if "compositions" in place.parts]
    while waiting:
        place = waiting.pop()
        found.add(place)
        waiting += [other for other in believed if other not in found and _uses(folder / place, folder / other)]
    return found


def _uses(path: Path, other: Path) -> bool:
    # whether one of the kernel's modules imports from another one
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            if other in (base.with_suffix(".py"), *(base / f"{alias.name}.py" for alias in node.names)):
                return True
    return False


def _reading_order(place: Path) -> tuple[int, str]:
    # the core first, then what computes, what claims mean, and what reads and asks
    folders = ("core", "procedures", "theories")
    return (folders.index(place.parts[0]) if place.parts[0] in folders else len(folders)), place.as_posix()


def count_lines(source: str) -> tuple[int, int]:
    """Return the number of lines that are neither blank nor comments, and how many of these are docstrings."""
    lines = sum(bool(line.strip()) and not line.strip().startswith("#") for line in source.splitlines())
    texts = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            texts += (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
    return lines, texts


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
    return found


def _fields(function: Callable[..., object]) -> str:
    names, required = fields_of(function)
    return ", ".join(f"`{name}`" if name in required else f"[`{name}`]" for name in names)


def _purpose(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").splitlines()[0]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    shown = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n" + "".join(f"| {' | '.join(row)} |\n" for row in shown)


if __name__ == "__main__":
    sys.stdout.write(trust_text())
