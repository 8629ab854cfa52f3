"""The prover: untrusted, finds witnesses and proof trees; what it finds is put to the kernel."""
