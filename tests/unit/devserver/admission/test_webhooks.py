"""In which order webhooks are called, and what follows from what they say."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any

import pytest

from reflet.apirules.schema.kinds import Kinds
from reflet.devserver.admission.admission_reviews import CallFailed
from reflet.devserver.admission.attributes import Attributes
from reflet.devserver.admission.webhook_matching import Webhook
from reflet.devserver.admission.webhooks import MUTATING, VALIDATING, Webhooks
from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import Key
from reflet.errors import ApiError, BadRequest, InternalError
from tests.unit.devserver.admission.admission_scene import attributes, rule, target
from tests.unit.devserver.object_scene import kind_of
from tests.webhook_scenes import Reply, allow, configuration, deny, patching, webhook

HERE = {"url": "https://here"}
UID = "0"


class ScriptedWebhooks:
    """Answers by the replies of a test, and notes who was asked.  Is a ``Caller``."""

    def __init__(self, **replies: Reply | Exception) -> None:
        self.replies = replies
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def post(self, webhook: Webhook, review: Mapping[str, Any], /) -> bytes:
        name = webhook.name.partition(".")[0]
        self.asked.append((name, review["request"]))
        await asyncio.sleep(0)
        reply = self.replies.get(name, allow)
        if isinstance(reply, Exception):
            raise reply
        head = {name: review[name] for name in ("apiVersion", "kind")}
        return json.dumps(
            {**head, "response": {"uid": UID, **dict(reply(review["request"]))}}  # type: ignore[arg-type]
        ).encode()

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.asked]


def store(storage: Storage, resource: str, *webhooks: dict[str, Any], name: str = "all") -> None:
    storage.create(Key(resource, "", name), configuration(name, *webhooks))


def scene(
    resource: str, caller: ScriptedWebhooks, *webhooks: dict[str, Any]
) -> tuple[Storage, Webhooks]:
    storage = Storage()
    store(storage, resource, *webhooks)
    return storage, Webhooks(storage, Kinds(), caller, new_uid=lambda: UID)


def config_map(**more: Any) -> Attributes:
    body = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "c"}, "data": {"k": "v"}}
    return attributes(**{"object": body, **more})


def adding(key: str) -> Reply:
    return patching({"op": "add", "path": f"/data/{key}", "value": "x"})


# Who is called


def test_without_a_configuration_nothing_is_handled() -> None:
    admission = Webhooks(Storage(), Kinds(), ScriptedWebhooks(), new_uid=lambda: UID)

    assert not admission.handles(target())


def test_only_what_rules_are_about_is_handled() -> None:
    _, admission = scene(VALIDATING, ScriptedWebhooks(), webhook("a", HERE, rules=[rule("pods")]))

    assert admission.handles(target("pods"))
    assert not admission.handles(target("configmaps"))


def test_configurations_are_followed_as_they_come_and_go() -> None:
    storage, admission = scene(VALIDATING, ScriptedWebhooks())
    before = admission.handles(target())
    store(storage, MUTATING, webhook("a", HERE), name="new")
    there = admission.handles(target())
    storage.delete(Key(MUTATING, "", "new"))

    assert (before, there, admission.handles(target())) == (False, True, False)


def test_what_configures_admission_is_not_handled() -> None:
    _, admission = scene(VALIDATING, ScriptedWebhooks(), webhook("a", HERE))

    assert not admission.handles(
        target("validatingwebhookconfigurations.admissionregistration.k8s.io")
    )


# Mutating


async def test_each_webhook_sees_what_the_one_before_made() -> None:
    caller = ScriptedWebhooks(a=adding("a"), b=adding("b"))
    _, admission = scene(MUTATING, caller, webhook("a", HERE), webhook("b", HERE))

    made = await admission.mutate(config_map())

    assert made is not None
    assert made["data"] == {"k": "v", "a": "x", "b": "x"}
    assert caller.asked[1][1]["object"]["data"] == {"k": "v", "a": "x"}


@pytest.mark.parametrize(
    ("policies", "calls"),
    [
        ({}, "abc"),
        ({"a": "IfNeeded"}, "abca"),
        ({"a": "IfNeeded", "b": "IfNeeded"}, "abcab"),
        ({"c": "IfNeeded"}, "abc"),
        ({"a": "IfNeeded", "c": "IfNeeded"}, "abca"),
    ],
)
async def test_who_asks_for_it_is_called_again_when_others_changed_something_later(
    policies: dict[str, str], calls: str
) -> None:
    caller = ScriptedWebhooks(a=adding("a"), b=adding("b"), c=adding("c"))
    hooks = [webhook(name, HERE, reinvocationPolicy=policies.get(name, "Never")) for name in "abc"]
    _, admission = scene(MUTATING, caller, *hooks)

    await admission.mutate(config_map())

    assert "".join(caller.names) == calls


async def test_nobody_is_called_again_when_nothing_changed() -> None:
    caller = ScriptedWebhooks()
    hooks = [webhook(name, HERE, reinvocationPolicy="IfNeeded") for name in "ab"]
    _, admission = scene(MUTATING, caller, *hooks)

    await admission.mutate(config_map())

    assert caller.names == ["a", "b"]


async def test_what_a_patch_leaves_out_is_filled_in_before_the_next_webhook() -> None:
    side = {"name": "side", "image": "envoy"}
    caller = ScriptedWebhooks(
        a=patching({"op": "add", "path": "/spec/containers/-", "value": side})
    )
    _, admission = scene(MUTATING, caller, webhook("a", HERE), webhook("b", HERE))
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {}, "spec": {"containers": []}}

    await admission.mutate(attributes("pods", object=pod))

    seen = caller.asked[1][1]["object"]["spec"]["containers"][0]
    assert seen["terminationMessagePolicy"] == "File"


async def test_an_object_is_shown_and_changed_in_the_version_that_a_webhook_knows() -> None:
    rules = [rule("horizontalpodautoscalers", apiVersions=["v2"])]
    caller = ScriptedWebhooks(a=patching({"op": "add", "path": "/spec/maxReplicas", "value": 9}))
    _, admission = scene(MUTATING, caller, webhook("a", HERE, rules=rules))
    old = kind_of("horizontalpodautoscalers", "autoscaling", "v1")
    spec = {
        "maxReplicas": 3,
        "scaleTargetRef": {"kind": "Deployment", "name": "d"},
        "targetCPUUtilizationPercentage": 50,
    }
    body = {
        "kind": old.kind,
        "apiVersion": old.api_version,
        "metadata": {"name": "h"},
        "spec": spec,
    }

    made = await admission.mutate(Attributes("CREATE", old, "h", "shop", body))

    assert made is not None
    assert caller.asked[0][1]["object"]["spec"]["metrics"][0]["type"] == "Resource"
    assert made["apiVersion"] == "autoscaling/v1"
    assert made["spec"] == {**spec, "minReplicas": 1, "maxReplicas": 9}


async def test_a_delete_has_nothing_to_patch() -> None:
    _, admission = scene(MUTATING, ScriptedWebhooks(a=adding("a")), webhook("a", HERE))

    with pytest.raises(InternalError, match="not supported for this operation"):
        await admission.mutate(config_map(operation="DELETE", object=None, old={"metadata": {}}))


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/nothing/here"},
        {"op": "add", "path": "/data", "value": 5},
    ],
)
async def test_a_patch_that_makes_no_object_is_an_internal_error(operation: dict[str, Any]) -> None:
    caller = ScriptedWebhooks(a=patching(operation))
    _, admission = scene(MUTATING, caller, webhook("a", HERE, failurePolicy="Ignore"))

    with pytest.raises(InternalError):
        await admission.mutate(config_map())


async def test_another_type_of_patch_is_a_failure() -> None:
    caller = ScriptedWebhooks(a=lambda r: {**dict(adding("a")(r)), "patchType": "Merge"})  # type: ignore[arg-type]
    _, admission = scene(MUTATING, caller, webhook("a", HERE))

    with pytest.raises(InternalError, match='unsupported patch type "Merge"'):
        await admission.mutate(config_map())


async def test_a_patch_that_is_none_is_a_failure_which_can_be_passed_over() -> None:
    caller = ScriptedWebhooks(
        a=lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": "e30="}, b=adding("b")
    )
    hooks = webhook("a", HERE, failurePolicy="Ignore"), webhook("b", HERE)
    _, admission = scene(MUTATING, caller, *hooks)

    made = await admission.mutate(config_map())

    assert made is not None
    assert made["data"] == {"k": "v", "b": "x"}


# Validating


async def test_all_are_asked_at_once_and_the_first_refusal_is_told() -> None:
    caller = ScriptedWebhooks(a=allow, b=deny(message="b says no"), c=deny(message="c says no"))
    _, admission = scene(VALIDATING, caller, *(webhook(name, HERE) for name in "abc"))

    with pytest.raises(ApiError, match="b says no"):
        await admission.validate(config_map())

    assert sorted(caller.names) == ["a", "b", "c"]


async def test_those_that_validate_do_not_mutate_and_the_other_way_round() -> None:
    caller = ScriptedWebhooks()
    storage, admission = scene(VALIDATING, caller, webhook("validates", HERE))
    store(storage, MUTATING, webhook("mutates", HERE))

    await admission.mutate(config_map())
    mutating = list(caller.names)
    await admission.validate(config_map())

    assert (mutating, caller.names) == (["mutates"], ["mutates", "validates"])


# Failures, dry runs, warnings


@pytest.mark.parametrize("resource", [MUTATING, VALIDATING])
async def test_a_webhook_that_cannot_be_asked_refuses_by_default(resource: str) -> None:
    caller = ScriptedWebhooks(a=CallFailed("failed to call webhook: nobody there"))
    _, admission = scene(resource, caller, webhook("a", HERE))
    call = admission.mutate if resource == MUTATING else admission.validate

    with pytest.raises(InternalError) as refused:
        await call(config_map())

    assert refused.value.message == (
        'Internal error occurred: failed calling webhook "a.example.org": failed to call webhook: '
        "nobody there"
    )


@pytest.mark.parametrize("resource", [MUTATING, VALIDATING])
async def test_a_webhook_that_cannot_be_asked_may_be_passed_over(
    resource: str, caplog: pytest.LogCaptureFixture
) -> None:
    caller = ScriptedWebhooks(a=CallFailed('failed to call webhook: Post "x": nobody there'))
    _, admission = scene(resource, caller, webhook("a", HERE, failurePolicy="Ignore"))
    call = admission.mutate if resource == MUTATING else admission.validate

    with caplog.at_level(logging.WARNING):
        await call(config_map())

    assert "nobody there" in caplog.text


async def test_what_a_failing_webhook_says_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caller = ScriptedWebhooks(a=CallFailed("failed to call webhook: hunter2"))
    _, admission = scene(VALIDATING, caller, webhook("a", HERE, failurePolicy="Ignore"))

    with caplog.at_level(logging.WARNING):
        await admission.validate(config_map())

    assert "a.example.org" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize("resource", [MUTATING, VALIDATING])
async def test_a_denial_counts_whatever_the_failure_policy(resource: str) -> None:
    _, admission = scene(
        resource, ScriptedWebhooks(a=deny()), webhook("a", HERE, failurePolicy="Ignore")
    )
    call = admission.mutate if resource == MUTATING else admission.validate

    with pytest.raises(ApiError, match="denied the request"):
        await call(config_map())


async def test_a_webhook_with_side_effects_refuses_a_dry_run_and_is_not_called() -> None:
    caller = ScriptedWebhooks()
    _, admission = scene(VALIDATING, caller, webhook("a", HERE, sideEffects="Some"))

    with pytest.raises(BadRequest, match=r'webhook "a\.example\.org" does not support dry run'):
        await admission.validate(config_map(dry_run=True))

    assert caller.names == []


async def test_warnings_are_sent_once_each_and_only_those_that_fit_a_header() -> None:
    said = ["one", "two\nlines", "one", "drei"]
    caller = ScriptedWebhooks(a=lambda _: {"allowed": True, "warnings": said})
    _, admission = scene(VALIDATING, caller, webhook("a", HERE))
    write = config_map(warnings=["drei"])

    await admission.validate(write)

    assert write.warnings == ["drei", "one"]
