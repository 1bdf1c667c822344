"""One mirror for everybody who asks the same question."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.resources import CONFIG_MAPS
from reflet.informer.shared_informer import InformerStarted
from reflet.informer.shared_mirrors import SharedMirror, SharedMirrors
from reflet.testing.scripted_source import Quiet, ScriptedSource, listing
from reflet.testing.virtual_time import VirtualClock
from tests.unit.store.config_maps import config_map, users_of

pytestmark = pytest.mark.virtual_time


class Asking:
    """Mirrors of one cluster, and the sources that were needed for them."""

    def __init__(self) -> None:
        self.sources: list[ScriptedSource[ConfigMap]] = []
        self._mirrors = SharedMirrors()

    def mirror(self, question: str = "configmaps", **options: Any) -> SharedMirror[ConfigMap]:
        def make() -> SharedMirror[ConfigMap]:
            source = ScriptedSource[ConfigMap](
                lists=[listing("5", config_map("a"))], watches=[[Quiet.HEALTHY]]
            )
            self.sources.append(source)
            return SharedMirror(
                source, CONFIG_MAPS, clock=VirtualClock(), streaming=False, **options
            )

        return self._mirrors.mirror(question, options, make)


async def test_who_asks_the_same_shares_one_watch() -> None:
    asking = Asking()
    async with asking.mirror() as mine, asking.mirror() as yours:
        await yours.synced()

        assert mine is yours
        assert len(asking.sources) == 1


async def test_it_lives_until_the_last_one_leaves() -> None:
    asking = Asking()
    async with asking.mirror() as mine:
        async with asking.mirror():
            await mine.synced()
        assert mine.is_live()
        assert asking.mirror() is mine

    assert mine.informer.is_stopped


async def test_who_comes_after_the_end_begins_anew() -> None:
    asking = Asking()
    async with asking.mirror() as first:
        await first.synced()
    async with asking.mirror() as second:
        await second.synced()

        assert second is not first
        assert second.keys() == ["shop/a"]


async def test_who_enters_one_that_is_over_keeps_it_from_nobody_else() -> None:
    asking = Asking()
    late = asking.mirror()
    async with asking.mirror() as first:
        await first.synced()
    with pytest.raises(InformerStarted):
        await late.__aenter__()

    async with asking.mirror() as second:
        await second.synced()

        assert second.is_live()


@pytest.mark.parametrize(
    ("mine", "yours", "is_shared"),
    [
        ({"label_selector": "a=b,c"}, {"label_selector": "c,a=b"}, True),
        ({"label_selector": "a=b"}, {"label_selector": "a=c"}, False),
        ({"field_selector": "metadata.name=x"}, {"field_selector": "metadata.name=x"}, True),
        ({"indexers": {"users": users_of}}, {"indexers": {"users": users_of}}, True),
        ({"indexers": {"users": users_of}}, {}, False),
        ({"on_error": print}, {"on_error": repr}, False),
    ],
)
def test_questions_are_the_same_when_they_mean_the_same(
    mine: dict[str, Any], yours: dict[str, Any], is_shared: bool
) -> None:
    asking = Asking()
    first = asking.mirror(**mine)

    assert (asking.mirror(**yours) is first) is is_shared


def test_a_mirror_that_nobody_keeps_is_forgotten() -> None:
    asking = Asking()
    asking.mirror()
    gc.collect()
    asking.mirror()

    assert len(asking.sources) == 2
