"""Accountants of other libraries beside ours, on settings whose truth is a closed form or lies in our enclosure.

Rules. Each peer has an environment of its own with its newest release, and answers each setting in a process of its own, with its default
settings and with tuned ones that its documentation offers for more accuracy. Time is processor time of the computation on one thread,
without imports. "Wrong" is
an ε that is below the lower end of our enclosure, or below the closed form, by more than one part in a thousand; at delta = 1e-5 no good
peer is. An answer above the upper end is loose, which is safe. What a peer warns of itself is told.
"""
