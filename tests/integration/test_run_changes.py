"""``reflet run`` while objects change, are missing, and while the server is away."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reflet.testing.pytest_plugin import RunningServer
from tests.integration.plain_client import MERGE_PATCH, Client
from tests.integration.running import (
    LOOP,
    POLITE,
    Start,
    running,
    server_options,
    shell,
    starting,
)

SETTINGS = "/api/v1/namespaces/default/configmaps/settings"
DATABASE = "/api/v1/namespaces/default/secrets/database"
WEB = "/apis/apps/v1/namespaces/default/deployments/web"


@pytest.fixture
def reflet_server_options(tmp_path: Path) -> dict[str, Any]:
    return server_options(tmp_path)


@pytest.fixture
def start(server: RunningServer, tmp_path: Path) -> Iterator[Start]:
    with starting(server, tmp_path) as start_run:
        yield start_run


def patch(client: Client, path: str, change: dict[str, Any]) -> None:
    answer = client.request("PATCH", path, change, MERGE_PATCH)
    assert answer.code == 200, answer.content


# Changes


def test_a_new_value_of_a_variable_brings_a_restart(start: Start, client: Client) -> None:
    with start(command=shell(POLITE)) as run:
        run.until_output("up info")

        patch(client, SETTINGS, {"data": {"LEVEL": "debug"}})

        run.until_output("bye info\nup debug")
        run.until_said("changed: variable LEVEL")
        run.signal(signal.SIGTERM)
        assert run.code() == 0
        assert run.output == "up info\nbye info\nup debug\nbye debug\n"


def test_a_secret_is_named_and_never_shown(start: Start, client: Client) -> None:
    with start(command=shell(POLITE)) as run:
        run.until_output("up info")

        patch(client, DATABASE, {"stringData": {"password": "correct-horse"}})

        run.until_said(
            "changed: variables DSN and PASSWORD, file /etc/reflet-test/conf/secrets/password"
        )
        run.until_output("bye info\nup info")
        assert "hunter2" not in run.said
        assert "correct-horse" not in run.said


def test_a_key_that_the_container_does_not_get_changes_nothing(
    start: Start, client: Client
) -> None:
    with start("--debounce", "0", command=shell(POLITE)) as run:
        run.until_output("up info")
        patch(client, SETTINGS, {"data": {"unused": "y"}})
        patch(client, SETTINGS, {"metadata": {"labels": {"a": "b"}}})
        # Whoever acts on every event has acted on those two before this one.
        patch(client, SETTINGS, {"data": {"app.conf": "two"}})

        run.until_said("changed: ")

        words = [line for line in run.said.splitlines() if "changed" in line]
        assert words == ["reflet: changed: file /etc/reflet-test/conf/app.conf"]
        assert run.output == "up info\n"


def test_new_files_arrive_without_a_restart(start: Start, client: Client) -> None:
    script = """
        echo up
        until grep -q two $REFLET_ROOT/etc/reflet-test/conf/app.conf; do sleep 0.02; done
        echo seen
    """

    with start(command=shell(script)) as run:
        run.until_output("up")
        patch(client, SETTINGS, {"data": {"app.conf": "two"}})

        assert run.code() == 0
        assert run.output == "up\nseen\n"


def test_a_file_with_a_sub_path_needs_a_restart(start: Start, client: Client) -> None:
    script = f"trap 'exit 0' TERM; echo up $(cat $REFLET_ROOT/etc/reflet-test/fixed.conf); {LOOP}"

    with start("--set", "LEVEL=fixed", command=shell(script)) as run:
        run.until_output("up info")
        patch(client, SETTINGS, {"data": {"LEVEL": "debug"}})

        run.until_output("up debug")
        run.until_said("changed: file /etc/reflet-test/fixed.conf")


def test_several_changes_at_once_are_one_restart(start: Start, client: Client) -> None:
    with start("--debounce", "1", command=shell(POLITE)) as run:
        run.until_output("up info")
        for level in ("a", "b", "c"):
            patch(client, SETTINGS, {"data": {"LEVEL": level}})

        run.until_output("up c")
        assert run.output == "up info\nbye info\nup c\n"


def test_a_change_that_is_taken_back_in_time_changes_nothing(start: Start, client: Client) -> None:
    with start("--debounce", "1", command=shell(POLITE)) as run:
        run.until_output("up info")
        patch(client, SETTINGS, {"data": {"LEVEL": "debug"}})
        patch(client, SETTINGS, {"data": {"LEVEL": "info"}})
        patch(client, SETTINGS, {"data": {"app.conf": "two"}})

        run.until_said("changed: ")
        assert "changed: file /etc/reflet-test/conf/app.conf\n" in run.said
        assert run.output == "up info\n"


def test_a_signal_can_take_the_place_of_a_restart(start: Start, client: Client) -> None:
    script = f"trap 'cat $REFLET_ROOT/etc/reflet-test/conf/app.conf; exit 0' HUP; echo up; {LOOP}"

    with start("--on-change", "signal:HUP", command=shell(script)) as run:
        run.until_output("up")
        patch(client, SETTINGS, {"data": {"app.conf": "two"}})

        assert run.code() == 0
        assert run.output == "up\ntwo"
        assert "changed: file /etc/reflet-test/conf/app.conf; sending SIGHUP" in run.said


def test_files_alone_may_follow(start: Start, client: Client) -> None:
    with start("--on-change", "none", command=shell(POLITE)) as run:
        run.until_output("up info")
        patch(client, SETTINGS, {"data": {"LEVEL": "debug"}})

        run.until_said("only a restart brings variable LEVEL")
        assert run.output == "up info\n"


def test_a_new_template_of_the_workload_brings_a_restart(start: Start, client: Client) -> None:
    script = f"trap 'exit 0' TERM; echo up $EXTRA; {LOOP}"
    with start(command=shell(script)) as run:
        run.until_output("up\n")
        web = client.get(WEB).body
        web["spec"]["template"]["spec"]["containers"][0]["env"].append(
            {"name": "EXTRA", "value": "1"}
        )
        assert client.request("PUT", WEB, web).code == 200

        run.until_output("up 1")


def test_what_is_deleted_leaves_the_process_what_it_has(start: Start, client: Client) -> None:
    with start(command=shell(POLITE)) as run:
        run.until_output("up info")
        assert client.request("DELETE", SETTINGS).code == 200

        run.until_said('configmap "settings" not found; the process keeps what it has')
        run.signal(signal.SIGTERM)
        assert (run.code(), run.output) == (0, "up info\nbye info\n")


def test_while_the_server_is_away_the_process_runs_on_and_nothing_is_lost(
    start: Start, client: Client, server: RunningServer
) -> None:
    with start(command=shell(POLITE)) as run:
        run.until_output("up info")
        server.restart(0.5)

        patch(client, SETTINGS, {"data": {"LEVEL": "debug"}})

        run.until_output("up debug")
        assert run.output == "up info\nbye info\nup debug\n"


# Waiting


def test_what_is_missing_is_waited_for(start: Start, client: Client) -> None:
    settings = client.get(SETTINGS).body
    client.request("DELETE", SETTINGS)

    with start("--wait", "60", command=shell("echo up $LEVEL")) as run:
        run.until_said('waiting: MountVolume.SetUp failed for volume "settings"')
        settings["metadata"] = {"name": "settings"}
        client.create("/api/v1/namespaces/default/configmaps", settings)

        assert run.code() == 0
        assert run.output == "up info\n"


def test_what_does_not_come_is_refused_in_the_kubelets_words(start: Start, client: Client) -> None:
    client.request("DELETE", DATABASE)

    with start("--wait", "0", command=["true"]) as run:
        assert run.code() == 125
        assert 'secret "database" not found' in run.said
        assert "reflet why deployment/web" in run.said


def test_told_to_end_while_it_waits_it_ends(start: Start, client: Client) -> None:
    client.request("DELETE", DATABASE)

    with start("--wait", "600", command=["true"]) as run:
        run.until_said("waiting: ")
        run.signal(signal.SIGTERM)

        assert run.code() == 128 + signal.SIGTERM


def test_a_server_that_is_not_there_is_our_failure(tmp_path: Path) -> None:
    arguments = ("pod/web", "--server", "http://127.0.0.1:1", "--", "true")

    with running(tmp_path, arguments) as run:
        assert run.code() == 125
        assert "127.0.0.1:1" in run.said
