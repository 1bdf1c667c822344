"""What stays the same of a finding while the lines around it change."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from reflet.insight.lint.rules import Finding

VERSION: Final = "v1"
"""Changes when the same finding gets another fingerprint than before."""

_LENGTH: Final = 32  # hexadecimal digits
_INDEX: Final = re.compile(r"\[\d+\]")
_PLACE: Final = re.compile(r"(\.(?:ya?ml|json)|standard input):\d+")
_VALUE: Final = re.compile(
    r'((?:Invalid|Unsupported|Duplicate) value): (?:"(?:[^"\\]|\\.)*"|[^:]*)'
)
_NUMBER: Final = re.compile(r"(?<![\w./:-])\d+(?![\w/-])(?!\.\w)")


def fingerprints(
    findings: Sequence[Finding], name_of: Callable[[str], str] = str
) -> tuple[str, ...]:
    """Return a fingerprint for each finding, in order, no two of them equal.

    Made of the rule, the file, the object, the field and the message, without lines, indexes,
    numbers and values; those that are equal then are counted.  *name_of* gives a file the name
    that it has wherever lint is run.
    """
    if not findings:
        return ()
    import hashlib  # noqa: PLC0415 - files without findings need not wait for it

    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for finding in findings:
        facts = (
            finding.rule.id,
            name_of(finding.file),
            finding.subject,
            _INDEX.sub("[]", finding.path),
            _steady(finding.message),
        )
        text = "\0".join((*facts, str(seen[facts])))
        seen[facts] += 1
        found.append(hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_LENGTH])
    return tuple(found)


def _steady(message: str) -> str:
    # Behind a semicolon is what there is instead, as the keys that an object has.
    steady = message.partition("; ")[0]
    for pattern, instead in ((_INDEX, "[]"), (_PLACE, r"\1"), (_VALUE, r"\1"), (_NUMBER, "#")):
        steady = pattern.sub(instead, steady)
    return steady
