"""The engine for quantified sentences: what a paper states as data, its judgement by the prover, its confirmation by the kernel."""
