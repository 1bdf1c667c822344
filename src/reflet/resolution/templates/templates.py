"""The pod that a workload makes from its template, and which workload somebody means.

What controllers add to a template before a pod is created, the defaults that the API server gives
to pods but not to templates, and which of it all cannot be known beforehand.  Nothing is invented:
the name and uid of such a pod stay empty, which resolution takes for "not known yet".  Pods that
are counted (of a StatefulSet, of an Indexed Job) are the first one.

Upstream: pkg/controller/controller_utils.go, GetPodFromTemplate; pkg/controller/statefulset/
stateful_set_utils.go, newStatefulSetPod
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import structs

from reflet.api import resources
from reflet.api.core.containers import (
    Container,
    EnvVar,
    EnvVarSource,
    ObjectFieldSelector,
    ResourceRequirements,
)
from reflet.api.core.pods import Pod, PodSpec, PodTemplateSpec
from reflet.api.core.workloads import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from reflet.api.frozen import Frozen
from reflet.api.meta import ObjectMeta
from reflet.api.resources import Resource
from reflet.errors import ConfigurationError, ParseError
from reflet.resolution.places import containers_of


class PlacedTemplate(Frozen, frozen=True, kw_only=True):
    """A template of pods, and the path that leads to it: ``spec.template``."""

    path: str
    template: PodTemplateSpec


class CustomWorkload(Frozen, frozen=True, kw_only=True):
    """An object of a kind that is not Kubernetes' own and has templates of pods, one at least.

    ``custom_templates`` finds them.  ``unreadable`` tells of templates that are left out.
    """

    api_version: str
    kind: str
    metadata: ObjectMeta
    templates: tuple[PlacedTemplate, ...]
    unreadable: tuple[str, ...] = ()

    @property
    def template(self) -> PodTemplateSpec:
        """The first template, which is the workload's where one is meant."""
        return self.templates[0].template

    @property
    def template_path(self) -> str:
        """Where the first template is."""
        return self.templates[0].path


BuiltInWorkload = (
    Deployment | StatefulSet | DaemonSet | ReplicaSet | ReplicationController | Job | CronJob
)
Workload = BuiltInWorkload | CustomWorkload

BUILT_IN_WORKLOADS: Final = (
    Deployment,
    StatefulSet,
    DaemonSet,
    ReplicaSet,
    ReplicationController,
    Job,
    CronJob,
)
WORKLOADS: Final = (*BUILT_IN_WORKLOADS, CustomWorkload)

POD_KINDS: Final = ("Pod", *(kind.__name__ for kind in BUILT_IN_WORKLOADS))
"""Everything of Kubernetes that is a pod or makes pods."""

COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"
COMPLETION_INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"
FIRST: Final = "0"

_JOB_LABELS: Final = (
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "controller-uid",
    "job-name",
)
_LABELS_ADDED: Final[Mapping[type, tuple[str, ...]]] = {
    Deployment: ("pod-template-hash",),
    StatefulSet: ("controller-revision-hash",),
    DaemonSet: ("controller-revision-hash", "pod-template-generation"),
    ReplicaSet: (),
    ReplicationController: (),
    Job: _JOB_LABELS,
    CronJob: _JOB_LABELS,
    CustomWorkload: (),
}
"""Labels whose values are known only when the pod is made."""


def pod_resource(text: str) -> Resource:
    """Return the resource that a person means: one whose objects are pods or make pods.

    Raises ConfigurationError for any other.
    """
    try:
        resource = resources.find(text)
    except ParseError as error:
        raise ConfigurationError(str(error)) from error
    if resource.kind not in POD_KINDS:
        raise ConfigurationError(
            f"{resource.full_name} are no pods and make none; these do: {', '.join(POD_KINDS)}"
        )
    return resource


def parse_target(text: str) -> tuple[str, str]:
    """Read ``TYPE/NAME``, or the name of a pod: the type as it was written, and the name.

    Raises ConfigurationError for what has neither form.
    """
    if "/" not in text:
        kind, name = "pod", text
    else:
        kind, _, name = text.partition("/")
    if not kind or not name or "/" in name:
        raise ConfigurationError(f"{text!r} is not of the form TYPE/NAME")
    return kind, name


def pod_of(workload: Workload) -> Pod:
    """Return the pod that a workload makes, as far as it is known before it is made.

    - *workload*: Deployment, StatefulSet, Job or another kind that makes pods
    """
    template = template_of(workload)
    metadata, spec = workload.metadata, _as_created(template.spec)
    name, prefix = "", f"{metadata.name}-"
    labels, annotations = dict(template.metadata.labels), dict(template.metadata.annotations)
    if isinstance(workload, StatefulSet):
        ordinal = workload.spec.ordinals.start
        name = f"{metadata.name}-{ordinal}"
        prefix = ""
        labels |= {
            "apps.kubernetes.io/pod-index": str(ordinal),
            "statefulset.kubernetes.io/pod-name": name,
        }
        # Its address inside the cluster: the name of the pod below the name of the service.
        spec = structs.replace(
            spec, hostname=name, subdomain=spec.subdomain or workload.spec.service_name
        )
    elif _is_indexed(workload):
        # A cron job's job has a name of its own.
        prefix = f"{metadata.name}-{'' if isinstance(workload, CronJob) else f'{FIRST}-'}"
        labels[COMPLETION_INDEX] = annotations[COMPLETION_INDEX] = FIRST
        spec = _with_completion_index(spec)
    made = ObjectMeta(
        name=name,
        generate_name=prefix,
        namespace=metadata.namespace,
        labels=labels,
        annotations=annotations,
        finalizers=template.metadata.finalizers,
    )
    return Pod(metadata=made, spec=spec)


