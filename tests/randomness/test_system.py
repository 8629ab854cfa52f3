"""The operating system's source as a NumPy generator: its numbers, interrupts, forks, threads."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

from profiles import InvalidArgument
from profiles.hypotheses import SECURE_BITS, SEEDED_BITS
from profiles.randomness.bits import open_bits, refuse_repeats
from profiles.randomness.system import open_generator, system_generator


class Alarm(Exception):
    """Raised by a signal handler."""


def test_doubles_are_multiples_of_the_last_bit_in_the_unit_interval():
    found = system_generator().random(4096)
    assert ((found >= 0) & (found < 1)).all()
    steps = found * 2.0**53
    assert (steps == np.floor(steps)).all()
    odd = int((steps % 2).sum())
    assert 1500 < odd < 2600  # 2048 of 4096, 17 standard deviations


def test_words_have_all_bits_and_laws_are_those_of_numpy():
    rng = system_generator()
    words = rng.integers(0, 2**64 - 1, size=2000, dtype=np.uint64, endpoint=True)
    halves = rng.integers(0, 2**32 - 1, size=2000, dtype=np.uint32, endpoint=True)
    for bits, values in ((64, words), (32, halves)):
        counts = [int(((values >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(bits)]
        assert 600 < min(counts) <= max(counts) < 1400  # 1000, 18 standard deviations
    assert abs(rng.standard_gamma(3, 20_000).mean() - 3) < 0.25  # 20 standard deviations
    assert abs(rng.laplace(size=20_000).mean()) < 0.2
    assert sorted(rng.permutation(50).tolist()) == list(range(50))
    assert not np.array_equal(rng.random(4), system_generator().random(4))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.real_randomness
def test_an_interrupt_is_raised_and_never_becomes_a_number():
    """A callback in Python would lose the exception, and give a 0 in place of the number: nearly no noise."""
    before = signal.signal(signal.SIGALRM, _raise)
    try:
        rng, raised = system_generator(), 0
        for _ in range(5):
            with pytest.raises(Alarm):
                _draw_until_interrupted(rng)
            raised += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert raised == 5


def _draw_until_interrupted(rng):
    signal.setitimer(signal.ITIMER_REAL, 0.002)
    while True:
        assert (rng.random(20_000) > 0).all()  # a zero is one in 2^53


def _raise(*_):
    raise Alarm


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.real_randomness
def test_a_fork_repeats_nothing():
    rng = system_generator()
    rng.random()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, rng.random(4).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    assert not set(np.frombuffer(os.read(reading, 64))) & set(rng.random(4))


def test_threads_share_a_generator():
    rng, parts = system_generator(), []
    threads = [threading.Thread(target=lambda: parts.append(rng.random(2000))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.unique(np.concatenate(parts)).size == 8000


def test_generators_name_what_has_to_be_true_of_them():
    assert open_generator()[1] == SECURE_BITS
    assert open_generator(system_generator())[1] == SECURE_BITS
    assert open_generator(np.random.default_rng(1))[1] == SEEDED_BITS
    refuse_repeats(open_bits(np.random.default_rng(1)), system_generator())  # without a state nothing repeats
    for wrong in (1, "secure", np.random.RandomState(1)):
        with pytest.raises(InvalidArgument, match="leave it out"):
            open_generator(wrong)
