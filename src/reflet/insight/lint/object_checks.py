"""ConfigMaps and Secrets by themselves, beside the pods of the files, and against a cluster's.

Values are compared and never told.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.containers import EnvVar
from reflet.api.core.pods import Pod
from reflet.insight.fixes import listed
from reflet.insight.lint import rules
from reflet.insight.lint.object_register import ObjectRegister
from reflet.insight.lint.rules import Finding, Severity
from reflet.insight.lint.sidecar_checks import PlacedSidecar
from reflet.insight.lint.subjects import Subject, Subjects, TwiceThere
from reflet.resolution.objects import value_bytes
from reflet.resolution.places import containers_of
from reflet.resolution.references.references import references_of

SHORTEST_SECRET: Final = 8  # bytes; shorter values are equal by chance
HASHED: Final = re.compile(r"-[2456789bcdfghkmt]{10}$")
"""The end that kustomize gives to what it generates; the letters are those of its hash."""
NEW_NAME: Final = "give the changed object a new name, and use that"


def changed_immutables(
    subject: Subject, item: ConfigMap | Secret, live: ConfigMap | Secret | None
) -> Iterator[Finding]:
    """Yield what the API server would refuse to change of the object that it has."""
    if isinstance(item, Secret) and isinstance(live, Secret):
        wanted, there = item.type or "Opaque", live.type or "Opaque"
        if wanted != there:
            yield subject.finding(
                rules.CHANGED_IMMUTABLE,
                f"{subject} is of type {there} in the cluster and {wanted} here; "
                "the type cannot be changed",
                path="type",
                fix="delete it first, or give it a new name",
            )
    if live is None or not live.immutable:
        return
    ours, theirs = value_bytes(item), value_bytes(live)
    changed = sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
    if changed:
        yield subject.finding(
            rules.CHANGED_IMMUTABLE,
            f"{subject} is immutable in the cluster and differs in {listed(changed)}",
            path="data",
            fix=NEW_NAME,
        )
    elif not item.immutable:
        yield subject.finding(
            rules.CHANGED_IMMUTABLE,
            f"{subject} is immutable in the cluster and cannot be made mutable again",
            path="immutable",
            fix=NEW_NAME,
        )


def repeated_keys(subjects: Subjects) -> Iterator[Finding]:
    """Yield keys that stand twice in one mapping."""
    for file, line, message in subjects.repeated_keys:
        yield Finding(
            rule=rules.REPEATED_KEY,
            message=message,
            file=file,
            line=line,
            subject=file,
            fix="remove one of them",
        )


def duplicates(subjects: Subjects) -> Iterator[Finding]:
    """Yield objects that stand twice among what is applied together, and say which one counts.

    In two files of one folder they may be alternatives, so that this is only noted, once a folder.
    """
    in_folders: dict[str, list[TwiceThere]] = {}
    for twice in subjects.twice:
        later, earlier = twice
        if later.folder and earlier.rpartition(":")[0] != later.file:
            in_folders.setdefault(later.folder, []).append(twice)
            continue
        yield later.finding(
            rules.DUPLICATE_OBJECT,
            f"{later} also stands at {earlier}; applied together, this one counts",
            path="metadata.name",
            fix="remove one of them, or give it another name or namespace",
        )
    for folder, twices in in_folders.items():
        named = [f"{later} ({later.place} and {earlier})" for later, earlier in twices]
        count = "an object stands" if len(named) == 1 else f"{len(named)} objects stand"
        yield twices[0].later.finding(
            rules.DUPLICATE_OBJECT,
            f"{count} in several files of {folder}, and the last counts where they are applied "
            f"together: {listed(named)}",
            path="metadata.name",
            severity=Severity.NOTE,
        )


def unused_objects(
    subjects: Subjects, register: ObjectRegister, sidecars: Sequence[PlacedSidecar] = ()
) -> Iterator[Finding]:
    """Yield ConfigMaps and Secrets that nothing in the files uses.

    Whatever a custom resource mentions, or a sidecar may pick up, counts as used by it.
    """
    configurations = subjects.configurations()
    if not configurations:
        return
    used = {
        (reference.kind, pod.metadata.namespace, reference.name)
        for _, pod in subjects.pods()
        for reference in references_of(pod)
    }
    used |= {(named.kind, named.namespace, named.name) for _, named in register.uses()}
    mentioned = register.mentions()
    for subject, item in configurations:
        name = item.metadata.name
        if (item.kind, item.metadata.namespace, name) in used or name in mentioned:
            continue
        if any(sidecar.takes(subject, item) for sidecar in sidecars):
            continue
        yield subject.finding(rules.UNUSED, f"nothing in the files uses {subject}", fix="remove it")
        if HASHED.search(name):
            yield subject.finding(
                rules.UNUSED_HASHED,
                f"nothing in the files uses {subject}, whose name ends in a hash of what it held",
                path="metadata.name",
                fix="remove it: what made it has made another since",
            )


def plain_secrets(subjects: Subjects) -> Iterator[Finding]:
    """Yield values of Secrets that stand in plain text in pods and ConfigMaps of the files."""
    secrets: dict[bytes, str] = {}
    for _, item in subjects.configurations():
        if isinstance(item, Secret):
            for key, value in item.data.items():
                if len(value) >= SHORTEST_SECRET and not _is_no_secret(key, value):
                    metadata = item.metadata
                    secrets[value] = f"key {key} of Secret {metadata.namespace}/{metadata.name}"
    if not secrets:
        return
    for subject, pod in subjects.pods():
        for path, variable in _literals(pod):
            known = secrets.get(variable.value.encode(errors="surrogatepass"))
            if known:
                yield subject.finding(
                    rules.PLAIN_SECRET,
                    f"the value of variable {variable.name} is that of {known}",
                    path=subject.path_of(path),
                    fix="use valueFrom.secretKeyRef",
                )
    for subject, item in subjects.configurations():
        if not isinstance(item, ConfigMap):
            continue
        for key, value in value_bytes(item).items():
            known = secrets.get(value)
            if known:
                yield subject.finding(
                    rules.PLAIN_SECRET,
                    f"the value of {key} is that of {known}",
                    path=f'data["{key}"]',
                    fix="use the Secret",
                )


# Names of keys whose values are no secrets, although they stand in one.
_PLAIN_KEY: Final = re.compile(
    r"(?i)(.*[^a-z])?(ur[il]|host(name)?|server|endpoint|address|port|user(name)?|login|database|"
    r"db(name)?|name|type|project|region|bucket|email|namespace|id|crt|cert|pub)"
)
_PLAIN_ADDRESS: Final = re.compile(rb"[a-z][a-z0-9+.-]*://[^@]*")


def _is_no_secret(key: str, value: bytes) -> bool:
    return bool(_PLAIN_KEY.fullmatch(key) or _PLAIN_ADDRESS.fullmatch(value))


def _literals(pod: Pod) -> Iterator[tuple[str, EnvVar]]:
    for placed in containers_of(pod.spec):
        for index, variable in enumerate(placed.container.env):
            if variable.value:
                yield f"{placed.path}.env[{index}].value", variable
