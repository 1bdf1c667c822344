"""What lint looks at: objects of files, each knowing the lines of its fields."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, final

import msgspec
from msgspec import structs

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.api.frozen import EMPTY
from reflet.errors import Cause
from reflet.insight.lint.rules import Finding, Rule, Severity, Speaker
from reflet.resolution.objects import ObjectKey
from reflet.resolution.templates.templates import CustomWorkload, Workload, pod_of, templates_of

LineOf = Callable[[str], int]
"""Gives the line of a field, or of what is nearest to it."""


@final
class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """An object of a file; ``object`` is ``None`` for one that the API server refuses.

    ``message``, ``causes`` and ``fix`` are about that then, and ``refused_annotations`` are those
    of the object.  ``workload`` is what makes pods of it, ``template_path`` where the template is
    that is looked at.  ``folder`` is the folder in which the file was found, empty for one that was
    given by name.  ``is_changed`` tells whether a kustomization changes the object before anybody
    applies it, ``has_namespace`` whether the file names its namespace.
    """

    file: str
    kind: str
    namespace: str
    name: str
    line: int = 1
    find_line: LineOf | None = None
    object: Any = None
    message: str = ""
    causes: tuple[Cause, ...] = ()
    fix: str = ""
    refused_annotations: Mapping[str, str] = EMPTY
    workload: Workload | None = None
    template_path: str = ""
    folder: str = ""
    is_changed: bool = False
    has_namespace: bool = True

    def __str__(self) -> str:
        return f"{self.kind} {f'{self.namespace}/' if self.namespace else ''}{self.name}"

    @property
    def place(self) -> str:
        """The file, and the line where the object begins."""
        return f"{self.file}:{self.line}"

    def line_of(self, path: str) -> int:
        """Return the line of a field, or of what is nearest to it."""
        return self.line if self.find_line is None or not path else self.find_line(path)

    def pods(self) -> Iterator[tuple["Subject", Pod]]:
        """Yield the pods that the object is or makes, each with the view of it that has its path.

        Only custom resources make several.
        """
        if isinstance(self.object, Pod):
            yield self, self.object
        elif self.workload is not None:
            for placed in templates_of(self.workload):
                workload = self.workload
                if isinstance(workload, CustomWorkload):
                    workload = structs.replace(workload, templates=(placed,))
                yield structs.replace(self, template_path=placed.path), pod_of(workload)

    def annotation(self, name: str) -> tuple[str, ...]:
        """Return the values of an annotation: the object's, and those of the pods it makes."""
        if self.object is None:
            values = {self.refused_annotations.get(name, "")}
        else:
            values = {self.object.metadata.annotations.get(name, "")}
            if self.workload is not None:
                templates = templates_of(self.workload)
                values |= {each.template.metadata.annotations.get(name, "") for each in templates}
        return tuple(sorted(values - {""}))

    def path_of(self, path: str) -> str:
        """Return a field of the pod as a field of the object."""
        return f"{self.template_path}.{path}" if self.template_path else path

    def finding(
        self,
        rule: Rule,
        message: str,
        *,
        path: str = "",
        fix: str = "",
        said: str = "",
        by: Speaker = "kubelet",
        severity: Severity | None = None,
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
            own_severity=severity,
        )


class TwiceThere(NamedTuple):
    """An object, and the place where the same one stands before."""

    later: Subject
    earlier: str


class Documented(Protocol):
    """Knows what documents beside the files tell people to create."""

    def has(self, kind: str, name: str) -> bool:
        """Tell whether a document creates such an object; ask only for what is missing."""


@final
class Undocumented:
    """Knows of no document."""

    def has(self, kind: str, name: str) -> bool:  # noqa: ARG002 - the shape of Documented
        """Tell that there is none."""
        return False


@final
class Subjects:
    """All objects of the files that are linted together.

    ``twice`` are those that stand twice, ``repeated_keys`` are files, lines and messages about keys
    that do.  ``made`` are kinds and names of objects that kustomizations will make, ``documented``
    knows those that people are told to create.
    """

    __slots__ = ("_pods", "documented", "every", "made", "repeated_keys", "twice")

    def __init__(
        self,
        every: Iterable[Subject],
        *,
        twice: tuple[TwiceThere, ...] = (),
        repeated_keys: tuple[tuple[str, int, str], ...] = (),
        made: frozenset[tuple[str, str]] = frozenset(),
        documented: Documented | None = None,
    ) -> None:
        self.every = tuple(every)
        self.twice = twice
        self.repeated_keys = repeated_keys
        self.made = made
        self.documented: Documented = documented or Undocumented()
        self._pods: tuple[tuple[Subject, Pod], ...] | None = None

    def __iter__(self) -> Iterator[Subject]:
        return iter(self.every)

    def __len__(self) -> int:
        return len(self.every)

    def configurations(self) -> tuple[tuple[Subject, ConfigMap | Secret], ...]:
        """Return the ConfigMaps and Secrets."""
        return tuple(
            (each, each.object)
            for each in self.every
            if isinstance(each.object, ConfigMap | Secret)
        )

    def pods(self) -> tuple[tuple[Subject, Pod], ...]:
        """Return the pods, those of templates included."""
        if self._pods is None:
            self._pods = tuple(found for each in self.every for found in each.pods())
        return self._pods

    def services(self) -> tuple[Service, ...]:
        """Return the Services."""
        return tuple(each.object for each in self.every if isinstance(each.object, Service))

    def known(self) -> tuple[ObjectKey, ...]:
        """Return the names of all ConfigMaps and Secrets."""
        return tuple(
            (item.kind, item.metadata.namespace, item.metadata.name)
            for _, item in self.configurations()
        )
