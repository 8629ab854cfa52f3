"""Values are shown by functions that register themselves; the values import none of these."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, replace

import pytest

from profiles import InvalidArgument, declare
from profiles.profile import Profile
from profiles.views import show_html, show_latex, show_picture, show_text


@dataclass(frozen=True, slots=True, repr=False)
class Named(Profile):
    """A profile of somebody else's module."""


def test_a_subclass_from_elsewhere_is_shown_as_its_base():
    made = declare("sum", "w*z", record={"z": [0, 1]})
    other = Named(made.name, made.promise, made.record, made.parameters)
    assert repr(other) == repr(made) == show_text(made)
    assert other._repr_html_() == show_html(made)
    assert other._repr_latex_() == show_latex(replace(made))


@pytest.mark.parametrize("view", [show_text, show_html, show_latex, show_picture])
def test_what_nothing_shows_is_refused_by_name(view):
    with pytest.raises(InvalidArgument, match=rf"{view.__name__} shows results of this library, but int has no such view"):
        view(3)


def test_values_do_not_load_their_pictures_before_they_are_shown():
    program = (
        "import sys; from profiles import declare; from proofs_check.verify import verify\n"
        "found = verify(declare('s', 'w*z', record={'z': [0, 1]}), 2, ['assumption-8'])\n"
        "before = 'proofs_check.presenting' in sys.modules; found._repr_html_()\n"
        "print(before, 'proofs_check.presenting' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["False", "True"]
