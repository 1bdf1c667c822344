"""What is mounted where, as the kernel tells it."""

from __future__ import annotations

from pathlib import Path

from reflet.volumes.mounts import Mount, mount_of, mounted_below, parse_mounts, read_mounts

TABLE = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:21 / /dev/shm rw,nosuid shared:2 - tmpfs tmpfs rw
24 22 0:22 / /srv/with\\040space rw - tmpfs tmpfs rw
broken line
"""


def test_a_table_is_read() -> None:
    assert parse_mounts(TABLE) == (
        Mount(Path("/"), "ext4"),
        Mount(Path("/dev/shm"), "tmpfs"),
        Mount(Path("/srv/with space"), "tmpfs"),
    )


def test_a_path_lies_on_the_deepest_and_last_mount() -> None:
    mounts = (*parse_mounts(TABLE), Mount(Path("/dev/shm"), "ramfs"))

    assert mount_of(Path("/dev/shm/a"), mounts) == Mount(Path("/dev/shm"), "ramfs")
    assert mount_of(Path("/dev/shmem"), mounts) == Mount(Path("/"), "ext4")
    assert mount_of(Path("/a"), ()) is None


def test_mounts_below_a_path_include_its_own() -> None:
    mounts = parse_mounts(TABLE)

    assert mounted_below(Path("/dev"), mounts) == {Path("/dev/shm")}
    assert mounted_below(Path("/dev/shm"), mounts) == {Path("/dev/shm")}
    assert mounted_below(Path("/srv/other"), mounts) == set()


def test_a_system_without_a_table_tells_nothing(tmp_path: Path) -> None:
    assert read_mounts(tmp_path / "missing") == ()
