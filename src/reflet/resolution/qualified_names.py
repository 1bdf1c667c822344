"""Label and annotation keys: which are valid, in the API server's words.

Owns: the rule for qualified names.  Must not know where the names stand.
"""

import re
from typing import Final

_NAME_PATTERN: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_PATTERN: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_PREFIX_PATTERN: Final = rf"{_LABEL_PATTERN}(\.{_LABEL_PATTERN})*"
_NAME: Final = re.compile(_NAME_PATTERN)
_PREFIX: Final = re.compile(_PREFIX_PATTERN)
_LONGEST_NAME: Final = 63
_LONGEST_PREFIX: Final = 253

_NAME_RULE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    f"validation is '{_NAME_PATTERN}')"
)
_PREFIX_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_PREFIX_PATTERN}')"
)
_WHOLE_RULE: Final = (
    f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and '/' "
    "(e.g. 'example.com/MyName')"
)


def complaints_about(name: str) -> list[str]:
    """Return what is wrong with a qualified name, in Kubernetes' words; empty when it is valid."""
    parts = name.split("/")
    if len(parts) > 2:
        return [_WHOLE_RULE]
    complaints = _about_prefix(parts[0]) if len(parts) == 2 else []
    own = parts[-1]
    if not own:
        complaints.append("name part must be non-empty")
    elif _size(own) > _LONGEST_NAME:
        complaints.append(f"name part must be no more than {_LONGEST_NAME} bytes")
    if not _NAME.fullmatch(own):
        complaints.append(f"name part {_NAME_RULE}")
    return complaints


def _about_prefix(prefix: str) -> list[str]:
    if not prefix:
        return ["prefix part must be non-empty"]
    complaints = []
    if _size(prefix) > _LONGEST_PREFIX:
        complaints.append(f"prefix part must be no more than {_LONGEST_PREFIX} bytes")
    if not _PREFIX.fullmatch(prefix):
        complaints.append(f"prefix part {_PREFIX_RULE}")
    return complaints


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))
