"""The supremum of the sampled profile ψ over all records, as a claim that the kernel checks."""
