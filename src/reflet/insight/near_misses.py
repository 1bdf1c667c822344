"""Which name was meant, when one was mistyped.

Owns: what counts as nearly the same name.  Must not know what the names are of.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

ALIKE: Final = 0.75  # of difflib's ratio; below, suggestions mislead more than they help
_SEPARATORS: Final = str.maketrans({"-": "_", ".": "_", " ": "_"})


def near_miss(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that was probably meant; the name itself is none.

    Names that differ only in case and separators (``db.password``, ``DB_PASSWORD``) come first.
    """
    others = [candidate for candidate in candidates if candidate != name]
    plain = _plain(name)
    for candidate in others:
        if _plain(candidate) == plain:
            return candidate
    by_plain_name = {_plain(candidate): candidate for candidate in reversed(others)}
    close = get_close_matches(plain, by_plain_name, n=1, cutoff=ALIKE)
    return by_plain_name[close[0]] if close else None


def _plain(name: str) -> str:
    return name.lower().translate(_SEPARATORS)
