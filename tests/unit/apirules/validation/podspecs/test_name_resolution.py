from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.podspecs.name_resolution import (
    check_dns_settings,
    check_host_aliases,
    check_host_name,
)


def fields_of(spec: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    for check in (check_dns_settings, check_host_name, check_host_aliases):
        check(spec, "s", errors)
    return [cause.field for cause in errors.causes]


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({}, []),
        ({"dnsConfig": {"searches": [".", "_tcp.a."], "nameservers": ["fd00::1"]}}, []),
        ({"dnsPolicy": "None"}, ["s.dnsConfig"]),
        ({"dnsPolicy": "None", "dnsConfig": {}}, ["s.dnsConfig.nameservers"]),
        ({"dnsConfig": {"nameservers": ["01.1.1.1"]}}, ["s.dnsConfig.nameservers[0]"]),
        ({"dnsConfig": {"options": [{}]}}, ["s.dnsConfig.options[0]"]),
        ({"dnsConfig": {"searches": ["A"] * 33}}, ["s.dnsConfig.searches"]),
        ({"hostAliases": [{"ip": "x"}]}, ["s.hostAliases[0].ip"]),
        ({"hostnameOverride": "a", "hostNetwork": True}, ["s.hostnameOverride"]),
    ],
)
def test_names_and_servers_have_their_rules(spec: dict[str, Any], wrong: list[str]) -> None:
    assert fields_of(spec)[: len(wrong) or None] == wrong
