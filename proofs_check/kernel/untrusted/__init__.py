"""What is shipped with the kernel and is no part of it: nothing here makes a theorem (docs/trust.md, which names what copies a verdict)."""
