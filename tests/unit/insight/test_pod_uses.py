"""How pods use one object; users and their owners are tested in test_used_by.py."""

from __future__ import annotations

import pytest

from reflet.insight.pod_uses import use_by_sidecar, uses_in
from reflet.insight.reference_table import Effect
from reflet.insight.sidecars import sidecars_of
from tests.unit.insight.sidecar_pods import container, pod

SETTINGS = {"configMapKeyRef": {"name": "settings", "key": "label"}}


def test_only_the_object_that_is_asked_for_is_used() -> None:
    candidate = pod(container(LABEL=SETTINGS, LABEL_VALUE={"configMapKeyRef": {"name": "other"}}))

    (use,) = uses_in(candidate, "ConfigMap", "settings")

    assert (use.keys, use.place.variable) == (("label",), "LABEL")


@pytest.mark.parametrize(
    ("variables", "effect"),
    [
        ({}, Effect.LIVE),
        ({"METHOD": "SLEEP"}, Effect.LIVE),
        ({"METHOD": "LIST"}, Effect.RESTART),
        ({"LABEL": SETTINGS}, Effect.UNKNOWN),
    ],
)
def test_a_sidecar_that_reads_once_needs_a_restart(
    variables: dict[str, str], effect: Effect
) -> None:
    (sidecar,) = sidecars_of(pod(container(**variables)), "monitoring")

    assert use_by_sidecar(sidecar).effect is effect
