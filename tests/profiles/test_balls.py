"""The precision of balls: one thread at a time, and a forked process does not wait for a thread that it does not have."""

from __future__ import annotations

import os
import signal
import threading
from fractions import Fraction

import flint
import pytest

from profiles.balls import ball, interval, lower_fraction, upper_fraction, working_precision


def test_numbers_and_their_balls():
    third = Fraction(1, 3)
    with working_precision(64):
        low, high = lower_fraction(ball(third)), upper_fraction(ball(third))
        assert low < third < high < low + Fraction(1, 2**60)
        wide = interval(Fraction(1), Fraction(2))
        assert lower_fraction(wide) <= 1 < 2 <= upper_fraction(wide)
        assert lower_fraction(ball(Fraction(-1)).log()) is None


def test_the_precision_is_set_back_also_after_an_error():
    before = flint.ctx.prec
    with pytest.raises(ZeroDivisionError), working_precision(333):
        _ = 1 // (flint.ctx.prec - 333)
    assert flint.ctx.prec == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_waits_for_no_thread_of_its_parent():
    inside, done = threading.Event(), threading.Event()

    def hold() -> None:
        with working_precision(100):
            inside.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(5)
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        with working_precision(77):
            os._exit(0 if flint.ctx.prec == 77 else 1)
    _, status = os.waitpid(child, 0)
    done.set()
    thread.join()
    assert status == 0
