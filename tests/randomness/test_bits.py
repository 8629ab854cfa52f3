"""Words of the sources: nothing is given twice, not to a fork, a copy or a second call."""

from __future__ import annotations

import copy
import gc
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest

from profiles.errors import InvalidArgument
from profiles.hypotheses import SECURE_BITS
from profiles.mechanisms import LaplaceSum
from profiles.randomness.bernoulli import PoissonSampler
from profiles.randomness.bits import GeneratorBits, SecureBits, open_bits
from profiles.randomness.forks import _homes, require_home
from profiles.randomness.rounded import LAPLACE, Grid, draw_rounded
from profiles.randomness.system import open_generator, system_generator


def test_secure_words_are_read_when_they_are_asked_for(monkeypatch):
    sizes, real = [], os.urandom
    monkeypatch.setattr(os, "urandom", lambda size: sizes.append(size) or real(size))
    source = open_bits()
    found = [source.words(count) for count in (0, 1, 1000)]
    assert sizes == [0, 8, 8000]
    assert [words.shape for words in found] == [(0,), (1,), (1000,)]
    assert all(words.dtype == np.uint64 and words.flags.writeable for words in found)
    assert np.unique(found[2] >> np.uint64(11)).size == 1000


def test_words_do_not_depend_on_the_calls():
    one, other = open_bits(3), open_bits(3)
    assert one.words(100).tolist() == np.concatenate([other.words(count) for count in (1, 0, 64, 35)]).tolist()
    assert one.words(2).tolist() != other.words(1).tolist() * 2


def test_a_generator_over_the_secure_source_is_the_secure_source():
    source = open_bits(system_generator())
    assert isinstance(source, SecureBits)
    assert source.hypothesis is SECURE_BITS


