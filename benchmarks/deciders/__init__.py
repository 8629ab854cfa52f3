"""The same conditions given to SymPy alone, z3, cvc5 and dReal, beside ours. Command: ``python -m benchmarks.deciders``.

Rules, meant to be fair to the peers, and generous where in doubt:

* All tools get the same statement about the same profile (``cases``), with every derivative already computed by SymPy (``statements``),
  and 10 seconds of processor time for it in a process of its own, imports not counted; then the process is killed.
* ``decided`` is proved or refuted, ``wrong`` is a decision that contradicts the truth in ``cases``, which is derived by hand.
* Statements with a second quantifier ("there is a threshold", "there is a constant") are given as a series of questions without it, at
  thresholds and constants that are chosen for the tool; so is a refutation "in the limit". The time is shared among the questions.
* At a kink the derivative does not exist: the tool is asked for a point where two branches meet with different slopes.
* z3 has no exp: exp, log and powers with symbolic exponents become fresh reals with true polynomial facts (positivity, Taylor bounds,
  monotony, tangents, 20 digits of constants), few at first, then more, solved by nlsat. ``sat`` counts where the translation is exact, or
  where the point violates the statement at 50 digits. z3's own ``^`` is not used: roots are given as r**b = x with r ≥ 0.
* cvc5 has exp, sin, cos (QF_NRAT); log t is a fresh real y with exp y = t. It is also asked with z3's facts instead, where only ``unsat``
  counts.
* SymPy: signs by assumptions after shifting w to 1 + u and ranges to [0, ∞), several normal forms; solveset for one variable; limits for
  the statements about large w; values at the corners of the domain. "sympy-plain" is what one would ask first: the sign by the declared
  assumptions, the limit, solveset, without shifts and corners.
* dReal: only ``unsat`` would count as a proof. Its wheel needs libibex, which no index has, so it is only probed.
* Ours: ``verify`` on one condition, with admission and the kernel's checks in the time.
"""
