"""Sources in a few words."""

from __future__ import annotations

import pytest

from reflet.cli.output.environment_output import origin_text
from reflet.resolution.origins import (
    ConfigMapOrigin,
    FieldOrigin,
    FileOrigin,
    Origin,
    ResourceOrigin,
    SecretOrigin,
    ServiceOrigin,
    Substitution,
    TokenOrigin,
    ValueOrigin,
)


@pytest.mark.parametrize(
    ("origin", "text"),
    [
        (ValueOrigin(template="x"), "value"),
        (
            ValueOrigin(template="$(A)", substitutions=(Substitution(name="A", found=False),)),
            "value, expanded",
        ),
        (ConfigMapOrigin(namespace="n", name="c", key="k"), "configmap/c k"),
        (SecretOrigin(namespace="n", name="s", key="k"), "secret/s k"),
        (ServiceOrigin(namespace="n", name="s"), "service/s in n"),
        (FieldOrigin(path="metadata.name"), "metadata.name"),
        (ResourceOrigin(resource="limits.cpu", container="web"), "limits.cpu of web"),
        (ResourceOrigin(resource="limits.cpu"), "limits.cpu"),
        (FileOrigin(volume="v", path="p", key="K"), "file p of v, K"),
        (TokenOrigin(namespace="n", service_account=""), "token of default"),
    ],
)
def test_every_kind_of_source_has_its_words(origin: Origin, text: str) -> None:
    assert origin_text(origin) == text
