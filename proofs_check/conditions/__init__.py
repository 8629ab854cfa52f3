"""The conditions of the theory: one named condition per module, stated as goals."""
