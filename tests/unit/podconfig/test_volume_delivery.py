"""The volumes of a result as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.podconfig.volume_delivery import DeliveredVolumes, VolumeDelivery
from reflet.volumes.tear_down import Kept
from tests.unit.podconfig.scenes import result
from tests.unit.resolution.scenes import pod_with
from tests.unit.volumes.scenes import mode_of, seen, volume


def delivery_to(folder: Path, **options: object) -> VolumeDelivery:
    return VolumeDelivery(lambda contents: folder / contents.volume, **options)  # type: ignore[arg-type]  # options are the tests' own


def test_volumes_are_written_where_they_are_to_be(tmp_path: Path) -> None:
    delivery = delivery_to(tmp_path)

    reports = [
        delivery.write(result(files=files)) for files in ({"a": "1"}, {"a": "1"}, {"a": "2"})
    ]

    assert reports == [
        DeliveredVolumes(changed=("files",)),
        DeliveredVolumes(unchanged=("files",)),
        DeliveredVolumes(changed=("files",)),
    ]
    assert (seen(tmp_path / "files"), mode_of(tmp_path / "files")) == ({"a": "2"}, 0o700)


def test_a_volume_with_an_error_keeps_its_files(tmp_path: Path) -> None:
    delivery = delivery_to(tmp_path)
    delivery.write(result(files={"a": "1"}))

    report = delivery.write(result(files={}, volume_error='secret "password" not found'))

    assert report == DeliveredVolumes(failures={"files": 'secret "password" not found'})
    assert seen(tmp_path / "files") == {"a": "1"}


def test_what_the_writer_refuses_is_told_in_the_kubelets_words(tmp_path: Path) -> None:
    report = delivery_to(tmp_path).write(result(files={"../a": "1"}))

    assert report.failures == {"files": "invalid path: must not contain '..': ../a"}
    assert list(tmp_path.iterdir()) == []


def test_what_could_not_be_done_is_told(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files/a").write_text("mine")

    report = delivery_to(tmp_path).write(result(files={"a": "1"}))

    assert report.changed == ("files",)
    assert report.notes == {"files": ("a was there before and hides the volume's own a",)}


def two_volumes() -> ResolvedPod:
    contents = volume({"a": "1"})
    return ResolvedPod(pod=pod_with(), environments={}, volumes={"one": contents, "two": contents})


def test_only_some_volumes_can_be_asked_for(tmp_path: Path) -> None:
    delivery = VolumeDelivery(lambda contents: tmp_path, only=["two"])

    assert delivery.write(two_volumes()) == DeliveredVolumes(changed=("two",))


def test_a_volume_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    delivery = VolumeDelivery(lambda contents: tmp_path, only=["three"])

    with pytest.raises(ConfigurationError, match=r"no volume three .* it has one, two$"):
        delivery.write(two_volumes())


def nested(mount_path: str = "/etc/app") -> ResolvedPod:
    mounts = [
        {"name": "files", "mountPath": mount_path},
        {"name": "other", "mountPath": f"{mount_path}/ssl"},
    ]
    resolved = result(files={"a": "1"})
    return ResolvedPod(
        pod=pod_with({"volumeMounts": mounts}),
        environments={},
        volumes=resolved.volumes,
    )


def test_folders_for_other_mounts_are_made(tmp_path: Path) -> None:
    delivery_to(tmp_path).write(nested())
    delivery_to(tmp_path / "plain", mount_points=False).write(nested())

    assert mode_of(tmp_path / "files/ssl") == 0o755
    assert not (tmp_path / "plain/files/ssl").exists()


def test_a_mount_point_outside_is_refused_in_the_kubelets_words(tmp_path: Path) -> None:
    report = delivery_to(tmp_path).write(nested("../up"))

    assert report.failures == {"files": "invalid container mount point ../up"}


def test_removing_takes_what_was_written(tmp_path: Path) -> None:
    delivery = delivery_to(tmp_path)
    resolved = result(files={"a": "1"})
    delivery.write(resolved)
    (tmp_path / "files/mine").touch()

    kept = delivery.remove(resolved)

    assert kept == (Kept(str(tmp_path / "files/mine"), "not made by a writer of volumes"),)
    assert seen(tmp_path / "files") == {"mine": ""}
