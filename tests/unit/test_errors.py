"""Errors carry facts, and their texts are those that people search for."""

from __future__ import annotations

from reflet.errors import CacheNotSynced, NotRegistered, RefletError


def test_an_object_that_nobody_refers_to_is_named_in_the_kubelets_words() -> None:
    error = NotRegistered("shop", "settings")

    assert str(error) == 'object "shop"/"settings" not registered'
    assert (error.namespace, error.name) == ("shop", "settings")
    assert isinstance(error, RefletError)


def test_a_cache_that_is_not_synced_names_what_is_waited_for() -> None:
    error = CacheNotSynced("secret", "shop", "password")

    assert str(error) == "failed to sync secret cache: timed out waiting for the condition"
    assert (error.resource, error.namespace, error.name) == ("secret", "shop", "password")
    assert isinstance(error, TimeoutError)
