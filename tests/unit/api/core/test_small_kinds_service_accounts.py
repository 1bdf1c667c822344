from reflet.api.codec import decode, encode
from reflet.api.core.small_kinds import ServiceAccount


def test_a_service_account_is_kept_whole() -> None:
    text = (
        b'{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a"},"secrets":[{"name":'
        b'"s"}],"imagePullSecrets":[{"name":"p"}],"automountServiceAccountToken":false}'
    )

    assert encode(decode(text, ServiceAccount)) == text
    assert ServiceAccount.complete
