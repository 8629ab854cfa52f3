"""The one way to say no, and the meter that makes sure an answer comes."""


class Rejected(Exception):
    """The certificate does not prove what it claims, for the reason given; it says nothing about the claim being false."""


class Meter:
    """A budget of elementary work for one whole certificate."""

    left = 10_000_000

    def spend(self, amount: int) -> None:
        """Subtract an amount; reject when nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise Rejected("the certificate needs more work than the kernel is willing to do")
