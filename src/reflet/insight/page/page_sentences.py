"""What is wrong with a workload, in one sentence for each kind of trouble, and what repairs it.

Commands are quoted for a shell, since names come from others.  Nothing is said that is not known:
what follows from times alone is said to be possible.
"""

import shlex
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Final

from reflet.insight.fixes import listed
from reflet.insight.page.page_document import Sentence, seconds
from reflet.insight.page.page_uses import PageUse
from reflet.insight.stale.held_values import HeldState
from reflet.resolution.objects import ObjectKey

Group = tuple[tuple[PageUse, ...], tuple[str, ...]]
"""What some pods of a workload use, and their names."""

_SHORT: Final = {"ConfigMap": "cm", "Secret": "secret"}
_CAN_ROLL: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
_ARE_MADE_AGAIN: Final = frozenset({"ReplicaSet", "ReplicationController"})
PODS_NAMED: Final = 5


def sentences_about(
    kind: str, name: str, groups: Sequence[Group], exists: Callable[[ObjectKey], bool]
) -> Iterator[Sentence]:
    """Yield what is wrong, the worst first."""
    for key in _objects(groups, HeldState.MISSING):
        missing = _narrowed(groups, HeldState.MISSING, key)
        yield _missing(key, _who(kind, name, missing), missing, is_there=exists(key))
    stale = _narrowed(groups, HeldState.NEEDS_RESTART)
    if stale:
        yield _stale(kind, name, stale)


def _objects(groups: Sequence[Group], state: HeldState) -> list[ObjectKey]:
    every = (use.object for uses, _ in groups for use in uses if use.state is state)
    return list(dict.fromkeys(every))


def _narrowed(
    groups: Sequence[Group], state: HeldState, key: ObjectKey | None = None
) -> list[Group]:
    """Return the groups with only their uses in a state; groups that have none are left out."""
    found = []
    for uses, pods in groups:
        kept = tuple(use for use in uses if use.state is state and key in {None, use.object})
        if kept:
            found.append((kept, pods))
    return found


def _missing(key: ObjectKey, who: str, groups: Sequence[Group], *, is_there: bool) -> Sentence:
    _, namespace, own_name = key
    uses = [use for each, _ in groups for use in each]
    keys = list(dict.fromkeys(use.key for use in uses if use.key))
    what = f"{_text(key)} has no key {listed(keys)}" if is_there else f"{_text(key)} does not exist"
    if all(use.container == "" for use in uses):
        effect = "goes without" if len(_pods(groups)) == 1 else "go without"
        text = "Images are pulled, and volumes mounted, without it."
    elif any(use.is_running for use in uses):
        effect = "would not start again"
        text = "What runs holds the last value; a container that is started anew is refused."
    else:
        effect, text = "cannot start", "It is not optional: the kubelet waits until it is there."
    resource = key[0].lower()
    if is_there:
        command = ["kubectl", "-n", namespace, "edit", resource, own_name]
    else:
        form = [resource, "generic"] if resource == "secret" else [resource]
        create = ["kubectl", "-n", namespace, "create", *form, own_name]
        command = [*create, *(f"--from-file={each}" for each in keys)]
    return Sentence(
        state="missing", title=f"{who} {effect}: {what}", text=text, command=shlex.join(command)
    )


def _stale(kind: str, name: str, groups: Sequence[Group]) -> Sentence:
    uses = [use for each, _ in groups for use in each]
    is_certain = all(use.is_observed for use in uses)
    names = list(dict.fromkeys(use.name for use in uses))
    who = _who(kind, name, groups)
    has = "still have" if len(_pods(groups)) > 1 else "still has"
    if not is_certain:
        has = "may still have"
    latest = max((use.at for use in uses if use.at is not None), default=None)
    return Sentence(
        state="needs-restart",
        title=f"{who} {has} the old {listed(names)}",
        text=" ".join(_reasons(uses, latest)),
        command=_restart(kind, name, uses[0].object[1], _pods(groups)),
        at=seconds(latest),
    )


def _reasons(uses: Sequence[PageUse], latest: datetime | None) -> Iterator[str]:
    changed = list(dict.fromkeys(use.object for use in uses))
    by = next((use.by for use in uses if use.at == latest and use.by), "")
    edited = f"{listed(map(_text, changed))} changed"
    if latest is not None:
        edited += f" {'' if len(changed) == 1 else 'last '}{{ago}} ago" + (
            f" by {by}" if by else ""
        )
    yield f"{edited}."
    if any(use.way == "variable" for use in uses):
        yield "A process keeps its variables until it is started again."
    if any(use.way == "subPath" for use in uses):
        yield "A file that is mounted with subPath never follows."
    among = max(use.among for use in uses)
    if among > 1:
        yield (
            f"Which of {among} keys it was, the object does not say: "
            "the value may also be the same as before."
        )


def _who(kind: str, name: str, groups: Sequence[Group]) -> str:
    pods = _pods(groups)
    return pods[0] if len(pods) == 1 else f"{len(pods)} pods of {kind.lower()}/{name}"


def _pods(groups: Sequence[Group]) -> list[str]:
    return [pod for _, names in groups for pod in names]


def _text(key: ObjectKey) -> str:
    kind, _, name = key
    return f"{_SHORT[kind]}/{name}"


def _restart(kind: str, name: str, namespace: str, pods: Sequence[str]) -> str:
    kubectl = ["kubectl", "-n", namespace]
    if kind in _CAN_ROLL:
        return shlex.join([*kubectl, "rollout", "restart", f"{kind.lower()}/{name}"])
    if kind in _ARE_MADE_AGAIN:
        return shlex.join([*kubectl, "delete", "pod", *pods[:PODS_NAMED]])
    if kind == "Pod":
        get = shlex.join([*kubectl, "get", "pod", name, "-o", "yaml"])
        return f"{get} | {shlex.join([*kubectl, 'replace', '--force', '-f', '-'])}"
    return ""
