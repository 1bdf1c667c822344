"""The options of every layer: the same names as the signatures, and no others."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.resources import CONFIG_MAPS
from reflet.informer.informer_set import InformerSet
from reflet.informer.mirror import Mirror
from reflet.informer.options import (
    InformerOptions,
    MirrorOptions,
    ReflectorOptions,
    refuse_unknown,
)
from reflet.informer.reflector.endings import ReflectorState
from reflet.informer.reflector.reflector import Reflector
from reflet.informer.shared_informer import SharedInformer
from reflet.testing.scripted_source import ScriptedSource
from reflet.testing.virtual_time import VirtualClock

OWN = {"name", "resource", "label_selector", "field_selector"}
"""What an informer or its maker says itself."""


def keywords_of(kind: type) -> set[str]:
    parameters = inspect.signature(kind).parameters.values()
    return {it.name for it in parameters if it.kind is inspect.Parameter.KEYWORD_ONLY}


def test_the_options_of_a_reflector_are_those_that_an_informer_does_not_choose() -> None:
    chosen = {*keywords_of(SharedInformer), "should_resync", "held"}

    assert set(ReflectorOptions.__annotations__) == keywords_of(Reflector) - chosen


def test_the_options_of_informers_are_those_of_one_and_of_its_reflector() -> None:
    assert set(InformerOptions.__annotations__) == (
        keywords_of(SharedInformer) - OWN | set(ReflectorOptions.__annotations__)
    )


def test_the_options_of_a_mirror_are_those_of_its_informer() -> None:
    own = OWN - {"resource"}

    assert set(MirrorOptions.__annotations__) == set(InformerOptions.__annotations__) | own


def test_a_name_that_is_almost_right_is_answered_with_the_right_one() -> None:
    with pytest.raises(
        TypeError, match=r"^a mirror has no option 'indexerz'; did you mean 'indexers'\?$"
    ):
        refuse_unknown({"queue": "ordered", "indexerz": {}}, MirrorOptions, of="a mirror")


def test_a_name_that_is_nothing_like_an_option_is_refused_without_advice() -> None:
    with pytest.raises(TypeError, match=r"^a mirror has no option 'xyz'$"):
        refuse_unknown(["xyz"], MirrorOptions, of="a mirror")


def mirror(**options: Any) -> object:
    return Mirror(ScriptedSource[ConfigMap](), CONFIG_MAPS, **options)


def informer(**options: Any) -> object:
    return SharedInformer(ScriptedSource[ConfigMap](), name="configmaps", **options)


def informer_set(**options: Any) -> object:
    return InformerSet(lambda resource, namespace: ScriptedSource(), **options)


@pytest.mark.parametrize("make", [mirror, informer, informer_set])
def test_a_misspelled_option_is_refused_by_the_call_itself(make: Any) -> None:
    with pytest.raises(TypeError, match="indexerz"):
        make(indexerz={})


def test_a_queue_that_does_not_exist_is_refused_by_the_call_itself() -> None:
    with pytest.raises(ValueError, match="'ordered' or 'delta-fifo', not 'lifo'"):
        informer(queue="lifo")


def test_a_set_of_informers_is_not_given_what_each_of_them_is_asked_for_with() -> None:
    with pytest.raises(TypeError, match="label_selector"):
        informer_set(label_selector="app=web")


def test_nothing_is_asked_before_the_start_neither_the_server_nor_the_clock() -> None:
    source = ScriptedSource[ConfigMap]()

    made = Mirror(source, CONFIG_MAPS, clock=VirtualClock())  # which raises outside its loop

    assert made.informer.reflector.state is ReflectorState.STOPPED
    assert source.requests == []
