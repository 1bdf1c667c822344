r"""Lets ``\'`` in double quotes pass, as Kubernetes' own reader does and YAML's does not.

The parser stops at the first of them and cannot go on.  So the text is read a second time with a
character that is nowhere in it standing for each such backslash.  That changes neither what is
quoted nor any place, wherever the two characters turn out to be: in double quotes the stand-in
is taken away again, and anywhere else it becomes the backslash that it was.

Upstream: go.yaml.in/yaml/v2/scannerc.go, yaml_parser_scan_flow_scalar
"""

import re
from collections.abc import Callable
from typing import Any, Final

# Private letters.  More of them need not be tried: a text that has them all wants to be refused.
_STAND_INS: Final = range(0xE000, 0xE020)


def is_quote_escape(error: Any, text: str) -> bool:
    r"""Say whether the parser stopped at ``\'`` in double quotes."""
    if not str(getattr(error, "problem", "")).startswith("found unknown escape character"):
        return False
    at = error.problem_mark.index
    return "\\'" in text[max(at - 1, 0) : at + 2]


def with_stand_in(text: str) -> tuple[str, str]:
    r"""Return the text with a stand-in for the backslash of each ``\'``, and the stand-in.

    Without one, which is empty then, when every candidate is in the text, written out or as an
    escape.
    """
    lowered = text.lower()
    for code in _STAND_INS:
        if chr(code) not in text and f"{code:x}" not in lowered:
            # An even number of backslashes before it are escaped backslashes.
            return re.sub(r"(?<!\\)((?:\\\\)*)\\'", rf"\g<1>{chr(code)}'", text), chr(code)
    return text, ""


class Restoring:
    """Passes events on, with the text that the stand-ins stand for."""

    def __init__(
        self, next_event: Callable[[], Any], stand_in: str, warn: Callable[[Any], None]
    ) -> None:
        self._next_event = next_event
        self._stand_in = stand_in
        self._warn = warn

    def next_event(self) -> Any:
        """Return the next event; ``warn`` gets each that had an escape."""
        event = self._next_event()
        value = getattr(event, "value", None)
        if value is not None and self._stand_in in value:
            in_double_quotes = event.style == '"'
            event.value = value.replace(self._stand_in, "" if in_double_quotes else "\\")
            if in_double_quotes:
                self._warn(event)
        return event
