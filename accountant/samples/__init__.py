"""The Poisson importance sampler: exact draws, weights that make the certificate true for the numbers used, samples for one analysis."""

from accountant.samples.certificate import PrivateFigures, to_certificate
from accountant.samples.checking import check_certificate, read_certificate
from accountant.samples.drawing import SampleSummary, draw_batch, draw_batches, draw_sample, sample_file
from accountant.samples.once import amplify_once, compose_on_one_sample
from accountant.samples.plan import SamplingPlan, plan_sample
from accountant.samples.sample import Records, Release, Sample
from profiles.randomness.bernoulli import PoissonSampler, open_sources
from profiles.randomness.bits import BitSource, GeneratorBits, SecureBits, open_bits

__all__ = [
    "BitSource",
    "GeneratorBits",
    "PoissonSampler",
    "PrivateFigures",
    "Records",
    "Release",
    "Sample",
    "SampleSummary",
    "SamplingPlan",
    "SecureBits",
    "amplify_once",
    "check_certificate",
    "compose_on_one_sample",
    "draw_batch",
    "draw_batches",
    "draw_sample",
    "open_bits",
    "open_sources",
    "plan_sample",
    "read_certificate",
    "sample_file",
    "to_certificate",
]
