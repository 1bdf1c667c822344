"""Which pod and which container are meant, as kubectl would understand it."""

from __future__ import annotations

import click
import pytest

from reflet.cli.options.connection_options import ConnectionChoice
from reflet.cli.options.pod_options import PodChoice, choose_container, pod_target, tell_default
from reflet.errors import ConfigurationError
from reflet.manifests.files import Sources
from tests.unit.resolution.scenes import pod_with

TWO = pod_with(
    containers=[{"name": "web"}, {"name": "sidecar"}], initContainers=[{"name": "setup"}]
)


def choice(
    *arguments: str, files: tuple[str, ...] = (), selector: str = "", everywhere: bool = False
) -> PodChoice:
    connection = ConnectionChoice({"namespace": ""})
    return PodChoice(
        arguments,
        connection,
        files=Sources(paths=files),
        selector=selector,
        all_namespaces=everywhere,
    )


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        ((), ""),
        (("web",), "pod/web"),
        (("deploy/web",), "deploy/web"),
        (("deploy", "web"), "deploy/web"),
    ],
)
def test_a_target_has_three_forms(arguments: tuple[str, ...], target: str) -> None:
    assert pod_target(arguments) == target


@pytest.mark.parametrize(
    "arguments", [("/web",), ("pod/",), ("a/b/c",), ("",), ("pod", "a", "b"), ("pod/a", "b")]
)
def test_anything_else_is_a_mistake(arguments: tuple[str, ...]) -> None:
    with pytest.raises(click.UsageError):
        pod_target(arguments)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("web",), {"selector": "a=b"}, "a name needs no selector"),
        (("deploy",), {"selector": "a=b"}, "not one of a type: leave out deploy, or name one: dep"),
        (("web",), {"everywhere": True}, "a name is of one namespace"),
        ((), {"selector": "a=b", "files": ("f",)}, "-l asks a server"),
    ],
)
def test_flags_that_contradict_each_other_are_a_mistake(
    arguments: tuple[str, ...], options: dict[str, object], message: str
) -> None:
    with pytest.raises(click.UsageError, match=message):
        choice(*arguments, **options)  # type: ignore[arg-type]  # one table for all flags


def test_no_pod_at_all_is_a_mistake_of_whoever_needs_one() -> None:
    assert not choice().names_a_pod

    with pytest.raises(click.UsageError, match="name the pod"):
        choice().gather()


def test_a_selector_may_look_everywhere() -> None:
    assert choice(selector="a=b", everywhere=True).all_namespaces


def test_the_first_container_is_the_default() -> None:
    assert choose_container(TWO, None) == "web"


def test_the_pod_may_name_its_default_container() -> None:
    annotation = {"kubectl.kubernetes.io/default-container": "sidecar"}
    pod = pod_with(
        metadata={"annotations": annotation}, containers=[{"name": "web"}, {"name": "sidecar"}]
    )

    assert choose_container(pod, None) == "sidecar"


def test_a_default_container_that_is_not_there_does_not_count() -> None:
    annotation = {"kubectl.kubernetes.io/default-container": "gone"}

    assert choose_container(pod_with(metadata={"annotations": annotation}), None) == "web"


def test_a_pod_without_containers_has_none_to_choose() -> None:
    with pytest.raises(ConfigurationError, match="it has no containers"):
        choose_container(pod_with(containers=[]), None)


def test_a_container_that_is_not_there_is_told_with_whose_it_is_not() -> None:
    with pytest.raises(ConfigurationError) as caught:
        choose_container(TWO, "wbe", owner="deployment/web")

    assert str(caught.value) == (
        "deployment/web has no container 'wbe'; it has setup, web, sidecar"
    )


def test_the_choice_is_told_if_there_was_one(capsys: pytest.CaptureFixture[str]) -> None:
    tell_default(TWO, "web")
    tell_default(pod_with(), "web")

    assert capsys.readouterr().err == (
        'Defaulted container "web" out of: web, sidecar, setup (init)\n'
    )
