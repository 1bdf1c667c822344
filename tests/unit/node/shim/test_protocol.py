from __future__ import annotations

import pytest

from reflet.node.shim.protocol import StartOrder, decoded, encoded
from reflet.processes.container_plan import ContainerRoot, VolumeMount

ROOT = ContainerRoot(
    host_name="web",
    staging="/pods/u1/root",
    scratch="/pods/u1/tmp",
    shared=(("/usr", False),),
    mounts=(VolumeMount(folder="/v", beneath="s3cret", path="/data", read_only=False),),
)
ORDER = StartOrder(
    record={"id": "c1"}, arguments=("a", "s3cret"), environment={"KEY": "s3cret"}, root=ROOT
)


def test_an_order_arrives_as_it_was_sent() -> None:
    assert StartOrder.of(decoded(encoded(ORDER.document()))) == ORDER


def test_an_order_does_not_show_what_may_be_secret() -> None:
    assert "s3cret" not in repr(ORDER)


def test_any_bytes_get_through() -> None:
    strange = "\udcff\u2028\n"

    assert decoded(encoded({"a": strange})) == {"a": strange}
    assert encoded({"a": strange}).count(b"\n") == 1


@pytest.mark.parametrize("line", [b"[1]\n", b"nonsense\n", b""])
def test_what_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the shape is all there is to say
        decoded(line)
