r"""Text in quotes: as Go quotes it, and as our own messages do.

Messages of the API server and of the kubelet show values with Go's ``%q``, and people search for
them, so ours must be equal to the byte.  Which characters are printable is what Python's Unicode
tables say; Go's may be a version ahead or behind.

Upstream: strconv/quote.go, Quote; encoding/json/scanner.go, quoteChar
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

ESCAPED: Final[Mapping[str, str]] = MappingProxyType(
    dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))
)
"""What letters mean behind a backslash, in Go and in languages that follow it."""
_ESCAPES: Final[Mapping[str, str]] = MappingProxyType(
    {each: f"\\{letter}" for letter, each in ESCAPED.items()} | {"\\": r"\\", '"': r"\""}
)
_PLAIN: Final = re.compile(r"[ !#-\[\]-~]*")


def quoted(text: str) -> str:
    """Return the text as ``%q`` does: in double quotes, one line, all else escaped."""
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    return f'"{"".join(map(_escaped, text))}"'


def quoted_character(character: str) -> str:
    """Return a character in single quotes, as messages of Go's JSON decoder show it."""
    if character == "'":
        return r"'\''"
    return "'\"'" if character == '"' else f"'{quoted(character)[1:-1]}'"


def quoted_map(mapping: Mapping[str, str]) -> str:
    """Return lines of ``key="value"`` in the order of the keys, the last without a line end."""
    return "\n".join(f"{key}={quoted(mapping[key])}" for key in sorted(mapping))


def excerpt(text: str, longest: int) -> str:
    """Return the beginning of a text in quotes, for messages of our own about a malformed one.

    Python's quotes, not Go's: no reader compares these with a message of the real server.
    """
    return repr(text if len(text) <= longest else text[: longest - 1] + "…")


def _escaped(character: str) -> str:
    escape = _ESCAPES.get(character)
    if escape is not None:
        return escape
    code = ord(character)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    if 0xD800 <= code < 0xE000:  # half a character: replaced, as in any text that is not valid
        return r"\ufffd"
    if character.isprintable():
        return character
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
