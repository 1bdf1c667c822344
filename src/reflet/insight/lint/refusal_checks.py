"""What the API server would refuse, sorted into the rules that say more than that.

Owns: which words of the server belong to which rule.  Must not know the server.
"""

import re
from collections.abc import Iterator
from typing import Final

from reflet.errors import Cause
from reflet.insight.lint import rules
from reflet.insight.lint.rules import Finding
from reflet.insight.lint.subjects import Subject

# The field, the words, the rule, and what to do.
_KNOWN: Final = tuple(
    (re.compile(field), re.compile(words), rule, fix)
    for field, words, rule, fix in (
        (
            r"\.mountPath$",
            r"must be unique",
            rules.DUPLICATE_MOUNT,
            "mount one of them elsewhere",
        ),
        (
            r"\.env\[\d+\]\.name$|\.envFrom\[\d+\]\.prefix$",
            r"environment variable|Required value",
            rules.INVALID_NAME,
            "rename it: letters, digits and '_' work everywhere",
        ),
        (
            r"\.path$|\.subPath$|\.subPathExpr$",
            r"must not contain '\.\.'|must be a relative path|must not start with '\.\.'",
            rules.ESCAPING_PATH,
            "use a relative path without '..'",
        ),
        (
            r"",
            r"conflicting duplicate paths",
            rules.PATH_CONFLICT,
            "give one of the files another path",
        ),
        (
            r"^(\[\]|data|)$",
            r"Too long",
            rules.OVERSIZED,
            "split it into several objects",
        ),
        (
            r"",
            r"field is immutable when `immutable` is set",
            rules.CHANGED_IMMUTABLE,
            "give the changed object a new name, and use that",
        ),
    )
)

_VOLUME: Final = re.compile(r"(^|\.)spec\.volumes\[")


def refused_objects(subject: Subject) -> Iterator[Finding]:
    """Yield a finding for each cause of the refusal, or one for all when there are none."""
    causes = subject.causes or (Cause(message=subject.message),)
    bad_volumes = any(_VOLUME.search(cause.field) for cause in causes)
    for cause in causes:
        if bad_volumes and cause.type == "FieldValueNotFound" and ".volumeMounts[" in cause.field:
            continue  # the volume that is mounted is the one that is wrong
        rule, fix = _rule_for(cause)
        words = f"{cause.field}: {cause.message}" if cause.field else cause.message
        yield subject.finding(
            rule,
            f"the API server refuses {subject}: {words}",
            path=cause.field,
            fix=fix,
            kubelet=subject.message,
        )


def _rule_for(cause: Cause) -> tuple[rules.Rule, str]:
    for field, words, rule, fix in _KNOWN:
        if field.search(cause.field) and words.search(cause.message):
            return rule, fix
    return rules.REFUSED, ""
