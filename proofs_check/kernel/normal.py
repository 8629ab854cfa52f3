"""Normal forms: polynomials with rational coefficients over atoms, and the signs that can be read off them."""
# An atom is (kind, content): a variable or an opaque application (a Term), exp(m) for a monomial m (so that products of exponentials
# merge), log a, or a sum a standing for the base of a power a**c (polynomials; a number under a fractional power is one too). A monomial
# is a sorted tuple of (number of the atom, rational exponent). Rewriting is an identity at every point at which the term is defined.

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from math import gcd, lcm

from .errors import Meter, Rejected
from .intervals import Interval
from .terms import MAX_BITS, Term, bits, exp, log, make, num, number, postorder

Mono = tuple[tuple[int, Fraction], ...]
Poly = dict[Mono, Fraction]
Content = Poly | Mono | Term
_MAX_TERMS, _MAX_EXPANSION = 20_000, 12
_NULL, _UNIT = Fraction(0), Fraction(1)
_ONE: Poly = {(): _UNIT}


def _sign(x: Interval) -> int:
    # 2, 1 or 0 as an enclosure is > 0, >= 0 or neither
    return 2 if x[0] > 0 else int(x[0] == 0)


class Normaliser:
    """Normal forms of terms over one box: the signs of its variables, and enclosures of terms over it, are given."""

    def __init__(self, signs: Mapping[str, int], enclose: Callable[[Term], Interval], meter: Meter) -> None:
        self.signs, self.enclose, self.meter = signs, enclose, meter
        self.atoms: list[tuple[str, Content, bool]] = []  # with whether a variable occurs in it
        self.index: dict[object, int] = {}
        self.known: dict[int, int] = {}
        self.terms: dict[int, Term] = {}

    def _atom(self, kind: str, content: Content, e: Fraction = _UNIT) -> Poly:
        # the power of an atom, which may be new
        key = (kind, frozenset(content.items()) if isinstance(content, dict) else content)
        if key not in self.index:
            monos = list(content) if isinstance(content, dict) else [content] if isinstance(content, tuple) else []
            free = bool(content.free) if isinstance(content, Term) else any(self.atoms[a][2] for mono in monos for a, _ in mono)
            self.index[key] = len(self.atoms)
            self.atoms.append((kind, content, free))
        return self._single(self.index[key], e)

    def _single(self, a: int, e: Fraction) -> Poly:
        # the atom to the power e, with whole powers of sums expanded and of constants evaluated
        kind, content, _ = self.atoms[a]
        whole = e.numerator // e.denominator
        rest: Poly = {((a, e - whole),): _UNIT} if e != whole else _ONE
        if kind == "sum" and isinstance(content, dict) and 1 <= whole <= _MAX_EXPANSION:
            return self._times(self._expand(content, whole), rest)
        return {((a, e),): _UNIT} if e else _ONE

    def _scalar(self, c: Fraction, n: int) -> Fraction:
        if (bits(c) + 1) * abs(n) > MAX_BITS:
            raise Rejected("a power of a number is too large")
        return Fraction(c**n)

    def _expand(self, p: Poly, n: int) -> Poly:
        return reduce(self._times, [p] * n)

    def _plus(self, p: Poly, q: Poly) -> Poly:
        self.meter.spend(1 + (len(p) + len(q)) // 8)
        result = p.copy()
        for mono, c in q.items():
            result[mono] = result.get(mono, _NULL) + c
            if not result[mono]:
                del result[mono]
        return result

    def _times(self, p: Poly, q: Poly) -> Poly:
        self.meter.spend(1 + 3 * len(p) * len(q))
        result: Poly = {}
        for m, c in p.items():
            for n, d in q.items():
                merged, odd = self._merge(m, n)
                if odd:
                    result = self._plus(result, reduce(self._times, [self._single(a, e) for a, e in odd], {merged: c * d}))
                    continue
                result[merged] = result.get(merged, _NULL) + c * d
                if not result[merged]:
                    del result[merged]
            if len(result) > _MAX_TERMS:
                raise Rejected("a normal form has too many terms")
        self.meter.spend(sum(bits(c) for c in result.values()) // 64)
        return result

    def _merge(self, m: Mono, n: Mono) -> tuple[Mono, list[tuple[int, Fraction]]]:
        # the product of two monomials: what is normal already, and atoms whose new exponent needs expansion
        if not m or not n:
            return m or n, []
        exponents, odd = dict(m), []
        for a, e in n:
            total = exponents.pop(a, _NULL) + e
            kind = self.atoms[a][0] if e != total else ""
            if kind == "sum" and 1 <= total < _MAX_EXPANSION + 1:
                odd.append((a, total))
            elif total:
                exponents[a] = total
        return tuple(sorted(exponents.items())), odd

    def _known_sign(self, a: int) -> int:
        # 2, 1 or 0: the atom is known to be > 0, >= 0, or nothing is known, wherever it is defined
        if a not in self.known:
            self.known[a] = 0
            kind, content, _ = self.atoms[a]
            if kind == "exp":
                self.known[a] = 2
            elif kind == "var" and isinstance(content, Term):
                self.known[a] = self.signs[str(content.value)]
            else:
                found = 0
                if isinstance(content, dict):  # log a has the sign of a - 1 where that is >= 0
                    found = self.manifest(content if kind == "sum" else self._plus(content, {(): -_UNIT}))
                self.known[a] = found if found == 2 else max(found, _sign(self.enclose(self._atom_term(a))))
        return self.known[a]

    def manifest(self, p: Poly) -> int:
        """Return 2, 1 or 0: p is > 0, >= 0, or unknown, because every monomial is, wherever p is defined."""
        groups: dict[Mono, Poly] = {}
        for mono, c in p.items():
            key = tuple((a, e) for a, e in mono if self.atoms[a][2])
            groups.setdefault(key, {})[tuple((a, e) for a, e in mono if not self.atoms[a][2])] = c
        best = 1
        for mono, scalar in groups.items():
            # an even power is >= 0, and so is a fractional one, which is defined on bases >= 0 only
            fine = all(e % 2 == 0 or e.denominator > 1 or self._known_sign(a) for a, e in mono)
            strict = all(self._known_sign(a) == 2 for a, _ in mono)
            value = int(fine) and (2 if min(scalar.values()) > 0 and scalar.keys() == {()} else _sign(self.enclose(self.term(scalar))))
            if not value:
                return 0
            best = max(best, value if strict else 1)
        return best

    def cleared(self, p: Poly, *, signed: bool) -> Poly:
        """Return p times powers of sums that occur with negative exponents; if signed, only of sums known to be > 0."""
        for _ in range(50):
            lowest: dict[int, Fraction] = {}
            for a, e in (factor for mono in p for factor in mono):
                if self.atoms[a][0] == "sum" and e < lowest.get(a, 0) and (not signed or self._known_sign(a) == 2):
                    lowest[a] = e
            if not lowest:
                break
            for a, e in lowest.items():
                result: Poly = {}
                for mono, c in p.items():
                    raised = self._single(a, dict(mono).get(a, _NULL) - e)
                    result = self._plus(result, self._times({tuple((b, f) for b, f in mono if b != a): c}, raised))
                p = result
        return p

    def _content(self, p: Poly, *, whole: bool) -> tuple[Fraction, Mono, Poly]:
        # (k, m, r) with p = k m r: k > 0 rational, m a product of atoms that are > 0 (or of variables, if whole)
        k = Fraction(reduce(gcd, [abs(c.numerator) for c in p.values()]), lcm(*[c.denominator for c in p.values()]))
        exponents, common = [dict(mono) for mono in p], list[tuple[int, Fraction]]()
        for a in sorted({a for mono in p for a, _ in mono}):
            least = min(e.get(a, _NULL) for e in exponents)
            if least and ((whole and self.atoms[a][0] == "var") or self._known_sign(a) == 2):
                common.append((a, least))
        return k, tuple(common), self._times({tuple((a, -e) for a, e in common): 1 / k}, p)

    def _power(self, p: Poly, c: Fraction) -> Poly:
        # p**c for a rational constant c, wherever it is defined
        if not p and c < 0:
            raise Rejected("a power of zero is not defined")
        if c == 0 or not p:
            return {} if c else _ONE
        whole = c.denominator == 1
        if len(p) == 1:
            return self._mono_power(*next(iter(p.items())), c)
        if whole and 1 <= c <= _MAX_EXPANSION:
            return self._expand(p, int(c))
        k, mono, rest = self._content(p, whole=whole)
        if whole and rest[min(rest)] < 0:
            k, rest = -k, {m: -d for m, d in rest.items()}
        return self._times(self._mono_power(mono, k, c), self._atom("sum", rest, c))

    def _mono_power(self, mono: Mono, k: Fraction, c: Fraction) -> Poly:
        # (k mono)**c; a fractional power is distributed over factors that are all >= 0, or else taken out of those > 0 only
        if c.denominator == 1:
            return reduce(self._times, [self._single(a, e * c) for a, e in mono], {(): self._scalar(k, int(c))})
        least = min((2 if k > 0 else 0, *(self._known_sign(a) for a, _ in mono)))
        inside = tuple((a, e) for a, e in mono if not least and self._known_sign(a) < 2)
        result = self._atom("sum", {(): abs(k)}, c) if abs(k) != 1 else _ONE
        if k < 0 or inside:
            base: Poly = {inside: Fraction(1 if k > 0 else -1)}
            result = self._times(result, self._atom("sum", base, c))
        return reduce(self._times, [self._single(a, e * c) for a, e in mono if (a, e) not in inside], result)

    def _exp(self, p: Poly) -> Poly:
        # exp(c log a) = a**c, everything else exp(m)**c
        result = _ONE
        for mono, c in p.items():
            kind, content, _ = self.atoms[mono[0][0]] if len(mono) == 1 and mono[0][1] == 1 else ("", (), False)
            power = kind == "log" and max(abs(c.numerator), c.denominator) <= 1000
            result = self._times(result, self._power(content, c) if power and isinstance(content, dict) else self._atom("exp", mono, c))
        return result

    def _log(self, p: Poly) -> Poly:
        # log(exp(m) r) = m + log r
        if not p:
            raise Rejected("log of zero is not defined")
        result: Poly = {}
        for a, e in self._content(p, whole=False)[1]:
            kind, content, _ = self.atoms[a]
            if kind == "exp" and isinstance(content, tuple):
                p, result = self._times(p, {((a, -e),): _UNIT}), self._plus(result, {content: e})
        return result if p == _ONE else self._plus(result, self._atom("log", p))

    def poly(self, term: Term) -> Poly:
        """Return the normal form of a term."""
        forms: dict[Term, Poly] = {}
        for node in postorder(term):
            forms[node] = self._form(node, [forms[a] for a in node.args])
        return forms[term]

    def _form(self, node: Term, args: list[Poly]) -> Poly:
        op, q = node.op, number(node)
        if q is not None:
            return {(): q} if q else {}
        if op in ("add", "mul"):
            return (self._plus if op == "add" else self._times)(args[0], args[1])
        if op == "div":
            return self._times(args[0], self._power(args[1], -_UNIT))
        if op == "pow":
            c = number(node.args[1])
            return self._exp(self._times(args[1], self._log(args[0]))) if c is None else self._power(args[0], c)
        if op in ("exp", "log"):
            return (self._exp if op == "exp" else self._log)(args[0])
        if op in ("sin", "cos", "abs") and not args[0]:
            return _ONE if op == "cos" else {}
        inner = make(op, *[self.term(a) for a in args], value=node.value)
        return self._atom("var" if op == "var" else "opaque", inner)

    def _atom_term(self, a: int, e: Fraction = _UNIT) -> Term:
        # the power of an atom as a term
        kind, content, _ = self.atoms[a]
        if isinstance(content, tuple):
            return exp(self.term({content: e}))
        if a not in self.terms:
            inner = content if isinstance(content, Term) else self.term(content)
            self.terms[a] = log(inner) if kind == "log" else inner
        return self.terms[a] if e == 1 else make("pow", self.terms[a], num(e))

    def term(self, p: Poly) -> Term:
        """Return the normal form as a term again."""
        total = num(0)
        for mono, c in sorted(p.items()):
            total = total + reduce(Term.__mul__, [self._atom_term(a, e) for a, e in mono], num(c))
        return total
