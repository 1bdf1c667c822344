"""Reads JSON, and says what is wrong with it in the words of the real server.

They are those of Go's decoder, which walks the text byte by byte and names the first that does
not fit and what it was looking for; so does this module, but only for text that has already
failed to be read.

Upstream: encoding/json/scanner.go
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from reflet.apirules.schema.decoding import keep_repeated
from reflet.errors import DecodeError
from reflet.gotext.quoting import quoted_character

UNEXPECTED_END: Final = "unexpected end of JSON input"
DEEPEST: Final = 10_000

_SPACE: Final = " \t\r\n"
_ESCAPES: Final = frozenset('"\\/bfnrtu')
_HEXADECIMAL: Final = frozenset("0123456789abcdefABCDEF")
_DIGITS: Final = frozenset("0123456789")
_AFTER: Final = {"}": "after object key:value pair", "]": "after array element"}


def read_json(text: bytes) -> Any:
    """Read a document; objects remember repeated keys.  DecodeError with Go's words."""
    try:
        return json.loads(text, object_pairs_hook=keep_repeated, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise DecodeError(complaint_about(text)) from None


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def complaint_about(text: bytes) -> str:
    """Say what is wrong with a text that is not JSON; empty when nothing is."""
    try:
        # Go names single bytes, each as if it were a character of its own.
        _Walk(text.decode("latin-1")).document()
    except _Found as found:
        return str(found)
    return ""


class _Found(Exception):
    """The walk has come to what is wrong."""


class _Walk:
    """One walk over a text; ``at`` is the next character."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> None:
        """Go through the whole text; without calling itself, however deep the text is."""
        closings: list[str] = []  # what closes the containers that are open
        while True:
            if self._opens(closings):
                continue
            while closings:
                self._spaces()
                context = _AFTER[closings[-1]]
                if self._take(f",{closings[-1]}".__contains__, context) == ",":
                    break
                closings.pop()
            else:
                break
            if closings[-1] == "}":
                self._key()
        self._spaces()
        if self._at < len(self._text):
            raise self._wrong("after top-level value")

    def _opens(self, closings: list[str]) -> bool:
        """Go past a value, or into a container that has something in it."""
        self._spaces()
        opening = self._peek()
        if opening not in {"{", "["}:
            self._scalar()
            return False
        self._at += 1
        self._spaces()
        closing = "}" if opening == "{" else "]"
        if self._peek() == closing:
            self._at += 1
            return False
        closings.append(closing)
        if len(closings) > DEEPEST:
            raise _Found(f"invalid character '{opening}' exceeded max depth")
        if closing == "}":
            self._key()
        return True

    def _key(self) -> None:
        self._spaces()
        self._take('"'.__eq__, "looking for beginning of object key string")
        self._string()
        self._spaces()
        self._take(":".__eq__, "after object key")

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _wrong(self, context: str) -> _Found:
        character = self._peek()
        if not character:
            return _Found(UNEXPECTED_END)
        return _Found(f"invalid character {quoted_character(character)} {context}")

    def _spaces(self) -> None:
        while self._peek() and self._peek() in _SPACE:
            self._at += 1

    def _take(self, fits: Callable[[str], bool], context: str) -> str:
        character = self._peek()
        if not character or not fits(character):
            raise self._wrong(context)
        self._at += 1
        return character

    def _scalar(self) -> None:
        character = self._peek()
        match character:
            case '"':
                self._at += 1
                self._string()
            case "t" | "f" | "n":
                self._literal({"t": "true", "f": "false", "n": "null"}[character])
            case _ if character and character in "-0123456789":
                self._number()
            case _:
                raise self._wrong("looking for beginning of value")

    def _string(self) -> None:
        while True:
            character = self._take(lambda each: ord(each) >= 0x20, "in string literal")
            if character == '"':
                return
            if character != "\\":
                continue
            if self._take(_ESCAPES.__contains__, "in string escape code") == "u":
                for _ in range(4):
                    self._take(_HEXADECIMAL.__contains__, r"in \u hexadecimal character escape")

    def _literal(self, word: str) -> None:
        self._at += 1
        for letter in word[1:]:
            self._take(letter.__eq__, f"in literal {word} (expecting {quoted_character(letter)})")

    def _number(self) -> None:
        if self._peek() == "-":
            self._at += 1
        if self._take(_DIGITS.__contains__, "in numeric literal") != "0":
            self._digits()
        if self._peek() == ".":
            self._at += 1
            self._take(_DIGITS.__contains__, "after decimal point in numeric literal")
            self._digits()
        if self._peek() and self._peek() in "eE":
            self._at += 1
            if self._peek() and self._peek() in "+-":
                self._at += 1
            self._take(_DIGITS.__contains__, "in exponent of numeric literal")
            self._digits()

    def _digits(self) -> None:
        while self._peek() and self._peek() in _DIGITS:
            self._at += 1
