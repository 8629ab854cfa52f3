"""Releases within one budget: the records and their exact sums, what each release costs, its noise, and the guarantee of all of them."""
