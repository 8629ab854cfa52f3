"""Genuine files, made once for all tests."""

from __future__ import annotations

import pytest

from tests.documents.genuine import Maker


@pytest.fixture(scope="session")
def genuine(tmp_path_factory):
    """A maker of genuine files."""
    return Maker(tmp_path_factory.mktemp("genuine"))
