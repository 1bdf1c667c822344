"""Writes that wait for admission, while others write."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from reflet.devserver.admission.attributes import AdmittedTarget, Attributes
from reflet.devserver.printing.answers import Answer, ObjectAnswer
from reflet.devserver.request.authentication import ADMIN, TokenIssuer
from reflet.devserver.request.bodies import Body
from reflet.devserver.request.request_info import ApiRequest, target_of
from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import Key
from reflet.devserver.verbs import dispatch, loading
from reflet.devserver.verbs.state import State
from reflet.devserver.verbs.writing import at_once
from reflet.errors import AlreadyExists, Conflict, Forbidden, NotFound, Timeout

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
ONE = f"{CONFIG_MAPS}/one"
KEY = Key("configmaps", "default", "one")
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"

Hook = Callable[[Attributes], object]


@dataclass
class Interfering:
    """Lets a test act while a write waits, and notes what it sees.  Is an ``Admission``."""

    mutating: list[Hook] = field(default_factory=list)
    validating: list[Hook] = field(default_factory=list)
    seen: list[tuple[str, Attributes]] = field(default_factory=list)
    answers: bool = True

    def handles(self, _: AdmittedTarget, /) -> bool:
        return True

    async def mutate(self, attributes: Attributes, /) -> dict[str, Any] | None:
        await self._wait("mutate", attributes, self.mutating)
        return attributes.object

    async def validate(self, attributes: Attributes, /) -> None:
        await self._wait("validate", attributes, self.validating)

    async def _wait(self, stage: str, attributes: Attributes, hooks: list[Hook]) -> None:
        self.seen.append((stage, attributes))
        if not self.answers:
            await asyncio.get_running_loop().create_future()
        await asyncio.sleep(0)
        if hooks:
            hooks.pop(0)(attributes)

    @property
    def stages(self) -> list[str]:
        return [stage for stage, _ in self.seen]


def new_state(admission: Interfering) -> State:
    state = State(Storage(), tokens=TokenIssuer(b"secret"))
    loading.plant(state, 443)
    state.admission = admission
    return state


async def ask(
    state: State, method: str, path: str, body: object = None, media_type: str = "application/json"
) -> Answer:
    request = ApiRequest.read(method, path)
    target = target_of(request.path)
    assert target is not None
    call = dispatch.understand(state.kinds, request, target)
    content = b"" if body is None else json.dumps(body).encode()
    return await dispatch.answer(state, call, Body(content, media_type), ADMIN, lambda _: None)


def config_map(**data: str) -> dict[str, Any]:
    return {"metadata": {"name": "one"}, "data": data}


def data_of(state: State) -> dict[str, str]:
    stored = state.storage.get(KEY)
    assert stored is not None
    found: dict[str, str] = stored.object["data"]
    return found


def writes(state: State, **data: str) -> Hook:
    """Let somebody else write the object, past admission."""

    def write(_: Attributes) -> None:
        stored = state.storage.get(KEY)
        assert stored is not None
        state.storage.replace(KEY, {**stored.object, "data": {**stored.object["data"], **data}})

    return write


async def scene(**data: str) -> tuple[State, Interfering]:
    admission = Interfering()
    state = new_state(admission)
    await ask(state, "POST", CONFIG_MAPS, config_map(**data))
    admission.seen.clear()
    return state, admission


async def test_a_patch_is_made_again_of_what_somebody_else_wrote_meanwhile() -> None:
    state, admission = await scene(a="1")
    admission.validating.append(writes(state, b="2"))

    await ask(state, "PATCH", ONE, {"data": {"c": "3"}}, MERGE)

    assert data_of(state) == {"a": "1", "b": "2", "c": "3"}
    assert admission.stages == ["mutate", "validate", "mutate", "validate"]


async def test_an_update_of_any_version_is_repeated_on_what_somebody_else_wrote() -> None:
    state, admission = await scene(a="1")
    admission.mutating.append(writes(state, b="2"))

    await ask(state, "PUT", ONE, config_map(c="3"))

    assert data_of(state) == {"c": "3"}
    assert [write.old["data"] for _, write in admission.seen if write.old] == [
        {"a": "1"},
        {"a": "1"},
        {"a": "1", "b": "2"},
        {"a": "1", "b": "2"},
    ]


async def test_an_update_of_a_version_conflicts_when_it_was_replaced_meanwhile() -> None:
    state, admission = await scene(a="1")
    stored = state.storage.get(KEY)
    assert stored is not None
    admission.mutating.append(writes(state, b="2"))
    wanted = config_map(c="3")
    wanted["metadata"]["resourceVersion"] = str(stored.revision)

    with pytest.raises(Conflict, match="the object has been modified"):
        await ask(state, "PUT", ONE, wanted)


async def test_an_update_of_what_is_deleted_meanwhile_finds_nothing() -> None:
    state, admission = await scene(a="1")
    admission.mutating.append(lambda _: state.storage.delete(KEY))

    with pytest.raises(NotFound):
        await ask(state, "PUT", ONE, config_map(c="3"))


async def test_a_name_that_is_taken_meanwhile_is_taken() -> None:
    admission = Interfering()
    state = new_state(admission)
    admission.mutating.append(lambda _: state.storage.create(KEY, {"metadata": {"name": "one"}}))

    with pytest.raises(AlreadyExists):
        await ask(state, "POST", CONFIG_MAPS, config_map())


async def test_an_apply_goes_on_top_of_what_was_made_meanwhile() -> None:
    admission = Interfering()
    state = new_state(admission)
    metadata = {"name": "one", "namespace": "default", "uid": "u"}
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"b": "2"}}
    admission.validating.append(lambda _: state.storage.create(KEY, made))
    applied = {"apiVersion": "v1", "kind": "ConfigMap", **config_map(a="1")}

    await ask(state, "PATCH", f"{ONE}?fieldManager=m", applied, APPLY)

    assert data_of(state) == {"a": "1", "b": "2"}


async def test_an_apply_under_a_name_that_admission_chose_and_that_is_taken_is_refused() -> None:
    state, admission = await scene(a="1")

    def rename(write: Attributes) -> None:
        assert write.object is not None
        write.object["metadata"]["name"] = "one"

    admission.mutating.append(rename)
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "two"}}

    with pytest.raises(AlreadyExists):
        await ask(state, "PATCH", f"{CONFIG_MAPS}/two?fieldManager=m", applied, APPLY)


async def test_a_scale_is_made_again_of_what_somebody_else_wrote_meanwhile() -> None:
    admission = Interfering()
    state = new_state(admission)
    deployments = "/apis/apps/v1/namespaces/default/deployments"
    labels = {"app": "web"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "w", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}
    await ask(state, "POST", deployments, {"metadata": {"name": "web"}, "spec": spec})
    key = Key("deployments.apps", "default", "web")

    def pause(_: Attributes) -> None:
        stored = state.storage.get(key)
        assert stored is not None
        changed = {**stored.object["spec"], "paused": True}
        state.storage.replace(key, {**stored.object, "spec": changed})

    admission.validating.append(pause)

    await ask(state, "PATCH", f"{deployments}/web/scale", {"spec": {"replicas": 5}}, MERGE)

    stored = state.storage.get(key)
    assert stored is not None
    assert (stored.object["spec"]["replicas"], stored.object["spec"]["paused"]) == (5, True)


async def test_a_delete_is_admitted_again_when_the_object_changed_meanwhile() -> None:
    state, admission = await scene(a="1")
    admission.validating.append(writes(state, b="2"))

    await ask(state, "DELETE", ONE)

    assert state.storage.get(KEY) is None
    assert [write.old["data"] for stage, write in admission.seen if write.old] == [
        {"a": "1"},
        {"a": "1"},
        {"a": "1", "b": "2"},
        {"a": "1", "b": "2"},
    ]


async def test_a_collection_without_what_is_deleted_meanwhile_is_deleted_all_the_same() -> None:
    state, admission = await scene(a="1")
    await ask(state, "POST", CONFIG_MAPS, {"metadata": {"name": "two"}})
    admission.mutating.append(lambda _: state.storage.delete(KEY))

    await ask(state, "DELETE", CONFIG_MAPS)

    assert state.storage.list("configmaps", "default") == ()


async def test_a_namespace_that_may_not_go_is_not_asked_about() -> None:
    state, admission = await scene()

    with pytest.raises(Forbidden, match="this namespace may not be deleted"):
        await ask(state, "DELETE", "/api/v1/namespaces/default")

    assert admission.seen == []


async def test_an_address_is_taken_while_its_service_waits() -> None:
    admission = Interfering()
    state = new_state(admission)
    services = "/api/v1/namespaces/default/services"
    state.chance = lambda _: 7

    def body(name: str) -> dict[str, Any]:
        return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}}

    first, second = await asyncio.gather(
        ask(state, "POST", services, body("a")), ask(state, "POST", services, body("b"))
    )

    assert isinstance(first, ObjectAnswer)
    assert isinstance(second, ObjectAnswer)
    addresses = [each.document["spec"]["clusterIP"] for each in (first, second)]
    assert len(set(addresses)) == 2


async def test_an_address_is_free_again_when_its_service_is_refused() -> None:
    admission = Interfering()
    state = new_state(admission)
    taken: list[str] = []

    def refuse(write: Attributes) -> None:
        assert write.object is not None
        taken.append(write.object["spec"]["clusterIP"])
        raise NotFound("refused", code=404)

    admission.validating.append(refuse)
    body = {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}}

    with pytest.raises(NotFound):
        await ask(state, "POST", "/api/v1/namespaces/default/services", body)

    assert not state.addresses.is_taken(taken[0])


@pytest.mark.virtual_time
@pytest.mark.parametrize(
    ("method", "path", "body"), [("POST", CONFIG_MAPS, config_map()), ("DELETE", ONE, None)]
)
async def test_a_write_that_nobody_answers_for_ends_after_all_its_time(
    method: str, path: str, body: object
) -> None:
    state, admission = await scene()
    admission.answers = False
    loop = asyncio.get_running_loop()
    start = loop.time()

    with pytest.raises(Timeout, match="request did not complete within requested timeout"):
        await ask(state, method, path, body)

    assert loop.time() - start == pytest.approx(34, abs=0.1)


async def test_managers_that_admission_breaks_are_put_right_and_told() -> None:
    admission = Interfering()
    state = new_state(admission)

    def spoil(write: Attributes) -> None:
        assert write.object is not None
        write.object["metadata"]["managedFields"][0]["operation"] = "Nothing"

    admission.mutating.append(spoil)
    request = ApiRequest.read("POST", CONFIG_MAPS, "me/1.0")
    target = target_of(CONFIG_MAPS)
    assert target is not None
    call = dispatch.understand(state.kinds, request, target)

    await dispatch.answer(
        state, call, Body(json.dumps(config_map(a="1")).encode()), ADMIN, lambda _: None
    )

    assert ".metadata.managedFields was in an invalid state" in call.warnings[0]


def test_a_write_that_waits_cannot_be_carried_out_at_once() -> None:
    with pytest.raises(RuntimeError, match="has waited"):
        at_once(asyncio.sleep(0))
