"""A misspelled option of a verb is refused twice: by the type checker, and by the call at once.

The functions are never called whole: mypy reports an ignored error that is none, so each line says
that mypy refuses it.  The tests make the same calls, and nothing is awaited.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.options import (
    CreateOptions,
    DeleteOptions,
    GetOptions,
    ListOptions,
    PatchOptions,
    PatchType,
    UpdateOptions,
    WatchOptions,
)
from reflet.api.resources import CONFIG_MAPS
from reflet.blocking import BlockingCluster, BlockingResource
from reflet.client.client import Client
from reflet.client.resource_client import ResourceClient
from reflet.managers.strategies import ManagerOptions, StrategyOptions
from tests.unit.client.scripted_transport import ScriptedTransport


def mypy_refuses_a_misspelled_option() -> None:
    GetOptions(resource_versoin="0")  # type: ignore[call-arg]
    ListOptions(label_selecter="a=b")  # type: ignore[call-arg]
    WatchOptions(allow_bookmark=True)  # type: ignore[call-arg]
    CreateOptions(dryrun=True)  # type: ignore[call-arg]
    UpdateOptions(field_manger="me")  # type: ignore[call-arg]
    PatchOptions(forced=True)  # type: ignore[call-arg]
    DeleteOptions(grace_period=3)  # type: ignore[call-arg]
    ListOptions(resource_version_match="Exactly")  # type: ignore[arg-type]


async def mypy_refuses_a_misspelled_argument(client: ResourceClient[ConfigMap]) -> None:
    await client.list(pagesize=5)  # type: ignore[call-arg]
    client.watch(silent=5)  # type: ignore[call-arg]
    await client.delete("a", option=DeleteOptions())  # type: ignore[call-arg]
    await client.get("a", subresorce="status")  # type: ignore[call-overload]
    await client.create({}, subresorce="status")  # type: ignore[call-overload]
    await client.replace({}, subresorce="status")  # type: ignore[call-overload]
    await client.patch("a", {}, PatchType.MERGE, option=1)  # type: ignore[call-overload]
    await client.apply({}, field_manger="me")  # type: ignore[call-overload]


def mypy_refuses_the_same_of_those_who_wait(
    client: BlockingResource[ConfigMap], cluster: BlockingCluster
) -> None:
    client.list(pagesize=5)  # type: ignore[call-arg]
    client.watch(silent=5)  # type: ignore[call-arg]
    client.delete("a", option=DeleteOptions())  # type: ignore[call-arg]
    client.get("a", subresorce="status")  # type: ignore[call-overload]
    client.create({}, subresorce="status")  # type: ignore[call-overload]
    client.replace({}, subresorce="status")  # type: ignore[call-overload]
    client.patch("a", {}, PatchType.MERGE, option=1)  # type: ignore[call-overload]
    client.apply({}, field_manger="me")  # type: ignore[call-overload]
    cluster.config_map_manager(stratgy="watch")  # type: ignore[call-arg]
    cluster.secret_manager(sync_frequenzy=5.0)  # type: ignore[call-arg]


MISSPELLED: dict[str, Callable[[Any], object]] = {
    "list": lambda client: client.list(pagesize=5),
    "pages": lambda client: client.pages(pagesize=5),
    "watch": lambda client: client.watch(silent=5),
    "get": lambda client: client.get("a", subresorce="status"),
    "create": lambda client: client.create({}, subresorce="status"),
    "replace": lambda client: client.replace({}, subresorce="status"),
    "patch": lambda client: client.patch("a", {}, option=1),
    "apply": lambda client: client.apply({}, field_manager="me", forced=True),
    "delete": lambda client: client.delete("a", option=None),
    "delete_collection": lambda client: client.delete_collection(option=None),
}


@pytest.mark.parametrize("verb", MISSPELLED)
def test_the_call_refuses_a_misspelled_argument_at_once(verb: str) -> None:
    client = Client(ScriptedTransport()).resource(CONFIG_MAPS)

    with pytest.raises(TypeError, match="unexpected keyword argument"):
        MISSPELLED[verb](client)


@pytest.mark.parametrize(
    "options",
    [
        GetOptions,
        ListOptions,
        WatchOptions,
        CreateOptions,
        UpdateOptions,
        PatchOptions,
        DeleteOptions,
    ],
)
def test_options_refuse_a_misspelled_name_at_once(options: type[Any]) -> None:
    with pytest.raises(TypeError, match=r"[Uu]nexpected keyword argument"):
        options(misspelled=1)


def test_managers_that_wait_take_the_options_of_the_others() -> None:
    names = {field.name for field in fields(StrategyOptions)}

    assert set(ManagerOptions.__annotations__) == names
