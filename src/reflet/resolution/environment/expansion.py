"""Expansion of ``$(NAME)`` in values, commands, arguments and sub-paths.

``$$`` is one dollar sign; ``$(NAME)``, up to the first closing parenthesis, is the variable, or
itself when there is none; everything else, a lone ``$`` included, stays.  What comes out is not
read again, so nothing loops; sizes are told before anything is joined, so that no text grows beyond
what a process could be given.

Upstream: third_party/forked/golang/expansion/expand.go, Expand
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from reflet.errors import RefletError

Lookup = Callable[[str], str | None]
"""Gives a variable's value, or ``None`` when there is no such variable."""

LARGEST_EXPANSION: Final = 8 << 20
"""Characters.  Linux hands at most 6 MiB of variables and arguments to a process, whatever its
limits, so nothing that could be started is refused; variables that double each other are."""

_REFERENCE_OR_ESCAPE: Final = re.compile(r"\$(?:\$|\(([^)]*)\))")


class OversizedExpansion(RefletError):
    """A text, or several together, would be larger with their variables than all that is possible.

    Nothing of it is in the message.
    """

    def __init__(self, size: int) -> None:
        super().__init__(
            f"{size} characters with the variables put in; at most {LARGEST_EXPANSION} are possible"
        )
        self.size = size


def expand(text: str, lookup: Lookup) -> str:
    """Return the text with its references replaced; unknown ones stay as they are.

    Raises OversizedExpansion.
    """
    return expand_all((text,), lookup)[0]


def expand_all(texts: Iterable[str], lookup: Lookup) -> tuple[str, ...]:
    """Return the texts with their references replaced, which are one process's together.

    Raises OversizedExpansion, before the first of them is made.
    """
    pieces = [expand_pieces(text, lookup) for text in texts]
    size = sum(map(_size, pieces))
    if size > LARGEST_EXPANSION:
        raise OversizedExpansion(size)
    return tuple(map("".join, pieces))


def expanded_size(texts: Iterable[str], lookup: Lookup) -> int:
    """Return how many characters the texts have with their references replaced."""
    return sum(_size(expand_pieces(text, lookup)) for text in texts)


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


def _size(pieces: list[str]) -> int:
    return sum(map(len, pieces))
