from __future__ import annotations

from pathlib import Path

from reflet.api.core.pods import Pod
from reflet.node.pods.dry_run import NOT_RUN
from reflet.node.status.container_statuses import CONFIG_ERROR, Waiting
from tests.unit.node.paper_node import PaperNode, settings
from tests.unit.node.paper_node import stored_pod as pod
from tests.unit.node.pod_scenes import container

COLOR = {"name": "COLOR", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "color"}}}


async def described(node: PaperNode, of: Pod) -> dict[str, Waiting]:
    await node.objects.register(of, lambda: None)
    return await node.factory.dry_run().describe(await node.objects.resolve(of))


def environment_file(node: PaperNode, name: str) -> Path:
    return node.directories.container("u1", name) / "environment"


async def test_the_variables_of_every_container_are_written_and_it_is_said_where(
    tmp_path: Path,
) -> None:
    node = PaperNode(tmp_path, settings(color="it's red"))
    both = pod(container(env=[COLOR]), initContainers=[container("first")])

    waiting = await described(node, both)

    file = environment_file(node, "main")
    assert file.read_text() == "COLOR='it'\\''s red'\n"
    assert list(waiting) == ["first", "main"]
    assert waiting["main"] == Waiting(
        NOT_RUN, f"this agent runs no commands; the variables are in {file} on the node"
    )


async def test_the_variables_are_for_the_owner_only(tmp_path: Path) -> None:
    node = PaperNode(tmp_path, settings(color="red"))

    await described(node, pod(container(env=[COLOR])))

    assert environment_file(node, "main").stat().st_mode & 0o777 == 0o600


async def test_a_container_that_could_not_start_anyway_waits_for_its_own_reason(
    tmp_path: Path,
) -> None:
    node = PaperNode(tmp_path, settings(size="big"))
    both = pod(container(env=[COLOR]), container("other"))

    waiting = await described(node, both)

    why = "couldn't find key color in ConfigMap shop/settings"
    assert waiting["main"] == Waiting(CONFIG_ERROR, why)
    assert waiting["other"].reason == NOT_RUN
    assert node.events.told == [("Failed", f"Error: {why}")]
    assert not environment_file(node, "main").exists()


async def test_what_was_written_is_written_over_when_it_changes(tmp_path: Path) -> None:
    node = PaperNode(tmp_path, settings(color="red"))
    await described(node, pod(container(env=[COLOR])))
    node.objects.put(settings(color="blue"))

    await described(node, pod(container(env=[COLOR])))

    assert environment_file(node, "main").read_text() == "COLOR='blue'\n"


async def test_nothing_is_started(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)

    await described(node, pod())

    assert node.shim.asked == []
