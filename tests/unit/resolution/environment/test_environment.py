"""The environment of a container: who wins, what is shadowed, and all that is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.errors import ConfigurationError, ServiceUnavailable
from reflet.resolution.environment.environment import (
    LONGEST_VALUE,
    resolve_environment,
)
from reflet.resolution.environment.expansion import LARGEST_EXPANSION
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.origins import (
    ConfigMapOrigin,
    SecretOrigin,
    ServiceOrigin,
    Substitution,
    ValueOrigin,
)
from reflet.resolution.places import Place
from reflet.resolution.problems import (
    AmbiguousServiceVariable,
    InvalidVariableName,
    OversizedValue,
    SkippedNames,
    UnresolvedReference,
    ZeroInValue,
)
from tests.unit.resolution.scenes import (
    config_map,
    environment_of,
    pod_with,
    secret,
    service,
    variable,
)

SETTINGS = {"configMapRef": {"name": "settings"}}
CREDENTIALS = {"secretRef": {"name": "credentials"}}


def with_values(*pairs: tuple[str, str], **more: Any) -> dict[str, Any]:
    return {"env": [{"name": name, "value": value} for name, value in pairs], **more}


def test_the_last_assignment_counts_and_remembers_all_that_it_shadows() -> None:
    pod = pod_with(
        with_values(("DB_PORT", "1"), ("DB_PORT", "2"), envFrom=[SETTINGS, CREDENTIALS]),
        enableServiceLinks=True,
    )

    environment = environment_of(
        pod,
        config_map(DB_PORT="from settings"),
        secret(DB_PORT=b"from credentials"),
        services=[service("shop", "db", "10.96.0.2")],
    )

    port = environment.variables["DB_PORT"]
    assert (port.value, [shadow.value for shadow in port.shadows]) == (
        "2",
        ["1", "from credentials", "from settings", "tcp://10.96.0.2:80"],
    )
    assert [type(shadow.origin) for shadow in port.shadows] == [
        ValueOrigin,
        SecretOrigin,
        ConfigMapOrigin,
        ServiceOrigin,
    ]


def test_variables_come_in_the_order_of_the_pod_with_services_at_the_end() -> None:
    pod = pod_with(with_values(("Z", ""), ("B", ""), ("A", ""), envFrom=[SETTINGS]))

    environment = environment_of(
        pod, config_map(c="", B=""), services=[service("default", "kubernetes", "10.96.0.1")]
    )

    assert list(environment.values)[:5] == ["B", "c", "Z", "A", "KUBERNETES_SERVICE_HOST"]


def test_a_missing_optional_reference_leaves_the_earlier_value() -> None:
    key = {"name": "gone", "key": "k", "optional": True}
    pod = pod_with({"env": [{"name": "A", "value": "kept"}, variable("A", secretKeyRef=key)]})

    assert environment_of(pod).values == {"A": "kept"}


def test_a_value_hides_its_source_and_an_empty_value_does_not() -> None:
    source = {"secretKeyRef": {"name": "gone", "key": "k"}}
    pod = pod_with({"env": [{"name": "A", "value": "x", "valueFrom": source}]})
    empty = pod_with({"env": [{"name": "A", "value": "", "valueFrom": source}]})

    assert (environment_of(pod).error, environment_of(empty).error) == (
        None,
        'secret "gone" not found',
    )


def test_values_of_sources_are_never_expanded() -> None:
    key = {"name": "settings", "key": "k"}
    container = {"env": [{"name": "A", "value": "a"}, variable("B", configMapKeyRef=key)]}

    environment = environment_of(pod_with(container), config_map(k="$(A)"))

    assert environment.values["B"] == "$(A)"


def test_an_expansion_says_what_it_was_made_from() -> None:
    pod = pod_with(with_values(("A", "1"), ("B", "$(A)$(X)$$")))

    environment = environment_of(pod)

    set_at = Place(path="spec.containers[0].env[0].value", container="web", variable="A")
    assert environment.values["B"] == "1$(X)$"
    assert environment.variables["B"].origin == ValueOrigin(
        template="$(A)$(X)$$",
        substitutions=(
            Substitution(name="A", found=True, place=set_at),
            Substitution(name="X", found=False),
        ),
    )


def test_a_reference_to_nothing_or_to_something_later_is_told() -> None:
    pod = pod_with(with_values(("A", "$(B)$(B)$(A)"), ("B", "$(A)$(X)")))

    told = [
        (problem.place.variable, problem.name, problem.defined_later)
        for problem in environment_of(pod).problems
        if isinstance(problem, UnresolvedReference)
    ]

    assert told == [("A", "B", True), ("A", "A", False), ("B", "X", False)]


@pytest.mark.parametrize(
    "source",
    [
        {"envFrom": [{"secretRef": {"name": "absent"}}]},
        {"env": [{"name": "X", "valueFrom": {"secretKeyRef": {"name": "absent", "key": "x"}}}]},
    ],
)
def test_a_reference_that_a_missing_object_or_key_may_set_is_no_problem_of_its_own(
    source: dict[str, Any],
) -> None:
    container = {**source, "env": [*source.get("env", ()), {"name": "A", "value": "$(X)"}]}

    problems = environment_of(pod_with(container)).problems

    assert [type(problem).__name__ for problem in problems] == ["MissingObject"]


def test_a_reference_to_itself_sees_the_earlier_value() -> None:
    pod = pod_with(with_values(("PATH", "$(PATH):/b"), envFrom=[SETTINGS]))

    assert environment_of(pod, config_map(PATH="/a")).values == {"PATH": "/a:/b"}


def test_what_is_made_from_a_secret_is_as_secret_as_it() -> None:
    pod = pod_with(
        with_values(("URL", "db://$(password)"), ("COPY", "$(URL)"), envFrom=[CREDENTIALS])
    )

    environment = environment_of(pod, secret(password=b"hunter2"))

    assert environment.values["COPY"] == "db://hunter2"
    assert all(item.sensitive for item in environment.variables.values())
    assert "hunter2" not in repr(environment)


def test_bytes_of_a_secret_that_are_not_text_reach_the_process_unharmed() -> None:
    data = bytes(range(1, 256))
    pod = pod_with(with_values(("COPY", "<$(raw)>"), envFrom=[CREDENTIALS]))

    environment = environment_of(pod, secret(raw=data))

    assert environment.encoded() == {b"raw": data, b"COPY": b"<" + data + b">"}


def test_all_problems_are_told_and_the_first_is_the_error() -> None:
    key = {"name": "gone", "key": "k"}
    container = {
        "envFrom": [{"configMapRef": {"name": "absent"}}, SETTINGS],
        "env": [
            variable("A", secretKeyRef=key),
            {"name": "B", "value": "b"},
            variable("C", fieldRef={"apiVersion": "v1", "fieldPath": "status.phase"}),
        ],
    }

    environment = environment_of(pod_with(container), config_map(k="v"))

    assert [problem.kubelet for problem in environment.problems] == [
        'configmap "absent" not found',
        'secret "gone" not found',
        "unsupported fieldPath: status.phase",
    ]
    assert (environment.error, environment.values) == (
        'configmap "absent" not found',
        {"k": "v", "B": "b"},
    )


def test_service_links_that_are_not_set_are_the_very_first_error() -> None:
    pod = pod_with({"envFrom": [SETTINGS]}, enableServiceLinks=None)

    environment = environment_of(
        pod, services=[service("shop", "db", "10.96.0.2")], services_read=False
    )

    assert [problem.kubelet for problem in environment.problems] == [
        "nil pod.spec.enableServiceLinks encountered, cannot construct envvars",
        "services have not yet been read at least once, cannot construct envvars",
        'configmap "settings" not found',
    ]
    assert environment.values["DB_SERVICE_HOST"] == "10.96.0.2"


def test_services_that_cannot_be_listed_are_an_error() -> None:
    environment = environment_of(pod_with(), services=ServiceUnavailable("try later"))

    (problem,) = environment.problems
    assert environment.error == "failed to list services when setting up env vars"
    assert problem.message == "the services could not be listed: try later"


def test_services_whose_variables_collide_are_told() -> None:
    services = [service("shop", "a-service", "10.0.0.2"), service("shop", "a", "10.0.0.1")]
    pod = pod_with(enableServiceLinks=True)

    forwards = environment_of(pod, services=services)
    backwards = environment_of(pod, services=services[::-1])

    assert forwards == backwards
    assert forwards.problems == (
        AmbiguousServiceVariable(
            place=Place(path="spec.enableServiceLinks"),
            name="A_SERVICE_PORT",
            services=("a", "a-service"),
        ),
    )


def test_an_entry_without_a_source_is_ignored_and_a_config_map_wins() -> None:
    both = {**SETTINGS, **CREDENTIALS, "prefix": "P_"}
    pod = pod_with({"envFrom": [{"prefix": "X_"}, both]})

    environment = environment_of(pod, config_map(a="c"), secret(a=b"s"))

    assert (environment.values, environment.problems) == ({"P_a": "c"}, ())


def test_names_are_not_checked_now_and_were_in_the_seeds_time() -> None:
    pod = pod_with({"envFrom": [{**CREDENTIALS, "prefix": "_"}, SETTINGS]})
    objects = (config_map(**{"9": "x", "1": "x", "ok": "x"}), secret(**{"9": b"y"}))

    now = environment_of(pod, *objects)
    then = environment_of(pod, *objects, skip_invalid_names=True)

    assert (list(now.values), now.events) == (["_9", "1", "9", "ok"], ())
    assert list(then.values) == ["_9", "ok"]
    assert then.events == (
        SkippedNames(
            place=Place(path="spec.containers[0].envFrom[1].configMapRef", container="web"),
            kubelet="Keys [1, 9] from the EnvFrom configMap shop/settings were skipped since they "
            "are considered invalid environment variable names.",
            object_kind="ConfigMap",
            namespace="shop",
            name="settings",
            names=("1", "9"),
        ),
    )
    assert (then.error, then.events[0].event_reason) == (None, "InvalidEnvironmentVariableNames")


def test_the_event_names_a_secret_by_its_kind() -> None:
    environment = environment_of(
        pod_with({"envFrom": [CREDENTIALS]}), secret(**{"9": b""}), skip_invalid_names=True
    )

    assert "EnvFrom secret shop/credentials" in environment.events[0].kubelet


def test_what_no_process_can_be_given_is_told() -> None:
    pod = pod_with(with_values(("A=B", "x"), envFrom=[CREDENTIALS]))

    problems = environment_of(pod, secret(zero=b"\0", long=b"x" * LONGEST_VALUE)).problems

    assert {type(problem) for problem in problems} == {
        InvalidVariableName,
        OversizedValue,
        ZeroInValue,
    }
    assert not any(problem.blocking for problem in problems)


def test_the_longest_possible_value_is_no_problem() -> None:
    pod = pod_with({"envFrom": [CREDENTIALS]})

    assert environment_of(pod, secret(a=b"x" * (LONGEST_VALUE - 3))).problems == ()


def test_variables_that_double_each_other_do_not_eat_the_memory() -> None:
    doubling = [(f"V{index + 1}", f"$(V{index})$(V{index})") for index in range(60)]
    pod = pod_with(with_values(("V0", "0123456789abcdef"), *doubling))

    environment = environment_of(pod)

    assert sum(map(len, environment.values.values())) <= LARGEST_EXPANSION
    assert environment.error is not None


@pytest.mark.parametrize("name", ["setup", "debug"])
def test_every_kind_of_container_has_an_environment(name: str) -> None:
    pod = pod_with(
        initContainers=[{"name": "setup", **with_values(("A", "setup"))}],
        ephemeralContainers=[{"name": "debug", **with_values(("A", "debug"))}],
    )

    assert resolve_environment(pod, name, ObjectsInHand()).values == {"A": name}


def test_an_unknown_container_is_the_callers_mistake() -> None:
    with pytest.raises(ConfigurationError, match="it has web"):
        resolve_environment(pod_with(), "x", ObjectsInHand())