@pytest.mark.parametrize("attempt", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_seeded_source_is_not_copied(attempt):
    with pytest.raises(InvalidArgument, match="cannot be copied"):
        attempt(open_bits(1))


def in_a_fork(work) -> str:
    """What ``work`` says in a forked process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = work()
        except InvalidArgument as error:
            said = f"refused: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        return pipe.read()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.real_randomness
def test_a_fork_repeats_no_noise():
    # two draws coincide with probability h/4 = 2⁻⁴², and any of the 32 with less than 2e-10
    totals, grid = np.zeros((4, 4), dtype=np.int64), Grid.of(Fraction(1), output_bits=40)
    secure, seeded = open_bits(), GeneratorBits(np.random.default_rng(1))
    for source in (secure, seeded):
        draw_rounded(totals, LAPLACE, grid, source)
    for asked in (lambda: str(seeded.digit()), lambda: str(seeded.block()), lambda: str(draw_rounded(totals, LAPLACE, grid, seeded))):
        assert in_a_fork(asked).startswith("refused: a seeded generator was used in a forked process")
    theirs = in_a_fork(lambda: " ".join(map(str, draw_rounded(totals, LAPLACE, grid, secure).ravel().tolist())))
    ours = draw_rounded(totals, LAPLACE, grid, secure).ravel().tolist()
    assert len(set(map(float, theirs.split())) | set(ours)) == 32


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_is_known_also_where_its_number_is_that_of_its_parent(monkeypatch):
    """So it is where both are the first process of their own process namespaces (containers)."""
    monkeypatch.setattr(os, "getpid", lambda: 1)
    source, sampler = open_bits(1), PoissonSampler(1)
    assert in_a_fork(lambda: str(source.words(1))).startswith("refused: a seeded generator was used in a forked process")
    assert in_a_fork(lambda: in_a_fork(lambda: str(source.digit()))).startswith("refused: a seeded generator")
    assert in_a_fork(lambda: str(sampler.select(np.array([0.5])))).startswith("refused: a sampler with a seeded generator")
    assert in_a_fork(lambda: str(open_bits(1).words(1).tolist())) == str(source.words(1).tolist())


def test_a_process_whose_number_changed_is_another_one(monkeypatch):
    """Python does not see a fork that a C library makes."""
    source = open_bits(1)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(InvalidArgument, match="forked process"):
        source.words(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("arithmetic", ["exact", "binary64"])
def test_a_generator_that_was_used_before_a_fork_is_refused_after_it(arithmetic):
    """NumPy's generator is opened anew by each run: its process is that of the first run."""
    mechanism = LaplaceSum(b=1, arithmetic=arithmetic)
    rng = np.random.default_rng(1)
    first = mechanism.run([0.0], None, rng)
    same = np.random.Generator(rng.bit_generator)
    sampler = PoissonSampler(rng)
    for asked in (
        lambda: str(mechanism.run([0.0], None, rng)),
        lambda: str(mechanism.run([0.0], None, same)),
        lambda: str(mechanism.sample([], rng, 0)),
        lambda: str(PoissonSampler(rng)),
        lambda: str(open_generator(rng)),
        lambda: in_a_fork(lambda: str(open_bits(rng))),
    ):
        assert in_a_fork(asked).startswith("refused: a seeded generator was used in a forked process")
    assert in_a_fork(lambda: str(sampler.select(np.array([0.5])))).startswith("refused: a sampler with a seeded generator")
    child = in_a_fork(lambda: str(mechanism.run([0.0], None, np.random.default_rng(1))[0]))
    assert float(child) == first[0]  # one of its own is taken
    assert mechanism.run([0.0], None, rng) != first  # and the parent goes on


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_generator_that_was_not_used_before_a_fork_repeats_itself():
    """Nobody can know: docs/exact-noise.md says so."""
    rng = np.random.default_rng(1)
    assert in_a_fork(lambda: str(LaplaceSum(b=1).run([0.0], None, rng)[0])) == str(LaplaceSum(b=1).run([0.0], None, rng)[0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_generators_of_the_secure_source_are_used_after_a_fork():
    rng, mechanism = system_generator(), LaplaceSum(b=1, arithmetic="binary64")
    ours = [mechanism.run([0.0], None, rng)[0], open_generator(rng)[0].random()]
    theirs = in_a_fork(lambda: f"{mechanism.run([0.0], None, rng)[0]} {open_generator(rng)[0].random()}")
    assert len({*map(float, theirs.split()), *ours}) == 4


def test_the_process_of_a_generator_is_forgotten_with_it():
    before = len(_homes)
    made = [np.random.default_rng(seed) for seed in range(10)]
    for rng in made:
        require_home(rng)
    assert len(_homes) == before + 10
    del made, rng
    gc.collect()
    assert len(_homes) <= before


class Own:
    """A source of one's own with a mistake in what it returns."""

    name, hypothesis, seed = "own", "my bits are uniform", None

    def __init__(self, mistake):
        self.mistake, self.inner = mistake, open_bits(1)

    def block(self):
        return self.mistake(self.inner.block())

    def digit(self):
        return self.inner.digit()

    def words(self, count):
        return self.mistake(self.inner.words(count))


MISTAKES = {
    "a list": lambda found: found.tolist(),
    "signed": lambda found: found.astype(np.int64),
    "floats": lambda found: found.astype(float),
    "too few": lambda found: found[:-1],
    "too many": lambda found: np.concatenate([found, found[:1]]),
    "no array at all": lambda _: None,
    "another shape": lambda found: found.reshape(-1, 1),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_source_of_ones_own_that_returns_something_else_is_refused_by_name(mistake):
    total = np.array([[0], [0]], dtype=np.int64)
    source = Own(MISTAKES[mistake])
    with pytest.raises(InvalidArgument, match=r"'words' of a source of random bits .* Own returned"):
        draw_rounded(total, LAPLACE, Grid.of(Fraction(1)), source)
    with pytest.raises(InvalidArgument, match=r"'block' of a source of random bits .* Own returned"):
        PoissonSampler(source).select(np.full(3, 0.5))


def test_a_source_of_ones_own_without_a_mistake_serves():
    total = np.array([[0], [0]], dtype=np.int64)
    drawn = draw_rounded(total, LAPLACE, Grid.of(Fraction(1)), Own(lambda found: found))
    assert drawn.tolist() == draw_rounded(total, LAPLACE, Grid.of(Fraction(1)), open_bits(1)).tolist()
    assert PoissonSampler(Own(lambda found: found)).select(np.full(9, 0.5)).tolist() == PoissonSampler(1).select(np.full(9, 0.5)).tolist()
