"""Normal forms: polynomials with rational coefficients over atoms, and the signs that can be read off them."""
# An atom is a term: a variable, an exponential exp(m) of a product m (so that products of exponentials merge), a logarithm, the base of a
# power that is not expanded (a sum, a product, or a number under a fractional power), or an application of any other operation, which is
# opaque. A monomial is a sorted tuple of atoms with rational exponents. Rewriting uses IDENTITIES and nothing else.

from fractions import Fraction
from functools import reduce
from math import ceil, gcd, lcm

from ..core.documents import Meter, require
from ..core.terms import MAX_BITS, Term, bits, exp, log, make, num, postorder, power
from ..core.theorems import Box
from .boxes import enclose

Exponent = Fraction | int
Mono = tuple[tuple[Term, Exponent], ...]
Poly = dict[Mono, Fraction]
_MAX_TERMS, _MAX_EXPANSION, _MOST_NESTED, _BASES = 5_000, 12, 50, ("add", "mul", "pow", "num")
_UNIT = Fraction(1)
_ONE: Poly = {(): _UNIT}
_COSINES = {Fraction(k, 12): Fraction(s, 4) for k, s in ((6, 0), (4, 1), (3, 2), (2, 3), (0, 4))}  # the squares of cos(pi k/12)
_PRIMES, _LONGEST = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31), 2_500  # bits of the numbers that are divided by them: 1e-300 has 997


IDENTITIES = {  # by names, each wherever both of its sides are defined
    "polynomials": "sums and products are those of polynomials with rational coefficients",
    "exp of a sum": "exp(a) exp(b) = exp(a + b)",
    "exp of a logarithm": "exp(c log a) = a^c",
    "log of an exponential": "log(exp(a) b) = a + log b",
    "sum of exponents": "a^c a^d = a^(c + d)",
    "power of a product": "(a b)^c = a^c b^c for whole c, or for a, b >= 0, so also for the prime factors of a number",
    "log of a product": "log(a b) = log a + log b for the prime factors of a number > 0",
    "square of an Abs": "Abs(a)^2 = a^2",
    "Abs by sign": "Abs(a) = a for a >= 0, Abs(-a) = Abs(a), and Abs(a b) = a Abs(b) for a > 0",
    "order of a Max": "Max(a, b) = Max(b, a), and Max(Max(a, b), c) = Max(a, Max(b, c))",
    "factor of a Max": "Max(a b, a c) = a Max(b, c) for a > 0",
    "Max by an Abs": "Max(a, b) = (a + b + Abs(a - b))/2",
    "turns": "sin x = cos(x - pi/2), and cos x = cos(-x) = cos(x + 2 pi) = -cos(pi - x)",
    "squares of cosines": "cos^2 is 1, 3/4, 1/2, 1/4, 0 at 0, pi/6, pi/4, pi/3, pi/2",
}


