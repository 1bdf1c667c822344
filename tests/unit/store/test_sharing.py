"""Equal parts of metadata are one object in memory, and nobody can tell."""

from reflet.api.meta import ObjectMeta
from reflet.store.sharing import MOST_REMEMBERED, Sharing


def metadata(name: str, **labels: str) -> ObjectMeta:
    # As a decoder does: texts and mappings of its own for every object.
    return ObjectMeta(name=name, namespace=b"shop".decode(), labels=dict(labels))


def inner_labels(item: ObjectMeta) -> object:
    return ObjectMeta.__dict__["labels"].member.__get__(item)


def test_objects_with_the_same_labels_share_them() -> None:
    sharing, first, second = Sharing(), metadata("a", app="web"), metadata("b", app="web")

    sharing.share(first)
    sharing.share(second)

    assert inner_labels(first) is inner_labels(second)


def test_objects_of_a_namespace_share_its_name() -> None:
    sharing, first, second = Sharing(), metadata("a"), metadata("b")
    assert first.namespace is not second.namespace

    sharing.share(first)
    sharing.share(second)

    assert first.namespace is second.namespace


def test_what_is_shared_says_what_it_said() -> None:
    sharing = Sharing()
    items = [metadata(str(number), app="web", shard=str(number % 3)) for number in range(10)]
    before = [(item.namespace, dict(item.labels)) for item in items]

    for item in items:
        sharing.share(item)

    assert [(item.namespace, dict(item.labels)) for item in items] == before


def test_labels_in_another_order_keep_their_order() -> None:
    sharing = Sharing()
    first, second = metadata("a", app="web", tier="front"), metadata("b", tier="front", app="web")

    sharing.share(first)
    sharing.share(second)

    assert list(second.labels) == ["tier", "app"]


def test_what_is_remembered_has_a_limit() -> None:
    sharing = Sharing()
    first, again = metadata("a", app="web"), metadata("b", app="web")

    sharing.share(first)
    for number in range(MOST_REMEMBERED):
        sharing.share(metadata("other", number=str(number)))
    sharing.share(again)

    assert inner_labels(again) is not inner_labels(first)


def test_metadata_of_another_shape_is_left_alone() -> None:
    other = {"namespace": "shop"}

    Sharing().share(other)

    assert other == {"namespace": "shop"}
