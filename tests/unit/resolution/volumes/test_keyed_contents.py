"""Files from the keys of a ConfigMap or Secret."""

from __future__ import annotations

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.volumes import KeyToPath
from reflet.api.meta import ObjectMeta
from reflet.errors import Forbidden, RefletError
from reflet.resolution.objects import (
    LARGEST_OBJECT,
    ConfigKind,
    ObjectKey,
    ObjectReader,
    ObjectsInHand,
)
from reflet.resolution.origins import ConfigMapOrigin
from reflet.resolution.places import Place
from reflet.resolution.problems import OversizedObject
from reflet.resolution.references.wanted_objects import WantedObject
from reflet.resolution.volumes.file_contents import Filling
from reflet.resolution.volumes.keyed_contents import keyed_files
from tests.unit.resolution.scenes import config_map, secret


def filled(
    *objects: ConfigMap | Secret,
    kind: ConfigKind = "ConfigMap",
    items: tuple[KeyToPath, ...] = (),
    mode: int | None = 0o644,
    optional: bool = False,
    failures: dict[ObjectKey, RefletError] | None = None,
    client: bool = True,
) -> Filling:
    name = "settings" if kind == "ConfigMap" else "credentials"
    source = ObjectsInHand(objects, failures=failures or {})
    reader = ObjectReader(source, "shop") if client else None
    wanted = WantedObject(
        kind=kind, namespace="shop", name=name, place=Place(volume="v"), optional=optional
    )
    return keyed_files(reader, wanted, items, mode)


def item(key: str, path: str, mode: int | None = None) -> KeyToPath:
    return KeyToPath(key=key, path=path, mode=mode)


def test_every_key_is_a_file_and_knows_its_origin() -> None:
    filling = filled(config_map(b="2", a="é"))

    assert [(path, file.data) for path, file in filling.files.items()] == [
        ("a", "é".encode()),
        ("b", b"2"),
    ]
    assert filling.files["a"].origin == ConfigMapOrigin(
        namespace="shop", name="settings", key="a", resource_version="11", whole=True
    )


def test_items_choose_path_and_mode_and_the_last_of_equal_paths_wins() -> None:
    items = (item("a", "x", 0o400), item("b", "x"), item("a", "y", 0))

    filling = filled(config_map(a="1", b="2", c="3"), items=items)

    assert {path: (file.data, file.mode) for path, file in filling.files.items()} == {
        "x": (b"2", 0o644),
        "y": (b"1", 0),
    }
    assert len(filling.files["x"].shadows) == 1


def test_an_item_finds_text_before_binary_data_and_a_whole_object_the_other_way_round() -> None:
    both = ConfigMap(
        metadata=ObjectMeta(namespace="shop", name="settings"),
        data={"k": "text"},
        binary_data={"k": b"binary", "only": b"\xff"},
    )
    items = (item("k", "k"), item("only", "only"))

    chosen, whole = filled(both, items=items), filled(both)

    assert [file.data for file in chosen.files.values()] == [b"text", b"\xff"]
    assert whole.files["k"].data == b"binary"


def test_all_missing_keys_are_told_and_the_first_is_the_error() -> None:
    filling = filled(config_map(a=""), items=(item("x", "x"), item("a", "a"), item("y", "y")))

    assert filling.errors == ("configmap references non-existent config key: x",)
    assert [problem.kubelet for problem in filling.problems] == [
        "configmap references non-existent config key: x",
        "configmap references non-existent config key: y",
    ]


def test_a_missing_key_of_a_secret_has_its_own_words() -> None:
    filling = filled(secret(), kind="Secret", items=(item("x", "x"),))

    assert filling.errors == ("references non-existent secret key: x",)


def test_missing_keys_of_an_optional_object_are_skipped() -> None:
    filling = filled(config_map(a="1"), items=(item("x", "x"), item("a", "a")), optional=True)

    assert (list(filling.files), filling.errors) == (["a"], ())
    assert [problem.blocking for problem in filling.problems] == [False]


def test_a_missing_optional_object_is_an_empty_volume() -> None:
    filling = filled(optional=True, items=(item("x", "x"),))

    assert (filling.files, filling.errors, len(filling.problems)) == ({}, (), 1)


def test_the_missing_object_comes_before_the_missing_mode() -> None:
    filling = filled(mode=None)

    assert filling.errors == ('configmap "settings" not found',)
    assert len(filling.problems) == 2


def test_without_a_mode_the_kubelet_gives_up_before_it_looks_at_keys() -> None:
    filling = filled(config_map(a=""), mode=None, items=(item("x", "x"),))

    assert filling.errors == ("no defaultMode used, not even the default value for it",)


def test_a_forbidden_object_fails_even_if_it_is_optional() -> None:
    failures: dict[ObjectKey, RefletError] = {("ConfigMap", "shop", "settings"): Forbidden("no")}

    assert filled(optional=True, failures=failures).errors == ("no",)


def test_without_an_api_server_nothing_can_be_read() -> None:
    filling = filled(config_map(), client=False)

    assert filling.errors == ("not supported due to running kubelet in standalone mode",)


def test_an_object_that_is_too_large_is_told() -> None:
    filling = filled(secret(a=bytes(LARGEST_OBJECT + 1)), kind="Secret")

    assert [type(problem) for problem in filling.problems] == [OversizedObject]
    assert (filling.errors, filling.files["a"].sensitive) == ((), True)
