"""The sampled profile ψ = log(1 + q (e^ε − 1)): certified numbers, fast arrays, and the term in the record statistics."""

from accountant.sampled.amplification import Amplified, amplify, amplify_array
from accountant.sampled.terms import numeric_epsilon, odds_term, sampled_term, weighted_epsilon

__all__ = ["Amplified", "amplify", "amplify_array", "numeric_epsilon", "odds_term", "sampled_term", "weighted_epsilon"]
