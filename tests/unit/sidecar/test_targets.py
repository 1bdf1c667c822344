"""Which files an object wants: names, folders, contents, downloads."""

from collections.abc import Mapping

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.meta import ObjectMeta
from reflet.sidecar.sidecar_settings import SidecarSettings, read_settings
from reflet.sidecar.targets import Download, ObjectTargets, folder_of, is_allowed, targets_of


def settings(**variables: str) -> SidecarSettings:
    return read_settings({"LABEL": "findme", "FOLDER": "/out", **variables})


def config_map(
    data: Mapping[str, str] | None = None,
    binary: Mapping[str, bytes] | None = None,
    folder: str | None = None,
    annotation: str = "k8s-sidecar-target-directory",
) -> ConfigMap:
    annotations = {} if folder is None else {annotation: folder}
    return ConfigMap(
        metadata=ObjectMeta(name="a", namespace="n", annotations=annotations),
        data=data or {},
        binary_data=binary or {},
    )


def secret(data: Mapping[str, bytes]) -> Secret:
    return Secret(metadata=ObjectMeta(name="a", namespace="n"), data=data)


def of(found: ConfigMap | Secret, **variables: str) -> ObjectTargets:
    asked = settings(**variables)
    return targets_of(found, "secret" if isinstance(found, Secret) else "configmap", asked)


def test_a_file_is_called_after_its_key_and_holds_its_value() -> None:
    found = of(config_map({"a.txt": "é\r\n", "empty": ""}, {"b": b"\x00\xff"}))

    assert found.contents == {"/out/a.txt": "é\r\n", "/out/empty": "", "/out/b": b"\x00\xff"}
    assert not found.downloads
    assert not found.refused


def test_unique_names_have_namespace_kind_and_name_and_the_suffix_is_cut_first() -> None:
    made = of(config_map({"f": "1", "u.url": "http://x"}), UNIQUE_FILENAMES="TRUE")
    hidden = of(secret({"f": b"2"}), UNIQUE_FILENAMES="true")

    assert list(made.contents) == ["/out/namespace_n.configmap_a.f"]
    assert list(made.downloads) == ["/out/namespace_n.configmap_a.u"]
    assert list(hidden.contents) == ["/out/namespace_n.secret_a.f"]


@pytest.mark.parametrize(
    ("annotation", "path"),
    [
        (None, "/out/f"),
        ("", "/out/f"),
        ("mine", "/out/mine/f"),
        ("mine/", "/out/mine/f"),
        ("/else/where", "/else/where/f"),
        ("//else", "/else/f"),
        ("../climbed", "/climbed/f"),
        ("a/../b/./c", "/out/b/c/f"),
    ],
)
def test_an_annotation_names_another_folder(annotation: str | None, path: str) -> None:
    assert list(of(config_map({"f": "1"}, folder=annotation)).contents) == [path]


def test_the_name_of_the_annotation_replaces_the_usual_one() -> None:
    asked = settings(FOLDER_ANNOTATION="my-folder")

    assert folder_of(config_map(folder="mine", annotation="my-folder"), asked) == "/out/mine"
    assert folder_of(config_map(folder="ignored"), asked) == "/out/"


def test_text_is_downloaded_as_text_and_the_address_is_stripped() -> None:
    found = of(config_map({"d.json.url": " http://x/d\n"}))

    assert found.downloads == {"/out/d.json": Download("http://x/d", as_text=True)}


def test_bytes_are_downloaded_as_bytes_and_addresses_of_secrets_are_secret() -> None:
    made = of(config_map(binary={"d.url": b"http://x/d"}))
    hidden = of(secret({"d.url": b"http://x/d"}))

    assert made.downloads == {"/out/d": Download("http://x/d", as_text=False)}
    assert hidden.downloads == {"/out/d": Download("http://x/d", as_text=False, is_secret=True)}
    assert "http" not in repr(hidden)


@pytest.mark.parametrize(
    ("keys", "winner"),
    [
        ({"d": "plain", "d.url": "http://x"}, "download"),
        ({"d": "plain"}, "plain"),
    ],
)
def test_of_two_keys_with_one_path_the_later_counts(keys: dict[str, str], winner: str) -> None:
    found = of(config_map(keys))

    assert ("/out/d" in found.downloads) == (winner == "download")
    assert ("/out/d" in found.contents) == (winner == "plain")


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (".url", "it is no name for a file"),
        (".reflet-x", "names that begin so are the sidecar's own"),
        ("a/b", "it is no name for a file"),
        ("..", "it is no name for a file"),
    ],
)
def test_a_key_that_can_be_no_file_is_refused_and_the_others_are_not(key: str, why: str) -> None:
    found = of(config_map({key: "x", "good": "y"}))

    assert found.refused == {key: why}
    assert list(found.contents) == ["/out/good"]


def test_bytes_that_are_no_address_are_refused() -> None:
    assert of(secret({"d.url": b"\xff"})).refused == {"d.url": "it holds no address in UTF-8"}


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/out/f", True),
        ("/out/a/f", True),
        ("/else/f", True),
        ("/outside/f", False),
        ("/elsewhere/f", False),
        ("/etc/passwd", False),
    ],
)
def test_allowed_folders_are_a_jail(path: str, allowed: bool) -> None:
    assert is_allowed(path, settings(ALLOWED_FOLDERS="/else/")) == allowed
    assert is_allowed(path, settings())


def test_a_file_outside_the_jail_is_refused_in_words() -> None:
    found = of(config_map({"f": "1"}, folder="../etc"), ALLOWED_FOLDERS="/else")

    assert found.refused == {"f": "/etc/f is not below FOLDER or one of ALLOWED_FOLDERS"}
    assert found.contents == {}
