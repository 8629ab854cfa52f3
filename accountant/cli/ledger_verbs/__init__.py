"""The verbs of ``pdp ledger``, in modules by what they are about."""
