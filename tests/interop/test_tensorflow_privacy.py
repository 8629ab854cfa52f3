"""Events of TensorFlow Privacy's queries: its own example, the event of which goes to our accountant in place of an ``RdpAccountant``."""

from __future__ import annotations

import pytest

pytest.importorskip("tensorflow_privacy", exc_type=ImportError)

import tensorflow as tf
import tensorflow_privacy as tfp
from dp_accounting import NeighboringRelation, PoissonSampledDpEvent, SelfComposedDpEvent
from dp_accounting.rdp import RdpAccountant

from accountant.curves import Composition, account, make_event
from accountant.interop.dp_accounting import CertifiedAccountant
from profiles import InvalidArgument

DELTA = 1e-5


def run_query(query, records):
    """The loop of the library's own tests: clip, add up, add noise."""
    state = query.initial_global_state()
    parameters, sample = query.derive_sample_params(state), query.initial_sample_state(records[0])
    for record in records:
        sample = query.accumulate_record(parameters, sample, record)
    result, _, event = query.get_noised_result(sample, state)
    return result, event


def rows():
    return [tf.constant([3.0, 4.0]), tf.constant([0.1, 0.2])]


def upper(noise, **changes):
    return account(Composition("the same", (make_event("gaussian", {"noise_multiplier": noise}, **changes),)), delta=DELTA).point


def test_the_event_of_a_sum_has_the_number_of_pdp_account():
    result, event = run_query(tfp.GaussianSumQuery(l2_norm_clip=1.0, stddev=2.0), rows())
    assert result.shape == (2,)
    truth, found = upper(2), CertifiedAccountant().compose(event).get_epsilon(DELTA)
    assert truth.lower <= found <= float(truth.upper) * 1.002
    assert found <= RdpAccountant().compose(event).get_epsilon(DELTA)


def test_sampled_steps_of_a_sum():
    _, event = run_query(tfp.GaussianSumQuery(l2_norm_clip=1.0, stddev=1.5), rows())
    steps = SelfComposedDpEvent(PoissonSampledDpEvent(0.125, event), 20)
    truth, made = upper("1.5", sampling_probability="1/8", count=20), CertifiedAccountant().compose(steps)
    assert truth.lower <= made.get_epsilon(DELTA) <= float(truth.upper) * 1.002
    assert made.get_epsilon(DELTA) < RdpAccountant().compose(steps).get_epsilon(DELTA)


def test_nested_queries_are_composed():
    sums = [tfp.GaussianSumQuery(l2_norm_clip=1.0, stddev=noise) for noise in (2.0, 4.0)]
    _, event = run_query(tfp.NestedQuery(sums), [[tf.constant([1.0]), tf.constant([2.0])]])
    both = account(Composition("both", tuple(make_event("gaussian", {"noise_multiplier": noise}) for noise in (2, 4))), delta=DELTA).point
    assert both.lower <= CertifiedAccountant().compose(event).get_epsilon(DELTA) <= float(both.upper) * 1.002


def test_queries_without_an_event_are_refused_by_name():
    """Of trees of sums the library says nothing: their event is an UnsupportedDpEvent."""
    query = tfp.TreeCumulativeSumQuery.build_l2_gaussian_query(1.0, 2.0, tf.TensorSpec([2]))
    _, event = run_query(query, rows())
    with pytest.raises(InvalidArgument, match="UnsupportedDpEvent"):
        CertifiedAccountant(NeighboringRelation.REPLACE_SPECIAL).compose(event)


def test_noise_of_nothing_is_no_promise():
    _, event = run_query(tfp.GaussianSumQuery(l2_norm_clip=1.0, stddev=0.0), rows())
    assert CertifiedAccountant().compose(event).get_epsilon(DELTA) == float("inf")
