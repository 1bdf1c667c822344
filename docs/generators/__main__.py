"""Write what is generated into the pages of the reference: ``make reference``.

A page says what it wants, and has it between two marks; the rest of it is written by hand::

    <!-- generated: room reflet.pleg -->
    …
    <!-- end of generated -->

Owns: which generator answers which wish, and the marks.  What is written is committed, so that the
reference can be read in the repository without building anything, and a test says when it is out
of date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from docs.generators import (
    api_pages,
    commands,
    error_tree,
    kubeconfig_fields,
    lint_rules,
    metrics,
    reference_rows,
    sidecar_table,
    state_diagram,
)

REFERENCE: Final = Path(__file__).parents[1] / "reference"
COMMAND: Final = "make reference"

GENERATORS: Final[Mapping[str, Callable[..., str]]] = MappingProxyType(
    {
        "command-list": commands.command_list,
        "commands": commands.markdown,
        "errors": error_tree.markdown,
        "front-page": api_pages.front_page,
        "kubeconfig": kubeconfig_fields.markdown,
        "lint-rules": lint_rules.markdown,
        "makers": reference_rows.makers,
        "metrics": metrics.markdown,
        "references": reference_rows.references,
        "room": api_pages.room,
        "sidecar": sidecar_table.markdown,
        "workload-kinds": reference_rows.workloads,
    }
)

_REGION: Final = re.compile(
    r"^<!-- generated: ([^\n]+?) -->\n.*?^<!-- end of generated -->$", re.MULTILINE | re.DOTALL
)


def pages() -> list[Path]:
    """The pages that have something generated in them."""
    return [page for page in sorted(REFERENCE.rglob("*.md")) if _REGION.search(page.read_text())]


def written(text: str) -> str:
    """A page with everything between its marks generated now."""
    return _REGION.sub(_filled, text)


def _filled(region: re.Match[str]) -> str:
    what, *arguments = region[1].split()
    if what not in GENERATORS:
        raise LookupError(f"nothing generates {what!r}; there is {', '.join(GENERATORS)}")
    text = GENERATORS[what](*arguments).strip("\n")
    return f"<!-- generated: {region[1]} -->\n\n{text}\n\n<!-- end of generated -->"


def main() -> None:
    """Write every page and picture that is out of date, and name it."""
    for page in pages():
        _keep(page, written(page.read_text()))
    _keep(state_diagram.IMAGE, state_diagram.diagram())


def _keep(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)
        sys.stdout.write(f"wrote {path.relative_to(REFERENCE.parents[1])}\n")


if __name__ == "__main__":
    main()
