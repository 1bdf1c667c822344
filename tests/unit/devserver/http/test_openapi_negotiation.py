from __future__ import annotations

import pytest

from reflet.devserver.http.openapi_negotiation import (
    OPENAPI_JSON,
    OPENAPI_PROTOBUF,
    openapi_form,
)

KUBECTLS = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


@pytest.mark.parametrize(
    "accept",
    [
        *("", "*/*", "*", "application/*", "application/json", "application/json;as=Table"),
        "text/html, application/json;q=0.9",
        "application/json;q=0",
        f"{OPENAPI_PROTOBUF};q=0.5, */*",
        f"{KUBECTLS};q=0.1,application/json;q=0.2",
        f"{KUBECTLS};q=much,application/json;q=0.2",
    ],
)
def test_json_is_for_those_who_want_it_or_anything(accept: str) -> None:
    assert openapi_form(accept) == OPENAPI_JSON


@pytest.mark.parametrize(
    "accept",
    [
        *(KUBECTLS, OPENAPI_PROTOBUF),
        f"{KUBECTLS}, application/json",
        f"application/json;q=0.5, {KUBECTLS}",
        f"application/json; q=x,{OPENAPI_PROTOBUF}; q=0.1",
        f"application/*, {OPENAPI_PROTOBUF}",
        f"*/*, {OPENAPI_PROTOBUF};q=0.5",
    ],
)
def test_the_binary_form_is_for_those_who_name_it(accept: str) -> None:
    assert openapi_form(accept) == OPENAPI_PROTOBUF


@pytest.mark.parametrize(
    "accept",
    [
        *("text/html", "text/*", "APPLICATION/JSON", "application/yaml", "json", "a/b/c", ","),
        "application/vnd.kubernetes.protobuf",
        "application/vnd.oai.openapi+json",
    ],
)
def test_others_get_nothing(accept: str) -> None:
    assert openapi_form(accept) is None
