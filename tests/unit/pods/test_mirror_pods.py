"""Mirror pods: what the API server shows of static ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta, OwnerReference
from reflet.api.options import CreateOptions, DeleteOptions, GetOptions
from reflet.errors import AlreadyExists, ConfigurationError, Conflict, NotFound, RefletError
from reflet.pods.mirror_pods import create_mirror, delete_mirror, mirror_pod
from reflet.pods.pod_manager import HASH_ANNOTATION, MIRROR_ANNOTATION, is_mirror_of
from tests.unit.managers.pods import pod

NODE = Node(metadata=ObjectMeta(name="worker", uid="node-uid"))
STATIC = pod("web", annotations={HASH_ANNOTATION: "h"})


class Server:
    """Has one pod, or refuses with *failure*."""

    def __init__(self, there: Pod | None = None, failure: RefletError | None = None) -> None:
        self.created: list[Mapping[str, Any]] = []
        self.deleted: list[tuple[str, DeleteOptions]] = []
        self._there = there
        self._failure = failure

    async def get(self, name: str, options: GetOptions, /) -> Pod:
        assert self._there is not None
        return self._there

    async def create(self, body: Mapping[str, Any], options: CreateOptions, /) -> Pod:
        if self._there is not None:
            raise AlreadyExists("it is there")
        self.created.append(body)
        return STATIC

    async def delete(self, name: str, options: DeleteOptions, /) -> object:
        self.deleted.append((name, options))
        if self._failure is not None:
            raise self._failure
        return None


def test_a_mirror_is_owned_by_its_node_and_says_what_it_was_made_from() -> None:
    mirror = mirror_pod(STATIC, NODE)

    assert is_mirror_of(mirror, STATIC)
    assert mirror.metadata.owner_references == (
        OwnerReference(
            api_version="v1", kind="Node", name="worker", uid="node-uid", controller=True
        ),
    )
    assert mirror.spec == STATIC.spec


def test_a_node_that_is_not_known_yet_owns_nothing() -> None:
    with pytest.raises(ConfigurationError, match=r"^UID unset for node worker$"):
        mirror_pod(STATIC, Node(metadata=ObjectMeta(name="worker")))


async def test_a_mirror_is_created() -> None:
    server = Server()
    await create_mirror(server, STATIC, NODE)

    (body,) = server.created
    assert body["metadata"]["annotations"][MIRROR_ANNOTATION] == "h"
    assert body["kind"] == "Pod"


async def test_a_mirror_that_is_there_already_is_well() -> None:
    await create_mirror(Server(mirror_pod(STATIC, NODE)), STATIC, NODE)

    with pytest.raises(AlreadyExists):
        await create_mirror(Server(pod("web")), STATIC, NODE)


@pytest.mark.parametrize(
    ("failure", "expected"), [(None, True), (NotFound("gone"), False), (Conflict("other"), False)]
)
async def test_only_this_mirror_is_deleted_and_at_once(
    failure: RefletError | None, expected: bool
) -> None:
    server = Server(failure=failure)

    assert await delete_mirror(server, pod("web", uid="m")) is expected
    assert server.deleted == [("web", DeleteOptions(grace_period_seconds=0, uid="m"))]
