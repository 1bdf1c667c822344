"""The directive ``generated``: a page says what it wants, and gets it as Markdown.

Owns: everything that concerns Sphinx.  Must not know how anything is generated.

::

    {generated} commands
    {generated} module reflet.pods.pod_sources
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from docutils import nodes  # type: ignore[import-untyped]  # it has no types
from pygments.lexers.special import TextLexer  # type: ignore[import-untyped]  # the same
from sphinx.util.docutils import SphinxDirective

from docs.generators import (
    commands,
    error_tree,
    kubeconfig_fields,
    lint_rules,
    metrics,
    public_names,
)

if TYPE_CHECKING:
    from sphinx.application import Sphinx

GENERATORS: Final[Mapping[str, Callable[..., str]]] = MappingProxyType(
    {
        "command-list": commands.command_list,
        "commands": commands.markdown,
        "errors": error_tree.markdown,
        "front-page": public_names.front_page,
        "kubeconfig": kubeconfig_fields.markdown,
        "lint-rules": lint_rules.markdown,
        "metrics": metrics.markdown,
        "module": public_names.module,
    }
)


class Generated(SphinxDirective):
    """Puts what a generator writes where the directive stands."""

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Generate and read it as part of the page."""
        what, *arguments = self.arguments
        if what not in GENERATORS:
            raise self.error(f"nothing generates {what!r}; there is {', '.join(GENERATORS)}")
        self.env.note_reread()  # the page is as old as the code, whatever its file says
        text = GENERATORS[what](*arguments)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx about the directive, and that diagrams are shown as they are written."""
    app.add_directive("generated", Generated)
    app.add_lexer("mermaid", TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
