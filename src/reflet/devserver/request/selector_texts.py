"""What is wrong with a selector, in the words of the real server.

Owns: the messages.  They depend on how far the real parser gets, so this module goes the same
way; but only through texts that have been found malformed.  Must not know what a selector
selects.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from reflet.apirules.validation.names import label_value, qualified_name

_TOKEN: Final = re.compile(r"!=|==|[=!(),<>]|[^ \t\r\n=!(),<>]+")
_SYMBOLS: Final = frozenset({"!=", "==", "=", "!", "(", ")", ",", "<", ">"})
_OPERATORS: Final = frozenset({"in", "notin", "=", "==", "!=", ">", "<"})
_OPERATOR_NAMES: Final = "in, notin, =, ==, !=, gt, lt"

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")


class _Complaint(Exception):
    """The walk has come to what is wrong."""


class _Token(NamedTuple):
    text: str

    @property
    def is_word(self) -> bool:
        return bool(self.text) and self.text not in _SYMBOLS


def complaint_about_labels(text: str) -> str:
    """Say what is wrong with a label selector; empty when nothing is."""
    try:
        _Labels(text).walk()
    except _Complaint as complaint:
        return str(complaint)
    return ""


def complaint_about_fields(text: str) -> str:
    """Say what is wrong with a field selector; empty when nothing is."""
    for term in re.findall(r"(?:[^\\,]|\\.?)+", text):
        found = re.search(r"!=|==|=", term)
        if found is None:
            return f"invalid selector: '{text}'; can't understand '{term}'"
        value = term[found.end() :]
        bad = re.search(r"\\(?![\\,=])(.?)", re.sub(r"\\[\\,=]", "", value))
        if bad is not None:
            return f"invalid field selector: invalid escape sequence: \\{bad.group(1)}"
        if "=" in re.sub(r"\\[\\,=]", "", value):
            # Only an equals sign can stand there, and the real server shows its number.
            return f"invalid field selector: unescaped character in value: {ord('=')}"
    return ""


class _Labels:
    """One walk over a label selector."""

    def __init__(self, text: str) -> None:
        self._tokens = [_Token(found) for found in _TOKEN.findall(text)]
        self._tokens.append(_Token(""))
        self._next = 0

    def walk(self) -> None:
        while True:
            token = self._look()
            if not token.text:
                return
            if not (token.is_word or token.text == "!"):
                raise _Complaint(
                    f"found '{token.text}', expected: !, identifier, or 'end of string'"
                )
            try:
                self._requirement()
            except _Complaint as complaint:
                raise _Complaint(f"unable to parse requirement: {complaint}") from None
            after = self._take()
            if not after.text:
                return
            if after.text != ",":
                raise _Complaint(f"found '{after.text}', expected: ',' or 'end of string'")
            following = self._look()
            if not (following.is_word or following.text == "!"):
                raise _Complaint(f"found '{following.text}', expected: identifier after ','")

    def _look(self) -> _Token:
        return self._tokens[min(self._next, len(self._tokens) - 1)]

    def _take(self) -> _Token:
        token = self._look()
        self._next += 1
        return token

    def _requirement(self) -> None:
        token = self._take()
        is_absent = token.text == "!"
        if is_absent:
            token = self._take()
        if not token.is_word:
            raise _Complaint(f"found '{token.text}', expected: identifier")
        _check_key(token.text)
        if is_absent or self._look().text in {"", ","}:
            return
        operator = self._take().text
        if operator not in _OPERATORS:
            raise _Complaint(f"found '{operator}', expected: {_OPERATOR_NAMES}")
        takes_list = operator in {"in", "notin"}
        values = self._values() if takes_list else [self._value()]
        _check_values(token.text, operator, values)

    def _value(self) -> str:
        if self._look().text in {"", ","}:
            return ""
        token = self._take()
        if not token.is_word:
            raise _Complaint(f"found '{token.text}', expected: identifier")
        return token.text

    def _values(self) -> list[str]:
        opening = self._take().text
        if opening != "(":
            raise _Complaint(f"found '{opening}' expected: '('")
        token = self._look()
        if token.text == ")":
            self._take()
            return [""]
        if not (token.is_word or token.text == ","):
            raise _Complaint(f"found '{token.text}', expected: ',', ')' or identifier")
        values = self._identifiers()
        closing = self._take().text
        if closing != ")":
            raise _Complaint(f"found '{closing}', expected: ')'")
        return values

    def _identifiers(self) -> list[str]:
        values: list[str] = []
        while True:
            token = self._take()
            if token.is_word:
                values.append(token.text)
                following = self._look().text
                if following == ",":
                    continue
                if following == ")":
                    return values
                raise _Complaint(f"found '{following}', expected: ',' or ')'")
            if token.text != ",":
                raise _Complaint(f"found '{token.text}', expected: ',', or identifier")
            if not values:
                values.append("")
            following = self._look().text
            if following == ")":
                return [*values, ""]
            if following == ",":
                values.append("")


def _check_key(key: str) -> None:
    problems = qualified_name(key)
    if problems:
        raise _Complaint(f'<nil>: Invalid value: "{key}": {"; ".join(problems)}')


def _check_values(key: str, operator: str, values: list[str]) -> None:
    complaints = []
    if operator in {">", "<"} and not _is_int64(values[0]):
        complaints.append(
            f"values[0]: Invalid value: \"{values[0]}\": for 'Gt', 'Lt' operators, the value must "
            "be an integer"
        )
    for index, value in enumerate(values):
        problems = label_value(value)
        if problems:
            said = "; ".join(problems)
            complaints.append(f'values[{index}][{key}]: Invalid value: "{value}": {said}')
    if complaints:
        raise _Complaint(complaints[0] if len(complaints) == 1 else f"[{', '.join(complaints)}]")


def _is_int64(text: str) -> bool:
    return bool(_INTEGER.fullmatch(text)) and -(2**63) <= int(text) < 2**63
