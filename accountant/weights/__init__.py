"""Optimal importance weights: of one record to any number of digits, of a data set with a rounding bound."""
