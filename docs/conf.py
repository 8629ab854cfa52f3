"""The documentation site: ``make docs`` builds it into out/site, with every warning an error."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]  # the packages that the reference is made from, and the extension

project = "pdp-accountant"
author = "the pdp-accountant authors"
project_copyright = "2026, the pdp-accountant authors"
release = version = installed_version("pdp-accountant")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.githubpages", "_site"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns = ["_site", "_static"]
nitpicky = False  # types of other libraries have no page here; links between pages are checked all the same
suppress_warnings = ["ref.python"]  # two classes are called Claim; a short name in a signature then leads to one of them

# The notebooks are executed in every build, and whatever goes wrong in a cell, or is written to standard error, fails it.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_output_stderr = "error"

smartquotes = False  # -- begins an option here, not a dash
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4  # the anchors that code hosts make for headings
html_math_renderer = "mathml"

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Exact", "ExactLike", "FloatArray", "Floats", "NDArray")}
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 90
add_module_names = False

html_theme = "furo"
html_title = "pdp-accountant"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
pygments_style = "default"
pygments_dark_style = "monokai"
