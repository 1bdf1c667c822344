"""Rules for names, labels, keys and other small texts, with the server's words.

Each function gives the list of what is wrong with a text, empty when nothing is.

Upstream: apimachinery/pkg/util/validation/validation.go
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reflet.gotext.lazy_patterns import lazy_pattern

Rule = Callable[[str], list[str]]

LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN: Final = rf"{LABEL}(\.{LABEL})*"
_UNDERSCORED_LABEL: Final = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
UNDERSCORED: Final = rf"{_UNDERSCORED_LABEL}(\.{_UNDERSCORED_LABEL})*"
WILDCARD: Final = rf"\*\.{SUBDOMAIN}"
DNS_1035_LABEL: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
QUALIFIED: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
LABEL_VALUE: Final = f"({QUALIFIED})?"
CONFIG_KEY: Final = "[-._a-zA-Z0-9]+"
HTTP_HEADER: Final = "[-A-Za-z0-9]+"
C_IDENTIFIER: Final = "[A-Za-z_][A-Za-z0-9_]*"
PERCENT: Final = "[0-9]+%"

_LABEL: Final = lazy_pattern(LABEL)
_SUBDOMAIN: Final = lazy_pattern(SUBDOMAIN)
_UNDERSCORED: Final = lazy_pattern(UNDERSCORED)
_WILDCARD: Final = lazy_pattern(WILDCARD)
_DNS_1035_LABEL: Final = lazy_pattern(DNS_1035_LABEL)
_QUALIFIED: Final = lazy_pattern(QUALIFIED)
_LABEL_VALUE: Final = lazy_pattern(LABEL_VALUE)
_CONFIG_KEY: Final = lazy_pattern(CONFIG_KEY)
_HTTP_HEADER: Final = lazy_pattern(HTTP_HEADER)
_C_IDENTIFIER: Final = lazy_pattern(C_IDENTIFIER)
_PERCENT: Final = lazy_pattern(PERCENT)
_PORT_NAME: Final = lazy_pattern("[-a-z0-9]+")

_QUALIFIED_RULE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character"
)
_HIGHEST_PORT: Final = 65535


def too_long(most: int) -> str:
    """Say how long a text may be."""
    return f"must be no more than {most} characters"


def too_many_bytes(most: int) -> str:
    """Say how long a label may be; of labels, bytes are counted."""
    return f"must be no more than {most} bytes"


def out_of_range(lowest: int, highest: int) -> str:
    """Say between which numbers a number must be."""
    return f"must be between {lowest} and {highest}, inclusive"


def mismatch(rule: str, pattern: str, *examples: str) -> str:
    """Say which pattern a text must match."""
    if not examples:
        return f"{rule} (regex used for validation is '{pattern}')"
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{pattern}')"


def dns_label(text: str) -> list[str]:
    """Check a name without dots: namespaces, containers, volumes."""
    wrong = [too_long(63)] if _bytes(text) > 63 else []
    if not _LABEL.fullmatch(text):
        if _SUBDOMAIN.fullmatch(text):
            wrong.append("must not contain dots")
        else:
            rule = (
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters "
                "or '-', and must start and end with an alphanumeric character"
            )
            wrong.append(mismatch(rule, LABEL, "my-name", "123-abc"))
    return wrong


def dns_subdomain(text: str) -> list[str]:
    """Check a name that may have dots: most objects."""
    wrong = [too_long(253)] if _bytes(text) > 253 else []
    if not _SUBDOMAIN.fullmatch(text):
        rule = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
            "'-' or '.', and must start and end with an alphanumeric character"
        )
        wrong.append(mismatch(rule, SUBDOMAIN, "example.com"))
    return wrong


def wildcard_subdomain(text: str) -> list[str]:
    """Check a host name of which the first part may be anything: ``*.example.com``."""
    wrong = [too_long(253)] if _bytes(text) > 253 else []
    if not _WILDCARD.fullmatch(text):
        rule = (
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS "
            "subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and "
            "end with an alphanumeric character"
        )
        wrong.append(mismatch(rule, WILDCARD, "*.example.com"))
    return wrong


def underscored_subdomain(text: str) -> list[str]:
    """Check a name in which parts may begin with an underscore: search paths."""
    wrong = [too_long(253)] if _bytes(text) > 253 else []
    if not _UNDERSCORED.fullmatch(text):
        rule = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
            "'_', '-' or '.', and must start and end with an alphanumeric character"
        )
        wrong.append(mismatch(rule, UNDERSCORED, "example.com"))
    return wrong


def dns_1035_label(text: str) -> list[str]:
    """Check a name that begins with a letter: services."""
    wrong = [too_long(63)] if _bytes(text) > 63 else []
    if not _DNS_1035_LABEL.fullmatch(text):
        rule = (
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start "
            "with an alphabetic character, and end with an alphanumeric character"
        )
        wrong.append(mismatch(rule, DNS_1035_LABEL, "my-name", "abc-123"))
    return wrong


def path_segment(text: str) -> list[str]:
    """Check a name that need only fit into a URL: roles and bindings."""
    if text in {".", ".."}:
        return [f"may not be '{text}'"]
    return [f"may not contain '{illegal}'" for illegal in "/%" if illegal in text]


def qualified_name(text: str) -> list[str]:
    """Check a label's key: a name with an optional domain before a slash."""
    parts = text.split("/")
    if len(parts) > 2:
        rule = mismatch(_QUALIFIED_RULE, QUALIFIED, "MyName", "my.name", "123-abc")
        prefix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {rule} {prefix}"]
    wrong = []
    name = parts[-1]
    if len(parts) == 2:
        if not parts[0]:
            wrong.append("prefix part must be non-empty")
        wrong += [f"prefix part {what}" for what in (dns_subdomain(parts[0]) if parts[0] else ())]
    if not name:
        wrong.append("name part must be non-empty")
    elif _bytes(name) > 63:
        wrong.append(f"name part {too_many_bytes(63)}")
    if not _QUALIFIED.fullmatch(name):
        rule = mismatch(_QUALIFIED_RULE, QUALIFIED, "MyName", "my.name", "123-abc")
        wrong.append(f"name part {rule}")
    return wrong


