"""Follows every link of the built documentation that stays in it: ``make docs``.

A page that Sphinx has built may still lead nowhere: to a file that is not part of the site, or to a
heading that is not on its page.  ``python -m docs.generators.site_check docs/_build`` names each.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit


class _Page(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {"", "top"}

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take links and anchors."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self.links |= {given[name] for name in ("href", "src") if name in given}


@cache
def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text())
    return page


def broken_links(site: Path) -> Iterator[str]:
    """Give every link of a site that leads nowhere inside it, with its page."""
    for path in sorted(site.rglob("*.html")):
        for link in sorted(_read(path).links):
            if not urlsplit(link).scheme and not link.startswith("//") and not _leads(path, link):
                yield f"{path.relative_to(site)} links to {link}"


def _leads(path: Path, link: str) -> bool:
    file, anchor = urldefrag(link.partition("?")[0] if "#" not in link else link)
    target = (path.parent / unquote(file.partition("?")[0])).resolve() if file else path
    if not target.is_file():
        return False
    return target.suffix != ".html" or unquote(anchor) in _read(target).anchors


def main() -> int:
    """Name what is broken; 1 if anything is."""
    found = list(broken_links(Path(sys.argv[1])))
    for line in found:
        sys.stderr.write(f"{line}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
