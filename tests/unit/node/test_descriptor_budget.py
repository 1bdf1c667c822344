from __future__ import annotations

import pytest

from reflet.node import descriptor_budget
from reflet.node.descriptor_budget import (
    FILES_OF_A_COMMAND,
    FILES_OF_A_LOG,
    DescriptorBudget,
    budget,
    budget_with,
)


@pytest.mark.parametrize(
    ("limit", "fits"),
    [
        (256, DescriptorBudget(connections=32, logs=4, commands=2, pods=24)),
        (1024, DescriptorBudget(connections=128, logs=16, commands=8, pods=120)),
        (65_536, DescriptorBudget(connections=256, logs=64, commands=32, pods=1000)),
        (10**9, DescriptorBudget(connections=256, logs=64, commands=32, pods=1000)),
    ],
)
def test_what_fits_grows_with_the_limit_up_to_what_is_sensible(
    limit: int, fits: DescriptorBudget
) -> None:
    assert budget(limit, limit) == fits


@pytest.mark.parametrize("limit", [1, 64, 71])
def test_even_the_smallest_limit_has_a_place_for_a_probe_and_a_pod(limit: int) -> None:
    connections = max(2, limit // 8)

    assert budget(limit, limit) == DescriptorBudget(
        connections=connections, logs=1, commands=1, pods=1
    )


@pytest.mark.parametrize(("agent", "shim"), [(1024, 65_536), (65_536, 1024)])
def test_the_process_with_less_decides_on_the_pods(agent: int, shim: int) -> None:
    assert budget(agent, shim).pods < budget(65_536, 65_536).pods


@pytest.mark.parametrize("limit", range(256, 20_000, 97))
def test_nobody_takes_what_the_pods_live_on(limit: int) -> None:
    fits = budget(limit, limit)

    streams = fits.logs * FILES_OF_A_LOG + fits.commands * FILES_OF_A_COMMAND
    assert fits.connections + streams + 4 * fits.pods + 64 <= limit
    assert 2 * 4 * fits.pods + 64 <= limit


def test_a_shim_that_is_gone_is_taken_to_have_what_the_agent_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def limit(pid: int = 0) -> int:
        if pid:
            raise ProcessLookupError
        return 1024

    monkeypatch.setattr(descriptor_budget, "descriptor_limit", limit)

    assert budget_with(7) == budget(1024, 1024)
