"""Scenes about lists: pages, versions, selectors, forms.

Owns: these scenes.  Must not know how they are played.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.real.devserver_objects import config_map, manifest, pod, secret, service
from tests.real.differential.script import (
    CONFIG_MAPS,
    CORE,
    METADATA,
    METADATA_LIST,
    PODS,
    TABLE,
    YAML,
    Ask,
    ForgetHistory,
    Scene,
    Watch,
    delete,
    get,
    patch,
    post,
    scene,
)

FIVE: Final = tuple(
    post(CONFIG_MAPS, config_map(name=name, data={"a": name}, metadata={"labels": labels}))
    for name, labels in (
        ("a", {"tier": "web", "size": "1"}),
        ("b", {"tier": "web", "size": "2"}),
        ("c", {"tier": "data"}),
        ("d", {"example.com/owner": "ann"}),
        ("e", {"tier": ""}),
    )
)


def event(name: str, **fields: Any) -> dict[str, Any]:
    about = {"kind": "Pod", "name": "web", "namespace": "<ns>"}
    return manifest("v1", "Event", name=name, involvedObject=about, **fields)


def list_scenes() -> Iterator[Scene]:
    """Yield the scenes."""
    yield from _pages()
    yield from _versions()
    yield from _selectors()
    yield from _forms()
    yield from _everywhere()


def _pages() -> Iterator[Scene]:
    yield scene(
        "list in pages",
        *FIVE,
        get(f"{CONFIG_MAPS}?limit=2", keep={"page": "metadata.continue"}),
        post(CONFIG_MAPS, config_map(name="aa")),
        delete(f"{CONFIG_MAPS}/e"),
        get(f"{CONFIG_MAPS}?limit=2&continue=<page>", keep={"page": "metadata.continue"}),
        get(f"{CONFIG_MAPS}?limit=2&continue=<page>"),
        get(f"{CONFIG_MAPS}?continue=<page>"),
        get(f"{CONFIG_MAPS}?limit=5"),
        get(f"{CONFIG_MAPS}?limit=500"),
        get(f"{CONFIG_MAPS}?limit=0"),
    )
    yield scene(
        "pages with selectors",
        *FIVE,
        get(f"{CONFIG_MAPS}?limit=1&labelSelector=tier%3Dweb", keep={"page": "metadata.continue"}),
        get(f"{CONFIG_MAPS}?limit=1&labelSelector=tier%3Dweb&continue=<page>"),
        get(f"{CONFIG_MAPS}?limit=2&labelSelector=tier%3Dweb"),
        get(f"{CONFIG_MAPS}?limit=1&fieldSelector=metadata.name!%3Da"),
        get(f"{CONFIG_MAPS}?limit=1&labelSelector=tier%3Dnone"),
    )
    yield scene(
        "pages that cannot be",
        post(CONFIG_MAPS, config_map()),
        get(f"{CONFIG_MAPS}?limit=-1"),
        get(f"{CONFIG_MAPS}?limit=many"),
        get(f"{CONFIG_MAPS}?limit=9223372036854775808"),
        get(f"{CONFIG_MAPS}?continue=nonsense"),
        get(f"{CONFIG_MAPS}?continue=e30"),
        get(f"{CONFIG_MAPS}?limit=1&continue=nonsense&resourceVersion=5"),
        get(f"{CONFIG_MAPS}?continue=nonsense&resourceVersionMatch=Exact"),
        get(f"{CONFIG_MAPS}?timeoutSeconds=much"),
        Watch(f"{CONFIG_MAPS}?watch=perhaps&timeoutSeconds=1", 1),
        get(f"{CONFIG_MAPS}?pretty=true&limit=1"),
    )
    yield scene(
        "pages of a forgotten version",
        post(f"{CORE}/events", event("one")),
        post(f"{CORE}/events", event("two")),
        get(
            f"{CORE}/events?limit=1",
            keep={"page": "metadata.continue", "version": "metadata.resourceVersion"},
        ),
        ForgetHistory(),
        get(f"{CORE}/events?limit=1&continue=<page>", keep={"again": "metadata.continue"}),
        get(f"{CORE}/events?limit=1&continue=<again>"),
        get(f"{CORE}/events?resourceVersion=<version>&resourceVersionMatch=Exact"),
        get(f"{CORE}/events?resourceVersion=<version>&limit=1"),
        get(f"{CORE}/events?resourceVersion=<version>"),
    )


def _versions() -> Iterator[Scene]:
    past = f"{CONFIG_MAPS}?resourceVersion=<past>"
    yield scene(
        "list at versions",
        *FIVE[:2],
        get(CONFIG_MAPS, keep={"past": "metadata.resourceVersion"}),
        *FIVE[2:3],
        patch(f"{CONFIG_MAPS}/a", {"data": {"a": "new"}}),
        get(f"{CONFIG_MAPS}?resourceVersion=0"),
        get(f"{CONFIG_MAPS}?resourceVersion=0&resourceVersionMatch=NotOlderThan"),
        get(past),
        get(f"{past}&resourceVersionMatch=NotOlderThan"),
        get(f"{past}&resourceVersionMatch=Exact"),
        get(f"{past}&limit=1"),
        get(f"{past}&limit=1&resourceVersionMatch=Exact", keep={"page": "metadata.continue"}),
        get(f"{CONFIG_MAPS}?limit=1&continue=<page>"),
        get(f"{past}&limit=1&continue=<page>"),
        get(f"{CONFIG_MAPS}?limit=1&continue=<page>&resourceVersion=0"),
        get(f"{CONFIG_MAPS}/a?resourceVersion=<past>"),
        get(f"{CONFIG_MAPS}/a?resourceVersion=0"),
    )
    yield scene(
        "versions that cannot be",
        get(f"{CONFIG_MAPS}?resourceVersion=abc"),
        get(f"{CONFIG_MAPS}?resourceVersion=-1"),
        get(f"{CONFIG_MAPS}?resourceVersionMatch=Exact"),
        get(f"{CONFIG_MAPS}?resourceVersion=0&resourceVersionMatch=Exact"),
        get(f"{CONFIG_MAPS}?resourceVersion=5&resourceVersionMatch=Newest"),
        get(f"{CONFIG_MAPS}?resourceVersionMatch=Newest"),
        get(f"{CONFIG_MAPS}?sendInitialEvents=true"),
        get(f"{CONFIG_MAPS}?sendInitialEvents=maybe"),
        get(f"{CONFIG_MAPS}?resourceVersion=99999999"),
        get(f"{CONFIG_MAPS}/x?resourceVersion=abc"),
    )


GOOD_LABELS: Final = (
    *("tier=web", "tier==web", "tier!=web", "tier in (web,data)", "tier notin (web)", "tier"),
    *(
        "!tier",
        "tier=web,size=2",
        "tier=",
        "tier in (web, )",
        "example.com/owner=ann",
        " tier = web ",
    ),
    *("size>1", "size<2", "", "tier=web,", "tier in (web),size"),
)
BAD_LABELS: Final = (
    *("tier=web=data", "tier in web", ",", "=web", "tier in ()", "-tier=web", "tier=a b"),
    *("tier>web", "a/b/c=d", "tier=" + "x" * 64, "(", "tier!", "tier in (web", "x=@", "!tier=web"),
)
GOOD_FIELDS: Final = (
    *("metadata.name=a", "metadata.name==b", "metadata.name!=a", "metadata.namespace=<ns>"),
    *("metadata.name=a,metadata.namespace=<ns>", "metadata.name=", "metadata.name=no", ""),
    *("metadata.name=a,metadata.name=b", "metadata.namespace=other", "metadata.name=a%5C%3Db"),
)
BAD_FIELDS: Final = (
    *("data.a=a", "metadata.labels.tier=web", "metadata.name", "metadata.name>a", "=a"),
    *("metadata.uid=1", "metadata.name=a%5C", "metadata.name=a=b", "metadata.name=a%5Cb"),
)


def _by_label(*texts: str) -> Iterator[Ask]:
    for text in texts:
        yield get(f"{CONFIG_MAPS}?labelSelector={text.replace('=', '%3D')}")


def _by_field(path: str, *texts: str, **options: Any) -> Iterator[Ask]:
    for text in texts:
        yield get(f"{path}?fieldSelector={text.replace('=', '%3D')}", **options)


def _selectors() -> Iterator[Scene]:
    yield scene("label selectors", *FIVE, *_by_label(*GOOD_LABELS))
    yield scene("label selectors that cannot be", *_by_label(*BAD_LABELS))
    yield scene(
        "field selectors",
        *FIVE,
        *_by_field(CONFIG_MAPS, *GOOD_FIELDS),
        get(f"{CONFIG_MAPS}?fieldSelector=metadata.name%3Da&labelSelector=tier%3Dweb"),
        get(f"{CONFIG_MAPS}?fieldSelector=metadata.name%3Da&labelSelector=tier%3Ddata"),
    )
    yield scene("field selectors that cannot be", *_by_field(CONFIG_MAPS, *BAD_FIELDS))
    yield scene(
        "field selectors of pods",
        post(PODS, pod(metadata={"name": "free"})),
        post(PODS, pod(metadata={"name": "bound"}, nodeName="n1", restartPolicy="Never")),
        *_by_field(PODS, "spec.nodeName=n1", "spec.nodeName=", "spec.nodeName!=n1"),
        *_by_field(PODS, "status.phase=Pending", "status.phase!=Pending", "status.podIP="),
        *_by_field(PODS, "spec.restartPolicy=Never", "spec.schedulerName=default-scheduler"),
        *_by_field(PODS, "spec.serviceAccountName=", "spec.hostNetwork=false"),
        *_by_field(PODS, "spec.hostNetwork=true", "status.nominatedNodeName="),
        *_by_field(PODS, "spec.containers=x", "status.reason=x", "spec.nodename=x"),
    )
    # By themselves: the real server tells of services in events, whenever it looks at them.
    yield scene(
        "field selectors of services",
        post(f"{CORE}/services", service(ports=[{"port": 80}])),
        post(f"{CORE}/services", manifest("v1", "Service", name="h", spec={"clusterIP": "None"})),
        *_by_field(
            f"{CORE}/services", "spec.clusterIP=None", "spec.type=ClusterIP", "spec.ports=1"
        ),
    )
    yield scene(
        "field selectors of other kinds",
        post(f"{CORE}/secrets", secret(name="plain")),
        post(f"{CORE}/secrets", secret(name="typed", type="example.com/t")),
        post(f"{CORE}/events", event("one", reason="Because", type="Normal")),
        *_by_field(f"{CORE}/secrets", "type=Opaque", "type!=Opaque", "kind=x"),
        *_by_field(f"{CORE}/events", "involvedObject.name=web", "involvedObject.kind=Node"),
        *_by_field(f"{CORE}/events", "reason=Because", "type=Warning", "source="),
        *_by_field(f"{CORE}/events", "involvedObject.uid=", "reportingComponent=", "message=x"),
        *_by_field("/api/v1/namespaces", "metadata.name=<ns>,status.phase=Active", "name=<ns>"),
        *_by_field("/api/v1/nodes", "metadata.name=<ns>,spec.unschedulable=false", "spec.taints="),
        *_by_field(
            "/apis/apps/v1/namespaces/<ns>/deployments", "metadata.name=x", "spec.replicas=1"
        ),
        *_by_field("/apis/apps/v1/namespaces/<ns>/replicasets", "status.replicas=0"),
        *_by_field("/apis/batch/v1/namespaces/<ns>/jobs", "status.successful=0"),
    )


def _forms() -> Iterator[Scene]:
    yield scene(
        "lists in other forms",
        *FIVE[:2],
        get(CONFIG_MAPS, accept=TABLE),
        get(f"{CONFIG_MAPS}?includeObject=None", accept=TABLE),
        get(f"{CONFIG_MAPS}?includeObject=Object", accept=TABLE),
        get(f"{CONFIG_MAPS}?includeObject=Metadata", accept=TABLE),
        get(f"{CONFIG_MAPS}?includeObject=Everything", accept=TABLE),
        get(f"{CONFIG_MAPS}?limit=1", accept=TABLE),
        get(CONFIG_MAPS, accept=f"{TABLE},application/json"),
        get(CONFIG_MAPS, accept=METADATA_LIST),
        get(CONFIG_MAPS, accept=METADATA),
        get(f"{CONFIG_MAPS}/a", accept=METADATA),
        get(f"{CONFIG_MAPS}/a", accept=METADATA_LIST),
        get(f"{CONFIG_MAPS}/a", accept=TABLE),
        get(f"{CONFIG_MAPS}/none", accept=TABLE),
        get(CONFIG_MAPS, accept=YAML),
        get(f"{CONFIG_MAPS}/a", accept=YAML),
        get(f"{CONFIG_MAPS}/none", accept=YAML),
    )
    yield scene(
        "what clients accept",
        *FIVE[:1],
        get(f"{CONFIG_MAPS}/a", accept="*/*"),
        get(f"{CONFIG_MAPS}/a", accept="application/*"),
        get(f"{CONFIG_MAPS}/a", accept=""),
        get(f"{CONFIG_MAPS}/a", accept="text/html,application/json;q=0.5"),
        get(f"{CONFIG_MAPS}/a", accept="text/html"),
        get(f"{CONFIG_MAPS}/a", accept="application/xml"),
        get(f"{CONFIG_MAPS}/a", accept="application/json;as=Bogus;v=v1;g=meta.k8s.io"),
        get(f"{CONFIG_MAPS}/a", accept="application/json;as=Table;v=v2;g=meta.k8s.io"),
        get(f"{CONFIG_MAPS}/a", accept="application/json;charset=utf-8"),
        get(f"{CONFIG_MAPS}/a", accept="application/json;pretty=1"),
        get(f"{CONFIG_MAPS}/a", accept="nonsense"),
        post(CONFIG_MAPS, config_map(name="t"), accept=TABLE),
        delete(f"{CONFIG_MAPS}/t", accept=TABLE),
        delete(f"{CONFIG_MAPS}/a", accept=METADATA),
    )


def _everywhere() -> Iterator[Scene]:
    mine = {"labels": {"scene": "<ns>"}}
    everywhere = "/api/v1/configmaps?labelSelector=scene%3D<ns>"
    yield scene(
        "lists across namespaces",
        post(CONFIG_MAPS, config_map(name="a", metadata=mine)),
        post("/api/v1/namespaces/default/configmaps", config_map(name="<ns>", metadata=mine)),
        get(everywhere, keep={"start": "metadata.resourceVersion"}),
        get(everywhere, accept=TABLE),
        get(f"{everywhere}&fieldSelector=metadata.namespace%3Ddefault"),
        get("/api/v1/configmaps?fieldSelector=metadata.name%3D<ns>"),
        delete("/api/v1/namespaces/default/configmaps/<ns>"),
        Watch(f"{everywhere}&watch=true&resourceVersion=<start>", 1),
        get(f"{CONFIG_MAPS}?labelSelector=scene&labelSelector=none"),
        get(f"{CONFIG_MAPS}?limit=1&limit=x"),
        get(f"{CONFIG_MAPS}?nonsense=1"),
        get(f"{CONFIG_MAPS}?pretty"),
        get(f"{CONFIG_MAPS}?watch=false"),
        get(f"{CONFIG_MAPS}?watch=0"),
    )
