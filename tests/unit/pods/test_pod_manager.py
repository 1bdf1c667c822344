"""Which pods there are, and which of them are two faces of one."""

from __future__ import annotations

import pytest

from reflet.api.core.pods import Pod, PodSpec
from reflet.api.core.volumes import PersistentVolumeClaimVolumeSource, Volume
from reflet.api.meta import ObjectMeta
from reflet.pods.pod_manager import (
    HASH_ANNOTATION,
    MIRROR_ANNOTATION,
    SOURCE_ANNOTATION,
    PodManager,
    PodPair,
    StaticPodRefused,
    full_name,
    is_mirror,
    is_mirror_of,
    is_static,
    refuse_references,
)
from tests.unit.managers.pods import pod

STATIC = pod("web", uid="s", annotations={SOURCE_ANNOTATION: "file", HASH_ANNOTATION: "h"})
MIRROR = pod("web", uid="m", annotations={MIRROR_ANNOTATION: "h"})
SERVED = pod("job", uid="j", annotations={SOURCE_ANNOTATION: "api"})


def manager(*pods: Pod) -> PodManager:
    made = PodManager()
    made.replace(pods)
    return made


def test_what_a_pod_is_stands_in_its_annotations() -> None:
    plain = pod("plain")

    assert [is_static(each) for each in (STATIC, MIRROR, SERVED, plain)] == [True] + [False] * 3
    assert [is_mirror(each) for each in (STATIC, MIRROR, SERVED)] == [False, True, False]
    assert is_mirror(pod("x", annotations={MIRROR_ANNOTATION: ""}))


@pytest.mark.parametrize(
    ("mirror", "expected"),
    [
        (MIRROR, True),
        (pod("web", annotations={MIRROR_ANNOTATION: "another"}), False),
        (pod("web", namespace="bank", annotations={MIRROR_ANNOTATION: "h"}), False),
        (pod("web"), False),
    ],
)
def test_a_mirror_shows_the_content_it_was_made_from(mirror: Pod, expected: bool) -> None:
    assert is_mirror_of(mirror, STATIC) is expected


@pytest.mark.parametrize("pods", [(STATIC, MIRROR, SERVED), (MIRROR, SERVED, STATIC)])
def test_both_halves_find_each_other_in_any_order(pods: tuple[Pod, ...]) -> None:
    books = manager(*pods)

    assert (books.pod_of(MIRROR), books.mirror_of(STATIC)) == (STATIC, MIRROR)
    assert books.pair_of(MIRROR) == PodPair(STATIC, MIRROR, was_mirror=True)
    assert books.pair_of(STATIC) == PodPair(STATIC, MIRROR, was_mirror=False)
    assert [books.pod_uid(uid) for uid in ("m", "s", "x", "")] == ["s", "s", "x", ""]
    assert (books.mirror_uids(), books.static_uids()) == ({"s": "m"}, {"m": "s"})


def test_mirrors_are_no_pods() -> None:
    books = manager(STATIC, MIRROR, SERVED)

    assert set(map(full_name, books.pods)) == {"web_shop", "job_shop"}
    assert (books.mirrors, len(books)) == ((MIRROR,), 2)
    assert (books.by_uid("m"), books.by_uid("s")) == (None, STATIC)
    assert books.by_full_name("web_shop") == books.by_name("shop", "web") == STATIC


def test_a_static_pod_without_a_mirror_has_an_empty_uid_for_it() -> None:
    assert manager(STATIC, SERVED).mirror_uids() == {"s": ""}


def test_a_mirror_without_its_pod_is_an_orphan() -> None:
    books = manager(STATIC, MIRROR)
    before = books.orphaned_mirrors()
    books.remove(STATIC)

    assert (before, books.orphaned_mirrors()) == ((), ("web_shop",))


def test_a_removed_mirror_stands_for_nothing() -> None:
    books = manager(STATIC, MIRROR)
    books.remove(MIRROR)
    books.remove(MIRROR)

    assert (books.pod_uid("m"), books.mirror_uids()) == ("m", {"s": ""})


CLAIM = Volume(name="v", persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name="c"))


@pytest.mark.parametrize(
    ("item", "resource"),
    [
        (pod("web", secrets=["x"]), "secrets"),
        (pod("web", "x"), "configmaps"),
        (
            Pod(metadata=ObjectMeta(name="web"), spec=PodSpec(service_account_name="x")),
            "serviceaccounts",
        ),
        (
            Pod(metadata=ObjectMeta(name="web"), spec=PodSpec(volumes=(CLAIM,))),
            "persistentvolumeclaims",
        ),
    ],
)
def test_a_static_pod_may_not_refer_to_objects_of_the_server(item: Pod, resource: str) -> None:
    refuse_references(pod("harmless"))
    with pytest.raises(StaticPodRefused, match=f"^static pods may not reference {resource}$"):
        refuse_references(item)
