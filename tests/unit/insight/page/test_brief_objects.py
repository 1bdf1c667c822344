"""What stays in memory of pods, ConfigMaps and Secrets for the page: no value of a Secret."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from reflet.insight.page.brief_objects import LONGEST_TEXT, BriefObjects, BriefPods
from reflet.insight.page.page_document import PageKey
from reflet.resolution.references.references import references_of
from tests.page_scenes import OF_WEB, SALT, WHOLE, config_map, pod

BRIEF = BriefObjects(SALT)
SECRET = "hush-hush-hush"


def secret(value: str = SECRET, **more: Any) -> Any:
    encoded = base64.b64encode(value.encode()).decode()
    return config_map({"password": encoded}, "db", kind="Secret", **more)


def test_no_value_of_a_secret_stays_in_any_form() -> None:
    item = secret()
    kept = BRIEF(item).to_json().decode()

    assert SECRET not in kept
    assert base64.b64encode(SECRET.encode()).decode() not in kept


def test_the_annotation_in_which_kubectl_keeps_the_manifest_goes_too() -> None:
    content = secret().to_dict()
    content["metadata"]["annotations"] = {
        "kubectl.kubernetes.io/last-applied-configuration": f'{{"stringData":"{SECRET}"}}'
    }

    assert SECRET not in BRIEF(type(secret()).from_dict(content)).to_json().decode()


@pytest.mark.parametrize("value", ["", "a", "ab", "abc", SECRET])
def test_the_size_of_a_secret_is_known(value: str) -> None:
    assert BRIEF.keys_of(BRIEF(secret(value))) == (PageKey(name="password", size=len(value)),)


def test_the_text_of_a_config_map_is_shown_as_far_as_it_is_short() -> None:
    item = config_map({"a": "short", "b": "x" * 1000})

    assert BRIEF.keys_of(BRIEF(item)) == (
        PageKey(name="a", size=5, text="short"),
        PageKey(name="b", size=1000, text="x" * LONGEST_TEXT + "…"),
    )


def test_binary_data_has_a_size_and_no_text() -> None:
    item = config_map({}, more={"binaryData": {"logo": base64.b64encode(b"12345").decode()}})

    assert BRIEF.keys_of(BRIEF(item)) == (PageKey(name="logo", size=5),)


def test_equal_values_stay_equal_and_others_differ() -> None:
    first, same, other = (BRIEF(secret(value)) for value in ("one", "one", "two"))

    assert first == same
    assert first != other


def test_another_page_has_another_digest() -> None:
    assert BriefObjects(b"another salt")(secret()) != BRIEF(secret())


def test_done_twice_it_changes_nothing_more() -> None:
    for item in (secret(), config_map({"a": "text"})):
        once = BRIEF(item)

        assert BRIEF(once).to_json() == once.to_json()


def test_text_that_looks_like_a_digest_of_another_page_is_text() -> None:
    foreign = BriefObjects(b"another salt")(config_map({"a": "text"})).content["data"]["a"]

    assert BRIEF.keys_of(BRIEF(config_map({"a": foreign})))[0].size == len(foreign)


def test_managed_fields_stay_because_they_say_when_a_key_was_written() -> None:
    assert BRIEF(secret()).content["metadata"]["managedFields"][0]["manager"] == "kubectl-apply"


def test_pods_of_one_owner_share_one_spec() -> None:
    brief = BriefPods()
    first, second = (
        brief(pod(WHOLE, f"web-7c9f-{number}", metadata=OF_WEB, spec={"nodeName": f"n{number}"}))
        for number in (1, 2)
    )

    assert first.spec is second.spec


def test_the_volume_of_the_service_account_is_left_out() -> None:
    token = {
        "name": "kube-api-access-x7k2p",
        "projected": {"sources": [{"configMap": {"name": "kube-root-ca.crt"}}]},
    }
    mount = {"name": "kube-api-access-x7k2p", "mountPath": "/var/run/secrets"}

    kept = BriefPods()(pod({"volumeMounts": [mount]}, volumes=(token,)))

    assert kept.spec.volumes == ()
    assert kept.spec.containers[0].volume_mounts == ()


def test_references_are_the_same_afterwards() -> None:
    container = {
        **WHOLE,
        "env": [
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
            {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ],
        "volumeMounts": [{"name": "v", "mountPath": "/etc/v"}],
    }
    volumes = (
        {"name": "e", "emptyDir": {}},
        {"name": "v", "configMap": {"name": "settings"}},
        {"name": "s", "iscsi": {"secretRef": {"name": "chap"}}},
    )
    given = pod(container, volumes=volumes, spec={"imagePullSecrets": [{"name": "registry"}]})

    def named(item: Any) -> list[tuple[str, str, Any]]:
        return [(each.kind, each.name, each.keys) for each in references_of(item)]

    assert named(BriefPods()(given)) == named(given)


def test_a_value_that_stands_in_the_pod_goes_unless_a_path_is_made_of_it() -> None:
    plain = {"env": [{"name": "PASSWORD", "value": SECRET}]}
    expanding = {
        **plain,
        "volumeMounts": [{"name": "v", "mountPath": "/v", "subPathExpr": "$(PASSWORD)"}],
    }
    volume = {"name": "v", "configMap": {"name": "settings"}}
    brief = BriefPods()

    assert brief(pod(plain)).spec.containers[0].env[0].value == ""
    kept = brief(pod(expanding, volumes=(volume,))).spec.containers[0].env[0]
    assert kept.value == SECRET


def test_what_a_container_said_at_its_end_goes() -> None:
    ended = {"terminated": {"exitCode": 1, "reason": "Error", "message": SECRET}}
    status = {"phase": "Running", "containerStatuses": [{"name": "web", "state": ended}]}

    assert SECRET not in repr(BriefPods()(pod(status=status)))
