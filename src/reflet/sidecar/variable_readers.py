"""From the text of a variable to its value, as kiwigrid/k8s-sidecar reads it, or more strictly.

A reader raises ValueError, whose words follow the name of the variable: the sidecar does not start.
Where the original goes on all the same it is ``Tolerated``: a warning, and a value to go on with.
Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from reflet.api.selectors.labels import LabelSelector
from reflet.errors import ParseError
from reflet.processes.exit_status import signal_number

ALL: Final = "ALL"
LOG_LEVELS: Final = frozenset(
    {"CRITICAL", "FATAL", "ERROR", "WARNING", "WARN", "INFO", "DEBUG", "NOTSET"}
)
MOST_MODE: Final = 0o7777
MOST_PORT: Final = 65_535

Reader = Callable[[str], Any]


class Tolerated(ValueError):
    """The text is wrong, and *value* is used instead."""

    def __init__(self, words: str, value: object) -> None:
        super().__init__(words)
        self.value = value


def plain(text: str) -> str:
    """Any text."""
    return text


def upper_case(text: str) -> str:
    """Any text, in capitals."""
    return text.upper()


def needed(text: str) -> str:
    """Any text but none."""
    if not text:
        raise ValueError("is empty")
    return text


def selector(text: str) -> str:
    """A label, or a whole selector."""
    try:
        LabelSelector.parse(needed(text))
    except ParseError as error:
        raise ValueError(f"is no label selector: {error}") from None
    return text


def truth(text: str) -> bool:
    """The original's rule for most switches: 1, yes and on are false."""
    return text.lower() == "true"


def exact_truth(text: str) -> bool:
    """Its rule for the others: case matters."""
    return text == "true"


def listed(text: str) -> tuple[str, ...]:
    """What stands between commas, each once."""
    return tuple(dict.fromkeys(part for each in text.split(",") if (part := each.strip())))


def namespaces(text: str) -> tuple[str, ...]:
    """Namespaces in their order; ALL anywhere among them means all."""
    found = listed(text)
    return (ALL,) if ALL in found else found


def one_of(*choices: str) -> Reader:
    """One of some words."""

    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"{text!r} is none of {', '.join(choices)}")
        return text

    return read


def http_method(text: str) -> str:
    """GET unless something else is said; what it is shows when it is used."""
    return (text or "GET").upper()


def whole_number(text: str) -> int:
    """A whole number of 0 or more."""
    try:
        found = int(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None
    if found < 0:
        raise ValueError(f"{text!r} is negative")
    return found


def number(text: str) -> float:
    """A number of 0 or more."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise ValueError(f"{text!r} is not a number of 0 or more")
    return found


def seconds_if_any(text: str) -> float | None:
    """A number of seconds; 0 and no text leave it to the defaults."""
    return (number(text) or None) if text else None


def port(text: str) -> int:
    """A port; the original goes on without one."""
    if text.isdecimal() and int(text) <= MOST_PORT:
        return int(text)
    raise Tolerated(f"{text!r} is no port: health is not served", 0)


def file_mode(text: str) -> int | None:
    """A mode in octal digits."""
    if not text:
        return None
    try:
        found = int(text, base=8)
    except ValueError:
        found = -1
    if not 0 <= found <= MOST_MODE:
        raise ValueError(f"{text!r} is not a mode in octal digits, like 0640")
    return found


def encoding(text: str) -> str:
    """The name of an encoding; whether there is one shows when it is used, as for the original."""
    return text or "latin1"


def log_level(text: str) -> str:
    """A level of Python's logging."""
    found = (text or "INFO").upper()
    if found not in LOG_LEVELS:
        raise ValueError(f"{text!r} is no level: use DEBUG, INFO, WARNING or ERROR")
    return found


def log_format(text: str) -> str:
    """The form of log lines; the original meant to fall back to JSON."""
    if (found := text.upper()) in {"JSON", "LOGFMT"}:
        return found
    raise Tolerated(f"{text!r} is neither JSON nor LOGFMT: it is JSON", "JSON")


def signal_if_any(text: str) -> int | None:
    """A signal by its name, with or without SIG, or by its number."""
    return signal_number(text) if text else None


def folders(text: str) -> tuple[str, ...]:
    """Absolute folders."""
    found = listed(text)
    for folder in found:
        if not folder.startswith("/"):
            raise ValueError(f"{folder!r} does not begin with a slash")
    return found


@dataclass(frozen=True, slots=True)
class ResourceName:
    """One name of RESOURCE_NAME; None where it leaves the kind or the namespace open."""

    name: str
    kind: str | None = None
    namespace: str | None = None

    def __str__(self) -> str:
        return "/".join(filter(None, (self.namespace, self.kind, self.name)))


_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


def named_objects(text: str) -> tuple[ResourceName, ...]:
    """Objects by name, each as precisely as it is given."""
    found = []
    for part in listed(text):
        *above, name = part.split("/")
        kind = above.pop() if above else None
        namespace = above.pop() if above else None
        if above or not _NAME.fullmatch(name) or namespace == "":
            raise ValueError(f"{part!r} is none of NAME, KIND/NAME and NAMESPACE/KIND/NAME")
        if kind not in {None, "configmap", "secret"}:
            raise ValueError(f"{part!r}: {kind!r} is neither configmap nor secret")
        found.append(ResourceName(name, kind, namespace))
    return tuple(found)
