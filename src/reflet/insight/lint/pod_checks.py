"""Problems and refusals become findings: which rule each of them breaks.

Problems are those of resolution: what is missing, unresolved, too large or refused by the kubelet.
Refusals are the API server's words, sorted into the rules that say more than that.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from reflet.errors import Cause
from reflet.insight.fixes import Advice, listed, near_miss
from reflet.insight.lint import rules
from reflet.insight.lint.rules import Finding, Rule, Severity
from reflet.insight.lint.subjects import Subject
from reflet.insight.pod_problems import (
    MissingPullSecret,
    MissingSubPath,
    PodProblems,
    UnusablePullSecret,
)
from reflet.resolution.problems import (
    InvalidVariableName,
    MissingKey,
    MissingObject,
    MissingSubPathVariables,
    ObjectProblem,
    OversizedEnvironment,
    OversizedObject,
    OversizedValue,
    Problem,
    UnresolvedReference,
    UnsupportedSource,
    ZeroInValue,
)

NEARLY_EQUAL: Final = 0.9  # of difflib's ratio: what is optional may well have a similar name


def broken_references(subject: Subject, found: PodProblems, advice: Advice) -> Iterator[Finding]:
    """Yield a finding for each problem of a pod that breaks a rule.

    What is missing and optional is told once for each object, unless a name is nearly right.
    """
    masked: dict[tuple[str, str], list[MissingObject | MissingKey]] = {}
    for problem in found.problems:
        rule = _rule_for(problem, advice)
        if rule is None:
            continue
        fix = advice.about(problem)
        if (
            rule is rules.MASKED
            and isinstance(problem, MissingObject | MissingKey)
            and not _is_nearly_right(problem, advice)
        ):
            masked.setdefault((problem.object_kind, problem.name), []).append(problem)
        else:
            yield subject.finding(
                rule,
                f"{problem.place}: {problem.message}",
                path=subject.path_of(_field(problem)),
                fix=fix,
                said=problem.kubelet,
                # Nearly the right name is most likely a mistake.
                severity=Severity.WARNING if rule is rules.MASKED else None,
            )
    for problems in masked.values():
        yield _folded(subject, problems, advice)


def _is_nearly_right(problem: MissingObject | MissingKey, advice: Advice) -> bool:
    """Tell whether another name is so near that this one is most likely mistyped."""
    if isinstance(problem, MissingKey):
        name, others = problem.key, problem.present
    else:
        name, others = problem.name, tuple(advice.names(problem.object_kind, problem.namespace))
    return near_miss(name, others, alike=NEARLY_EQUAL) is not None


def _folded(
    subject: Subject, problems: Sequence[MissingObject | MissingKey], advice: Advice
) -> Finding:
    first = problems[0]
    keys = [each.key for each in problems if isinstance(each, MissingKey)]
    what = f"{first.object_kind} {first.name}"
    if len(problems) == 1:
        message = f"{first.place}: {first.message}"
    elif keys:
        message = f"{len(keys)} optional keys of {what} are not set: {listed(dict.fromkeys(keys))}"
    else:
        message = f"{what} does not exist, and {len(problems)} optional references to it are empty"
    return subject.finding(
        rules.MASKED,
        message,
        path=subject.path_of(_field(first)),
        fix=advice.about(first) if len(problems) == 1 else "",
    )


def _field(problem: Problem) -> str:
    path = problem.place.path
    if isinstance(problem, MissingKey) and ".env[" in path:
        return f"{path}.key"
    return path


def _rule_for(problem: Problem, advice: Advice) -> Rule | None:
    match problem:
        case UnsupportedSource():
            return None  # a kubelet fills it, though Reflet does not
        case MissingObject() | MissingKey():
            return _rule_for_missing(problem, advice)
        case MissingSubPath():
            return rules.MISSING_SUB_PATH
        case OversizedEnvironment() | OversizedObject() | OversizedValue():
            return rules.OVERSIZED
        case UnusablePullSecret():
            return rules.PULL_SECRET_TYPE
        case InvalidVariableName():
            return rules.INVALID_NAME
        case UnresolvedReference():
            return rules.DEFINED_LATER if problem.defined_later else rules.UNRESOLVED
        case MissingSubPathVariables():
            return rules.UNRESOLVED
        case ZeroInValue():
            return rules.KUBELET_REFUSES
        case _:
            return rules.KUBELET_REFUSES if problem.blocking else None


def _rule_for_missing(problem: ObjectProblem, advice: Advice) -> Rule:
    if isinstance(problem, MissingPullSecret):
        return rules.MISSING_PULL_SECRET
    whole = isinstance(problem, MissingObject)
    if whole and advice.other_namespaces(problem.object_kind, problem.namespace, problem.name):
        return rules.OTHER_NAMESPACE
    if not problem.blocking:
        return rules.MASKED
    return rules.MISSING_OBJECT if whole else rules.MISSING_KEY


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

_NO_FIELD: Final = "<nil>"  # as the server writes it
_VOLUME: Final = re.compile(r"(^|\.)spec\.volumes\[")


def refused_objects(subject: Subject) -> Iterator[Finding]:
    """Yield a finding for each cause of the refusal, or one for all when there are none."""
    causes = subject.causes or (Cause(message=subject.message),)
    bad_volumes = any(_VOLUME.search(cause.field) for cause in causes)
    for cause in causes:
        if bad_volumes and cause.type == "FieldValueNotFound" and ".volumeMounts[" in cause.field:
            continue  # the volume that is mounted is the one that is wrong
        if cause.field == _NO_FIELD and len(causes) > 1:
            continue  # it only says that there may be more
        rule, fix = _rule_for_cause(cause)
        # Of unknown fields and kinds, the words themselves name the field.
        named = cause.field in {"", "apiVersion", "kind"} or f'"{cause.field}"' in cause.message
        words = cause.message if named else f"{cause.field}: {cause.message}"
        what = f"the API server refuses {subject}" if subject.kind else "kubectl cannot read it"
        yield subject.finding(
            rule,
            f"{what}: {words}",
            path=_as_written(cause.field, subject.kind),
            fix=fix or subject.fix,
            said=words if subject.kind else "",
            by="API server",
        )


def _as_written(field: str, kind: str) -> str:
    """Return the place in the file: servers name a definition's schema as they did in v1beta1."""
    if kind != "CustomResourceDefinition":
        return field
    return re.sub(r"^spec\.validation(?=\.|$)", "spec.versions[0].schema", field)


def _rule_for_cause(cause: Cause) -> tuple[rules.Rule, str]:
    for field, words, rule, fix in _KNOWN:
        if field.search(cause.field) and words.search(cause.message):
            return rule, fix
    return rules.REFUSED, ""
