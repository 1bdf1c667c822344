"""Scenes about single objects, paths that mean nothing, discovery and the server itself.

Owns: these scenes.  Must not know how they are played.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from reflet.apirules.schema.builtin_kinds import GROUPS
from tests.real.devserver_objects import config_map, pod
from tests.real.differential.script import (
    CONFIG_MAPS,
    CORE,
    PODS,
    Ask,
    Scene,
    get,
    post,
    scene,
)

AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_BINARY: Final = "application/com.github.proto-openapi.spec.v2"
OPENAPI_ACCEPTS: Final = (
    *("", "*/*", "*", "application/*", "application/json;q=0"),
    "text/html, application/json;q=0.9",
    *(f"{_BINARY}@v1.0+protobuf", f"{_BINARY}.v1.0+protobuf"),
    f"{_BINARY}@v1.0+protobuf, application/json",
    f"application/json;q=0.5, {_BINARY}@v1.0+protobuf",
    f"application/json;q=x, {_BINARY}.v1.0+protobuf;q=0.1",
    f"*/*, {_BINARY}.v1.0+protobuf;q=0.5",
    f"{_BINARY}.v1.0+protobuf;q=0.5, */*",
    f"application/*, {_BINARY}.v1.0+protobuf",
)
OPENAPI_REFUSED: Final = ("APPLICATION/JSON", "nonsense", "application/yaml", "text/html")
SERVED: Final = {
    group.name: {
        name
        for row in group.rows
        for name in (
            row.plural,
            *(f"{row.plural}/{getattr(each, 'name', each)}" for each in row.subresources),
        )
    }
    for group in GROUPS
}


def get_scenes() -> Iterator[Scene]:
    """Yield the scenes."""
    yield from _objects()
    yield from _paths()
    yield from _discovery()
    yield from _reviews()


def _objects() -> Iterator[Scene]:
    yield scene(
        "get what is and what is not there",
        post(CONFIG_MAPS, config_map(name="a", data={"b": "c"})),
        get(f"{CONFIG_MAPS}/a"),
        get(f"{CONFIG_MAPS}/a?pretty=true"),
        Ask("HEAD", f"{CONFIG_MAPS}/a"),
        Ask("HEAD", f"{CONFIG_MAPS}/none"),
        Ask("HEAD", CONFIG_MAPS),
        get(f"{CONFIG_MAPS}/none"),
        get("/api/v1/namespaces/no-such/configmaps/a"),
        get("/api/v1/namespaces/no-such/configmaps"),
        get("/api/v1/namespaces/no-such"),
        get(f"{CORE}/nonsense"),
        get(f"{CORE}/nonsense/a"),
        get("/apis/apps/v1/namespaces/<ns>/deployments/none"),
        get("/api/v1/nodes/none"),
        get("/apis/coordination.k8s.io/v1/namespaces/<ns>/leases/none"),
        get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/none"),
        get("/api/v1/namespaces/<ns>"),
        get("/api/v1/namespaces/default"),
        get("/api/v1/namespaces/kube-system"),
        get("/api/v1/namespaces/default/services/kubernetes", view=_without_target),
    )


def _without_target(service: Any) -> Any:
    """Leave out the port on which the server itself listens."""
    service["spec"]["ports"][0].pop("targetPort")
    return service


def _paths() -> Iterator[Scene]:
    yield scene(
        "paths that mean nothing",
        get("/nonsense"),
        get("/api/v2"),
        get("/api/v2/pods"),
        get("/apis/nonsense"),
        get("/apis/nonsense/v1"),
        get("/apis/nonsense/v1/things"),
        get("/apis/apps/v2"),
        get("/apis/apps/v2/deployments"),
        get("/apis/apps/v1/nonsense"),
        get("/api/v1/configmaps/a"),
        get("/api/v1/namespaces/<ns>/nodes"),
        get("/api/v1/namespaces/<ns>/nodes/a"),
        get(f"{CONFIG_MAPS}/a/b/c"),
        get("/api/v1/", view=_only_served),
        get(f"{CONFIG_MAPS}/"),
        get("//api/v1"),
        post("/nonsense", {}),
    )
    yield scene(
        "methods that mean nothing",
        post(PODS, pod(metadata={"name": "p"})),
        post(f"{CONFIG_MAPS}/a", config_map(name="a")),
        Ask("PUT", CONFIG_MAPS, config_map()),
        Ask("PATCH", CONFIG_MAPS, {}, content_type="application/merge-patch+json"),
        Ask("POST", "/api/v1/configmaps", config_map()),
        Ask("DELETE", "/api/v1/configmaps"),
        Ask("DELETE", "/api/v1/namespaces"),
        Ask("PUT", "/api/v1/pods", {}),
        Ask("OPTIONS", CONFIG_MAPS),
        Ask("TRACE", CONFIG_MAPS),
        Ask(
            "NONSENSE",
            CONFIG_MAPS,
            differs=dict.fromkeys(("code", "headers.Content-Type", "body"), "unknown-methods"),
        ),
        Ask("DELETE", f"{PODS}/p/status"),
        Ask("POST", f"{PODS}/p/status", {}),
        Ask("GET", f"{PODS}/p/binding"),
        Ask("GET", f"{CORE}/serviceaccounts/default/token"),
        Ask("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
        Ask("POST", "/version", {}),
        Ask("POST", "/api/v1", {}),
        Ask("DELETE", "/apis", view=_only_groups),
    )


def _only_served(body: Any) -> Any:
    """Leave out what only the real server serves."""
    if not isinstance(body, dict) or "resources" not in body:
        return body
    group = body["groupVersion"].rpartition("/")[0]
    kept = [each for each in body["resources"] if each["name"] in SERVED[group]]
    for each in kept:
        each.pop("storageVersionHash", None)
    return body | {"resources": kept}


def _only_groups(body: Any) -> Any:
    """Leave out groups and versions that only the real server serves."""
    wanted = {(group.name, group.version) for group in GROUPS}
    groups = []
    for each in body.get("groups", ()):
        versions = [one for one in each["versions"] if (each["name"], one["version"]) in wanted]
        if versions:
            groups.append(each | {"versions": versions})
    return body | {"groups": groups}


def _only_aggregated(body: Any) -> Any:
    """Leave out what only the real server serves, and arrange the rest by name."""
    found: dict[str, Any] = {}
    wanted = {(group.name, group.version) for group in GROUPS}
    for item in body["items"]:
        group = item["metadata"].get("name", "")
        for version in item["versions"]:
            if (group, version["version"]) not in wanted:
                continue
            served = [
                _aggregated(each, SERVED[group])
                for each in version.get("resources", ())
                if each["resource"] in SERVED[group]
            ]
            for each in served:
                found[f"{group} {version['version']} {each['resource']}"] = each
    return found


def _aggregated(resource: dict[str, Any], served: set[str]) -> dict[str, Any]:
    name = resource["resource"]
    kept = [
        each
        for each in resource.get("subresources", ())
        if f"{name}/{each['subresource']}" in served
    ]
    return resource | {"subresources": kept}


def _shape(body: Any) -> Any:
    """Keep the names and the types of values, not the values."""
    if not isinstance(body, dict) or body.get("kind") == "Status":
        return body
    return {name: type(value).__name__ for name, value in body.items()}


def _addresses_left_out(body: Any) -> Any:
    return {name: value for name, value in body.items() if name != "serverAddressByClientCIDRs"}


def _discovery() -> Iterator[Scene]:
    yield scene(
        "discovery",
        get("/api", view=_addresses_left_out),
        get("/apis", view=_only_groups),
        *(
            get(
                f"/apis/{group.name}/{group.version}" if group.name else "/api/v1",
                view=_only_served,
            )
            for group in GROUPS
        ),
        *(get(f"/apis/{group.name}") for group in GROUPS if group.name in {"apps", "batch"}),
        get("/apis", accept=AGGREGATED, view=_only_aggregated),
        get("/api", accept=AGGREGATED, view=_only_aggregated),
        get("/apis/apps/v1", accept="application/yaml", view=lambda _: None),
    )
    yield scene(
        "the server itself",
        get("/version", view=_shape),
        get("/livez"),
        get("/readyz"),
        get("/healthz"),
        get("/livez/ping"),
        get("/livez/nonsense"),
        get("/healthz/ping"),
        get("/livez", accept="text/plain"),
        get(
            "/openapi/v3",
            view=_shape,
            differs=dict.fromkeys(("headers.Content-Type", "body"), "openapi-documents"),
        ),
        get(
            "/openapi/v2",
            view=_shape,
            differs=dict.fromkeys(
                ("body.parameters", "body.securityDefinitions", "body.security"),
                "openapi-documents",
            ),
        ),
        *(get("/openapi/v2", accept=accept, view=_nothing) for accept in OPENAPI_ACCEPTS),
        *(
            get(
                "/openapi/v2",
                accept=accept,
                differs={"headers.Content-Type": "openapi-documents"},
            )
            for accept in OPENAPI_REFUSED
        ),
        get(
            "/openapi/v3/nonsense",
            differs=dict.fromkeys(("headers.Content-Type", "body"), "openapi-documents"),
        ),
        get("/version/", view=_shape),
    )


def _nothing(_: Any) -> None:
    """Compare the code and the headers only."""


def _without_order(review: Any) -> Any:
    """Put the rules of a review in order: the real server has none."""
    for rules in ("resourceRules", "nonResourceRules"):
        review["status"][rules].sort(key=str)
    return review


def _reviews() -> Iterator[Scene]:
    authorization = "/apis/authorization.k8s.io/v1"
    everything = {"verb": "*", "group": "*", "resource": "*"}
    yield scene(
        "reviews",
        post(
            f"{authorization}/selfsubjectaccessreviews",
            {"spec": {"resourceAttributes": {"verb": "list", "resource": "pods"}}},
        ),
        post(
            f"{authorization}/selfsubjectaccessreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": everything | {"namespace": "<ns>", "name": "x"}},
            },
        ),
        post(
            f"{authorization}/selfsubjectaccessreviews",
            {"spec": {"nonResourceAttributes": {"verb": "get", "path": "/version"}}},
        ),
        post(f"{authorization}/selfsubjectaccessreviews", {"spec": {}}),
        post(
            f"{authorization}/selfsubjectrulesreviews",
            {"spec": {"namespace": "<ns>"}},
            view=_without_order,
            differs=dict.fromkeys(
                ("body.status.resourceRules", "body.status.nonResourceRules"), "rules"
            ),
        ),
        post(f"{authorization}/selfsubjectrulesreviews", {"spec": {}}),
        post(
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            {},
            differs={"body.status.userInfo": "administrator"},
        ),
        post("/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "nobody's"}}),
    )
    yield scene(
        "who asks",
        get(CONFIG_MAPS, headers={"Authorization": "Bearer nobody's"}),
        get(
            CONFIG_MAPS,
            headers={"Authorization": "Basic YTpi"},
            differs=dict.fromkeys(("code", "body"), "strangers"),
        ),
        get("/version", headers={"Authorization": "Bearer nobody's"}),
        get("/livez", headers={"Authorization": "Bearer nobody's"}),
        get("/livez", headers={"Authorization": "Basic YTpi"}),
        get("/livez", headers={"Authorization": "Bearer"}),
        get(
            "/livez",
            headers={"Authorization": "Bearer  two-spaces"},
            differs={"headers.Warning": "strangers"},
        ),
        get("/livez", headers={"Authorization": "Bearer \xff.\xff"}),
        post(CONFIG_MAPS, {}, headers={"Authorization": "Bearer \xff.\xff"}),
        get("/nonsense", headers={"Authorization": "Bearer nobody's"}),
    )
