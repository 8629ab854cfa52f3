"""Our answers and the closed forms that all are judged by."""

from __future__ import annotations

import resource
import time
from fractions import Fraction
from typing import Any

import mpmath

from accountant.compositions.queries import CurvePoint, lower_text, upper_text
from accountant.curves import Composition, curve_of, make_event
from benchmarks.accountants.settings import Setting

_DIGITS = 60


def closed_form(setting: Setting) -> Fraction | None:
    """Return ε of Gaussian sums without samples to 30 digits: the root of Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) = δ, μ = √T/σ."""
    if setting.mechanism != "gaussian" or setting.rate != "1":
        return None
    with mpmath.workdps(_DIGITS):
        mu, delta = mpmath.sqrt(setting.count) / mpmath.mpf(setting.scale), mpmath.mpf(setting.delta)

        def excess(epsilon: Any) -> Any:
            return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu) - delta

        low, high = mpmath.mpf(0), mpmath.mpf(1)
        while excess(high) > 0:
            high *= 2
        for _ in range(4 * _DIGITS):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        return Fraction(mpmath.nstr(high, 30))


def account(setting: Setting, gap: str) -> dict[str, Any]:
    """Return our enclosure of ε in both directions together, at a relative gap, with processor time and memory."""
    name = "noise_multiplier" if setting.mechanism == "gaussian" else "scale"
    event = make_event(setting.mechanism, {name: setting.scale}, sampling_probability=setting.rate, count=setting.count)
    started = time.process_time()
    found: CurvePoint = curve_of(Composition("benchmark", (event,))).epsilon(setting.delta, gap=gap)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    ends = {"lower": lower_text(found, 8), "upper": upper_text(found, 8)}
    return {**ends, "seconds": seconds, "peak_mb": peak, "checked": found.checked_by_kernel, "reached": found.reached}
