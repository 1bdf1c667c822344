"""Which containers are sidecars, and what they select."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.core.workloads import Deployment
from reflet.api.meta import ObjectMeta
from reflet.insight.sidecars import (
    NameEntry,
    SidecarSelection,
    feeds_sidecar,
    has_sidecar,
    may_be_selected,
    selection_of,
    sidecars_of,
)
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.references.references import references_of
from reflet.sidecar.selected_objects import selected as selected_objects
from reflet.sidecar.selected_objects import verbs_needed
from reflet.sidecar.sidecar_settings import read_settings
from tests.unit.insight.sidecar_pods import VARIABLES, container, dashboard, deployment, pod, secret

SETTINGS = {"configMapKeyRef": {"name": "settings", "key": "label"}}


def selection(at_hand: ObjectsInHand | None = None, **more: Any) -> SidecarSelection:
    (found,) = sidecars_of(pod(container(**more)), "monitoring", at_hand)
    return found.selection


def selected(text: str = "", **variables: str) -> SidecarSelection:
    names = {"RESOURCE_NAME": text} if text else {}
    found = selection_of({**VARIABLES, **names, **variables}, own_namespace="monitoring")
    assert isinstance(found, SidecarSelection)
    return found


@pytest.mark.parametrize(
    "image",
    [
        "quay.io/kiwigrid/k8s-sidecar:2.10.1",
        "k8s-sidecar",
        "mirror.example.com:5000/k8s-sidecar@sha256:0123",
        "ghcr.io/someone/reflet-sidecar:1",
        "anything:else",  # its variables say enough
    ],
)
def test_a_sidecar_is_known_by_its_image_or_its_variables(image: str) -> None:
    assert selection(image=image).label == "grafana_dashboard"


@pytest.mark.parametrize(
    "words", [{"args": ["sidecar"]}, {"command": ["reflet", "sidecar"], "image": "my/own"}]
)
def test_the_command_of_reflet_is_one(words: dict[str, Any]) -> None:
    more = {"image": "registry/reflet:1", **words}

    assert selection(**more, FOLDER="relative").folder == "relative"


@pytest.mark.parametrize(
    "variables",
    [
        {"LABEL": None},
        {"FOLDER": None},
        {"LABEL": ""},
        {"FOLDER": "relative"},
        {"LABEL": "not a label!"},
        {"RESOURCE": "pods"},
    ],
)
def test_others_are_none(variables: dict[str, Any]) -> None:
    assert not [*sidecars_of(pod(container(image="my/app", **variables)), "monitoring")]


def test_a_sidecar_without_a_label_selects_nothing() -> None:
    assert not [*sidecars_of(pod(container(LABEL=None)), "monitoring")]


def test_where_it_is_is_told() -> None:
    (found,) = sidecars_of(pod({"name": "grafana", "image": "g"}, container()), "monitoring")

    assert (found.place.path, found.place.container) == ("spec.containers[1]", "dashboards")


def test_labels_and_kinds_select() -> None:
    found = selected(LABEL_VALUE="1", NAMESPACE="ALL")

    assert found.takes("ConfigMap", "shop", "dash", {"grafana_dashboard": "1"})
    assert not found.takes("ConfigMap", "shop", "dash", {"grafana_dashboard": "2"})
    assert not found.takes("ConfigMap", "shop", "dash", {})
    assert not found.takes("ConfigMap", "shop", "dash", None)
    assert not found.takes("Secret", "shop", "dash", {"grafana_dashboard": "1"})


def test_a_label_may_be_a_whole_selector() -> None:
    found = selected(LABEL="a in (x,y),!z", RESOURCE="both", NAMESPACE="ALL")

    assert found.takes("Secret", "shop", "dash", {"a": "y"})
    assert not found.takes("Secret", "shop", "dash", {"a": "y", "z": ""})


@pytest.mark.parametrize(
    ("text", "namespaces"),
    [
        ("", ("monitoring",)),
        ("ALL", None),
        ("shop, bank", ("shop", "bank")),
        ("shop,ALL", None),
        ("all", ("all",)),
    ],
)
def test_namespaces_are_its_own_a_list_or_all(text: str, namespaces: tuple[str, ...]) -> None:
    assert selected(NAMESPACE=text).namespaces == namespaces


def test_its_own_namespace_may_come_from_the_pod() -> None:
    own = {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}

    found = selection(NAMESPACE=own)

    assert (found.namespaces, found.certain) == (("monitoring",), True)


def test_named_objects_need_no_label() -> None:
    found = selected("dash, secret/keys,bank/configmap/vault,,", RESOURCE="both")

    assert found.names == (
        NameEntry("", "", "dash"),
        NameEntry("", "secret", "keys"),
        NameEntry("bank", "configmap", "vault"),
    )
    assert found.takes("Secret", "monitoring", "dash", None)
    assert found.takes("Secret", "monitoring", "keys", {})
    assert not found.takes("ConfigMap", "monitoring", "keys", {})
    assert not found.takes("ConfigMap", "monitoring", "vault", {})
    assert not found.takes("ConfigMap", "monitoring", "other", {"grafana_dashboard": "1"})


def test_all_namespaces_are_selected_by_label_alone() -> None:
    assert selected("dash", NAMESPACE="ALL").names == ()


def test_what_comes_from_an_object_that_is_not_at_hand_is_not_known() -> None:
    found = selection(LABEL=SETTINGS)

    assert (found.unknown, found.certain) == (("LABEL",), False)
    assert found.takes("ConfigMap", "monitoring", "dash", {"anything": "1"})
    assert str(found) == "LABEL not known"


def test_what_is_at_hand_is_resolved() -> None:
    settings = ConfigMap(
        metadata=ObjectMeta(name="settings", namespace="monitoring"), data={"label": "mine"}
    )

    found = selection(ObjectsInHand([settings]), LABEL=SETTINGS)

    assert (found.label, found.unknown) == ("mine", ())


def test_a_whole_object_may_hold_all_variables() -> None:
    settings = ConfigMap(
        metadata=ObjectMeta(name="settings", namespace="monitoring"), data=VARIABLES
    )
    whole = {
        "name": "s",
        "image": "my/own",
        "envFrom": [{"configMapRef": {"name": "settings"}}],
    }

    (found,) = sidecars_of(pod(whole), "monitoring", ObjectsInHand([settings]))

    assert found.selection.label == "grafana_dashboard"
    assert not [*sidecars_of(pod(whole), "monitoring")]


def test_a_whole_object_that_is_not_at_hand_leaves_open_what_is_not_set() -> None:
    found = selection(envFrom=[{"configMapRef": {"name": "settings"}}], NAMESPACE="shop")

    assert found.namespaces == ("shop",)
    assert {"LABEL_VALUE", "RESOURCE"} <= set(found.unknown)
    assert not {"LABEL", "NAMESPACE"} & set(found.unknown)
    assert found.kinds == ("Secret", "ConfigMap")


def test_a_label_of_a_secret_is_never_shown() -> None:
    held = secret("keys", "monitoring", label=b"hush")
    source = {"secretKeyRef": {"name": "keys", "key": "label"}}

    found = selection(ObjectsInHand([held]), LABEL=source)

    assert (found.label, found.unknown) == ("", ("LABEL",))


def test_only_the_variables_that_select_need_objects() -> None:
    password = {"secretKeyRef": {"name": "grafana", "key": "admin-password"}}
    found = pod(container(LABEL=SETTINGS, REQ_PASSWORD=password), {"name": "g", "env": []})

    assert [r.name for r in references_of(found) if feeds_sidecar(found, r)] == ["settings"]


def test_flags_win_over_variables() -> None:
    words = [
        "sidecar",
        "--label",
        "mine",
        "--namespace=ALL",
        "--unique-filenames",
        "--sleep-time=5",
    ]

    found = selection(image="reflet", args=words, NAMESPACE="shop", LABEL=SETTINGS)

    assert (found.label, found.namespaces, found.unknown) == ("mine", None, ())
    assert found.unique_filenames


def test_a_flag_that_is_expanded_is_not_known() -> None:
    found = selection(args=["--label-value=$(VALUE)"], LABEL_VALUE="1")

    assert (found.label, found.unknown) == ("grafana_dashboard", ("LABEL_VALUE",))


def test_flags_of_other_programs_are_their_own() -> None:
    assert selection(image="my/own", args=["--label=other"]).label == "grafana_dashboard"


def test_the_folder_is_that_of_the_annotation() -> None:
    found = selected(FOLDER_ANNOTATION="folder")

    def of(folder: str) -> str:
        return found.file_of(dashboard(annotations={"folder": folder}), "a.json")

    assert found.file_of(dashboard(), "a.json") == "/tmp/dashboards/a.json"
    assert of("shop/") == "/tmp/dashboards/shop/a.json"
    assert of("/srv") == "/srv/a.json"
    assert of("../x") == "/tmp/x/a.json"


def test_names_of_files() -> None:
    unique = selected(UNIQUE_FILENAMES="True")

    assert selected().file_of(dashboard(), "a.json.url") == "/tmp/dashboards/a.json"
    assert unique.file_of(dashboard(), "a.json.url") == (
        "/tmp/dashboards/namespace_shop.configmap_dash.a.json"
    )
    assert not selected(UNIQUE_FILENAMES="1").unique_filenames


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"LABEL": ""}, "LABEL is not set"),
        ({"FOLDER": ""}, "FOLDER is not set"),
        ({"RESOURCE": "pods"}, "RESOURCE must be one of configmap, secret, both, not 'pods'"),
        ({"LABEL": "!"}, "label selector '!'"),
        ({"RESOURCE_NAME": "pod/x"}, "'pod/x' is none of NAME, KIND/NAME and NAMESPACE/KIND/NAME"),
        ({"RESOURCE_NAME": "a/b/c/d"}, "'a/b/c/d' is none of NAME"),
    ],
)
def test_why_nothing_is_selected_is_told(variables: dict[str, str], said: str) -> None:
    found = selection_of({**VARIABLES, **variables}, own_namespace="monitoring")

    assert isinstance(found, str)
    assert found.startswith(said)


def test_labels_of_everybody_are_no_sign_of_a_sidecar() -> None:
    assert not may_be_selected({"app.kubernetes.io/name": "x", "helm.sh/chart": "y", "app": "z"})
    assert may_be_selected({"app": "z", "grafana_dashboard": "1"})


def test_a_workload_has_the_sidecars_of_its_template() -> None:
    assert has_sidecar(deployment(container()))
    assert not has_sidecar(Deployment())


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"LABEL_VALUE": "1", "RESOURCE": "both"},
        {"RESOURCE": "secret", "NAMESPACE": "shop, bank"},
        {"NAMESPACE": "ALL", "RESOURCE_NAME": "a"},
        {"NAMESPACE": "shop,ALL"},
        {"LABEL": "a in (x,y),!z", "METHOD": "SLEEP"},
        {"RESOURCE_NAME": "a,secret/b", "RESOURCE": "both", "NAMESPACE": "shop,bank"},
        {"RESOURCE_NAME": "shop/configmap/a", "NAMESPACE": "shop,bank", "METHOD": "LIST"},
    ],
)
def test_the_program_itself_follows_the_same_objects(variables: dict[str, str]) -> None:
    environment = {**VARIABLES, **variables}
    settings = read_settings(environment)
    ours = selection_of(environment, own_namespace="monitoring")
    assert isinstance(ours, SidecarSelection)

    for each in selected_objects(settings, "monitoring"):
        kind = "ConfigMap" if each.kind == "configmap" else "Secret"
        assert ours.reaches(kind, each.namespace or "anywhere")
        assert ours.verbs == verbs_needed(settings, each)
        assert each.label_selector == ("" if ours.names else ours.label)
        if each.name:
            assert ours.takes(kind, each.namespace or "", each.name, None)
    followed = {(each.kind, each.namespace) for each in selected_objects(settings, "monitoring")}
    namespaces = (None,) if ours.namespaces is None else ours.namespaces
    wanted = {(kind.lower(), namespace) for kind in ours.kinds for namespace in namespaces}
    assert followed <= wanted
    assert followed == wanted or ours.names
