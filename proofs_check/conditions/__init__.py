"""The conditions of the theory: one named condition a module, stated as goals."""
