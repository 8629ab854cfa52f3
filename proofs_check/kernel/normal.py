"""Normal forms: polynomials with rational coefficients over atoms, and the signs that can be read off them.

An atom is a variable, ``exp(m)`` for a monomial m (so that products of exponentials merge), ``log a``, a sum a standing
for the base of a power a**c, a rational constant under a fractional power, or the application of an opaque function.
A monomial is a sorted tuple of (atom, rational exponent). Rewriting is an identity at every point at which the term is
defined; ``signs`` says which variables are known to be >= 0 (1) or > 0 (2).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from math import gcd

from .errors import Meter, Rejected
from .intervals import Interval, compare
from .terms import MAX_BITS, Term, add, apply, bits, make, mul, num, number, postorder, power

Mono = tuple[tuple[int, Fraction], ...]
Poly = dict[Mono, Fraction]
MAX_TERMS, MAX_EXPANSION = 20_000, 12
_ONE: Poly = {(): Fraction(1)}


def _root(q: Fraction, c: Fraction) -> Fraction | None:
    """q**c for q > 0 if it is rational and small."""
    parts = []
    for n in (q.numerator, q.denominator):
        root = 1 << -(-n.bit_length() // c.denominator)
        while root**c.denominator > n:  # Newton's iteration from above
            root = ((c.denominator - 1) * root + n // root ** (c.denominator - 1)) // c.denominator
        if root**c.denominator != n:
            return None
        parts.append(root)
    return Fraction(parts[0], parts[1]) ** c.numerator


class Normaliser:
    """Makes normal forms of terms over one box; ``evaluate`` encloses a term over that box."""

    def __init__(self, signs: dict[str, int], evaluate: Callable[[Term], Interval], meter: Meter) -> None:
        self.signs, self.evaluate, self.meter = signs, evaluate, meter
        self.atoms: list[tuple[str, Poly | Mono | Fraction | Term, bool]] = []
        self.index: dict[object, int] = {}
        self.known: dict[int, int] = {}
        self.terms: dict[int, Term] = {}

    def atom(self, kind: str, content: Poly | Mono | Fraction | Term) -> int:
        """The number of the atom (kind, content)."""
        key = (kind, frozenset(content.items()) if isinstance(content, dict) else content)
        if key not in self.index:
            if isinstance(content, Term):
                free = bool(content.free)
            else:
                monos = list(content) if isinstance(content, dict) else [content] if isinstance(content, tuple) else []
                free = any(self.atoms[a][2] for mono in monos for a, _ in mono)
            self.index[key] = len(self.atoms)
            self.atoms.append((kind, content, free))
        return self.index[key]

    def plus(self, p: Poly, q: Poly) -> Poly:
        """p + q."""
        self.meter.spend(1 + len(q) // 4)
        result = p.copy()
        for mono, c in q.items():
            total = result.get(mono, Fraction(0)) + c
            if total:
                result[mono] = total
            else:
                result.pop(mono, None)
        return self._checked(result)

    def _checked(self, p: Poly) -> Poly:
        """p, unless it is too large."""
        if len(p) > MAX_TERMS or any(bits(c) > MAX_BITS for c in p.values()):
            raise Rejected("a normal form is too large")
        return p

    def single(self, a: int, e: Fraction) -> Poly:
        """The atom to the power e, with whole powers of sums expanded and of constants evaluated."""
        kind, content, _ = self.atoms[a]
        whole = e.numerator // e.denominator
        if kind == "sum" and 1 <= whole <= MAX_EXPANSION and isinstance(content, dict):
            rest: Poly = {((a, e - whole),): Fraction(1)} if e != whole else _ONE
            return self.times(self.expand(content, whole), rest)
        if kind == "const" and whole and isinstance(content, Fraction):
            return {(((a, e - whole),) if e != whole else ()): self._scalar(content, whole)}
        return {((a, e),): Fraction(1)} if e else _ONE

    def _scalar(self, c: Fraction, n: int) -> Fraction:
        """c**n for non-zero c, if it is of moderate size."""
        if (bits(c) + 1) * abs(n) > MAX_BITS:
            raise Rejected("a power of a number is too large")
        return Fraction(c**n)

    def expand(self, p: Poly, n: int) -> Poly:
        """p**n for n >= 1 by multiplication."""
        result = p
        for _ in range(n - 1):
            result = self.times(result, p)
        return result

    def times(self, p: Poly, q: Poly) -> Poly:
        """p q, with exponents of equal atoms added."""
        self.meter.spend(len(p) * len(q))
        result: Poly = {}
        for m, c in p.items():
            for n, d in q.items():
                merged, odd = self._merge(m, n)
                if odd:
                    part: Poly = {merged: c * d}
                    for a, e in odd:
                        part = self.times(part, self.single(a, e))
                    result = self.plus(result, part)
                    continue
                total = result.get(merged, Fraction(0)) + c * d
                if total:
                    result[merged] = total
                else:
                    result.pop(merged, None)
            if len(result) > MAX_TERMS:
                raise Rejected("a normal form is too large")
        return self._checked(result)

    def _merge(self, m: Mono, n: Mono) -> tuple[Mono, list[tuple[int, Fraction]]]:
        """The product of two monomials: what is normal already, and atoms whose new exponent needs expansion."""
        if not m or not n:
            return m or n, []
        exponents, odd = dict(m), []
        for a, e in n:
            total = exponents.pop(a, Fraction(0)) + e
            kind = self.atoms[a][0] if e != total else ""
            if (kind == "sum" and 1 <= total < MAX_EXPANSION + 1) or (kind == "const" and not 0 <= total < 1):
                odd.append((a, total))
            elif total:
                exponents[a] = total
        return tuple(sorted(exponents.items())), odd

    def sign(self, a: int) -> int:
        """2, 1 or 0: the atom is known to be > 0, >= 0, or nothing is known, wherever it is defined."""
        if a not in self.known:
            self.known[a] = 0
            self.known[a] = self._find_sign(a)
        return self.known[a]

    def _find_sign(self, a: int) -> int:
        kind, content, _ = self.atoms[a]
        if kind in ("exp", "const"):
            return 2
        if kind == "var" and isinstance(content, Term):
            return self.signs[str(content.value)]
        found = 0
        if kind == "sum" and isinstance(content, dict):
            found = self.manifest(content)
        elif kind == "log" and isinstance(content, dict):
            found = self.manifest(self.plus(content, {(): Fraction(-1)}))
        return found if found == 2 else max(found, _sign(self.evaluate(self.atom_term(a))))

    def manifest(self, p: Poly) -> int:
        """2, 1 or 0: p is > 0, >= 0, or unknown, because every monomial is, wherever p is defined."""
        groups: dict[Mono, Poly] = {}
        for mono, c in p.items():
            key = tuple((a, e) for a, e in mono if self.atoms[a][2])
            groups.setdefault(key, {})[tuple((a, e) for a, e in mono if not self.atoms[a][2])] = c
        best = 1
        for mono, scalar in groups.items():
            # an even power is >= 0, and so is a fractional one, which is defined on bases >= 0 only
            sign = 2 if all(e % 2 == 0 or e.denominator > 1 or self.sign(a) for a, e in mono) else 0
            if any(self.sign(a) < 2 for a, _ in mono):
                sign = min(sign, 1)
            closed = all(c > 0 and not m for m, c in scalar.items())
            value = 2 if closed else _sign(self.evaluate(self.term(scalar)))
            if not sign or not value:
                return 0
            best = max(best, min(sign, value))
        return best

    def cleared(self, p: Poly, *, signed: bool) -> Poly:
        """p times powers of sums that occur with negative exponents; if signed, only of sums known to be > 0."""
        for _ in range(50):
            lowest: dict[int, Fraction] = {}
            for mono in p:
                for a, e in mono:
                    if self.atoms[a][0] == "sum" and e < lowest.get(a, 0) and (not signed or self.sign(a) == 2):
                        lowest[a] = e
            if not lowest:
                break
            for a, e in lowest.items():
                p = self._raise_all(p, a, -e)
        return p

    def _raise_all(self, p: Poly, a: int, e: Fraction) -> Poly:
        """p times the atom to the power e; monomials in which it does not occur get whole powers expanded."""
        result: Poly = {}
        for mono, c in p.items():
            old = dict(mono).get(a, Fraction(0))
            rest: Poly = {tuple((b, f) for b, f in mono if b != a): c}
            result = self.plus(result, self.times(rest, self.single(a, old + e)))
        return result

    def _content(self, p: Poly, *, whole: bool) -> tuple[Fraction, Mono, Poly]:
        """(k, m, r) with p = k m r: k > 0 rational, m a product of atoms that are > 0 (or variables, if whole)."""
        k = Fraction(reduce(gcd, (abs(c.numerator) for c in p.values())), 1)
        for c in p.values():
            k = Fraction(k.numerator, k.denominator * c.denominator // gcd(k.denominator, c.denominator))
        exponents = [dict(mono) for mono in p]
        common = []
        for a in sorted({a for mono in p for a, _ in mono}):
            least = min(e.get(a, Fraction(0)) for e in exponents)
            if least and ((whole and self.atoms[a][0] == "var") or self.sign(a) == 2):
                common.append((a, least))
        inverse = tuple((a, -e) for a, e in common)
        return k, tuple(common), self.times({inverse: 1 / k}, p)

    def power(self, p: Poly, c: Fraction) -> Poly:
        """p**c for a rational constant c, wherever it is defined."""
        if c == 0 or p == _ONE:
            return _ONE
        if not p:
            if c < 0:
                raise Rejected("a power of zero is not defined")
            return {}
        whole = c.denominator == 1
        if len(p) == 1:
            return self._mono_power(*next(iter(p.items())), c)
        if whole and 1 <= c <= MAX_EXPANSION:
            return self.expand(p, int(c))
        k, mono, rest = self._content(p, whole=whole)
        if whole and rest[min(rest)] < 0:
            k, rest = -k, {m: -d for m, d in rest.items()}
        outside = self._mono_power(mono, k, c)
        return self.times(outside, self.single(self.atom("sum", rest), c))

    def _mono_power(self, mono: Mono, k: Fraction, c: Fraction) -> Poly:
        """(k mono)**c; a fractional power is distributed over factors that are all >= 0, or taken out of those > 0."""
        if c.denominator == 1:
            result: Poly = {(): self._scalar(k, int(c))}
            for a, e in mono:
                result = self.times(result, self.single(a, e * c))
            return result
        least = min((2 if k > 0 else 0, *(self.sign(a) for a, _ in mono)))
        inside = [(a, e) for a, e in mono if not least and self.sign(a) < 2]
        result = _ONE if k == abs(k) == 1 else self._scalar_power(abs(k), c)
        if k < 0 or inside:
            base: Poly = {tuple(inside): Fraction(1 if k > 0 else -1)}
            result = self.times(result, {((self.atom("sum", base), c),): Fraction(1)})
        for a, e in mono:
            if (a, e) not in inside:
                result = self.times(result, self.single(a, e * c))
        return result

    def _scalar_power(self, k: Fraction, c: Fraction) -> Poly:
        """k**c for k > 0 and a fractional c."""
        if bits(k) > 4096 or c.denominator > 64 or abs(c) > 64:
            return {((self.atom("const", k), c),): Fraction(1)}
        root = _root(k, c)
        return self.single(self.atom("const", k), c) if root is None else {(): root}

    def exp(self, p: Poly) -> Poly:
        """exp(p) as a product: exp(c log a) = a**c, everything else exp(m)**c."""
        result = _ONE
        for mono, c in p.items():
            kind, content = self.atoms[mono[0][0]][:2] if len(mono) == 1 and mono[0][1] == 1 else ("", None)
            if kind == "log" and isinstance(content, dict) and max(abs(c.numerator), c.denominator) <= 1000:
                factor = self.power(content, c)
            else:
                factor = {((self.atom("exp", mono), c),): Fraction(1)}
            result = self.times(result, factor)
        return result

    def log(self, p: Poly) -> Poly:
        """log(p): positive factors are taken out."""
        if not p:
            raise Rejected("log of zero is not defined")
        k, mono, rest = self._content(p, whole=False)
        result: Poly = {} if k == 1 else {((self.atom("log", {(): k}), Fraction(1)),): Fraction(1)}
        for a, e in mono:
            kind, content, _ = self.atoms[a]
            if kind == "exp" and isinstance(content, tuple):
                result = self.plus(result, {content: e})
            else:
                inner = content if isinstance(content, dict) and kind == "sum" else {((a, Fraction(1)),): Fraction(1)}
                inner = {(): content} if isinstance(content, Fraction) else inner
                result = self.plus(result, {((self.atom("log", inner), Fraction(1)),): e})
        if rest != _ONE:
            result = self.plus(result, {((self.atom("log", rest), Fraction(1)),): Fraction(1)})
        return result

    def poly(self, term: Term) -> Poly:
        """The normal form of a term."""
        forms: dict[Term, Poly] = {}
        for node in postorder(term):
            forms[node] = self._form(node, [forms[a] for a in node.args])
        return forms[term]

    def _form(self, node: Term, args: list[Poly]) -> Poly:
        """The normal form of one node, given those of its arguments."""
        q = number(node)
        if q is not None:
            return {(): q} if q else {}
        if node.op == "add":
            return self.plus(args[0], args[1])
        if node.op == "mul":
            return self.times(args[0], args[1])
        if node.op == "div":
            return self.times(args[0], self.power(args[1], Fraction(-1)))
        if node.op == "pow":
            c = number(node.args[1])
            return self.power(args[0], c) if c is not None else self.exp(self.times(args[1], self.log(args[0])))
        if node.op == "exp":
            return self.exp(args[0])
        if node.op == "log":
            return self.log(args[0])
        if node.op == "cos" and not args[0]:
            return _ONE
        if node.op in ("sin", "abs") and not args[0]:
            return {}
        if node.args:
            node = make(node.op, tuple(self.term(a) for a in args), node.value)
        return {((self.atom("var" if node.op == "var" else "opaque", node), Fraction(1)),): Fraction(1)}

    def atom_term(self, a: int) -> Term:
        """The atom as a term."""
        if a not in self.terms:
            kind, content, _ = self.atoms[a]
            if isinstance(content, Term):
                self.terms[a] = content
            elif isinstance(content, Fraction):
                self.terms[a] = num(content)
            elif isinstance(content, tuple):
                self.terms[a] = apply("exp", self.term({content: Fraction(1)}))
            else:
                self.terms[a] = apply("log", self.term(content)) if kind == "log" else self.term(content)
        return self.terms[a]

    def term(self, p: Poly) -> Term:
        """The normal form as a term again."""
        total = num(0)
        for mono, c in sorted(p.items()):
            product = num(c)
            for a, e in mono:
                kind, content, _ = self.atoms[a]
                if kind == "exp" and isinstance(content, tuple):
                    factor = apply("exp", self.term({content: e}))
                else:
                    factor = self.atom_term(a) if e == 1 else power(self.atom_term(a), num(e))
                product = mul(product, factor)
            total = add(total, product)
        return total


def _sign(x: Interval) -> int:
    """2, 1 or 0 as an enclosure is > 0, >= 0 or neither."""
    low = compare(x[0], (0, 0))
    return 2 if low > 0 else 1 if low == 0 else 0

