"""Sub-paths of mounts."""

from __future__ import annotations

import pytest

from reflet.api.core.containers import VolumeMount
from reflet.resolution.origins import ConfigMapOrigin
from reflet.resolution.places import Place
from reflet.resolution.problems import InvalidSubPath, MissingSubPathVariables
from reflet.resolution.volumes.file_contents import FileContent, VolumeContents
from reflet.resolution.volumes.sub_paths import clean_sub_path, fixed_files, sub_path_of


def test_an_expression_comes_before_a_plain_path() -> None:
    mount = VolumeMount(name="v", sub_path="plain", sub_path_expr="$(A)")

    assert sub_path_of(mount, {"A": "expanded"}) == "expanded"


def test_a_plain_path_is_not_expanded() -> None:
    assert sub_path_of(VolumeMount(name="v", sub_path="a/$(A)/..b"), {"A": "x"}) == "a/$(A)/..b"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/etc", "error SubPath `/etc` must not be an absolute path"),
        ("a/../b", "unable to provision SubPath `a/../b`: must not contain '..'"),
    ],
)
def test_a_path_that_leads_out_is_refused(path: str, text: str) -> None:
    refused = InvalidSubPath(place=Place(volume="v"), kubelet=text, sub_path=path)

    assert sub_path_of(VolumeMount(name="v", sub_path=path), {}) == refused


@pytest.mark.parametrize("path", ["/etc", "a/../b"])
def test_a_refused_expression_is_told_as_it_was_written(path: str) -> None:
    refused = sub_path_of(VolumeMount(name="v", sub_path_expr="$(P)"), {"P": path})

    assert isinstance(refused, InvalidSubPath)
    assert "`$(P)`" in refused.error
    assert path not in repr(refused)


def test_missing_and_empty_variables_are_named_at_their_place() -> None:
    place = Place(path="spec.containers[0].volumeMounts[0]", container="web", volume="v")

    problem = sub_path_of(
        VolumeMount(name="v", sub_path_expr="$(B)/$(A)/$(B)"), {"B": ""}, place=place
    )

    assert problem == MissingSubPathVariables(
        place=place, kubelet="missing value for A, B", names=("A", "B")
    )


def test_an_expression_is_not_expanded_beyond_all_measure() -> None:
    mount = VolumeMount(name="v", sub_path_expr="$(A)" * 100)

    problem = sub_path_of(mount, {"A": "secret" * 100_000})

    assert isinstance(problem, InvalidSubPath)
    assert "60000000 characters with the variables put in" in problem.error
    assert "secret" not in problem.error


def volume_with(*paths: str) -> VolumeContents:
    files = {
        path: FileContent(
            data=path.encode(),
            mode=0o644,
            origin=ConfigMapOrigin(namespace="shop", name="settings", key="k"),
        )
        for path in paths
    }
    return VolumeContents(volume="settings", kind="configMap", files=files)


@pytest.mark.parametrize(
    ("sub_path", "shown"),
    [
        ("dir/a", {"": b"dir/a"}),
        ("dir", {"a": b"dir/a", "deep/b": b"dir//deep/b"}),
        ("di", {}),
        ("dir/deep", {"b": b"dir//deep/b"}),
    ],
)
def test_a_sub_path_shows_a_file_a_folder_or_nothing(
    sub_path: str, shown: dict[str, bytes]
) -> None:
    contents = volume_with("dir/a", "dir//deep/b", "other")

    found = fixed_files(contents, sub_path)

    assert {path: file.data for path, file in found.items()} == shown


@pytest.mark.parametrize(
    ("written", "clean"), [("", ""), (".", ""), ("./", ""), ("a//b/", "a/b"), ("./a", "a")]
)
def test_a_sub_path_is_made_as_short_as_it_can_be(written: str, clean: str) -> None:
    assert clean_sub_path(written) == clean
