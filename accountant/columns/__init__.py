"""Columns of data sets: the numbers of n records with the exact ones that they stand for, inside the declared ranges."""
