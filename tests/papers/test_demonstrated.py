"""Each refuted statement with a wrong result is demonstrated by running what is printed, or it is said why nobody would run it."""

from pathlib import Path

import pytest

from proofs_check.papers import Status, all_claims, judge
from proofs_check.statements.sentences import Impact

HERE = Path(__file__).parent
SHOWN = {
    "fay-2024-theorem-10-existence": "test_the_supremum_of_the_feasible_weights_breaks_the_target",
    "fay-2024-algorithm-1-bracket": "test_the_printed_bracket_excludes_the_root_and_the_derived_one_does_not",
    "fay-2024-algorithm-1-bracket-not-empty": "test_the_printed_bracket_may_lie_below_one",
    "fay-2024-algorithm-1-if-condition": "test_the_printed_if_condition_returns_one_where_two_is_optimal",
    "fay-2024-proposition-12-evaluations": "test_the_printed_number_of_evaluations_is_too_small",
    "fay-2024-proposition-12-evaluations-defined": "test_the_number_of_evaluations_may_be_the_logarithm_of_a_negative_number",
    "fay-2024-proposition-12-feasible-output": "test_the_midpoint_breaks_the_target_and_the_lower_end_does_not",
    "fay-2024-proposition-12-infeasible-from-v": "test_the_end_of_the_bracket_may_itself_be_feasible",
    "fay-2024-equation-4": "test_equation_4_shortens_even_the_corrected_bracket",
    "fay-2024-section-3-3-assumption-9": "test_a_record_at_the_origin_has_no_largest_weight",
    "fay-2024-section-4-proper-probabilities-necessary": "test_the_printed_limit_of_the_sample_size_refuses_proper_probabilities",
    "fay-2024-equation-5-positive-constants": "test_lambda_zero_gives_no_epsilon",
    "fay-2024-equation-5-bounded": "test_lambda_zero_gives_no_epsilon",
    "fay-2024-equation-5-grid-search": "test_a_grid_maximum_is_too_small_an_epsilon",
    "fay-2024-proposition-13-metric": "test_the_sum_mechanism_has_no_epsilon_below_p_one",
    "fay-2024-proposition-13-below-1": "test_the_sum_mechanism_has_no_epsilon_below_p_one",
    "fay-2023-algorithm-2-noise-scale": "test_the_printed_noise_scale_of_the_first_version_adds_too_little_noise",
    "fay-2023-section-2-noise-split": "test_the_printed_noise_split_has_the_larger_error",
    "fay-2023-proposition-6-any-lambda": "test_lambda_zero_gives_no_epsilon",
    "fay-2023-proposition-6-bounded": "test_lambda_zero_gives_no_epsilon",
    "ghazi-2024-footnote-1": "test_a_check_of_footnote_1_as_printed_refuses_submodular_functions",
    "ghazi-2024-algorithm-5-step": "test_steps_of_size_eta_leave_the_matroid_polytope",
    "ghazi-2024-algorithm-4-count": "test_the_printed_laplace_scale_of_algorithm_4_costs_two_epsilon",
    "ghazi-2024-algorithm-4-epsilon": "test_the_printed_laplace_scale_of_algorithm_4_costs_two_epsilon",
    "ghazi-2024-algorithm-4-sets": "test_with_one_set_algorithm_4_divides_by_zero",
    "ghazi-2024-algorithm-4-threshold": "test_the_printed_thresholds_of_algorithm_4_let_empty_sets_pass",
    "ghazi-2024-theorem-g.1-rounds": "test_the_rounds_of_theorem_g_1_publish_the_number_of_records",
    "ghazi-2024-theorem-g.1-no-round": "test_the_rounds_of_theorem_g_1_publish_the_number_of_records",
    "ghazi-2024-theorem-1.5-privacy": "test_sampling_does_not_repair_the_rounds_and_a_public_number_does",
}
NOT_RUN = {
    "fay-2024-proposition-16-consequence": "says that a better sampler exists, not which",
    "fay-2024-appendix-a-uniform-never-optimal": "says that a sampler is not optimal",
}


def test_every_wrong_result_is_demonstrated_or_cannot_be_run():
    wrong = {claim.id for claim in all_claims() if claim.consequence is Impact.WRONG}
    assert wrong <= SHOWN.keys() | NOT_RUN.keys()
    assert not SHOWN.keys() & NOT_RUN.keys()
    assert all(judge(claim).status is Status.REFUTED for claim in SHOWN.keys() | NOT_RUN.keys())


@pytest.mark.parametrize("name", sorted(set(SHOWN.values())))
def test_the_demonstration_is_there(name):
    assert sum(f"\ndef {name}(" in page.read_text(encoding="utf-8") for page in HERE.glob("test_demonstrations*.py")) == 1
