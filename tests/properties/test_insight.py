"""What holds for every pod that is diagnosed, linted, searched or granted rights."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reflet.api import codec
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.insight.lint.linting import lint
from reflet.insight.lint.subjects import Subject
from reflet.insight.possible_users import Candidates
from reflet.insight.rbac import grants_for
from reflet.insight.used_by import used_by
from reflet.insight.why.cluster_state import ClusterState
from reflet.insight.why.diagnosis import Diagnosis, diagnose
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.objects import ConfigKind, ObjectsInHand
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.references.references import config_map_names, references_of, secret_names
from reflet.resolution.volumes.volume_contents import configuration_volumes, resolve_volume

CANARY = "canary-hush-hush"
NAMES = st.sampled_from(["one", "two", "gone"])
KEYS = st.sampled_from(["A", "b.c", "gone"])
OPTIONAL = st.booleans()
EXPRESSIONS = st.sampled_from(["x", "$(A)", "$(Z)", "$(B) $(LATER)", "../$(A)"])
TEXTS = EXPRESSIONS | st.just(CANARY)


def referring(kind: str, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    facts = {"name": NAMES, "optional": OPTIONAL, **more}
    return st.fixed_dictionaries({kind: st.fixed_dictionaries(facts)})


ENV_FROM = referring("configMapRef") | referring("secretRef")
VALUE_FROM = referring("configMapKeyRef", key=KEYS) | referring("secretKeyRef", key=KEYS)
VARIABLES = st.fixed_dictionaries(
    {"name": st.sampled_from(["A", "B", "LATER"])},
) | st.fixed_dictionaries({"name": st.sampled_from(["A", "B"]), "valueFrom": VALUE_FROM})
LITERALS = st.fixed_dictionaries({"name": st.sampled_from(["A", "B", "LATER"]), "value": TEXTS})
MOUNTS = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["v0", "v1", "nowhere"]),
        "mountPath": st.sampled_from(["/a", "/a/", "/b", "../c"]),
    },
    optional={"subPath": st.sampled_from(["A", "dir", "../A"]), "subPathExpr": EXPRESSIONS},
)
ITEMS = st.lists(
    st.fixed_dictionaries({"key": KEYS, "path": st.sampled_from(["A", "dir/a", "dir"])}), max_size=2
)
SOURCES = st.fixed_dictionaries(
    {"configMap": st.fixed_dictionaries({"name": NAMES, "items": ITEMS, "optional": OPTIONAL})}
) | st.fixed_dictionaries(
    {"secret": st.fixed_dictionaries({"name": NAMES, "items": ITEMS, "optional": OPTIONAL})}
)
VOLUMES = st.lists(st.lists(SOURCES, max_size=3), max_size=2).map(
    lambda volumes: [
        {"name": f"v{index}", "projected": {"defaultMode": 420, "sources": sources}}
        for index, sources in enumerate(volumes)
    ]
)
CONTAINERS = st.fixed_dictionaries(
    {
        "envFrom": st.lists(ENV_FROM, max_size=2),
        "env": st.lists(VARIABLES | LITERALS, max_size=4),
        "args": st.lists(TEXTS, max_size=2),
        "volumeMounts": st.lists(MOUNTS, max_size=2),
    }
)


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    containers = [
        {"name": f"c{index}", **draw(CONTAINERS)} for index in range(draw(st.integers(1, 2)))
    ]
    raw = {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "enableServiceLinks": False,
            "containers": containers,
            "volumes": draw(VOLUMES),
            "imagePullSecrets": [{"name": name} for name in draw(st.lists(NAMES, max_size=1))],
        },
    }
    return codec.decode(json.dumps(raw).encode(), Pod)


def objects(*, present: bool = True) -> list[ConfigMap | Secret]:
    """Return the objects of the shop; with ``present`` false, those that are gone too."""
    names = ["one", "two"] if present else ["one", "two", "gone"]
    keys = ["A", "b.c"] if present else ["A", "b.c", "gone"]
    made: list[ConfigMap | Secret] = []
    for name in names:
        metadata = ObjectMeta(namespace="shop", name=name)
        made.append(ConfigMap(metadata=metadata, data=dict.fromkeys(keys, "v")))
        made.append(Secret(metadata=metadata, data=dict.fromkeys(keys, CANARY.encode())))
    return made


def diagnosed(pod: Pod, hand: ObjectsInHand) -> Diagnosis:
    return diagnose(ClusterState(pods=(PodInputs(pod=pod, objects=hand),)))


@given(pods())
def test_there_is_a_stopping_reason_whenever_the_kubelet_would_refuse_something(pod: Pod) -> None:
    hand = ObjectsInHand(objects())
    errors = [
        *(resolve_environment(pod, each.name, hand).error for each in pod.spec.containers),
        *(resolve_volume(pod, name, hand).error for name in configuration_volumes(pod)),
    ]

    diagnosis = diagnosed(pod, hand)

    if any(error is not None for error in errors):
        assert any(each.reason.stops for each in diagnosis.reasons)
    assert all(each.fix and each.reason.message for each in diagnosis.reasons)


@given(pods())
def test_nothing_is_missing_once_everything_is_there(pod: Pod) -> None:
    diagnosis = diagnosed(pod, ObjectsInHand(objects(present=False)))

    problems = {each.reason.type for each in diagnosis.reasons}
    assert problems.isdisjoint({"MissingObject", "MissingKey", "MissingPullSecret"})


@given(pods())
def test_no_value_of_a_secret_is_told(pod: Pod) -> None:
    every = objects()
    subjects = [
        Subject(
            file="a.yaml",
            kind=item.kind,
            namespace="shop",
            name=item.metadata.name,
            find_line=len,
            object=item,
        )
        for item in (*every, pod)
    ]

    findings = lint(subjects)

    assert CANARY not in repr(diagnosed(pod, ObjectsInHand(every)))
    assert CANARY not in repr(findings)


@given(pods(), st.sampled_from(["ConfigMap", "Secret"]), NAMES)
def test_an_object_is_used_exactly_by_whom_names_it(pod: Pod, kind: ConfigKind, name: str) -> None:
    mentions = [each for each in references_of(pod) if (each.kind, each.name) == (kind, name)]

    found = used_by(kind, "shop", name, Candidates(pods=(pod,)))

    uses = [use for user in found.users for use in user.uses]
    assert bool(uses) <= bool(mentions)
    outside_volumes = [each for each in mentions if not each.place.volume]
    assert len([use for use in uses if not use.place.volume]) == len(outside_volumes)


@given(pods())
def test_rights_name_exactly_what_the_pod_names(pod: Pod) -> None:
    rules = {
        rule.resources[0]: set(rule.names)
        for grant in grants_for([PodInputs(pod=pod, objects=None)])
        if grant.namespace == "shop"
        for rule in grant.rules
    }

    assert rules.get("configmaps", set()) == set(config_map_names(pod))
    assert rules.get("secrets", set()) == set(secret_names(pod))
