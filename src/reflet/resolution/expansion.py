"""Expansion of ``$(NAME)`` in values, commands, arguments and sub-paths.

Owns: the syntax.  ``$$`` is one dollar sign; ``$(NAME)``, up to the first closing parenthesis,
is the variable, or itself when there is none; everything else, a lone ``$`` included, stays.
What comes out is not read again, so nothing loops.  Must not know which variables there are.
"""

import re
from collections.abc import Callable
from typing import Final

Lookup = Callable[[str], str | None]
"""Gives a variable's value, or ``None`` when there is no such variable."""

_REFERENCE_OR_ESCAPE: Final = re.compile(r"\$(?:\$|\(([^)]*)\))")


def expand(text: str, lookup: Lookup) -> str:
    """Return the text with its references replaced; unknown ones stay as they are."""
    return "".join(expand_pieces(text, lookup))


def expand_pieces(text: str, lookup: Lookup) -> list[str]:
    """Return the pieces that the expanded text consists of, so that its size can be told."""
    if "$" not in text:
        return [text]
    pieces: list[str] = []
    # Behind the last parenthesis nothing can be a reference.  Searching only up to there keeps
    # the work proportional to the text: an open "$(" is not followed to the end each time.
    closed = text.rfind(")") + 1
    position = 0
    for found in _REFERENCE_OR_ESCAPE.finditer(text, 0, closed):
        pieces.append(text[position : found.start()])
        position = found.end()
        name = found[1]
        if name is None:
            pieces.append("$")
            continue
        value = lookup(name)
        pieces.append(found[0] if value is None else value)
    pieces += (text[position:closed], text[closed:].replace("$$", "$"))
    return pieces


def references_in(text: str) -> tuple[str, ...]:
    """Return the names that the text refers to, in order, each as often as it stands there."""
    names: list[str] = []

    def note(name: str) -> None:
        names.append(name)

    expand_pieces(text, note)
    return tuple(names)
