"""The names that a pod mentions are those of its references, however they are mentioned."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reflet.api import codec
from reflet.api.core.pods import Pod
from reflet.resolution.references.references import config_map_names, references_of, secret_names

names = st.sampled_from(["", "a", "b", "c"])
named = st.fixed_dictionaries({}, optional={"name": names})


def some_of(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object that has any of the fields."""
    return st.fixed_dictionaries({}, optional=fields)


env_from = st.lists(some_of(configMapRef=named, secretRef=named), max_size=3)
env = st.lists(
    st.fixed_dictionaries(
        {"name": st.just("X")},
        optional={"valueFrom": some_of(configMapKeyRef=named, secretKeyRef=named)},
    ),
    max_size=3,
)
containers = st.lists(some_of(name=st.just("web"), envFrom=env_from, env=env), max_size=2)
plain = {
    "secret": some_of(secretName=names),
    "configMap": named,
    "projected": some_of(sources=st.lists(some_of(secret=named, configMap=named), max_size=3)),
    "emptyDir": st.just({}),
}
driver = some_of(secretRef=named)
drivers = {
    "azureFile": some_of(secretName=names),
    "csi": some_of(nodePublishSecretRef=named),
    "cephfs": driver,
    "cinder": driver,
    "flexVolume": driver,
    "iscsi": driver,
    "rbd": driver,
    "scaleIO": driver,
    "storageos": driver,
}
volumes = st.lists(some_of(**plain) | some_of(**plain, **drivers), max_size=3)
specs = some_of(
    imagePullSecrets=st.lists(named, max_size=2),
    initContainers=containers,
    containers=containers,
    ephemeralContainers=containers,
    volumes=volumes,
)


@given(specs)
@settings(max_examples=300, deadline=None)
def test_names_are_those_of_the_references_in_their_order(spec: dict[str, Any]) -> None:
    raw = {"metadata": {"name": "web"}, "spec": spec}
    pod = codec.decode(json.dumps(raw).encode(), Pod)
    mentioned = list(references_of(pod))

    for kind, found in (("ConfigMap", config_map_names(pod)), ("Secret", secret_names(pod))):
        assert found == tuple(dict.fromkeys(each.name for each in mentioned if each.kind == kind))
