"""The pages about the managers do what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

import reflet
from reflet.errors import CacheNotSynced, ConfigurationError, NotRegistered
from reflet.managers.manager import ConfigMapManager
from reflet.managers.watch_based import SYNC_TIMEOUT
from reflet.managers.watches.stream_plan import OpenStream, StreamLimits, StreamPlan, decide
from reflet.testing.pytest_plugin import RunningServer
from tests.examples.pages import HOW_TO, Reader, agrees, save_files, steps
from tests.unit.managers.pods import pod

pytestmark = pytest.mark.story

PAGE = "use-the-managers.md"
EXPLANATION = HOW_TO.parent / "explanation" / "managers.md"


@pytest.mark.time_limit(120)
def test_every_program_of_the_page_prints_what_it_says(tmp_path: Path) -> None:
    programs = [name for name in save_files(PAGE, tmp_path) if name.endswith(".py")]
    wrong = []

    with Reader(tmp_path) as reader:
        done = [(step, reader.do(step.command)) for step in steps(PAGE)]

    for step, printed in done:
        if not agrees(printed, step.printed):
            wrong.append(f"$ {step.command}\n{printed}")
    run = {step.command.removeprefix("python ") for step, _ in done}
    assert "\n".join(wrong) == ""
    assert set(programs) <= run
    assert len(programs) > 5


def test_the_plans_that_are_explained_are_those_that_are_made() -> None:
    text, limits = EXPLANATION.read_text(), StreamLimits()

    def reason(needed: int, *, is_open: bool) -> str:
        return decide(limits, needed=needed, is_open=is_open, refusal=None, now=0).reason

    whole = StreamPlan((OpenStream("shop", None, reason(12, is_open=True)),))
    single = StreamPlan((OpenStream("team-b", "feature-flags", reason(1, is_open=False)),))

    assert f">>> print(config_maps.plan())\n{whole}\n" in text
    assert f"\n{single}\n" in text


async def test_the_errors_that_are_explained_are_those_that_are_raised(
    reflet_server: RunningServer,
) -> None:
    text = EXPLANATION.read_text()
    said: list[str] = []

    async with reflet.connect(kubeconfig=str(reflet_server.kubeconfig)) as cluster:
        with pytest.raises(ConfigurationError) as unknown:
            ConfigMapManager(cluster, strategy="polling")
        said.append(str(unknown.value))
        async with ConfigMapManager(cluster) as config_maps:
            with pytest.raises(NotRegistered) as unregistered:
                await config_maps.get("shop", "settings")
            config_maps.register_pod(pod("web", "settings"))
            with pytest.raises(reflet.errors.NotFound) as missing:
                await config_maps.get("shop", "settings")
        said += [str(unregistered.value), str(missing.value)]
    said.append(str(CacheNotSynced("configmap", "shop", "settings")))

    assert [words for words in said if f"`{words}`" not in text] == []


def test_the_numbers_that_are_explained_are_the_defaults() -> None:
    text, limits = EXPLANATION.read_text(), StreamLimits()

    assert f"`namespace_from` needed objects on ({limits.namespace_from})" in text
    assert f"`namespace_until` ({limits.namespace_until})" in text
    assert f"({limits.most_objects:,}), or grows beyond that" in text
    assert f"`loading_timeout` ({limits.loading_timeout:g} s)" in text
    assert (limits.refused_for, SYNC_TIMEOUT) == (600, 1)
