"""Files as data: contents are not shown, and what is overwritten is remembered."""

from __future__ import annotations

from reflet.resolution.origins import ConfigMapOrigin
from reflet.resolution.volumes.file_contents import FileContent, VolumeContents, put


def file_of(key: str, data: bytes = b"hunter2") -> FileContent:
    origin = ConfigMapOrigin(namespace="shop", name="settings", key=key)
    return FileContent(data=data, mode=0o644, origin=origin, sensitive=True)


def test_contents_are_shown_only_by_their_size() -> None:
    contents = VolumeContents(volume="v", files={"a": file_of("a")})

    shown = f"{contents!r} {file_of('a').__rich_repr__()}"

    assert "hunter2" not in shown
    assert "‹secret 7 B›" in shown


def test_a_later_file_remembers_the_earlier_ones_nearest_first() -> None:
    files: dict[str, FileContent] = {}

    for key in ("first", "second", "third"):
        put(files, "path", file_of(key))

    origins = (files["path"].origin, *files["path"].shadows)
    assert [getattr(origin, "key", None) for origin in origins] == ["third", "second", "first"]


def test_the_size_of_a_volume_is_that_of_its_files() -> None:
    files = {"a": file_of("a", b"12"), "b": file_of("b", b"345")}

    assert VolumeContents(volume="v", files=files).size == 5
