"""The public numbers of several sampling rules: what was given, for all of them or for one, and what the profile file has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from accountant.rules import RULES
from profiles import Declaration, InvalidArgument, InvalidSampling, to_exact
from profiles.numbers import to_number
from profiles.suggestions import suggest
from profiles.terms import Term, free_symbols

#: Constants of a file's [sampling] that mean the same for every rule; a mean belongs to the rule that it was written for.
_SHARED = ("n", "m", "lam")
_ALIASES = {"xbar": "mean", "lambda": "lam"}


class RuleConstants:
    """The public numbers of all rules: what was given, for all of them or for one, and what is in the profile file."""

    def __init__(
        self,
        declaration: Declaration,
        names: Sequence[str],
        given: Mapping[str, object],
        target_size: object | None,
        rate: object | None,
    ) -> None:
        self._own = {} if declaration.sampling is None else dict(declaration.sampling.constants)
        self._given: dict[str, dict[str, object]] = {"": {}}
        for key, value in given.items():
            rule, dot, name = key.rpartition(".")
            if dot and rule not in names:
                raise InvalidArgument(
                    f"the constant {key[:60]!r} is for the rule {rule[:40]!r}, which is not asked for; asked for are "
                    f"{', '.join(names) or 'no rules by name'}{suggest(rule, names)}"
                )
            self._given.setdefault(rule, {})[name] = value
        if target_size is not None and rate is not None:
            raise InvalidArgument("a sample size and a rate were given; give one of them, since m = rate*n")
        everywhere = self._given[""]
        if (target_size is not None or rate is not None) and "m" in everywhere:
            raise InvalidArgument("the sample size was given twice, as m and by --target-size or --rate; give it once")
        self._size = None if target_size is None else to_number(target_size, "the sample size", "(0, inf)", error=InvalidSampling)
        self._rate = None if rate is None else to_number(rate, "the rate", "(0, 1]", error=InvalidSampling)
        coresets = [name for name in names if name in RULES and RULES[name].uses_statistic]
        if len(set(coresets)) > 1 and everywhere.keys() & {"mean", "xbar"}:
            raise InvalidArgument(
                f"the mean was given for {', '.join(coresets)}, but each of them needs the mean of another power; write "
                f"{', '.join(f'{name}.mean=...' for name in coresets)}"
            )
        self._check_used(names)

    def _check_used(self, names: Sequence[str]) -> None:
        """Refuse constants that no rule takes, where all rules have names."""
        if not names or any(name not in RULES for name in names):
            return
        known = {key for name in names for keys in RULES[name].accepts for key in keys} | {"statistic", "xbar", "lambda", "n"}
        shown = ", ".join(sorted({_ALIASES.get(key, key) for key in known}))
        for key in self._given[""]:
            if key not in known:
                raise InvalidSampling(f"no rule takes the constant {key[:60]!r}; they take {shown}{suggest(key, known)}")

    def of_rule(self, name: str) -> dict[str, object]:
        """Return the constants of a named rule: those given for it come before those given for all, and these before the profile file's.

        Raises :class:`InvalidSampling` where a rate was given, and n is needed beside it.
        """
        if name not in RULES:
            return {}  # make_rule refuses it with what is known
        accepted = {key for keys in RULES[name].accepts for key in keys}
        if RULES[name].uses_statistic:
            accepted |= {"statistic"}
        everywhere = {key: value for key, value in self._given[""].items() if _ALIASES.get(key, key) in accepted}
        constants = {
            **{key: self._own[key] for key in _SHARED if key in self._own and key in accepted},
            **everywhere,
            **self._given.get(name, {}),
        }
        if "rate" in constants:
            return {key: value for key, value in constants.items() if key not in ("m", "n") or key in self._given.get(name, {})}
        if self._size is not None and "m" in accepted:
            constants["m"] = self._size
        if self._rate is not None and "m" in accepted:
            if "n" not in constants and "rate" in accepted:
                return {"rate": self._rate}
            if "n" not in constants:
                raise InvalidSampling(f"the rule {name!r} needs n beside the rate; give --constant n=...")
            constants["m"] = self._rate * to_exact(constants["n"], "the constant n")
        return constants

    def of_expression(self, q: Term) -> dict[str, object]:
        """Return the constants of an expression: those that were given come before the profile file's; m is the size that was asked for."""
        constants = {**self._own, **self._given[""]}
        if self._size is not None or self._rate is not None:
            if "m" not in free_symbols(q):
                raise InvalidArgument(
                    "a sample size was given, but q does not contain m, so that it would change nothing; write q with m, or leave it out"
                )
            if self._size is None and "n" not in constants:
                raise InvalidSampling("the expression q needs n beside the rate; give --constant n=...")
            constants["m"] = (
                self._size if self._size is not None else (self._rate or Fraction(1)) * to_exact(constants["n"], "the constant n")
            )
        return constants

    def number(self, rule: str, key: str) -> Fraction | None:
        """Return a public constant as a number, where it is known."""
        constants = {**self._own, **self._given[""], **self._given.get(rule, {})}
        return to_exact(constants[key], f"the constant {key}") if key in constants else None

    def size(self, rule: str) -> Fraction | None:
        if self._size is not None:
            return self._size
        count = self.number(rule, "n")
        rate = self._rate if self._rate is not None else self.number(rule, "rate")
        if rate is not None:
            return None if count is None else rate * count
        return self.number(rule, "m")
