"""Objects that the development server must treat as the real server does, whose builders these are.

Owns: the manifests, each with the path to which it is posted.  Must not know either server.
"""

from __future__ import annotations

from typing import Any, Final

CORE: Final = "/api/v1/namespaces/{namespace}"
APPS: Final = "/apis/apps/v1/namespaces/{namespace}"
BATCH: Final = "/apis/batch/v1/namespaces/{namespace}"

Manifest = dict[str, Any]
Case = tuple[str, str, Manifest]  # a name, the path, the body

LABELS: Final = {"app": "web"}


def manifest(api_version: str, kind: str, /, name: str = "x", **fields: Any) -> Manifest:
    metadata = {"name": name} | fields.pop("metadata", {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def config_map(**fields: Any) -> Manifest:
    return manifest("v1", "ConfigMap", **fields)


def secret(**fields: Any) -> Manifest:
    return manifest("v1", "Secret", **fields)


def pod(*containers: Manifest, metadata: Manifest | None = None, **spec: Any) -> Manifest:
    used = list(containers) or [container()]
    return manifest("v1", "Pod", metadata=metadata or {}, spec={"containers": used} | spec)


def container(**fields: Any) -> Manifest:
    return {"name": "web", "image": "nginx"} | fields


def service(**spec: Any) -> Manifest:
    return manifest("v1", "Service", spec=spec)


def template(**spec: Any) -> Manifest:
    return {"metadata": {"labels": LABELS}, "spec": {"containers": [container()]} | spec}


def workload(kind: str, **spec: Any) -> Manifest:
    usual = {"selector": {"matchLabels": LABELS}, "template": template()}
    return manifest("apps/v1", kind, spec=usual | spec)


def job(**spec: Any) -> Manifest:
    return manifest("batch/v1", "Job", spec={"template": template(restartPolicy="Never")} | spec)


def cron_job(**spec: Any) -> Manifest:
    job_template = {"spec": {"template": template(restartPolicy="OnFailure")}}
    usual = {"schedule": "*/5 * * * *", "jobTemplate": job_template}
    return manifest("batch/v1", "CronJob", spec=usual | spec)


def definition(**changes: Any) -> Manifest:
    names = {"plural": "gears", "kind": "Gear"} | changes.pop("names", {})
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
    } | changes.pop("version", {})
    name = changes.pop("name", "gears.example.org")
    spec = {"group": "example.org", "scope": "Namespaced", "names": names, "versions": [version]}
    return manifest(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", name=name, spec=spec | changes
    )


def cluster_case(title: str, api_version: str, plural: str, kind: str, **fields: Any) -> Case:
    """Give an object that is in no namespace, named after one that the test has to itself."""
    path = f"/apis/{api_version}/{plural}"
    return title, path, manifest(api_version, kind, name="{namespace}-x", **fields)


def namespaced_case(title: str, api_version: str, plural: str, kind: str, **fields: Any) -> Case:
    path = f"/apis/{api_version}/namespaces/{{namespace}}/{plural}"
    return title, path, manifest(api_version, kind, **fields)
