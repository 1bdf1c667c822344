"""Certificates to serve with: made once, kept, and replaced when they do not fit."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reflet.devserver.http.secure_serving import KEY_FILE, serving_certificate
from reflet.errors import ConfigurationError


def test_a_kept_certificate_is_used_again(tmp_path: Path) -> None:
    first = serving_certificate(["127.0.0.1", "localhost"], tmp_path)

    again = serving_certificate(["localhost"], tmp_path)

    assert again == first
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o777 == 0o600


def test_a_certificate_for_other_hosts_is_replaced(tmp_path: Path) -> None:
    first = serving_certificate(["127.0.0.1"], tmp_path)

    other = serving_certificate(["127.0.0.1", "example.com"], tmp_path)

    assert other != first


def test_a_context_is_made_without_leaving_the_key_behind() -> None:
    context = serving_certificate(["localhost"]).context()

    assert context.minimum_version.name == "TLSv1_2"


def test_without_the_extra_the_error_names_it_and_the_way_around(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    monkeypatch.delitem(sys.modules, "reflet.devserver.http.authority", raising=False)
    monkeypatch.delattr("reflet.devserver.http.authority", raising=False)

    with pytest.raises(
        ConfigurationError, match=r"install reflet\[devserver\], or serve without TLS"
    ):
        serving_certificate(["localhost"])
