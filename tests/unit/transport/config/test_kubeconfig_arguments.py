"""What errors call the settings of a call: arguments, not flags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reflet.errors import ConfigurationError
from reflet.transport.config.kubeconfig import Overrides, resolve_settings


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kubeconfig": "/absent"}, "kubeconfig /absent: no such file"),
        ({}, "no cluster is configured: kubeconfig is not given; KUBECONFIG is not set; "),
        ({"server": "?"}, "server: not a URL"),
        ({"token": "\n"}, "token is not a token"),
        ({"server": "http://a", "request_timeout": "soon"}, "request_timeout soon: not a time"),
        (
            {"server": "http://a", "as_uid": "7"},
            "impersonating a uid, group or extra needs a user ",
        ),
    ],
)
def test_an_argument_of_a_call_is_not_called_a_flag(
    tmp_path: Path, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        resolve_settings(Overrides(**arguments), {}, tmp_path, root=tmp_path)

    assert str(raised.value).startswith(message)
    assert "--" not in str(raised.value)


def test_a_flag_is_called_as_it_is_typed() -> None:
    typed = Overrides(typed=True)

    assert [typed.called(name) for name in ("as_user", "request_timeout", "user")] == [
        "--as",
        "--request-timeout",
        "--user",
    ]
