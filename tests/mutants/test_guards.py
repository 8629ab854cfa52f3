"""Guards."""


def test_x():
    pass
