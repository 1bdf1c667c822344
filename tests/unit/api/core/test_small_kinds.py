from reflet.api.codec import decode, encode
from reflet.api.core.small_kinds import Namespace


def test_a_namespace_is_kept_whole() -> None:
    text = (
        b'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"},"spec":{"finalizers":'
        b'["kubernetes"]},"status":{"phase":"Active"}}'
    )

    assert encode(decode(text, Namespace)) == text
    assert Namespace.complete
