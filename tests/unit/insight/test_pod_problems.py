"""All that is wrong with a pod, of all its containers and volumes."""

from __future__ import annotations

from typing import Any

from reflet.api.core.config import Secret
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.errors import Forbidden
from reflet.insight.pod_problems import (
    LARGEST_ENVIRONMENT,
    MissingPullSecret,
    MissingSubPath,
    UnusablePullSecret,
    problems_of,
)
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.problems import (
    InvalidMountPoint,
    InvalidSubPath,
    MissingKey,
    MissingObject,
    MissingSubPathVariables,
    OversizedEnvironment,
    OversizedValue,
    Problem,
    ServiceLinksUnset,
    UnreadableObject,
    UnresolvedReference,
)
from tests.unit.resolution.scenes import config_map, pod_with, secret, variable


def found(pod: Pod, *objects: Any) -> tuple[Problem, ...]:
    return problems_of(PodInputs(pod=pod, objects=ObjectsInHand(objects))).problems


def kinds(problems: tuple[Problem, ...]) -> list[type[Problem]]:
    return [type(problem) for problem in problems]


def mounting(*mounts: dict[str, Any], **container: Any) -> Pod:
    return pod_with(
        {"volumeMounts": list(mounts), **container},
        volumes=[{"name": "conf", "configMap": {"name": "settings", "defaultMode": 420}}],
    )


def test_a_healthy_pod_has_no_problems() -> None:
    pod = pod_with({"env": [variable("A", configMapKeyRef={"name": "settings", "key": "a"})]})

    assert found(pod, config_map(a="1")) == ()


def test_problems_of_containers_come_before_those_of_volumes() -> None:
    pod = pod_with(
        {"env": [variable("A", secretKeyRef={"name": "gone", "key": "a"})]},
        volumes=[
            {
                "name": "conf",
                "configMap": {
                    "name": "settings",
                    "defaultMode": 420,
                    "items": [{"key": "b", "path": "b"}],
                },
            }
        ],
    )

    assert kinds(found(pod, config_map(a="1"))) == [MissingObject, MissingKey]


def test_what_concerns_the_whole_pod_is_told_once() -> None:
    pod = pod_with(enableServiceLinks=None, initContainers=[{"name": "first"}])

    assert kinds(found(pod)) == [ServiceLinksUnset]


def test_references_in_arguments_are_looked_up() -> None:
    pod = pod_with({"command": ["sh", "-c"], "args": ["echo $(NAME) $(date) $$(ESCAPED)"]})

    (problem,) = found(pod)

    assert isinstance(problem, UnresolvedReference)
    assert (problem.name, problem.place.path) == ("NAME", "spec.containers[0].args[0]")


def test_references_are_not_judged_while_a_whole_object_is_missing() -> None:
    pod = pod_with(
        {
            "envFrom": [{"configMapRef": {"name": "gone"}}],
            "env": [{"name": "A", "value": "$(OF_GONE)"}],
            "args": ["$(OF_GONE)"],
            "volumeMounts": [{"name": "x", "mountPath": "/x", "subPathExpr": "$(OF_GONE)"}],
        }
    )

    assert kinds(found(pod)) == [MissingObject]


def test_a_missing_optional_object_excuses_no_reference() -> None:
    pod = pod_with(
        {
            "envFrom": [{"configMapRef": {"name": "gone", "optional": True}}],
            "args": ["$(OF_GONE)"],
        }
    )

    assert kinds(found(pod)) == [MissingObject, UnresolvedReference]


def test_a_sub_path_that_is_not_in_the_volume_is_told() -> None:
    pod = mounting(
        {"name": "conf", "mountPath": "/a", "subPath": "a"},
        {"name": "conf", "mountPath": "/b", "subPath": "b"},
    )

    (problem,) = found(pod, config_map(a="1"))

    assert isinstance(problem, MissingSubPath)
    assert (problem.sub_path, problem.present) == ("b", ("a",))
    assert problem.place.path == "spec.containers[0].volumeMounts[1]"


def test_a_sub_path_may_be_a_directory_of_the_volume() -> None:
    pod = pod_with(
        {"volumeMounts": [{"name": "conf", "mountPath": "/a", "subPath": "dir"}]},
        volumes=[
            {
                "name": "conf",
                "configMap": {
                    "name": "settings",
                    "defaultMode": 420,
                    "items": [{"key": "a", "path": "dir/a"}],
                },
            }
        ],
    )

    assert found(pod, config_map(a="1")) == ()


