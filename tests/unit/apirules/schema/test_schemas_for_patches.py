from __future__ import annotations

from reflet.apirules.schema.schemas import ANYTHING, Schema, Schemas


def test_the_recorded_schemas_fit() -> None:
    pod: Schema = Schemas.recorded().lookup("io.k8s.api.core.v1.Pod")

    spec = pod.field("spec")

    assert spec is not None
    containers = spec.field("containers")
    assert containers is not None
    assert containers.items is not None
    ports = containers.items.field("ports")
    assert ports is not None
    assert (containers.patch_merge_key, ports.list_type, tuple(ports.list_map_keys)) == (
        "name",
        "map",
        ("containerPort", "protocol"),
    )


def test_where_nothing_is_described_everything_is_kept() -> None:
    assert (ANYTHING.preserves_unknown, ANYTHING.field("any"), ANYTHING.default) == (
        True,
        None,
        None,
    )
