"""Text in double quotes, as the kubelet's language quotes it.

Owns: the escapes.  Must not know what is quoted.  Which characters are printable is what
Python's Unicode tables say; the kubelet's may be a version ahead.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_ESCAPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "\a": r"\a",
        "\b": r"\b",
        "\f": r"\f",
        "\n": r"\n",
        "\r": r"\r",
        "\t": r"\t",
        "\v": r"\v",
        "\\": r"\\",
        '"': r"\"",
    }
)
_PLAIN: Final = re.compile(r"[ !#-\[\]-~]*")


def quoted(text: str) -> str:
    """Return the text in double quotes, one line, unprintable characters escaped."""
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    return f'"{"".join(map(_escaped, text))}"'


def quoted_map(mapping: Mapping[str, str]) -> str:
    """Return lines of ``key="value"`` in the order of the keys, the last without a line end."""
    return "\n".join(f"{key}={quoted(mapping[key])}" for key in sorted(mapping))


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
