"""``reflet files``: the files of volumes, listed and written."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click
import pytest

from tests.unit.cli.shop_files import SHOP, OnFiles, config_map, pod

MISSING = pod(
    "",
    "  volumes:\n  - {name: good, configMap: {name: settings}}\n"
    "  - {name: bad, configMap: {name: missing}}\n" + config_map("{a: x}"),
)


DECLINES = "automountServiceAccountToken: false"


def test_without_a_folder_files_are_only_listed(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "files")

    assert (shown.code, shown.errors) == (0, "")
    lines = [" ".join(line.split()) for line in shown.output.splitlines()]
    assert lines == [
        "VOLUME PATH MODE SIZE FROM",
        "config LOG_LEVEL 0644 4 B configmap/settings LOG_LEVEL",
        "config SHOP 0644 4 B configmap/settings SHOP",
        "config motd 0644 7 B configmap/settings motd",
        "keys db/password 0400 6 B secret/database PASSWORD",
        "keys token 0644 ? token of default",
        "kube-api-access-xxxxx token, ca.crt, namespace added by admission",
    ]


def test_a_pod_or_an_account_may_decline_what_admission_adds(on_files: OnFiles) -> None:
    account = (
        "---\napiVersion: v1\nkind: ServiceAccount\n"
        f"metadata: {{name: default, namespace: shop}}\n{DECLINES}\n"
    )

    assert "kube-api-access" in on_files(SHOP, "files").output
    assert "kube-api-access" not in on_files(SHOP + account, "files").output
    assert "kube-api-access" not in on_files(pod(more=f"  {DECLINES}\n"), "files").output


def test_programs_get_every_file_that_admission_adds(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "files", "--volume", "kube-api-access-xxxxx", "-o", "json")

    found = json.loads(shown.output)
    assert all(each["addedByAdmission"] for each in found)
    assert [(each["path"], each["size"]) for each in found] == [
        ("token", None),
        ("ca.crt", None),
        ("namespace", 4),
    ]


def test_what_admission_adds_is_not_written(on_files: OnFiles, tmp_path: Path) -> None:
    on_files(SHOP, "files", "--to", str(tmp_path / "out"))

    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == ["config", "keys"]


def test_json_lists_every_file_without_its_content(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "files", "--volume", "keys", "-o", "json")

    assert json.loads(shown.output) == [
        {
            "volume": "keys",
            "path": "db/password",
            "mode": "0400",
            "size": 6,
            "source": {
                "kind": "Secret",
                "namespace": "shop",
                "name": "database",
                "key": "PASSWORD",
            },
            "addedByAdmission": False,
        },
        {
            "volume": "keys",
            "path": "token",
            "mode": "0644",
            "size": None,
            "source": {
                "kind": "ServiceAccountToken",
                "namespace": "shop",
                "serviceAccount": "",
                "expirationSeconds": 3600,
            },
            "addedByAdmission": False,
        },
    ]


def test_nothing_is_cut_when_it_may_be_wide(
    on_files: OnFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = on_files(SHOP, "files").output
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")

    assert (
        max(map(len, click.unstyle(on_files(SHOP, "files").output).splitlines()))
        <= 60
        < max(map(len, whole.splitlines()))
    )
    assert click.unstyle(on_files(SHOP, "files", "-o", "wide").output) == whole


def test_a_folder_that_others_may_read_is_closed_and_said(
    on_files: OnFiles, tmp_path: Path
) -> None:
    keys = tmp_path / "out/keys"
    keys.mkdir(parents=True, mode=0o755)

    shown = on_files(SHOP, "files", "--to", str(tmp_path / "out"))

    assert (shown.code, keys.stat().st_mode & 0o777) == (0, 0o700)
    assert f"note: {keys} is to hold secrets, so it is closed to other users" in shown.errors


def test_files_are_written_below_the_folder_by_volume(on_files: OnFiles, tmp_path: Path) -> None:
    shown = on_files(SHOP, "files", "--to", str(tmp_path / "out"))

    assert shown.code == 0
    assert (tmp_path / "out/config/motd").read_text() == "welcome"
    password = tmp_path / "out/keys/db/password"
    assert (password.read_text(), password.stat().st_mode & 0o777) == ("geheim", 0o400)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700


def test_a_file_that_only_a_running_pod_has_is_left_out_and_said(
    on_files: OnFiles, tmp_path: Path
) -> None:
    shown = on_files(SHOP, "files", "--to", str(tmp_path / "out"))

    assert not (tmp_path / "out/keys/token").exists()
    assert "note: keys/token is left out: only a running pod has it\n" in shown.errors


def test_only_the_named_volumes_are_written(on_files: OnFiles, tmp_path: Path) -> None:
    on_files(SHOP, "files", "--volume", "config", "--to", str(tmp_path / "out"))

    assert [path.name for path in (tmp_path / "out").iterdir()] == ["config"]


def test_an_unknown_volume_is_answered_with_the_names(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "files", "--volume", "confg")

    assert shown.code == 2
    assert shown.errors == (
        "error: pod (unnamed) has no volume 'confg'; it has config, keys, scratch, "
        "kube-api-access-xxxxx\n"
    )


def test_nothing_is_written_when_the_kubelet_would_refuse_one_volume(
    on_files: OnFiles, tmp_path: Path
) -> None:
    shown = on_files(MISSING, "files", "--to", str(tmp_path / "out"))

    assert (shown.code, shown.output) == (1, "")
    assert shown.errors.splitlines()[-1] == (
        'error: volume bad would not be set up: configmap "missing" not found'
    )
    assert not (tmp_path / "out").exists()


def test_a_volume_that_would_be_refused_may_be_left_out(on_files: OnFiles, tmp_path: Path) -> None:
    shown = on_files(MISSING, "files", "--volume", "good", "--to", str(tmp_path / "out"))

    assert shown.code == 0
    assert (tmp_path / "out/good/a").read_text() == "x"


def test_a_path_that_leaves_its_volume_is_refused(on_files: OnFiles, tmp_path: Path) -> None:
    items = "[{key: a, path: ../../escaped}]"
    volume = f"  volumes: [{{name: v, configMap: {{name: settings, items: {items}}}}}]\n"

    shown = on_files(pod("", volume + config_map("{a: x}")), "files", "--to", str(tmp_path / "out"))

    assert (shown.code, shown.output) == (1, "")
    (line,) = shown.errors.splitlines()
    assert "spec.volumes[0].configMap.items[0].path: Invalid value" in line
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "escaped").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_one_line(on_files: OnFiles, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)

    shown = on_files(SHOP, "files", "--volume", "config", "--to", str(locked / "out"))

    assert (shown.code, len(shown.errors.splitlines())) == (1, 1)
    assert "permission denied" in shown.errors


def test_a_folder_that_is_a_file_is_one_line(on_files: OnFiles, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")

    shown = on_files(SHOP, "files", "--volume", "config", "--to", str(tmp_path / "taken"))

    assert (shown.code, shown.output) == (2, "")
    assert len(shown.errors.splitlines()) == 1


def test_a_pod_without_configuration_says_so(on_files: OnFiles) -> None:
    shown = on_files(pod(more=f"  {DECLINES}\n"), "files")

    assert (shown.code, shown.output) == (0, "")
    assert shown.errors == "pod/web has no volume that holds configuration.\n"


def test_to_watch_needs_a_folder(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "files", "--watch")

    assert shown.code == 2
    assert "--watch keeps files fresh: say where with --to" in shown.errors
