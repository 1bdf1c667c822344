"""What is missing, unresolved, too large or refused in a pod: problems become findings.

Owns: which rule each problem of resolution breaks.  Must not know how problems are found.
"""

import re
from collections.abc import Iterator
from typing import Final

from reflet.insight.fixes import Advice
from reflet.insight.lint import rules
from reflet.insight.lint.rules import Finding, Rule
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
    UnreadableObject,
    UnresolvedReference,
    UnsupportedSource,
    ZeroInValue,
)

# Services that are not in the files may be in the cluster.
_OF_A_SERVICE: Final = re.compile(
    r".+_(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)"
)


def broken_references(subject: Subject, found: PodProblems, advice: Advice) -> Iterator[Finding]:
    """Yield a finding for each problem of a pod that breaks a rule."""
    for problem in found.problems:
        rule = _rule_for(problem, found, advice)
        if rule is not None:
            yield subject.finding(
                rule,
                f"{problem.place}: {problem.message}",
                path=subject.path_of(_field(problem)),
                fix=advice.about(problem),
                kubelet=problem.kubelet,
            )


def _field(problem: Problem) -> str:
    path = problem.place.path
    if isinstance(problem, MissingKey) and ".env[" in path:
        return f"{path}.key"
    return path


def _rule_for(problem: Problem, found: PodProblems, advice: Advice) -> Rule | None:
    match problem:
        case UnreadableObject():
            return None  # said by who could not read it
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
            return _rule_for_unresolved(problem, found)
        case MissingSubPathVariables():
            return rules.UNRESOLVED
        case ZeroInValue():
            return rules.KUBELET_REFUSES
        case _:
            return rules.KUBELET_REFUSES if problem.blocking else None


def _rule_for_missing(problem: ObjectProblem, advice: Advice) -> Rule:
    whole = isinstance(problem, MissingObject)
    if whole and advice.other_namespaces(problem.object_kind, problem.namespace, problem.name):
        return rules.OTHER_NAMESPACE
    if not problem.blocking and not isinstance(problem, MissingPullSecret):
        return rules.MASKED
    return rules.MISSING_OBJECT if whole else rules.MISSING_KEY


def _rule_for_unresolved(problem: UnresolvedReference, found: PodProblems) -> Rule | None:
    if problem.defined_later:
        return rules.DEFINED_LATER
    links = found.pod.spec.enable_service_links is not False
    return None if links and _OF_A_SERVICE.fullmatch(problem.name) else rules.UNRESOLVED
