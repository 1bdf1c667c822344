"""The recorded cases of client-go's indexes, store versions and transactions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.store.deltas import Put, TransactionError
from reflet.store.keys import ExplicitKey
from reflet.store.store import Store

RECORDED = json.loads((Path(__file__).parent / "data" / "scenarios.json").read_text())["indexer"]
CASES = {case["test"]: case for case in RECORDED["cases"]}


def users_of(item: ConfigMap) -> list[str]:
    return item.metadata.annotations["users"].split(",")


def made(name: str, users: str = "", version: str = "") -> ConfigMap:
    annotations = {"users": users}
    return ConfigMap(
        metadata=ObjectMeta(name=name, annotations=annotations, resource_version=version)
    )


def assert_found(store: Store[ConfigMap], expected: dict[str, list[str]]) -> None:
    for value, found in expected.items():
        assert store.index_keys("users", value) == sorted(found)
        names = sorted(item.metadata.name for item in store.by_index("users", value))
        assert names == sorted(found)


def carry_out(store: Store[ConfigMap], step: list[str]) -> None:
    match step:
        case ["set" | "update", key, users]:
            store.put(made(key, users))
        case ["delete", key]:
            store.delete(ExplicitKey(key))
        case _:
            pytest.fail(f"unknown step {step}")


def run(store: Store[ConfigMap], steps: list[Any]) -> None:
    """Steps are lists, and what must be found after them are mappings."""
    for step in steps:
        if isinstance(step, dict):
            assert_found(store, step)
        else:
            carry_out(store, step)


def test_TestMultiIndexKeys() -> None:  # noqa: N802 - the recorded name
    case = CASES["TestMultiIndexKeys"]
    store = Store(indexers={"users": users_of})

    run(store, [["set", key, users] for key, users in case["objects"].items()])

    assert_found(store, case["byIndex"])
    run(store, case["then"])


def test_TestThreadSafeStoreIndexingFunctionsWithMultipleValues() -> None:  # noqa: N802 - recorded
    case = CASES["TestThreadSafeStoreIndexingFunctionsWithMultipleValues"]

    run(Store(indexers={"users": users_of}), case["steps"])


def test_TestThreadSafeStoreRV() -> None:  # noqa: N802 - the recorded name
    # An object without metadata is an explicit key here: the one thing without that has a key.
    store: Store[Any] = Store()

    for step in CASES["TestThreadSafeStoreRV"]["steps"]:
        match step:
            case ["rv", expected]:
                pass
            case ["set", key, None, expected]:
                store.put(ExplicitKey(key))
            case ["set", key, version, expected]:
                store.put(made(key, version=version))
            case ["deleteWithObject", key, version, expected]:
                store.delete(made(key, version=version))
            case ["delete", key, None, expected]:
                store.delete(ExplicitKey(key))
            case ["transaction", operations, None, expected]:
                store.transaction([Put(made(key, version=version)) for key, version in operations])
            case _:
                pytest.fail(f"unknown step {step}")

        assert store.version == expected, step


class Keyless:
    pass


@pytest.mark.parametrize("row", CASES["TestCacheTransactionShouldIndexErrors"]["table"])
def test_TestCacheTransactionShouldIndexErrors(row: dict[str, Any]) -> None:  # noqa: N802 - recorded
    store: Store[Any] = Store()
    objects = [
        made(f"object-{n}") if keyable else Keyless() for n, keyable in enumerate(row["keyable"])
    ]

    successful: Any = "no error"
    try:
        store.transaction([Put(item) for item in objects])
    except TransactionError as error:
        successful = list(error.successful)

    assert successful == row["successful"]
    assert len(store) == sum(row["keyable"])
