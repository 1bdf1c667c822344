"""What is wrong with a workload, in words that claim no more than is known, and what repairs it."""

from __future__ import annotations

import shlex
from datetime import timedelta

import pytest

from reflet.insight.page.page_document import Sentence
from reflet.insight.page.page_sentences import sentences_about
from reflet.insight.page.page_uses import PageUse
from reflet.insight.stale.held_values import HeldState
from reflet.resolution.objects import ObjectKey
from tests.page_scenes import NOON

SETTINGS: ObjectKey = ("ConfigMap", "shop", "settings")
TLS: ObjectKey = ("Secret", "shop", "tls")
EDITED = NOON + timedelta(hours=1)
STALE = PageUse(
    *("variable", "LOG_LEVEL", SETTINGS, "LOG_LEVEL", "web", HeldState.NEEDS_RESTART),
    is_running=True,
    is_observed=True,
    at=EDITED,
    by="kubectl-edit",
)


def said(
    *uses: PageUse,
    kind: str = "Deployment",
    pods: tuple[str, ...] = ("web-1",),
    there: bool = False,
) -> list[Sentence]:
    return list(sentences_about(kind, "web", [(uses, pods)], lambda _: there))


def test_a_stale_variable_names_who_what_when_and_the_command() -> None:
    [sentence] = said(STALE, pods=("web-1", "web-2"))

    assert sentence == Sentence(
        state="needs-restart",
        title="2 pods of deployment/web still have the old LOG_LEVEL",
        text="cm/settings changed {ago} ago by kubectl-edit. "
        "A process keeps its variables until it is started again.",
        command="kubectl -n shop rollout restart deployment/web",
        at=EDITED.timestamp(),
    )


def test_what_follows_from_times_alone_is_only_possible() -> None:
    [sentence] = said(STALE._replace(is_observed=False, among=3))

    assert sentence.title == "web-1 may still have the old LOG_LEVEL"
    assert "Which of 3 keys it was, the object does not say" in sentence.text


def test_a_sub_path_is_explained() -> None:
    [sentence] = said(STALE._replace(way="subPath", name="/app/x.yaml"))

    assert "A file that is mounted with subPath never follows." in sentence.text
    assert "variables" not in sentence.text


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("StatefulSet", "kubectl -n shop rollout restart statefulset/web"),
        ("DaemonSet", "kubectl -n shop rollout restart daemonset/web"),
        ("ReplicaSet", "kubectl -n shop delete pod web-1"),
        (
            "Pod",
            "kubectl -n shop get pod web -o yaml | kubectl -n shop replace --force -f -",
        ),
        ("Job", ""),
    ],
)
def test_each_kind_is_restarted_in_its_own_way(kind: str, command: str) -> None:
    [sentence] = said(STALE, kind=kind)

    assert sentence.command == command


def missing(key: str = "tls.crt", *, is_running: bool = False) -> PageUse:
    return PageUse("file", "/etc/tls", TLS, key, "web", HeldState.MISSING, is_running=is_running)


def test_an_object_that_is_missing_keeps_a_pod_from_starting() -> None:
    [sentence] = said(missing("tls.crt"), missing("tls.key"))

    assert sentence.title == "web-1 cannot start: secret/tls does not exist"
    assert sentence.command == (
        "kubectl -n shop create secret generic tls --from-file=tls.crt --from-file=tls.key"
    )


def test_who_runs_already_would_not_start_again() -> None:
    [sentence] = said(missing(is_running=True))

    assert sentence.title == "web-1 would not start again: secret/tls does not exist"


def test_a_key_that_is_missing_is_added_to_its_object() -> None:
    [sentence] = said(missing(), there=True)

    assert sentence.title == "web-1 cannot start: secret/tls has no key tls.crt"
    assert sentence.command == "kubectl -n shop edit secret tls"


def test_a_pull_secret_that_is_missing_is_no_obstacle() -> None:
    use = PageUse("pullSecret", "tls", TLS, "", "", HeldState.MISSING)

    [sentence] = said(use)

    assert sentence.title == "web-1 goes without: secret/tls does not exist"


def test_what_is_current_needs_no_words() -> None:
    assert said(STALE._replace(state=HeldState.CURRENT)) == []


def test_a_name_that_a_shell_would_take_for_more_is_quoted() -> None:
    use = missing()._replace(object=("Secret", "shop", "x; rm -rf ~"))

    [sentence] = said(use)

    assert shlex.split(sentence.command)[6] == "x; rm -rf ~"