class Normaliser:
    """Normal forms of terms over one box."""

    def __init__(self, box: Box, meter: Meter, *, level: bool = False) -> None:
        self.box, self.meter, self.level = box, meter, level  # level: max(a, b) is (a + b + |a - b|)/2
        self.forms: dict[Term, Poly] = {}
        self.known: dict[Term, int] = {}
        self.nested = 0  # in how many products and signs

    def _atom(self, a: Term, e: Exponent = 1) -> Poly:
        # the power of an atom, with whole powers of bases expanded; a whole exponent is an int, which is faster
        whole = e.numerator // e.denominator
        if a.op in _BASES and 1 <= whole <= _MAX_EXPANSION:
            return reduce(self._times, [self.forms[a]] * whole, self._atom(a, e - whole))
        if a.op == "abs" and 2 <= whole <= _MAX_EXPANSION:
            return reduce(self._times, [self.forms[a.args[0]]] * 2, self._atom(a, e - 2))
        return {((a, whole if e == whole else e),): _UNIT} if e else _ONE

    def _plus(self, p: Poly, q: Poly) -> Poly:
        self.meter.spend(1 + (len(p) + len(q)) // 8 + len(q) * _arithmetic(p, q))
        result = p.copy()
        _gather(result, q)
        return result

    def _times(self, p: Poly, q: Poly) -> Poly:
        self.meter.spend(1 + len(p) * len(q) * (5 + max(map(len, p), default=0) + max(map(len, q), default=0) + _arithmetic(p, q)))
        result: Poly = {}
        for m, c in p.items():
            for n, d in q.items():
                merged, odd = _merge(m, n)
                product = {merged: c * d}
                if odd:
                    self._enter()
                    product = reduce(self._times, [self._atom(a, e) for a, e in odd], product)
                    self.nested -= 1
                _gather(result, product)
            require(len(result) <= _MAX_TERMS, "a normal form has too many terms")
        self.meter.spend(sum(map(bits, result.values())) // 64)
        return result

    def _enter(self) -> None:
        # one more product in a product, or sign in a sign: a rejection ends the normaliser
        self.nested += 1
        require(self.nested <= _MOST_NESTED, "a normal form is nested too deeply")

    def _sign(self, term: Term) -> int:
        # 2, 1 or 0 as an enclosure is > 0, >= 0 or neither
        low = enclose(term, self.box, self.meter)[0]
        return 2 if low > 0 else int(low == 0)

    def _known_sign(self, a: Term) -> int:
        # 2, 1 or 0: the atom is known to be > 0, >= 0, or nothing is known, wherever it is defined
        if a not in self.known:
            self._enter()
            self.known[a] = 0
            if a.op in ("exp", "var"):
                self.known[a] = 2 if a.op == "exp" else self.box[a.value].sign
            else:
                sign = self.manifest(self.forms[a]) if a.op in _BASES else 0
                if a.op == "log":  # it has the sign of its argument - 1 where that is >= 0
                    sign = self.manifest(self._plus(self.forms[a.args[0]], {(): -_UNIT}))
                self.known[a] = sign if sign == 2 else max(sign, self._sign(a))
            self.nested -= 1
        return self.known[a]

    def manifest(self, p: Poly) -> int:
        """Return 2, 1 or 0: p is > 0, >= 0, or unknown, because every monomial is, wherever p is defined."""
        groups: dict[Mono, Poly] = {}
        for mono, c in p.items():
            key = tuple((a, e) for a, e in mono if a.free)
            groups.setdefault(key, {})[tuple((a, e) for a, e in mono if not a.free)] = c
        best = 1
        for mono, scalar in groups.items():
            # an even power is >= 0, and so is a fractional one, which is defined on bases >= 0 only
            fine = all(e % 2 == 0 or e.denominator > 1 or self._known_sign(a) for a, e in mono)
            value = int(fine) and (2 if min(scalar.values()) > 0 and scalar.keys() == {()} else self._sign(self.term(scalar)))
            if not value:
                return 0
            best = max(best, value if all(self._known_sign(a) == 2 for a, _ in mono) else 1)
        return best

    def cleared(self, p: Poly, *, signed: bool) -> Poly:
        """Return p times powers of bases that occur with negative exponents; if signed, only of bases known to be > 0."""
        for _ in range(50):
            lowest: dict[Term, Exponent] = {}
            for a, e in (factor for mono in p for factor in mono):
                if a.op in _BASES and e < lowest.get(a, 0) and (not signed or self._known_sign(a) == 2):
                    lowest[a] = e
            if not lowest:
                break
            p = self._times(p, {tuple(sorted((a, -e) for a, e in lowest.items())): _UNIT})
        return p

    def _content(self, p: Poly, *, whole: bool) -> tuple[Fraction, Mono, Poly]:
        # (k, m, r) with p = k m r: k > 0 rational, m a product of atoms that are > 0 (or of variables, if whole)
        k = Fraction(reduce(gcd, [abs(c.numerator) for c in p.values()]), lcm(*[c.denominator for c in p.values()]))
        common = self._common([p], whole=whole)
        return k, common, self._times({tuple((a, -e) for a, e in common): 1 / k}, p)

    def _common(self, polys: list[Poly], *, whole: bool) -> Mono:
        # the product of atoms that are > 0 (or of variables, if whole) that all monomials contain
        exponents = [dict(mono) for p in polys for mono in p]
        least = [(a, min(e.get(a, 0) for e in exponents)) for a in sorted({a for e in exponents for a in e})]
        return tuple((a, e) for a, e in least if e and ((whole and a.op == "var") or self._known_sign(a) == 2))

    def _power(self, p: Poly, c: Fraction) -> Poly:
        # p**c for a rational constant c, wherever it is defined
        require(p or c >= 0, "a power of zero is not defined")
        if c == 0 or not p:
            return {} if c else _ONE
        whole = c.denominator == 1
        if len(p) == 1:
            return self._mono_power(*next(iter(p.items())), c)
        if whole and 1 <= c <= _MAX_EXPANSION:
            return reduce(self._times, [p] * int(c))
        k, mono, rest = self._content(p, whole=whole)
        if whole and rest[min(rest)] < 0:
            k, rest = -k, {m: -d for m, d in rest.items()}
        return self._times(self._mono_power(mono, k, c), self._atom(self.term(rest), c))

    def _mono_power(self, mono: Mono, k: Fraction, c: Fraction) -> Poly:
        # (k mono)**c; a fractional power is distributed over factors that are all >= 0, or else taken out of those > 0 only
        if c.denominator == 1:
            require((bits(k) + 1) * abs(c) <= MAX_BITS, "a power of a number is too large")
            return reduce(self._times, [self._atom(a, e * c) for a, e in mono], {(): Fraction(k ** int(c))})
        known = {a: self._known_sign(a) for a, _ in mono}
        self.meter.spend(bits(k) // 8)
        inside = tuple((a, e) for a, e in mono if known[a] < 2 and (k < 0 or 0 in known.values()))
        result = reduce(self._times, [self._atom(self.term({(): b}), e * c) for b, e in _prime_powers(abs(k))], _ONE)
        if k < 0 or inside:
            result = self._times(result, self._atom(self.term({inside: Fraction(1 if k > 0 else -1)}), c))
        return reduce(self._times, [self._atom(a, e * c) for a, e in mono if (a, e) not in inside], result)

    def _exp(self, p: Poly) -> Poly:
        # exp(c log a) = a**c, everything else exp(m)**c
        result = _ONE
        for mono, c in p.items():
            is_log = len(mono) == 1 and mono[0][0].op == "log" and mono[0][1] == 1 and max(abs(c.numerator), c.denominator) <= 1000
            factor = self._power(self.forms[mono[0][0].args[0]], c) if is_log else self._atom(exp(self.term({mono: _UNIT})), c)
            result = self._times(result, factor)
        return result

    def _log(self, p: Poly) -> Poly:
        # log(exp(m) r) = m + log r
        require(p, "log of zero is not defined")
        result: Poly = {}
        for a, e in self._content(p, whole=False)[1]:
            if a.op == "exp":
                p, result = self._times(p, {((a, -e),): _UNIT}), self._plus(result, self._times({(): Fraction(e)}, self.forms[a.args[0]]))
        if p.keys() != {()} or p[()] < 0:
            return self._plus(result, self._atom(log(self.term(p))))
        self.meter.spend(bits(p[()]) // 8)
        logs = (self._times({(): Fraction(e)}, self._atom(log(self.term({(): b})))) for b, e in _prime_powers(p[()]))
        return reduce(self._plus, logs, result)

    def _absolute(self, p: Poly) -> Poly:
        # |p| = p for p >= 0, |k m r| = k m |r| for k, m > 0, and |-r| = |r|
        for signed in (p, {m: -c for m, c in p.items()}):
            if self.manifest(signed):
                return signed
        k, mono, rest = self._content(p, whole=False)
        if rest[min(rest)] < 0:
            rest = {m: -d for m, d in rest.items()}
        return self._times({mono: k}, _ONE if rest == _ONE else self._atom(make("abs", self.term(rest))))

    def poly(self, term: Term) -> Poly:
        """Return the normal form of a term."""
        for node in postorder(term):
            if node not in self.forms:
                self.forms[node] = self._form(node, [self.forms[a] for a in node.args])
        return self.forms[term]

    def _form(self, node: Term, args: list[Poly]) -> Poly:
        if node.op == "num":
            return {(): node.value} if node.value else {}
        if node.op == "pow":
            return self._power(args[0], node.args[1].value)
        if node.op in ("add", "mul"):
            return (self._plus if node.op == "add" else self._times)(*args)
        if node.op in ("exp", "log"):
            return (self._exp if node.op == "exp" else self._log)(*args)
        if node.op in ("sin", "cos", "abs") and not args[0]:
            return _ONE if node.op == "cos" else {}
        if node.op == "ceiling" and args[0].keys() <= _ONE.keys():
            return {(): Fraction(whole)} if (whole := ceil(args[0].get((), 0))) else {}
        if node.op in ("sin", "cos") and [[(a.op, e) for a, e in mono] for mono in args[0]] == [[("pi", 1)]]:
            # sin x = cos(x - pi/2), cos x = cos(-x) = cos(x + 2 pi) = -cos(pi - x)
            (turns,) = args[0].values()
            turns = abs((turns - Fraction(node.op == "sin") / 2 + 1) % 2 - 1)
            square = _COSINES.get(min(turns, 1 - turns))
            if square is not None:
                return self._times({(): Fraction(1 if 2 * turns <= 1 else -1)}, self._power({(): square} if square else {}, Fraction(1, 2)))
        if node.op == "abs":
            return self._absolute(args[0])
        if node.op == "max" and self.level:
            difference = self._absolute(self._plus(args[0], self._times({(): -_UNIT}, args[1])))
            return self._times({(): _UNIT / 2}, self._plus(self._plus(*args), difference))
        common = self._common(args, whole=False) if node.op == "max" else ()
        if common:  # Max(a b, a c) = a Max(b, c) for a > 0
            rest = [self.term(self._times({tuple((a, -e) for a, e in common): _UNIT}, p)) for p in args]
            return self._times({common: _UNIT}, self.poly(make(node.op, *rest)))
        inner = [self.term(p) for p in args]
        if node.op == "max":  # of the arguments of all that is nested, in one order
            return self._atom(reduce(lambda a, b: make("max", a, b), sorted({leaf for a in inner for leaf in _choices(a)})))
        return self._atom(make(node.op, *inner, value=node.value))

    def term(self, p: Poly) -> Term:
        """Return the normal form as a term again."""
        total = num(0)
        for mono, c in sorted(p.items()):
            factors = [exp(num(e) * a.args[0]) if a.op == "exp" else a if e == 1 else power(a, e) for a, e in mono]
            total = total + reduce(Term.__mul__, factors, num(c))
        self.forms.setdefault(total, p)
        return total


def _choices(a: Term) -> list[Term]:
    # the arguments of nested maxima, in no order
    parts, new = {a}, [a]
    while new:
        new = [part for b in new if b.op == "max" for part in b.args if part not in parts]
        parts.update(new)
    return [b for b in parts if b.op != "max"]


def _prime_powers(k: Fraction) -> list[tuple[Fraction, int]]:
    # factors (b, e) of k > 0: small primes, unless it is long, and what is left; so that sqrt(6) is sqrt(2) sqrt(3)
    powers, upper, lower = list[tuple[Fraction, int]](), k.numerator, k.denominator
    for b in _PRIMES if bits(k) <= _LONGEST else ():
        e = 0
        while upper % b == 0:
            upper, e = upper // b, e + 1
        while lower % b == 0:
            lower, e = lower // b, e - 1
        powers += [(Fraction(b), e)] if e else []
    return [*powers, *((Fraction(b), e) for b, e in ((upper, 1), (lower, -1)) if b != 1)]


def _arithmetic(p: Poly, q: Poly) -> int:
    # what an operation on a coefficient of each costs
    return sum(max(map(bits, r.values()), default=0) for r in (p, q)) ** 2 // 400_000


def _gather(result: Poly, p: Poly) -> None:
    for mono, c in p.items():
        total = result.pop(mono) + c if mono in result else c
        require(bits(total) <= 4 * MAX_BITS, "a coefficient is too large")
        if total:
            result[mono] = total


def _merge(m: Mono, n: Mono) -> tuple[Mono, list[tuple[Term, Exponent]]]:
    # the product of two monomials: what is normal already, and bases whose exponent needs expansion; m is normal
    if not n:
        return m, []
    exponents, odd = dict(m), []
    for a, e in n:
        total = exponents.pop(a, 0) + e
        if (a.op in _BASES or (a.op == "abs" and total >= 2)) and 1 <= total < _MAX_EXPANSION + 1:
            odd.append((a, total))
        elif total:
            exponents[a] = total
    return tuple(sorted(exponents.items())), odd
