"""Cuts the text of an expression into tokens.

Upstream: cel-spec/doc/langdef.md, Syntax; cel-go/parser/unescape.go
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from reflet.apirules.cel.values import Uint
from reflet.gotext.quoting import ESCAPED

RESERVED: Final = frozenset(
    {
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let"),
        *("loop", "package", "namespace", "return", "var", "void", "while"),
    }
)
_TOKEN: Final = re.compile(
    r"""(?P<space>[\t\n\f\r ]+|//[^\n]*)
    |(?P<text>(?P<prefix>[bB]?)(?P<quoted>
        \"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''
        |"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*'))
    |(?P<float>(?:[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+))
    |(?P<number>(?:0x[0-9a-fA-F]+|[0-9]+)[uU]?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<quotedname>`[A-Za-z0-9_.\-/ ]+`)
    |(?P<operator>==|!=|<=|>=|&&|\|\||[-+*/%!<>?:.,()\[\]{}])""",
    re.DOTALL | re.VERBOSE,
)
_RAW: Final = re.compile(
    r"""[rR][bB]?(?:\"\"\".*?\"\"\"|'''.*?'''|"[^"\n\r]*"|'[^'\n\r]*')""", re.DOTALL
)
_ESCAPE: Final = re.compile(
    r"""\\(?:[xX](?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})"""
    r"""|(?P<o>[0-3][0-7]{2})|(?P<c>[abfnrtv\\'"`?])|(?P<bad>.?))""",
    re.DOTALL,
)
_SIMPLE: Final[Mapping[str, str]] = {**ESCAPED, **{each: each for each in "\\'\"`?"}}


class SyntaxProblem(ValueError):
    """The text is no expression: what is wrong, and where."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True, slots=True)
class Lexeme:
    """One word, number, text or sign; ``kind`` is ``end`` behind the last."""

    kind: str
    text: str
    at: int
    value: Any = None


def tokens_of(text: str) -> Iterator[Lexeme]:
    """Give the tokens of a text, and an end.  Raises SyntaxProblem."""
    at = 0
    while at < len(text):
        raw = _RAW.match(text, at)
        if raw is not None:
            yield Lexeme("literal", raw.group(), at, _raw_value(raw.group()))
            at = raw.end()
            continue
        found = _TOKEN.match(text, at)
        if found is None:
            raise SyntaxProblem(at, f"Syntax error: token recognition error at: '{text[at]}'")
        if found["space"] is None:
            yield _token(found, at)
        at = found.end()
    yield Lexeme("end", "<EOF>", at)


def _token(found: re.Match[str], at: int) -> Lexeme:
    whole = found.group()
    if found["text"] is not None:
        return Lexeme("literal", whole, at, _text_value(found["prefix"], found["quoted"], at))
    if found["float"] is not None:
        return Lexeme("literal", whole, at, float(whole))
    if found["number"] is not None:
        return Lexeme("literal", whole, at, _number(whole, at))
    if found["quotedname"] is not None:
        return Lexeme("quoted", whole[1:-1], at)
    if found["name"] is not None:
        return Lexeme("name", whole, at)
    return Lexeme("operator", whole, at)


def _number(whole: str, at: int) -> int:
    digits = whole.rstrip("uU")
    # No more digits than there can be: reading thousands of them is an error in Python.
    value = int(digits, 16 if digits[:2] == "0x" else 10) if len(digits) < 40 else 2**64
    if digits != whole:
        if value >= 2**64:
            raise SyntaxProblem(at, "invalid uint literal")
        return Uint(value)
    if value > 2**63:  # the lowest integer is written as a minus and this
        raise SyntaxProblem(at, "invalid int literal")
    return value


def _raw_value(whole: str) -> str | bytes:
    start = len(whole) - len(whole.lstrip("rRbB"))
    inner = _unquoted(whole[start:])
    return inner.encode() if "b" in whole[:start].lower() else inner


def _unquoted(quoted: str) -> str:
    width = 3 if quoted[:3] in {'"""', "'''"} and len(quoted) > 5 else 1
    return quoted[width:-width]


def _text_value(prefix: str, quoted: str, at: int) -> str | bytes:
    inner = _unquoted(quoted).replace("\r\n", "\n")
    if prefix:
        return b"".join(_byte_parts(inner, at))
    return _ESCAPE.sub(lambda found: _character(found, at), inner)


def _character(found: re.Match[str], at: int) -> str:
    if found["c"]:
        return _SIMPLE[found["c"]]
    for name, base in (("x", 16), ("u", 16), ("U", 16), ("o", 8)):
        if found[name]:
            code = int(found[name], base)
            if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                raise SyntaxProblem(at, "unable to unescape string: invalid unicode code point")
            return chr(code)
    raise SyntaxProblem(at, "unable to unescape string")


def _byte_parts(inner: str, at: int) -> Iterator[bytes]:
    last = 0
    for found in _ESCAPE.finditer(inner):
        yield inner[last : found.start()].encode()
        last = found.end()
        if found["u"] or found["U"]:
            raise SyntaxProblem(at, "unable to unescape string")
        code = _character(found, at)
        yield bytes([ord(code)]) if found["x"] or found["o"] else code.encode()
    yield inner[last:].encode()
