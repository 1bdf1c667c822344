from __future__ import annotations

import json
from typing import Any, cast

import pytest

from reflet.api.core.config import Secret
from reflet.api.meta import ObjectMeta
from reflet.cri.messages.images import Image
from reflet.cri.messages.sandboxes import PodSandboxConfig
from reflet.errors import NotFound, RpcError
from reflet.managers.manager import SecretManager
from reflet.node.cri.image_pulls import ImagePulls
from reflet.node.status.container_statuses import Waiting
from reflet.node.status.node_events import NodeEvents
from reflet.testing.virtual_time import VirtualClock
from tests.unit.node.cri.paper_cri import PaperCri
from tests.unit.node.paper_node import PaperEvents, passing
from tests.unit.node.pod_scenes import container, only, pod

pytestmark = pytest.mark.virtual_time

IMAGE = Image(id="sha256:web", size=680)
NAME = "quay.io/shop/web:1"


class Secrets:
    """Secrets in hand."""

    def __init__(self, **found: Secret) -> None:
        self._found = found

    async def get(self, _: str, name: str) -> Secret:
        if name not in self._found:
            raise NotFound("not found")
        return self._found[name]


class Scene:
    def __init__(self, **secrets: Secret) -> None:
        self.cri = PaperCri()
        self.events = PaperEvents()
        self.pulled: list[str] = []
        self.pulls = ImagePulls(
            self.cri.image_service,
            cast("SecretManager", Secrets(**secrets)),
            cast("NodeEvents", self.events),
            clock=VirtualClock(),
            on_pulled=self.pulled.append,
        )

    async def ensure(self, image: str = NAME, policy: str = "", **spec: Any) -> Image | Waiting:
        of = pod(container(image=image, imagePullPolicy=policy), **spec)
        return await self.pulls.ensure(of, only(of), PodSandboxConfig())

    @property
    def pulls_asked(self) -> int:
        return len([each for each in self.cri.asked if each.startswith("pull ")])


async def test_an_image_that_is_there_is_not_pulled() -> None:
    scene = Scene()
    scene.cri.images[NAME] = IMAGE

    assert await scene.ensure() == IMAGE
    assert scene.pulls_asked == 0
    present = f'Container image "{NAME}" already present on machine and can be accessed by the pod'
    assert scene.events.told == [("Pulled", present)]


async def test_an_image_that_is_missing_is_pulled_and_told_with_its_size() -> None:
    scene = Scene()
    scene.cri.pullable[NAME] = IMAGE

    words = f'image "{NAME}" in 0s (0s including waiting). Image size: 680 bytes.'
    assert await scene.ensure() == IMAGE
    assert scene.events.told == [
        ("Pulling", f'Pulling image "{NAME}"'),
        ("Pulled", f"Successfully pulled {words}"),
    ]
    assert scene.pulled == ["sha256:web"]


@pytest.mark.parametrize(("name", "policy"), [(NAME, "Always"), ("quay.io/shop/web", "")])
async def test_an_image_may_be_pulled_although_it_is_there(name: str, policy: str) -> None:
    scene = Scene()
    whole = name if ":1" in name else f"{name}:latest"
    scene.cri.images[whole] = scene.cri.pullable[whole] = IMAGE

    await scene.ensure(name, policy)

    assert scene.pulls_asked == 1


async def test_an_image_that_must_not_be_pulled_is_waited_for() -> None:
    scene = Scene()
    message = f'Container image "{NAME}" is not present with pull policy of Never'

    assert await scene.ensure(policy="Never") == Waiting(
        "ErrImageNeverPull", message, "ErrImageNeverPull"
    )
    assert scene.events.told == [("ErrImageNeverPull", message)]


async def test_a_name_that_no_image_has_is_told() -> None:
    waiting = await Scene().ensure("Not An Image")

    assert isinstance(waiting, Waiting)
    assert waiting.reason == "InvalidImageName"
    assert waiting.message.startswith('Failed to apply default image tag "Not An Image": ')


async def test_an_image_that_cannot_be_looked_for_is_told() -> None:
    scene = Scene()
    scene.cri.failures["image status"] = RpcError("Unknown", "disk")

    waiting = await scene.ensure()

    assert isinstance(waiting, Waiting)
    assert waiting.reason == "ImageInspectError"


async def test_a_pull_that_failed_is_held_back_twice_as_long_each_time() -> None:
    scene = Scene()
    said = f"rpc error: code = NotFound desc = {NAME}: not found"

    first = await scene.ensure()
    held = await scene.ensure()
    await passing(10.1)
    again = await scene.ensure()
    await passing(10.1)
    still = await scene.ensure()
    await passing(10.1)
    scene.cri.pullable[NAME] = IMAGE
    there = await scene.ensure()

    assert first == again == Waiting("ErrImagePull", said, "ErrImagePull")
    back_off = f'Back-off pulling image "{NAME}": ErrImagePull: {said}'
    assert held == still == Waiting("ImagePullBackOff", back_off, "ImagePullBackOff")
    assert there == IMAGE
    assert scene.pulls_asked == 3


async def test_another_pod_of_the_name_begins_anew() -> None:
    scene = Scene()
    await scene.ensure()

    scene.pulls.forget("u1")
    waiting = await scene.ensure()

    assert isinstance(waiting, Waiting)
    assert waiting.reason == "ErrImagePull"


async def test_a_registry_that_is_away_is_told_as_such() -> None:
    scene = Scene()
    scene.cri.failures["pull"] = RpcError("Unknown", "RegistryUnavailable: it is night")

    waiting = await scene.ensure()

    assert isinstance(waiting, Waiting)
    assert waiting.reason == "RegistryUnavailable"
    assert waiting.message == (
        f"image pull failed for {NAME} because the registry is unavailable: it is night"
    )


def pull_secret(user: str) -> Secret:
    auths = {"auths": {"quay.io": {"username": user, "password": "s3cret"}}}
    return Secret(
        metadata=ObjectMeta(name=user, namespace="shop"),
        type="kubernetes.io/dockerconfigjson",
        data={".dockerconfigjson": json.dumps(auths).encode()},
    )


async def test_each_credential_is_tried_and_one_that_is_missing_is_told() -> None:
    scene = Scene(ada=pull_secret("ada"), bob=pull_secret("bob"))
    names = [{"name": "ada"}, {"name": "absent"}, {"name": "bob"}]

    await scene.ensure(imagePullSecrets=names)

    assert [each.username for each in scene.cri.auths if each] == ["ada", "bob"]
    message = (
        "Unable to retrieve some image pull secrets (absent); attempting to pull the image may "
        "not succeed."
    )
    assert ("FailedToRetrieveImagePullSecret", message) in scene.events.told
    assert "s3cret" not in str(scene.events.told)
