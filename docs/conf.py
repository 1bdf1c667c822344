"""How the documentation is built: ``make docs``.

Pages are plain Markdown that reads well without being built; what is generated in them is written
by ``make reference``, not while building.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reflet._version import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

REPOSITORY: Final = Path(__file__).parents[1]
PROJECT: Final = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]

project = "Reflet"
author = "the authors of Reflet"
project_copyright = "the authors of Reflet, Apache-2.0"
version = release = __version__

extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["_build"]
templates_path: list[str] = []

# Headings can be linked to as on every code host: #which-strategy.
myst_heading_anchors = 4
myst_links_external_new_tab = False
myst_html_meta = {"description": PROJECT["description"]}

# A copy of a console block is what the reader types.
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = f"Reflet {release}"
html_copy_source = False
html_show_sourcelink = False
html_baseurl = PROJECT["urls"]["Documentation"]
html_favicon = "static/favicon.svg"
html_static_path = ["static"]
html_css_files = ["reflet.css"]
html_theme_options = {
    "source_edit_link": f"{PROJECT['urls']['Source']}/edit/main/docs/{{filename}}",
    "light_css_variables": {"color-brand-primary": "#0969da", "color-brand-content": "#0969da"},
    "dark_css_variables": {"color-brand-primary": "#4493f8", "color-brand-content": "#4493f8"},
}

# Pages that are files of the repository: their links are those of a file one folder up.
FROM_THE_REPOSITORY: Final = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}


def filled(_app: Sphinx, page: str, source: list[str]) -> None:
    """Put the text of a file of the repository into the page that stands for it."""
    if page in FROM_THE_REPOSITORY:
        text = (REPOSITORY / FROM_THE_REPOSITORY[page]).read_text()
        for name, file in FROM_THE_REPOSITORY.items():
            text = text.replace(f"]({file}", f"]({name}.md")
        text = text.replace("](docs/adr)", "](adr/README.md)")
        source[0] = re.sub(r"\]\(docs/", "](", text)


def setup(app: Sphinx) -> None:
    """Connect what happens when a page is read."""
    app.connect("source-read", filled)