def label_value(text: str) -> list[str]:
    """Check a label's value."""
    wrong = [too_many_bytes(63)] if _bytes(text) > 63 else []
    if not _LABEL_VALUE.fullmatch(text):
        rule = (
            "a valid label must be an empty string or consist of alphanumeric characters, '-', "
            "'_' or '.', and must start and end with an alphanumeric character"
        )
        wrong.append(mismatch(rule, LABEL_VALUE, "MyValue", "my_value", "12345"))
    return wrong


def config_key(text: str) -> list[str]:
    """Check a key of a ConfigMap or Secret."""
    wrong = [too_long(253)] if _bytes(text) > 253 else []
    if not _CONFIG_KEY.fullmatch(text):
        rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        wrong.append(mismatch(rule, CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    if text in {".", ".."}:
        wrong.append(f"must not be '{text}'")
    elif text.startswith(".."):
        wrong.append("must not start with '..'")
    return wrong


def environment_name(text: str) -> list[str]:
    """Check the name of an environment variable."""
    wrong = [] if text else ["environment variable name must be non-empty"]
    if any(not " " <= character <= "~" or character == "=" for character in text):
        wrong.append(
            "a valid environment variable name must consist only of printable ASCII characters "
            "other than '='"
        )
    return wrong


def port_number(port: int) -> list[str]:
    """Check a port's number."""
    return [] if 1 <= port <= _HIGHEST_PORT else [out_of_range(1, _HIGHEST_PORT)]


def port_name(text: str) -> list[str]:
    """Check a port's name."""
    wrong = [too_long(15)] if _bytes(text) > 15 else []
    if not _PORT_NAME.fullmatch(text):
        wrong.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not any("a" <= character <= "z" for character in text):
        wrong.append("must contain at least one letter (a-z)")
    if "--" in text:
        wrong.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        wrong.append("must not begin or end with a hyphen")
    return wrong


def http_header(text: str) -> list[str]:
    """Check the name of an HTTP header."""
    if _HTTP_HEADER.fullmatch(text):
        return []
    rule = "a valid HTTP header must consist of alphanumeric characters or '-'"
    return [mismatch(rule, HTTP_HEADER, "X-Header-Name")]


def c_identifier(text: str) -> list[str]:
    """Check a name that is one in the language C."""
    if _C_IDENTIFIER.fullmatch(text):
        return []
    rule = (
        "a valid C identifier must start with alphabetic character or '_', followed by a string "
        "of alphanumeric characters or '_'"
    )
    return [mismatch(rule, C_IDENTIFIER, "my_name", "MY_NAME", "MyName")]


def percent(text: str) -> list[str]:
    """Check a share of something."""
    if _PERCENT.fullmatch(text):
        return []
    rule = "a valid percent string must be a numeric string followed by an ending '%'"
    return [mismatch(rule, PERCENT, "1%", "93%")]


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
