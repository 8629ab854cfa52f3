"""True privacy curves of compositions, by methods that share nothing with the accountant: what its enclosures have to hold.

Notation: P and Q are the laws of the output with and without the record, ℓ = log dP/dQ, u = 1 − q + q e^ℓ with the sampling probability
q. Where the record goes the loss is log u under the law u dQ, where it comes −log u under Q.

* ``closed``: one use, and any number of Gaussian ones; two uses by rigorous quadrature.
* ``finite``: laws with finitely many losses, by all their outcomes; integers by polynomials.
* ``inversion``, of the moments in ``moments``: everything else whose characteristic function decays, in balls, with all errors bounded.
* ``rounded``: whatever is left, with losses rounded up and down, in binary64 after tilting; a bracket.
"""