def template_of(workload: Workload) -> PodTemplateSpec:
    """Return the template of the workload's pods; for a cron job, that of its jobs."""
    if isinstance(workload, CustomWorkload):
        return workload.template
    if isinstance(workload, CronJob):
        return workload.spec.job_template.spec.template
    return workload.spec.template


def template_path(workload: Workload) -> str:
    """Return where the template is in the workload: ``spec.template``."""
    if isinstance(workload, CustomWorkload):
        return workload.template_path
    return "spec.jobTemplate.spec.template" if isinstance(workload, CronJob) else "spec.template"


def templates_of(workload: Workload) -> tuple[PlacedTemplate, ...]:
    """Return every template of the workload; only custom ones have several."""
    if isinstance(workload, CustomWorkload):
        return workload.templates
    return (PlacedTemplate(path=template_path(workload), template=template_of(workload)),)


def replicas_of(workload: Workload) -> int | None:
    """Return how many pods a workload asks for; ``None`` for those that ask for no number."""
    if isinstance(workload, Deployment | StatefulSet | ReplicaSet | ReplicationController):
        return 1 if workload.spec.replicas is None else workload.spec.replicas
    return None


def assumptions_of(workload: Workload) -> tuple[str, ...]:
    """Return, as sentences without a closing stop, what ``pod_of`` took for granted.

    Labels that are not known are mentioned only if something of the pod shows them.
    """
    if isinstance(workload, CustomWorkload):
        return tuple(_custom_assumptions(workload))
    said = []
    name = workload.metadata.name
    if isinstance(workload, StatefulSet):
        ordinal = workload.spec.ordinals.start
        said.append(f"this is the first pod of StatefulSet {name}, {name}-{ordinal}")
    elif _is_indexed(workload):
        said.append(f"this is the first pod of Indexed {workload.kind} {name}, index {FIRST}")
    pod = pod_of(workload)
    paths = set(_fields_shown(pod))
    unknown = [
        label
        for label in _LABELS_ADDED[type(workload)]
        if label not in pod.metadata.labels
        and ("metadata.labels" in paths or f"metadata.labels['{label}']" in paths)
    ]
    if unknown:
        one = len(unknown) == 1
        missing = f"label {unknown[0]} is" if one else f"labels {', '.join(unknown)} are"
        values = "its value is" if one else "their values are"
        said.append(f"the {missing} missing: {values} known only when the pod is made")
    return tuple(said)


def _custom_assumptions(workload: CustomWorkload) -> Iterator[str]:
    whose = f"{workload.kind} {workload.metadata.name}"
    yield f"what the controller of {whose} adds to its template is not known"
    first, *others = (placed.path for placed in workload.templates)
    if others:
        yield f"this is the template at {first} of {whose}; others are at {', '.join(others)}"
    yield from workload.unreadable


def _as_created(spec: PodSpec) -> PodSpec:
    """Return the spec with the defaults that only pods get: links, and requests from limits."""
    links = spec.enable_service_links
    return structs.replace(
        spec,
        enable_service_links=True if links is None else links,
        init_containers=tuple(map(_requesting_its_limits, spec.init_containers)),
        containers=tuple(map(_requesting_its_limits, spec.containers)),
        resources=_with_requests(spec.resources),
    )


def _requesting_its_limits(container: Container) -> Container:
    needed = _with_requests(container.resources)
    if needed is None or needed is container.resources:
        return container
    return structs.replace(container, resources=needed)


def _with_requests(needed: ResourceRequirements | None) -> ResourceRequirements | None:
    if needed is None or needed.limits.keys() <= needed.requests.keys():
        return needed
    return structs.replace(needed, requests={**needed.limits, **needed.requests})


def _is_indexed(workload: Workload) -> bool:
    if isinstance(workload, CronJob):
        return workload.spec.job_template.spec.completion_mode == "Indexed"
    return isinstance(workload, Job) and workload.spec.completion_mode == "Indexed"


def _with_completion_index(spec: PodSpec) -> PodSpec:
    return structs.replace(
        spec,
        init_containers=tuple(map(_told_its_index, spec.init_containers)),
        containers=tuple(map(_told_its_index, spec.containers)),
    )


def _told_its_index(container: Container) -> Container:
    if any(variable.name == COMPLETION_INDEX_VARIABLE for variable in container.env):
        return container
    selector = ObjectFieldSelector(
        api_version="v1", field_path=f"metadata.labels['{COMPLETION_INDEX}']"
    )
    variable = EnvVar(name=COMPLETION_INDEX_VARIABLE, value_from=EnvVarSource(field_ref=selector))
    return structs.replace(container, env=(*container.env, variable))


def _fields_shown(pod: Pod) -> Iterator[str]:
    """Yield the paths of the pod's own fields that variables and files show."""
    for placed in containers_of(pod.spec):
        for variable in placed.container.env:
            source = variable.value_from
            if source is not None and source.field_ref is not None:
                yield source.field_ref.field_path
    for volume in pod.spec.volumes:
        sources = [] if volume.projected is None else volume.projected.sources
        downward = [volume.downward_api, *(source.downward_api for source in sources)]
        for each in downward:
            for item in () if each is None else each.items:
                if item.field_ref is not None:
                    yield item.field_ref.field_path
