"""Refusals of what a patch has made, when it cannot be read as the kind.

Owns: the real server's words, which show the result or the patch.  Must not know how results are
read, nor what is wrong with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules import refusals
from reflet.errors import ApiError, Cause
from reflet.gotext import printing

NO_OBJECT: Final = (
    "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of "
    r'type struct { APIVersion string "json:\"apiVersion,omitempty\""; '
    r'Kind string "json:\"kind,omitempty\"" }'
)


def unreadable_result(patched: Any, problem: str) -> ApiError:
    """Refuse what a JSON or merge patch made; ``problem`` says why it cannot be read."""
    return _unreadable(printing.json_text(patched), problem)


def unreadable_strategic_result(patch: Mapping[str, Any], problem: str) -> ApiError:
    """Refuse what a strategic merge patch made; the message shows the patch."""
    return _unreadable(printing.plain(patch), problem)


def without_prefix(message: str) -> str:
    """Leave out of a refusal what only says for which kind a document cannot be read."""
    _, found, problem = message.partition(": ")
    return problem if found and "cannot be handled as" in message else message


def _unreadable(shown: str, problem: str) -> ApiError:
    message = f"Invalid value: {printing.quoted(shown)}: {problem}"
    return refusals.invalid("", "", [Cause("FieldValueInvalid", message, "patch")])
