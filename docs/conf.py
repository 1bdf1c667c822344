"""How the documentation is built: ``make docs``.

Owns: the settings of Sphinx.  Pages are plain Markdown that reads well without being built; what
is generated while building comes from ``docs/generators``.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from reflet._version import __version__

project = "Reflet"
author = "the authors of Reflet"
project_copyright = "the authors of Reflet, Apache-2.0"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "docs.generators.directives"]
exclude_patterns = ["_build"]
templates_path: list[str] = []

# Headings can be linked to as on every code host: #which-strategy.
myst_heading_anchors = 4
myst_links_external_new_tab = False

# What a member promises is in its docstring; inherited ones belong to whoever wrote them.
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
add_module_names = False

html_theme = "furo"
html_title = f"Reflet {release}"
html_copy_source = False
html_show_sourcelink = False