def test_sub_paths_of_a_volume_that_cannot_be_filled_are_not_judged() -> None:
    pod = mounting({"name": "conf", "mountPath": "/a", "subPath": "a"})

    assert kinds(found(pod)) == [MissingObject]


def test_bad_mounts_are_told() -> None:
    pod = mounting(
        {"name": "conf", "mountPath": "../up"},
        {"name": "conf", "mountPath": "/a", "subPath": "../a"},
        {"name": "conf", "mountPath": "/b", "subPathExpr": "$(EMPTY)"},
    )

    assert kinds(found(pod, config_map(a="1"))) == [
        InvalidSubPath,
        MissingSubPathVariables,
        InvalidMountPoint,
    ]


def test_all_variables_together_may_be_too_large() -> None:
    large = {f"V{number}": "x" * 130_000 for number in range(LARGEST_ENVIRONMENT // 130_000 + 1)}
    pod = pod_with({"env": [{"name": name, "value": value} for name, value in large.items()]})

    (problem,) = found(pod)

    assert isinstance(problem, OversizedEnvironment)
    assert problem.size > LARGEST_ENVIRONMENT


def test_arguments_count_with_their_variables() -> None:
    value = {"name": "A", "value": "x" * 100_000}
    few, many = (pod_with({"env": [value], "args": ["$(A)"] * count}) for count in (5, 30))

    assert found(few) == ()
    assert kinds(found(many)) == [OversizedEnvironment]


def test_an_environment_that_is_not_put_together_is_one_problem() -> None:
    doubling = [{"name": f"A{i + 1}", "value": f"$(A{i})$(A{i})"} for i in range(40)]
    pod = pod_with({"env": [{"name": "A0", "value": "x" * 64}, *doubling], "args": ["$(A40)"]})

    (problem,) = (each for each in found(pod) if not isinstance(each, OversizedValue))

    assert isinstance(problem, OversizedEnvironment)
    assert problem.blocking


def test_missing_pull_secrets_do_not_block() -> None:
    pod = pod_with(imagePullSecrets=[{"name": "registry"}])

    (problem,) = found(pod)

    assert isinstance(problem, MissingPullSecret)
    assert not problem.blocking
    assert problem.kubelet == (
        "Unable to retrieve some image pull secrets (registry); "
        "attempting to pull the image may not succeed."
    )


def test_a_pull_secret_must_be_of_a_registrys_type() -> None:
    pod = pod_with(imagePullSecrets=[{"name": "opaque"}, {"name": "registry"}])
    registry = Secret(
        metadata=ObjectMeta(namespace="shop", name="registry"),
        type="kubernetes.io/dockerconfigjson",
    )

    (problem,) = found(pod, secret("opaque"), registry)

    assert isinstance(problem, UnusablePullSecret)
    assert problem.name == "opaque"


def test_a_pull_secret_that_cannot_be_read_does_not_block() -> None:
    pod = pod_with(imagePullSecrets=[{"name": "registry"}])
    source = ObjectsInHand(failures={("Secret", "shop", "registry"): Forbidden("no")})

    (problem,) = problems_of(PodInputs(pod=pod, objects=source)).problems

    assert isinstance(problem, UnreadableObject)
    assert not problem.blocking


def test_secrets_of_volume_drivers_must_exist() -> None:
    pod = pod_with(
        volumes=[{"name": "v", "csi": {"driver": "d", "nodePublishSecretRef": {"name": "gone"}}}]
    )

    (problem,) = found(pod)

    assert isinstance(problem, MissingObject)
    assert problem.blocking


def test_tokens_are_taken_to_be_there() -> None:
    token = {"serviceAccountToken": {"path": "token"}}
    pod = pod_with(
        volumes=[{"name": "t", "projected": {"sources": [token], "defaultMode": 420}}],
    )

    assert found(pod) == ()


def test_a_sub_path_made_of_a_secret_shows_its_expression() -> None:
    pod = mounting(
        {"name": "conf", "mountPath": "/a", "subPathExpr": "$(S)"},
        {"name": "conf", "mountPath": "/b", "subPathExpr": "../$(S)"},
        env=[variable("S", secretKeyRef={"name": "credentials", "key": "k"})],
    )

    problems = found(pod, config_map(a="1"), secret(k=b"canary"))

    assert kinds(problems) == [MissingSubPath, InvalidSubPath]
    assert problems[1].kubelet == "unable to provision SubPath `../$(S)`: must not contain '..'"
    assert "canary" not in repr(problems) + "".join(problem.message for problem in problems)
