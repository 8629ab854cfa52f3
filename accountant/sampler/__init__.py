"""The Poisson importance sampler: exact draws, weights that make the certificate true for the numbers used, samples for one analysis."""

from accountant.sampler.bernoulli import PoissonSampler, open_sources
from accountant.sampler.bits import BitSource, GeneratorBits, SecureBits, open_bits
from accountant.sampler.certificate import PrivateFigures, to_certificate
from accountant.sampler.checking import check_certificate, read_certificate
from accountant.sampler.drawing import SampleSummary, draw_batch, draw_batches, draw_sample, sample_file
from accountant.sampler.once import amplify_once, compose_on_one_sample
from accountant.sampler.plan import SamplingPlan, plan_sample
from accountant.sampler.sample import Records, Release, Sample

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
