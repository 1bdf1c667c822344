"""The options of a mirror for programs without an event loop."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.blocking import connect
from reflet.transport.config.settings import ConnectionSettings


def test_a_misspelled_option_is_refused_by_the_call_itself() -> None:
    typo: dict[str, Any] = {"indexerz": {}}

    with (
        connect(ConnectionSettings(server="https://nobody.example")) as cluster,
        pytest.raises(TypeError, match="indexerz"),
    ):
        cluster.mirror(ConfigMap, **typo)
