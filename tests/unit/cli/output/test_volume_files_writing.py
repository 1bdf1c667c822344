"""Volumes are resolved as far as they are known, and what is not known is not written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from reflet.api import codec
from reflet.api.core.config import ConfigMap
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.cli.output.volume_files import writable, write_volumes
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.origins import ConfigMapOrigin, SecretOrigin
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.volumes.file_contents import FileContent, VolumeContents
from reflet.volumes.volume_errors import VolumeError

SECRET = SecretOrigin(namespace="shop", name="database", key="password")
SETTINGS = ConfigMap(metadata=ObjectMeta(name="settings", namespace="shop"), data={"a": "1"})


def inputs(token: str) -> PodInputs:
    sources = [{"configMap": {"name": "settings"}}, {"serviceAccountToken": {"path": "token"}}]
    spec = {
        "containers": [{"name": "web"}],
        "volumes": [
            {"name": "scratch", "emptyDir": {}},
            {"name": "all", "projected": {"sources": sources, "defaultMode": 0o644}},
        ],
    }
    raw = {"metadata": {"name": "web", "namespace": "shop"}, "spec": spec}
    return PodInputs(
        pod=codec.decode(json.dumps(raw).encode(), Pod),
        objects=ObjectsInHand([SETTINGS]),
        token=lambda _audience, _seconds: token,
    )


def test_volumes_without_configuration_are_not_meant() -> None:
    assert [contents.volume for contents in inputs("t").volumes().values()] == ["all"]


def test_a_token_that_was_not_asked_for_is_not_known_and_not_written() -> None:
    (contents,) = inputs("").volumes().values()

    known, unknown = writable(contents)

    assert (list(known.files), unknown) == (["a"], ("token",))
    assert contents.error is None


def test_a_token_that_was_given_is_written() -> None:
    (contents,) = inputs("abc").volumes().values()

    assert writable(contents) == (contents, ())


# Folders that others may read


def secret_volume(tmp_path: Path, mode: int, **fields: Any) -> tuple[Path, VolumeContents]:
    folder = tmp_path / "out" / "keys"
    folder.mkdir(parents=True)
    folder.chmod(mode)
    files = {"password": FileContent(data=b"geheim", mode=0o644, origin=SECRET, sensitive=True)}
    return folder, VolumeContents(volume="keys", files={**files}, **fields)


def mode_of(folder: Path) -> int:
    return folder.stat().st_mode & 0o777


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o711, 0o701])
def test_a_folder_that_others_may_enter_is_closed_before_secrets_are_in_it(
    tmp_path: Path, mode: int, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, contents = secret_volume(tmp_path, mode)

    write_volumes(tmp_path / "out", [contents])
    write_volumes(tmp_path / "out", [contents])

    assert (mode_of(folder), (folder / "password").read_text()) == (0o700, "geheim")
    assert capsys.readouterr().err == (
        f"note: {folder} is to hold secrets, so it is closed to other users (mode 0700)\n"
    )


def test_a_folder_for_config_maps_is_left_as_it_is(tmp_path: Path) -> None:
    folder, contents = secret_volume(tmp_path, 0o755)
    file = FileContent(
        data=b"x", mode=0o644, origin=ConfigMapOrigin(namespace="", name="c", key="")
    )

    write_volumes(tmp_path / "out", [structs.replace(contents, files={"a": file})])

    assert mode_of(folder) == 0o755


def test_the_group_of_the_volume_may_stay(tmp_path: Path) -> None:
    folder, contents = secret_volume(tmp_path, 0o750, fs_group=os.getegid())

    write_volumes(tmp_path / "out", [contents])

    assert mode_of(folder) & 0o050 == 0o050
    assert mode_of(folder) & 0o007 == 0


def test_a_folder_of_somebody_else_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, contents = secret_volume(tmp_path, 0o755)
    other = structs.replace(contents, volume="first")
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)

    with pytest.raises(VolumeError, match="belongs to another user") as caught:
        write_volumes(tmp_path / "out", [other, contents])

    assert str(caught.value).startswith(f"{folder} ")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["keys"]
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_closed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, contents = secret_volume(tmp_path, 0o755)
    monkeypatch.setattr(os, "fchmod", lambda *_: None)  # as file systems without modes

    with pytest.raises(VolumeError, match="cannot be closed to others"):
        write_volumes(tmp_path / "out", [contents])

    assert list(folder.iterdir()) == []
