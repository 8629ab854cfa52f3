"""DP-Sniper, StatDP and DP-Auditorium beside ours: a lower confidence bound on ε from as many outputs. ``python -m benchmarks.auditors``.

Rules, meant to be fair to the peers, and generous where in doubt:

* All tools get the same mechanism code and the same pair (``cases``), and as many outputs on each data set, for everything they do: learning,
  selection and the bound. Real time is that of one run on two cores; importing a tool, starting its processes and compiling are not in it,
  drawing the outputs is.
* Settings of DP-Sniper and DP-Auditorium are searched for each case with outputs and time that are not counted; the five best are run twice more, and
  the bound in the table is the median of fresh runs with the best of them. Nobody has this for free in practice.
* The peers' bounds hold for one order of the pair that is fixed in advance: they get the better order for free.
* DP-Sniper: 20 % of the outputs train the classifier, 10 % choose the threshold, 70 % are for the bound (n_train, n, n_final). Searched: logistic
  regression and the perceptron of its default experiment, with the features of that experiment; the least probability c from 0.0001 to 0.4
  (default 0.01); training batches of 100,000 (default), 20,000 and 2,000; the order. Its bound is its own: two Clopper–Pearson limits. The last
  column of the table is its own setting: c = 0.01, logistic regression, default batches. Its search for a pair is not run.
* StatDP tests a given ε; the bound is the largest ε with a p-value below 1 − confidence, by doubling and bisection to 0.0005. 10 % of the outputs
  select the event, 90 % are for the test (its default is 1 to 5). All tests of the bisection see the same outputs, and what was counted once is not
  counted again (``Replaying``). It looks at numbers: those of its own algorithms where it has the mechanism; entries, average, extremes, counts of a
  category and Hamming distance elsewhere, as in the wrapper that DP-Sniper's authors made for it. All of them are selected from the same outputs.
  Its p-value is an average over 200 random thinnings and is taken at its word; so is the larger of both directions.
* DP-Auditorium's testers bound δ at a given ε₀. The hockey-stick tester's lower bound (half of the outputs train its classifier, Hoeffding on
  the rest, its own failure probability) becomes one on ε by the relation of pure DP, δ ≤ (e^ε − e^ε₀)/(1 + e^ε). Searched: ε₀, the order, and
  training (batches of 100, the default, to 10,000; 2 epochs, the default, or 10). Inputs are standardised, with flags as for DP-Sniper. The
  histogram tester is tried as well where the output is a number 0 … k. The MMD and Rényi testers are left out: their error terms (8 log(1/α)/n
  under a root on a squared discrepancy; e^(2 α C) in the Rényi tester) exceed those of the hockey-stick tester on every case here.
* Ours is asked with the claim of the case, and with default settings.

What the peers need, beside this package's own dependencies: torch, tensorboard, scikit-learn, mmh3 for DP-Sniper; numba and tqdm for StatDP;
tensorflow, etils, google-vizier for DP-Auditorium. All three run unchanged with the versions of November 2026 (NumPy 2.4: StatDP's ``np.bool``
exists again). ``--python`` names the interpreter of their environment, ``--peers`` the directories that contain the packages.
"""
