"""Workloads: the kinds that make pods from a template.

Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController, Job and CronJob, as far as
their template, selector and counters go.

Upstream: k8s.io/api/apps/v1/types.go; k8s.io/api/batch/v1/types.go; k8s.io/api/core/v1/types.go
"""

from collections.abc import Mapping
from typing import Literal

from reflet.api.core.pods import PodTemplateSpec
from reflet.api.frozen import EMPTY, Frozen, constant
from reflet.api.meta import Condition, LabelSelector, ObjectMeta, ObjectReference, Time, TypedObject


class DeploymentSpec(Frozen, frozen=True, kw_only=True):
    """How many pods, made from what."""

    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    min_ready_seconds: int = 0
    revision_history_limit: int | None = None
    paused: bool = False
    progress_deadline_seconds: int | None = None


class DeploymentStatus(Frozen, frozen=True, kw_only=True):
    """How many pods there are."""

    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0
    terminating_replicas: int | None = None
    conditions: tuple[Condition, ...] = ()
    collision_count: int | None = None


class Deployment(TypedObject, frozen=True, kw_only=True):
    """Equal pods, replaced step by step when the template changes."""

    api_version: Literal["apps/v1"] = constant("apps/v1")
    kind: Literal["Deployment"] = constant("Deployment")
    metadata: ObjectMeta = ObjectMeta()
    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()


class StatefulSetOrdinals(Frozen, frozen=True, kw_only=True):
    """The number of the first pod."""

    start: int = 0


class ClaimTemplate(Frozen, frozen=True, kw_only=True):
    """What a claim of each pod is made from, as far as its name goes."""

    metadata: ObjectMeta = ObjectMeta()


class StatefulSetSpec(Frozen, frozen=True, kw_only=True):
    """How many pods, made from what, under which service."""

    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    service_name: str = ""
    volume_claim_templates: tuple[ClaimTemplate, ...] = ()
    ordinals: StatefulSetOrdinals = StatefulSetOrdinals()
    pod_management_policy: str = ""
    revision_history_limit: int | None = None
    min_ready_seconds: int = 0


class StatefulSetStatus(Frozen, frozen=True, kw_only=True):
    """How many pods there are, and of which revision."""

    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    current_replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""
    collision_count: int | None = None
    conditions: tuple[Condition, ...] = ()


class StatefulSet(TypedObject, frozen=True, kw_only=True):
    """Pods with an identity each."""

    api_version: Literal["apps/v1"] = constant("apps/v1")
    kind: Literal["StatefulSet"] = constant("StatefulSet")
    metadata: ObjectMeta = ObjectMeta()
    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()


class DaemonSetSpec(Frozen, frozen=True, kw_only=True):
    """What the pod of each node is made from."""

    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    min_ready_seconds: int = 0
    revision_history_limit: int | None = None


class DaemonSetStatus(Frozen, frozen=True, kw_only=True):
    """On how many nodes the pod runs."""

    current_number_scheduled: int = 0
    number_misscheduled: int = 0
    desired_number_scheduled: int = 0
    number_ready: int = 0
    observed_generation: int = 0
    updated_number_scheduled: int = 0
    number_available: int = 0
    number_unavailable: int = 0
    collision_count: int | None = None
    conditions: tuple[Condition, ...] = ()


class DaemonSet(TypedObject, frozen=True, kw_only=True):
    """One pod on each node."""

    api_version: Literal["apps/v1"] = constant("apps/v1")
    kind: Literal["DaemonSet"] = constant("DaemonSet")
    metadata: ObjectMeta = ObjectMeta()
    spec: DaemonSetSpec = DaemonSetSpec()
    status: DaemonSetStatus = DaemonSetStatus()


class ReplicaSetSpec(Frozen, frozen=True, kw_only=True):
    """How many pods, made from what."""

    replicas: int | None = None
    min_ready_seconds: int = 0
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()


class ReplicaSetStatus(Frozen, frozen=True, kw_only=True):
    """How many pods there are."""

    replicas: int = 0
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    terminating_replicas: int | None = None
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


class ReplicaSet(TypedObject, frozen=True, kw_only=True):
    """A number of equal pods."""

    api_version: Literal["apps/v1"] = constant("apps/v1")
    kind: Literal["ReplicaSet"] = constant("ReplicaSet")
    metadata: ObjectMeta = ObjectMeta()
    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


class ReplicationControllerSpec(Frozen, frozen=True, kw_only=True):
    """How many pods, made from what."""

    replicas: int | None = None
    min_ready_seconds: int = 0
    selector: Mapping[str, str] = EMPTY
    template: PodTemplateSpec = PodTemplateSpec()


class ReplicationController(TypedObject, frozen=True, kw_only=True):
    """A number of equal pods, as they were made before ReplicaSets."""

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["ReplicationController"] = constant("ReplicationController")
    metadata: ObjectMeta = ObjectMeta()
    spec: ReplicationControllerSpec = ReplicationControllerSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


class JobSpec(Frozen, frozen=True, kw_only=True):
    """How often to run to the end, and from what."""

    parallelism: int | None = None
    completions: int | None = None
    active_deadline_seconds: int | None = None
    backoff_limit: int | None = None
    selector: LabelSelector | None = None
    manual_selector: bool | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    ttl_seconds_after_finished: int | None = None
    completion_mode: str | None = None
    suspend: bool | None = None


class JobStatus(Frozen, frozen=True, kw_only=True):
    """How many pods run, ended well and failed."""

    conditions: tuple[Condition, ...] = ()
    start_time: Time | None = None
    completion_time: Time | None = None
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    terminating: int | None = None
    completed_indexes: str = ""
    failed_indexes: str | None = None
    ready: int | None = None


class Job(TypedObject, frozen=True, kw_only=True):
    """Pods that run to their end."""

    api_version: Literal["batch/v1"] = constant("batch/v1")
    kind: Literal["Job"] = constant("Job")
    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class JobTemplateSpec(Frozen, frozen=True, kw_only=True):
    """What the jobs of a cron job are made from."""

    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class CronJobSpec(Frozen, frozen=True, kw_only=True):
    """When to start jobs, and from what."""

    schedule: str = ""
    time_zone: str | None = None
    starting_deadline_seconds: int | None = None
    concurrency_policy: str = ""
    suspend: bool | None = None
    job_template: JobTemplateSpec = JobTemplateSpec()
    successful_jobs_history_limit: int | None = None
    failed_jobs_history_limit: int | None = None


class CronJobStatus(Frozen, frozen=True, kw_only=True):
    """The jobs that run, and when one was started last."""

    active: tuple[ObjectReference, ...] = ()
    last_schedule_time: Time | None = None
    last_successful_time: Time | None = None


class CronJob(TypedObject, frozen=True, kw_only=True):
    """Jobs by the clock."""

    api_version: Literal["batch/v1"] = constant("batch/v1")
    kind: Literal["CronJob"] = constant("CronJob")
    metadata: ObjectMeta = ObjectMeta()
    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()
