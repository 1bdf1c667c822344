import pytest

from reflet.api.codec import decode, encode
from reflet.api.core.small_kinds import Lease
from reflet.errors import DecodeError


def test_the_times_of_a_lease_keep_six_digits() -> None:
    text = (
        b'{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"},"spec":{'
        b'"holderIdentity":"h","leaseDurationSeconds":15,"acquireTime":"2026-01-02T03:04:05.000000Z",'
        b'"renewTime":"2026-01-02T03:04:05.120000Z","leaseTransitions":0,"strategy":"s",'
        b'"preferredHolder":"p"}}'
    )

    assert encode(decode(text, Lease)) == text
    assert Lease.complete


@pytest.mark.parametrize("time", [b'"soon"', b"5", b"[]"])
def test_a_wrong_time_is_named_by_its_field(time: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(b'{"metadata":{"name":"l"},"spec":{"renewTime":' + time + b"}}", Lease)

    assert caught.value.path == "spec.renewTime"
