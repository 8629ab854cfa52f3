"""The audit: lower confidence bounds on ε from runs of an implementation on neighboring data sets. See docs/audit.md.

>>> import numpy as np
>>> from proofs_check.audit import Claim, audit
>>> def laplace(dataset, rng, size):
...     return sum(dataset) + rng.laplace(0, 1.0, size)
>>> result = audit(laplace, [1.0], [], Claim(1), rng=np.random.default_rng(1), samples=2_000)
>>> result.finding.value, result.epsilon_lower <= 1
('consistent', True)
"""

from profiles.lazy import offer_names

#: Also a worker process that needs the adapters alone does not load SciPy.
__getattr__, __dir__, __all__ = offer_names(__name__)
