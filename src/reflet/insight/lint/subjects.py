"""What lint looks at: objects of files, each knowing the lines of its fields."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import final

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.api.meta import KubernetesObject
from reflet.errors import Cause
from reflet.insight.lint.rules import Finding, Rule, Speaker
from reflet.resolution.objects import ObjectKey
from reflet.resolution.templates import WORKLOADS, pod_of

LineOf = Callable[[str], int]
"""Gives the line of a field, or of what is nearest to it."""


@final
@dataclass(frozen=True, slots=True)
class Subject:
    """An object of a file; ``object`` is ``None`` for one that the API server refuses.

    ``message`` and ``causes`` are its words then, and ``refused_annotations`` those of the object.
    """

    file: str
    kind: str
    namespace: str
    name: str
    line_of: LineOf
    object: KubernetesObject | None = None
    message: str = ""
    causes: tuple[Cause, ...] = ()
    refused_annotations: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        return f"{self.kind} {f'{self.namespace}/' if self.namespace else ''}{self.name}"

    @property
    def pod(self) -> Pod | None:
        """The pod that the object is or makes, if it does."""
        found = self.object
        if isinstance(found, Pod):
            return found
        return pod_of(found) if isinstance(found, WORKLOADS) else None

    def annotation(self, name: str) -> tuple[str, ...]:
        """Return the values of an annotation: the object's, and those of the pod that it makes."""
        if self.object is None:
            values = {self.refused_annotations.get(name, "")}
        else:
            values = {self.object.metadata.annotations.get(name, "")}
            pod = self.pod
            if pod is not None:
                values.add(pod.metadata.annotations.get(name, ""))
        return tuple(sorted(values - {""}))

    def path_of(self, path: str) -> str:
        """Return a field of the pod as a field of the object."""
        if self.kind == "Pod":
            return path
        inside = "spec.jobTemplate.spec.template" if self.kind == "CronJob" else "spec.template"
        return f"{inside}.{path}"

    def finding(
        self,
        rule: Rule,
        message: str,
        *,
        path: str = "",
        fix: str = "",
        said: str = "",
        by: Speaker = "kubelet",
    ) -> Finding:
        """Return a finding about a field of the object."""
        return Finding(
            rule=rule,
            message=message,
            file=self.file,
            line=self.line_of(path),
            subject=str(self),
            path=path,
            fix=fix,
            said=said,
            by=by,
        )


@final
class Subjects:
    """All objects of the files that are linted together."""

    __slots__ = ("every",)

    def __init__(self, every: Iterable[Subject]) -> None:
        self.every = tuple(every)

    def configurations(self) -> tuple[tuple[Subject, ConfigMap | Secret], ...]:
        """Return the ConfigMaps and Secrets."""
        return tuple(
            (each, each.object)
            for each in self.every
            if isinstance(each.object, ConfigMap | Secret)
        )

    def pods(self) -> tuple[tuple[Subject, Pod], ...]:
        """Return the pods, those of templates included."""
        return tuple((each, pod) for each in self.every if (pod := each.pod) is not None)

    def services(self) -> tuple[Service, ...]:
        """Return the Services."""
        return tuple(each.object for each in self.every if isinstance(each.object, Service))

    def known(self) -> tuple[ObjectKey, ...]:
        """Return the names of all ConfigMaps and Secrets."""
        return tuple(
            (item.kind, item.metadata.namespace, item.metadata.name)
            for _, item in self.configurations()
        )
