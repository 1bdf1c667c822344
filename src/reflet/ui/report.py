"""The page as one file that needs nobody: for an incident, or a pull request.

Styles, modules and the document are inside.  Its own policy lets those run that it came with, known
by their digests, and nothing else; it asks nobody for anything.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from typing import Final

import msgspec

from reflet.insight.page.page_document import PageDocument
from reflet.ui.page_answers import read_assets

MODULES: Final = ("words.js", "model.js", "board.js", "lines.js", "stream.js", "app.js")
"""Each behind those that it imports from."""
_IMPORT: Final = re.compile(r"^import \{[^}]*\} from '\./[a-z]+\.js';\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(async )?function|const|class)", re.MULTILINE)
_LINKS: Final = re.compile(r'<link rel="stylesheet"[^>]*>\n<script [^>]*></script>\n')


def report(document: PageDocument, assets: Mapping[str, bytes] | None = None) -> str:
    """Return the page of a document as one HTML file."""
    parts = {name: text.decode() for name, text in (assets or read_assets()).items()}
    script = joined_modules(parts)
    style = parts["style.css"]
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    # Inside a script element nothing ends it but what begins with this character.
    data = msgspec.json.encode(document).decode().replace("<", "\\u003c")
    inside = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>\n'
    )
    before, after = _LINKS.split(parts["index.html"])
    body = after.replace(
        "</html>",
        f'<script type="application/json" id="document">{data}</script>\n'
        f'<script type="module">{script}</script>\n</html>',
    )
    return f"{before}{inside}{body}"


def joined_modules(parts: Mapping[str, str]) -> str:
    """Return the modules as one, in which a name means the same wherever it stands."""
    return "".join(_EXPORT.sub("", _IMPORT.sub("", parts[name])) for name in MODULES)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
