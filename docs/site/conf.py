"""Configuration of the documentation site, which `make docs` builds. Its sources are the pages and notebooks of the
repository in their own folders, so links work as in the repository and no text is duplicated."""

import os
from pathlib import Path

from flitlab import __version__

project, author, version = "flitlab", "the flitlab authors", __version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
root_doc = "docs/site/index"
include_patterns = ["README.md", "CHANGELOG.md", "docs/*.md", "docs/architecture/*.md", "docs/book/*.md",
                    "docs/site/*.md", "configs/README.md", "tests/README.md", "tests/*/README.md",
                    "bindings/README.md", "bindings/*/README.md", "host/README.md", "kernels/README.md",
                    "kernels/*/*/README.md", "notebooks/*.ipynb", ".github/CONTRIBUTING.md"]
exclude_patterns = ["build/**", "out/**", ".venv/**", ".git/**"]
html_theme, html_title = "furo", f"flitlab {__version__}"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
# The build executes notebooks; their outputs appear only in the site. FLITLAB_SITE_NOTEBOOKS=off omits them.
nb_execution_mode = os.environ.get("FLITLAB_SITE_NOTEBOOKS", "cache")
nb_execution_timeout = 900
nb_execution_raise_on_error = True
nb_execution_cache_path = str(Path(__file__).resolve().parents[2] / "build" / "notebooks")
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
