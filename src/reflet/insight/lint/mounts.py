"""Mounts that hide each other, and mounts that never show a change.

Owns: the rules on mount paths and sub-paths.  Must not know what volumes hold.
"""

from collections.abc import Iterator

from reflet.insight.lint import rules
from reflet.insight.lint.findings import Finding
from reflet.insight.lint.subjects import Subject
from reflet.insight.pod_problems import MissingSubPath, PodProblems
from reflet.resolution.clean_paths import clean
from reflet.resolution.places import containers_of
from reflet.resolution.volume_contents import configuration_volumes


def mounts(subject: Subject, found: PodProblems) -> Iterator[Finding]:
    """Yield mounts at one path, and sub-paths of configuration, which are never refreshed."""
    kept_fresh = frozenset(configuration_volumes(found.pod))
    # What is not even there need not be refreshed.
    missing = {each.place.path for each in found.problems if isinstance(each, MissingSubPath)}
    for placed in containers_of(found.pod.spec):
        container = placed.container
        taken: dict[str, str] = {}
        for index, mount in enumerate(container.volume_mounts):
            path = subject.path_of(f"{placed.path}.volumeMounts[{index}]")
            target = clean(mount.mount_path)
            # The API server compares the texts, and so lets "/etc/app" and "/etc/app/" pass.
            if target in taken:
                yield subject.finding(
                    rules.DUPLICATE_MOUNT,
                    f"container {container.name}: volumes {taken[target]} and {mount.name} are "
                    f"both mounted at {target}",
                    path=f"{path}.mountPath",
                    fix="mount one of them elsewhere",
                )
            taken.setdefault(target, mount.name)
            part = mount.sub_path or mount.sub_path_expr
            there = f"{placed.path}.volumeMounts[{index}]" not in missing
            if part and there and mount.name in kept_fresh:
                yield subject.finding(
                    rules.NEVER_REFRESHED,
                    f"container {container.name}: {part} of volume {mount.name} stays as it is "
                    "when the container starts, whatever happens to the object",
                    path=f"{path}.{'subPath' if mount.sub_path else 'subPathExpr'}",
                    fix="mount the volume without subPath, or restart the pod after a change",
                )
