"""What to do about a problem."""

from __future__ import annotations

import pytest

from reflet.insight.fixes import Advice, listed
from reflet.insight.pod_problems import MissingSubPath, UnusablePullSecret
from reflet.resolution import problems
from reflet.resolution.places import Place
from reflet.resolution.problems import (
    MissingKey,
    MissingObject,
    Problem,
    UnreadableObject,
    UnresolvedReference,
)
from tests.unit.resolution.scenes import config_map, environment_of, pod_with

MISSING = MissingObject(object_kind="ConfigMap", namespace="shop", name="settings")


def missing_key(**facts: object) -> MissingKey:
    return MissingKey(
        object_kind="ConfigMap",
        namespace="shop",
        name="settings",
        key="color",
        **facts,  # type: ignore[arg-type]  # the facts of one test
    )


def test_a_missing_object_is_to_be_created_with_its_keys() -> None:
    advice = Advice(wanted_keys={("ConfigMap", "settings"): ("color", "size")})

    assert advice.about(MISSING) == (
        "create ConfigMap settings in namespace shop with keys color, size"
    )


def test_an_object_of_nearly_the_same_name_is_suggested() -> None:
    advice = Advice(known=[("ConfigMap", "shop", "setings"), ("Secret", "shop", "settingz")])

    assert advice.about(MISSING).startswith("did you mean setings? Otherwise create ")


def test_an_object_of_another_namespace_cannot_be_used() -> None:
    advice = Advice(known=[("ConfigMap", "default", "settings")])

    assert advice.about(MISSING).endswith("pods cannot use the one of namespace default")


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (missing_key(present=("colour",)), "did you mean colour? Otherwise add key color to"),
        (missing_key(present=("size",)), "add key color to ConfigMap settings, or use a key"),
        (missing_key(binary=True), "move color from binaryData to data"),
        (UnresolvedReference(name="HSOT"), "set HSOT, or write $$(HSOT) if the text is meant"),
        (
            UnresolvedReference(name="B", defined_later=True, place=Place(variable="A")),
            "move B above A in env",
        ),
        (
            UnreadableObject(object_kind="Secret", namespace="shop", name="s"),
            "allow get of secrets s: reflet rbac prints",
        ),
        (MissingSubPath(sub_path="colour", present=("color",)), "did you mean color?"),
        (MissingSubPath(sub_path="x"), "the volume has no files"),
        (
            UnusablePullSecret(
                object_kind="Secret", namespace="shop", name="s", secret_type="Opaque"
            ),
            "make it of type kubernetes.io/dockerconfigjson",
        ),
        (problems.MissingSubPathVariables(names=("A", "B")), "set A, B in env"),
        (problems.ZeroInValue(name="A"), "mount the value as a file"),
        (problems.UnavailableResource(resource="limits.cpu"), "name a container of the pod"),
        (
            problems.MissingFileKey(volume="v", path="f", key="k"),
            "let an init container write f to volume v",
        ),
    ],
)
def test_advice_says_what_to_do(problem: Problem, words: str) -> None:
    assert words in Advice().about(problem)


def test_a_variable_of_nearly_the_same_name_is_suggested() -> None:
    environment = environment_of(
        pod_with({"envFrom": [{"configMapRef": {"name": "settings"}}]}), config_map(HOST="a")
    )
    advice = Advice(environments={"web": environment})

    problem = UnresolvedReference(name="HSOT", place=Place(container="web"))

    assert advice.about(problem) == "did you mean $(HOST)?"


def test_a_problem_nobody_can_mend_gets_no_advice() -> None:
    assert Advice().about(problems.NotKnownYet(field="status.podIP")) == ""


def test_every_blocking_problem_has_advice() -> None:
    """A new problem must not come without a way out."""
    plain = [
        problems.ServiceLinksUnset(),
        problems.ServicesNotRead(),
        problems.ServicesUnreadable(),
        problems.UnsupportedField(field="x"),
        problems.MissingDefaultMode(),
        problems.UnsupportedSource(source="podCertificate"),
        problems.NoProjectedClient(),
        problems.TokenUnavailable(service_account="web"),
        problems.InvalidMountPoint(mount_path="../x"),
        problems.InvalidSubPath(sub_path="../x"),
        problems.NoClient(object_kind="Secret", namespace="shop", name="s"),
        problems.OversizedValue(name="A", size=2, limit=1),
        problems.OversizedEnvironment(size=2, limit=1),
    ]

    assert [problem for problem in plain if not Advice().about(problem)] == []


def test_long_lists_are_cut() -> None:
    assert listed(map(str, range(10))) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"


def test_a_variable_is_not_suggested_for_its_own_value() -> None:
    environment = environment_of(
        pod_with({"env": [{"name": "DB_URL", "value": "$(DB_USR)"}]}), config_map()
    )
    advice = Advice(environments={"web": environment})

    problem = UnresolvedReference(name="DB_USR", place=Place(container="web", variable="DB_URL"))

    assert advice.about(problem).startswith("set DB_USR")
