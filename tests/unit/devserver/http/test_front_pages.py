from __future__ import annotations

import pytest

from reflet.apirules.schema.kinds import Kinds
from reflet.devserver.http.front_pages import FrontPage, FrontPages
from reflet.devserver.request.request_info import ApiRequest
from reflet.errors import MethodNotSupported, NotFound
from tests.unit.devserver.object_scene import DEFINITION


def page(
    path: str, *, method: str = "GET", accept: str = "", kinds: Kinds | None = None
) -> FrontPage:
    found = ask(path, method=method, accept=accept, kinds=kinds)
    assert found is not None
    return found


def ask(
    path: str, *, method: str = "GET", accept: str = "", kinds: Kinds | None = None
) -> FrontPage | None:
    pages = FrontPages(kinds or Kinds(), lambda: "127.0.0.1:6443")
    return pages.page(ApiRequest(method, path), accept)


@pytest.mark.parametrize("path", ["/version", "/api", "/api/v1", "/apis/apps/v1"])
def test_some_pages_are_only_read(path: str) -> None:
    assert page(path, method="HEAD").rendered.code == 200
    with pytest.raises(MethodNotSupported):
        page(path, method="POST")


@pytest.mark.parametrize("path", ["/", "/apis", "/apis/apps", "/livez", "/openapi/v3"])
def test_other_pages_are_shown_whatever_the_method(path: str) -> None:
    assert page(path, method="POST").rendered.code == 200


def test_discovery_can_be_read_as_yaml() -> None:
    rendered = page("/apis/apps", accept="application/yaml").rendered

    assert rendered.content_type == "application/yaml"
    assert rendered.content.startswith(b"apiVersion: v1\nkind: APIGroup\n")


@pytest.mark.parametrize("path", ["//api/v1", "/nonsense", "/apis/nonsense", "/livez/nonsense"])
def test_there_is_no_page_under_other_paths(path: str) -> None:
    assert ask(path) is None


def test_an_unknown_version_is_a_refusal_for_built_in_groups_only() -> None:
    kinds = Kinds()
    kinds.add_custom(DEFINITION)

    assert ask("/apis/example.org/v9", kinds=kinds) is None
    with pytest.raises(NotFound):
        ask("/apis/apps/v9", kinds=kinds)


def test_openapi_2_is_there_in_two_forms_under_one_hash() -> None:
    binary = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

    plain = page("/openapi/v2")
    made = page("/openapi/v2", accept=binary.replace("v2.v1.0", "v2@v1.0"))

    assert (plain.rendered.content_type, made.rendered.content_type) == ("application/json", binary)
    assert plain.rendered.content.startswith(b'{"swagger":"2.0"')
    assert made.rendered.content.startswith(b"\x0a\x032.0")
    assert made.headers() == plain.headers()
    assert made.headers()["Vary"] == "Accept"


def test_openapi_2_has_no_other_form() -> None:
    assert page("/openapi/v2", accept="application/yaml").rendered.code == 406
