"""How the documentation is built: ``make docs``.

Owns: the settings of Sphinx.  Pages are plain Markdown that reads well without being built; what
is generated in them is written by ``make reference``, not while building.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pygments.lexers.special import TextLexer  # type: ignore[import-untyped]  # it has no types

from reflet._version import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Reflet"
author = "the authors of Reflet"
project_copyright = "the authors of Reflet, Apache-2.0"
version = release = __version__

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
templates_path: list[str] = []

# Headings can be linked to as on every code host: #which-strategy.
myst_heading_anchors = 4
myst_links_external_new_tab = False

html_theme = "furo"
html_title = f"Reflet {release}"
html_copy_source = False
html_show_sourcelink = False


def setup(app: Sphinx) -> None:
    """Tell Sphinx that diagrams are shown as they are written."""
    app.add_lexer("mermaid", TextLexer)
