"""Check a suite with the kernel of a folder, on the standard library alone: ``python -I run.py KERNEL SUITE OUT [narrow | wide]``.

The reports are written as one JSON object, with what the interpreter is. ``narrow`` allows this process no more than a 32-bit interpreter
with the least settings has; ``wide`` more than one has by itself.
"""

import decimal
import json
import sys
import time

FRAMES = 600
BITS_32 = 425_000_000  # MAX_PREC, MAX_EMAX and -MIN_EMIN of decimal where words have 32 bits


class Narrow(decimal.Context):
    """A context as a 32-bit build makes it: other limits are refused in the same way."""

    def __new__(cls, prec=None, rounding=None, Emin=None, Emax=None, *others):
        """Refuse what has no room."""
        if prec > BITS_32 or Emax > BITS_32 or Emin < -BITS_32:
            raise OverflowError("Python int too large to convert to C ssize_t")
        return super().__new__(cls, prec, rounding, Emin, Emax, *others)


def set_room(room):
    """Change the settings of this process that programs may change."""
    if room == "narrow":
        decimal.Context, decimal.MAX_EMAX, decimal.MIN_EMIN, decimal.MAX_PREC = Narrow, BITS_32, -BITS_32, BITS_32
        decimal.DefaultContext.prec, decimal.DefaultContext.clamp = 3, 1
        decimal.setcontext(decimal.DefaultContext)
        sys.setrecursionlimit(FRAMES)
        sys.set_int_max_str_digits(640)
    if room == "wide":
        decimal.getcontext().prec = 200
        sys.setrecursionlimit(50_000)
        sys.set_int_max_str_digits(0)


def judge(check, suite):
    """Return (accepted, step, reason, claims) of each text of a suite, and the processor seconds that it took."""
    found, seconds = {}, {}
    for name, text in suite.items():
        start = time.process_time()
        report = check(text)
        seconds[name] = time.process_time() - start
        found[name] = [report.accepted, report.step, report.reason, [list(map(str, claim)) for claim in report.claims]]
    return found, seconds


def main(kernel, suite, out, room=""):
    """Judge the suite, and some of it again: a verdict must not depend on what was checked before."""
    with open(suite, encoding="ascii") as file:
        texts = json.load(file)
    set_room(room)
    sys.path.insert(0, kernel)
    from kernel import check  # noqa: PLC0415

    found, seconds = judge(check, texts)
    again, _ = judge(check, dict(list(texts.items())[len(texts) // 2 :: 7]))
    about = {"python": sys.version, "bits": sys.maxsize.bit_length() + 1, "platform": sys.platform}
    changed = [name for name, report in again.items() if report != found[name]]
    sys.set_int_max_str_digits(4300)
    with open(out, "w", encoding="ascii") as file:
        json.dump({"about": about, "changed": changed, "reports": found, "seconds": seconds}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
