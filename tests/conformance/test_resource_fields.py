"""Limits and requests show what the kubelet's own code shows: every recorded case, by its name."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from reflet.api.core.containers import Container, ResourceFieldSelector, ResourceRequirements
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod, PodSpec
from reflet.resolution.resource_fields import file_resource, variable_resource


class Case(msgspec.Struct, frozen=True):
    resource: str
    amount: str
    divisor: str
    expect: str


class Recording(msgspec.Struct, frozen=True):
    cases: tuple[Case, ...]


RECORDING = msgspec.json.decode(
    (Path(__file__).parent / "data" / "resource_fields.json").read_bytes(), type=Recording
)


@pytest.mark.parametrize(
    "case",
    RECORDING.cases,
    ids=lambda case: f"{case.resource} of {case.amount} by {case.divisor}",
)
def test_an_amount_is_shown_as_the_kubelet_shows_it(case: Case) -> None:
    amounts = {case.resource.removeprefix("requests."): case.amount}
    container = Container(name="app", resources=ResourceRequirements(requests=amounts))
    pod = Pod(spec=PodSpec(containers=(container,)))
    selector = ResourceFieldSelector(
        container_name="app", resource=case.resource, divisor=case.divisor
    )

    shown = (
        variable_resource(pod, container, selector, node=Node()),
        file_resource(pod, selector, node=Node()),
    )

    assert shown == (case.expect, case.expect)
