"""DP-Sniper, StatDP and DP-Auditorium beside ours: a lower confidence bound on ε from equally many outputs.

Command: ``python -m benchmarks.auditors --python PEERS/bin/python --peers DIRECTORY DIRECTORY DIRECTORY --out FILE``.

Rules, meant to be fair to the peers, and generous where in doubt:

* All tools get the same mechanism code and the same pair (``cases``: the standard suite), and as many outputs on each data set for all they
  do: learning, selection and the bound. Seconds are real time of one run on two cores with the outputs drawn in it, without importing
  a tool, starting its processes and compiling.
* Settings of DP-Sniper and DP-Auditorium are searched for each case, with outputs and time that are not counted; the four best are run
  twice more, and the table has the median of fresh runs with the one whose worst run is best. In practice nobody has this for free.
* The peers' bounds hold for one order of the pair that is fixed in advance. They get the better order for free.
* DP-Sniper: 20 % of the outputs train the classifier, 10 % choose the threshold, 70 % are for the bound (n_train, n, n_final). Searched:
  logistic regression and the perceptron of its default experiment, with the features of that experiment (numerical SVT gets flags
  as well); the least probability c from 0.0001 to 0.4 (default 0.01); training batches of 100,000 (default) and less; the order.
  The bound is its own: two Clopper-Pearson limits. The last column has its own setting: c = 0.01, logistic regression, default
  batches. Its search for a pair is not run.
* StatDP tests a given ε; its bound is the largest ε with a p-value below 1 − confidence, by doubling and bisection to 0.0005. 10 % of the
  outputs select the event and 90 % are for the test (its default is 1 to 5). All tests of a bisection see the same outputs, and what was
  counted once is not counted again (``Replaying``). It looks at numbers: where it has the mechanism, those of its own algorithms; elsewhere
  entries, average, extremes, counts of a category, Hamming distance, as in the wrapper that DP-Sniper's authors wrote for it, or its own
  for the parts. Its p-value, the average over 200 random thinnings, is taken at its word; so is the larger of both directions.
* DP-Auditorium's testers bound a divergence. The hockey-stick tester's lower bound on δ at ε₀ (half of the outputs train its classifier,
  Hoeffding's inequality on the others, its own failure probability) becomes one on ε by the relation of pure DP, an equality for randomised
  response: δ ≤ (e^ε − e^ε₀)/(1 + e^ε). Searched: ε₀, the order, and training: batches of 100 (default), 1,000 or 10,000, 2 epochs
  (default) or 10. Inputs are standardised, with flags as for DP-Sniper. The Rényi tester is tried with seven pairs of order and bound of
  the model, its bound turned into one on ε in the same way; the histogram tester where the output is a number 0 … k. The MMD
  tester is left out: its discrepancy is at most min(√2, e^ε − 1) and has an error of order n^(-1/4). Bisection over ε₀ for the largest one
  that is rejected, the use that its interface suggests, gave less (0.020 to 0.091 on the Laplace mechanism at ε = 0.1).
* Ours: a fixed sample with default settings; nothing is searched.

What the peers need beside this package's own dependencies: torch, tensorboard, scikit-learn, mmh3 (DP-Sniper); numba, tqdm (StatDP);
tensorflow, etils, google-vizier (DP-Auditorium). All three run unchanged on Python 3.11 with the releases of November 2026; StatDP needs
NumPy 2, where ``np.bool`` exists again. ``--peers`` names the directories that contain their packages.
"""
