"""The public names of accountant.samples, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.samples.certificate import PrivateFigures as PrivateFigures
from accountant.samples.certificate import to_certificate as to_certificate
from accountant.samples.checking import check_certificate as check_certificate
from accountant.samples.checking import read_certificate as read_certificate
from accountant.samples.drawing import SampleSummary as SampleSummary
from accountant.samples.drawing import draw_batch as draw_batch
from accountant.samples.drawing import draw_batches as draw_batches
from accountant.samples.drawing import draw_sample as draw_sample
from accountant.samples.drawing import sample_file as sample_file
from accountant.samples.once import amplify_once as amplify_once
from accountant.samples.once import compose_on_one_sample as compose_on_one_sample
from accountant.samples.plan import SamplingPlan as SamplingPlan
from accountant.samples.plan import plan_sample as plan_sample
from accountant.samples.sample import Records as Records
from accountant.samples.sample import Release as Release
from accountant.samples.sample import Sample as Sample
from profiles.randomness.bernoulli import PoissonSampler as PoissonSampler
from profiles.randomness.bernoulli import open_sources as open_sources
from profiles.randomness.bits import BitSource as BitSource
from profiles.randomness.bits import GeneratorBits as GeneratorBits
from profiles.randomness.bits import SecureBits as SecureBits
from profiles.randomness.bits import open_bits as open_bits
