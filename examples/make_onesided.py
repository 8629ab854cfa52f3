"""Make the small tables of the commands select, cover, cluster and monitor from data that scikit-learn bundles: digits and irises.

    python examples/make_onesided.py

``pixels.csv``: the first 300 images of the digits (UCI) and their pixels of more than half ink. ``lines.csv``: the same images as a
stream: each is a user who at time r, the row, has the item of its darkest column. ``petals.csv``: the 150 irises of Anderson and Fisher,
public domain; ``grid.csv``: public candidates. ``roads.csv``: a made-up network; ``travellers.csv``: irises at its places, by petals.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_iris

HERE = Path(__file__).parent
IMAGES = 300
TOWNS = ("Aven", "Beck", "Corn", "Dale", "Esk", "Ford", "Glen", "Holm")
ROADS = (("Aven", "Beck", 3), ("Beck", "Corn", 2), ("Corn", "Dale", 4), ("Dale", "Aven", 6), ("Corn", "Esk", 1.5), ("Esk", "Ford", 2.5),
         ("Ford", "Glen", 3), ("Glen", "Holm", 2), ("Holm", "Esk", 5))  # fmt: skip


def make_tables() -> dict[str, str]:
    """Return the text of every file."""
    images = load_digits().images[:IMAGES].astype(int)
    flat = images.reshape(IMAGES, -1)
    users, pixels = np.nonzero(flat > 8)
    pixel_rows = [f"{user},{pixel},{flat[user, pixel] / 16}" for user, pixel in zip(users.tolist(), pixels.tolist(), strict=True)]
    lines = [f"{user},{row},{int(images[user, row].argmax())}" for row in range(8) for user in range(IMAGES) if images[user, row].any()]
    petals = load_iris().data[:, 2:]
    grid = [f"{length},{width}" for length in np.arange(1, 7.5, 0.5) for width in np.arange(0, 3, 0.5)]
    places = [TOWNS[int(length * len(TOWNS) / 7)] for length in petals[:, 0]]
    return {
        "pixels.csv": _table("image,pixel,ink", pixel_rows),
        "lines.csv": _table("user,time,item", lines),
        "petals.csv": _table("length,width", [f"{length},{width}" for length, width in petals.tolist()]),
        "grid.csv": _table("length,width", grid),
        "roads.csv": _table("from,to,length", [f"{one},{other},{length}" for one, other, length in ROADS]),
        "travellers.csv": _table("place", places),
    }


def _table(header: str, rows: list[str]) -> str:
    return "\n".join([header, *rows]) + "\n"


if __name__ == "__main__":
    for name, text in make_tables().items():
        (HERE / name).write_text(text, encoding="utf-8")
