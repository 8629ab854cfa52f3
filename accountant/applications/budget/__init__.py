"""Releases within one budget: what each costs, its noise, its place in a certificate, and the guarantee of all of them."""
