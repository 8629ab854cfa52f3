"""Tactics: each looks for proof trees of one shape. None is trusted; the kernel's rules judge every tree."""
