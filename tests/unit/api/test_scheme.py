import pytest

from reflet.api import resources, scheme
from reflet.api.core.config import ConfigMap
from reflet.api.unstructured import AnyObject


@pytest.mark.parametrize(("api_version", "kind"), list(scheme.MODULES))
def test_every_struct_says_the_kind_it_is_listed_under(api_version: str, kind: str) -> None:
    struct = scheme.struct_for(api_version, kind)

    assert struct is not None
    assert scheme.identity(struct) == (api_version, kind)
    assert struct.__name__ == kind


@pytest.mark.parametrize(("api_version", "kind"), list(scheme.MODULES))
def test_every_struct_has_a_resource(api_version: str, kind: str) -> None:
    assert resources.find_kind(api_version, kind) is not None


def test_a_resource_leads_to_its_struct() -> None:
    assert scheme.class_for(resources.CONFIG_MAPS) is ConfigMap


def test_other_kinds_have_no_struct() -> None:
    assert scheme.struct_for("events.k8s.io/v1", "Event") is None
    assert scheme.class_for(resources.INGRESSES) is AnyObject
