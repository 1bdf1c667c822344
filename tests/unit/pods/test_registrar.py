"""Pods are registered in one place, and unregistered when they have ended or are gone."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from reflet.api.core.pods import Pod
from reflet.pods.pod_manager import MIRROR_ANNOTATION, PodManager
from reflet.pods.pod_sources import AllPodsSeen, PodGone, PodNews, PodSeen
from reflet.pods.registrar import PodRegistrar, is_terminated
from tests.unit.managers.pods import pod


class Told:
    """Remembers which pods were registered and unregistered."""

    def __init__(self) -> None:
        self.words: list[tuple[str, str]] = []

    def register_pod(self, item: Pod) -> None:
        self.words.append(("register", item.metadata.uid))

    def unregister_pod(self, item: Pod) -> None:
        self.words.append(("unregister", item.metadata.uid))


class Script:
    """News as a list says."""

    def __init__(self, *news: PodNews | AllPodsSeen) -> None:
        self._news = news
        self.closed = False

    def why_not_ready(self) -> str | None:
        return None

    async def news(self) -> AsyncGenerator[PodNews | AllPodsSeen, None]:
        try:
            for item in self._news:
                yield item
        finally:
            self.closed = True


async def told_by(*news: PodNews, pods: PodManager | None = None) -> list[tuple[str, str]]:
    told = Told()
    await PodRegistrar([told], pods=pods).follow(Script(*news))
    return told.words


async def test_pods_are_registered_while_they_are_there() -> None:
    words = await told_by(
        PodSeen(pod("a", uid="1")), PodSeen(pod("a", "x", uid="1")), PodGone(pod("a", uid="1"))
    )

    assert words == [("register", "1"), ("register", "1"), ("unregister", "1")]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
async def test_a_pod_that_has_ended_is_unregistered_once(phase: str) -> None:
    ended = pod("a", uid="1", phase=phase)
    words = await told_by(
        PodSeen(pod("a", uid="1", phase="Running")), PodSeen(ended), PodSeen(ended), PodGone(ended)
    )

    assert words == [("register", "1"), ("unregister", "1")]


async def test_a_pod_that_had_ended_before_is_never_registered() -> None:
    assert await told_by(PodSeen(pod("a", phase="Failed"))) == []


async def test_another_pod_of_the_same_name_ends_the_one_before() -> None:
    words = await told_by(
        PodSeen(pod("a", uid="1")), PodSeen(pod("a", uid="2")), PodGone(pod("a", uid="1"))
    )

    assert words == [("register", "1"), ("unregister", "1"), ("register", "2")]


async def test_a_mirror_is_booked_and_not_registered() -> None:
    books = PodManager()
    mirror = pod("a", uid="m", annotations={MIRROR_ANNOTATION: "h"})

    words = await told_by(PodSeen(mirror), PodSeen(pod("b", uid="1")), pods=books)

    assert words == [("register", "1")]
    assert (len(books.mirrors), len(books)) == (1, 1)
    PodRegistrar([], pods=books).take(PodGone(mirror))
    assert books.mirrors == ()


async def test_the_books_forget_a_pod_whose_end_was_missed() -> None:
    books = PodManager()

    await told_by(PodSeen(pod("a", uid="1")), PodSeen(pod("a", uid="2")), pods=books)

    assert (books.by_uid("1"), len(books)) == (None, 1)


async def test_a_registrar_that_is_stopped_closes_its_source() -> None:
    script = Script(PodSeen(pod("a", uid="1")))
    registrar = PodRegistrar([])
    await registrar.follow(script)

    assert script.closed
    assert [item.metadata.uid for item in registrar.registered] == ["1"]


@pytest.mark.parametrize(
    ("phase", "terminated"),
    [("", False), ("Pending", False), ("Running", False), ("Succeeded", True), ("Failed", True)],
)
def test_a_pod_is_terminated_when_its_phase_is_final(phase: str, terminated: bool) -> None:
    assert is_terminated(pod("a", phase=phase)) is terminated


def test_who_knows_when_a_pod_begins_and_ends_registers_it_himself() -> None:
    told = Told()
    registrar = PodRegistrar([told])

    registrar.register(pod("a", uid="1", phase="Succeeded"))
    registrar.register(pod("a", uid="2"))
    registrar.unregister(pod("a", uid="1"))
    registrar.unregister(pod("a", uid="1"))

    assert told.words == [("register", "1"), ("register", "2"), ("unregister", "1")]
    assert [item.metadata.uid for item in registrar.registered] == ["2"]
