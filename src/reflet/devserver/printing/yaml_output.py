"""Writes answers as YAML, as the real server does: keys in order, texts quoted only if need be.

Owns: the writing.  Must not know what is written.
"""

from __future__ import annotations

from typing import Any, Final

import yaml

_BASE: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

_TEXT_TAG: Final = "tag:yaml.org,2002:str"
# Words that the real server's reader of YAML takes for something else than text, and PyYAML's
# does not, so they need quotes.
_WORDS: Final = frozenset({"y", "Y", "n", "N"})


class _Dumper(_BASE):  # type: ignore[misc]  # the C dumper has no types
    """Writes without aliases: the same value twice is written twice."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's shape
        return True


def _text(dumper: Any, text: str) -> Any:
    style = None
    if "\n" in text and text.isascii():
        style = "|"
    elif text in _WORDS or dumper.resolve(yaml.ScalarNode, text, (True, False)) != _TEXT_TAG:
        style = '"'  # without quotes it would be no text
    return dumper.represent_scalar(_TEXT_TAG, text, style=style)


_Dumper.add_representer(str, _text)


def write_yaml(document: Any) -> bytes:
    """Write a document; UTF-8, ends with a line break."""
    written: bytes = yaml.dump(
        document, Dumper=_Dumper, allow_unicode=True, encoding="utf-8", sort_keys=True
    )
    return written
